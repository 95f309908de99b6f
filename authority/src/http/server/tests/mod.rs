//! Real sockets: a server with a few paths, and peers that send what they like.

mod connections;
mod malformed;
mod slow_peers;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::routing::{get, post};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

use super::{Limits, Stopped, serve};
use crate::clock::SystemClock;
use crate::dice::SystemDice;
use crate::http::answer::{Door, Tls, dress};
use crate::http::body::Payload;
use crate::http::problem::{Problem, ProblemWriter};
use crate::traces::Traces;

/// Longer than every limit of these tests: whatever takes this long never ends.
const FOREVER: Duration = Duration::from_secs(20);
/// The limits under test, short; all others stay at their defaults.
const SHORT: Duration = Duration::from_millis(300);

struct Running {
    address: std::net::SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<Stopped>,
    /// Lets `/wait` answer.
    release: Arc<Notify>,
    /// Woken when a request has reached `/wait`.
    reached: Arc<Notify>,
}

async fn start(limits: Limits) -> Running {
    let (release, reached) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (released, reaching) = (release.clone(), reached.clone());
    let wait = async move || {
        reaching.notify_one();
        released.notified().await;
        "waited"
    };
    let read = async |request: axum::extract::Request| {
        let (parts, body) = request.into_parts();
        let payload = Payload::read(&parts.method, &parts.headers, body).await?;
        payload.required().map(|value| value.to_string()).map_err(Problem)
    };
    let router = Router::new()
        .route("/ok", get(async || "ok"))
        .route("/big", get(async || Bytes::from(vec![b'x'; 64 * 1024 * 1024])))
        .route("/wait", get(wait))
        .route("/read", post(read))
        .route("/unread", post(async || "unread"));
    let door = Door {
        traces: Traces::default(),
        clock: Arc::new(SystemClock::new()),
        dice: Arc::new(SystemDice),
        problems: ProblemWriter::new("merchant-api", None),
        tls: Tls::Absent,
        metrics: Arc::default(),
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel();
    let stop_seen = async { stopped.await.unwrap_or(()) };
    let task = tokio::spawn(serve(listener, dress(router, Arc::new(door)), limits, stop_seen));
    Running { address, stop, task, release, reached }
}

impl Running {
    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// A connection that has sent `bytes`.
    async fn sent(&self, bytes: impl AsRef<[u8]>) -> TcpStream {
        let mut stream = self.connect().await;
        stream.write_all(bytes.as_ref()).await.unwrap();
        stream
    }

    /// A connection that has had an answer.
    async fn resting(&self) -> TcpStream {
        let mut stream = self.connect().await;
        ok(&mut stream).await;
        stream
    }

    /// A connection whose request waits in its handler.
    async fn busy(&self) -> TcpStream {
        let stream = self.sent("GET /wait HTTP/1.1\r\nhost: a\r\n\r\n").await;
        self.reached.notified().await;
        stream
    }

    async fn stop(self) -> Stopped {
        self.stop.send(()).unwrap();
        self.task.await.unwrap()
    }
}

/// Everything until the server closes; on a reset, what was read by then.
async fn to_end(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let read = tokio::time::timeout(FOREVER, stream.read_to_end(&mut bytes)).await;
    assert!(read.is_ok(), "the server keeps the connection: {}", String::from_utf8_lossy(&bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// One answer with a `content-length`; the connection stays open.
async fn one_answer(stream: &mut TcpStream) -> String {
    let read = async {
        let mut bytes = Vec::new();
        loop {
            let text = String::from_utf8_lossy(&bytes);
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
                if body.len() >= length.parse::<usize>().unwrap() {
                    return text.into_owned();
                }
            }
            let byte = stream.read_u8().await.unwrap_or_else(|error| panic!("{error} after {bytes:?}"));
            bytes.push(byte);
        }
    };
    tokio::time::timeout(FOREVER, read).await.expect("no answer")
}

async fn ok(stream: &mut TcpStream) {
    stream.write_all(b"GET /ok HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    let answer = one_answer(stream).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\nok"), "{answer}");
}

fn problem(answer: &str) -> (&str, String) {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((answer, ""));
    assert!(head.contains("service-request-id: req_"), "{answer}");
    assert!(head.contains("content-type: application/problem+json"), "{answer}");
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    (head.get(9..12).unwrap(), body["code"].as_str().unwrap().to_owned())
}
