//! Real sockets: peers that stall, flood, smuggle or idle, and the server's shutdown.

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
        problems: ProblemWriter { realm: "merchant-api" },
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

#[tokio::test]
async fn who_sends_nothing_or_half_a_head_is_cut_off() {
    let server = start(Limits { head_timeout: SHORT, ..Limits::default() }).await;
    for bytes in ["", "G", "GET /ok HTTP/1.1\r\nhost: a\r\n", "GET /ok HTTP/1.1\r\nhost: a\r\nx-a: "] {
        let mut stream = server.sent(bytes).await;
        assert_eq!(to_end(&mut stream).await, "", "{bytes:?}");
    }
}

#[tokio::test]
async fn a_dripping_head_has_one_deadline_as_a_whole() {
    let server = start(Limits { head_timeout: SHORT, ..Limits::default() }).await;
    let (mut reader, mut writer) = server.sent("GET /ok HTTP/1.1\r\n").await.into_split();
    let drip = async {
        let mut ticks = tokio::time::interval(SHORT / 10);
        loop {
            ticks.tick().await;
            if writer.write_all(b"x: y\r\n").await.is_err() {
                return;
            }
        }
    };
    let mut bytes = Vec::new();
    let cut_off = async {
        tokio::select! {
            read = reader.read_to_end(&mut bytes) => assert!(read.is_err() || bytes.is_empty()),
            () = drip => {}
        }
    };
    tokio::time::timeout(FOREVER, cut_off).await.expect("the server keeps the connection");
}

#[tokio::test]
async fn a_stalled_body_is_told_408_and_cut_off() {
    let server = start(Limits { body_timeout: SHORT, ..Limits::default() }).await;
    for begin in [
        "content-length: 10\r\n\r\n{",
        "content-length: 10\r\n\r\n",
        "transfer-encoding: chunked\r\n\r\n1\r\n{\r\n",
    ] {
        let head = format!("POST /read HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n{begin}");
        let mut stream = server.sent(head).await;
        let answer = to_end(&mut stream).await;
        assert_eq!(problem(&answer), ("408", "request_timeout".into()), "{begin:?}");
    }
}

#[tokio::test]
async fn a_body_that_nobody_read_ends_the_connection() {
    let server = start(Limits::default()).await;
    let request =
        "POST /unread HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nGET /ok HTTP/1.1\r\nhost: a\r\n\r\n";
    let mut stream = server.sent(request).await;
    let answer = to_end(&mut stream).await;
    assert!(answer.ends_with("\r\n\r\nunread") && answer.contains("connection: close"), "{answer}");
}

#[tokio::test]
async fn who_sends_far_too_much_before_it_reads_gets_its_answer() {
    let server = start(Limits::default()).await;
    // More than the sockets between client and server can buffer.
    let body = " ".repeat(32 * 1024 * 1024);
    for (path, answered) in [("/read", "413"), ("/unread", "200"), ("/nowhere", "404")] {
        for length in [format!("content-length: {}", body.len()), "transfer-encoding: chunked".to_owned()] {
            let head =
                format!("POST {path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n{length}");
            let chunk =
                if length.contains("chunked") { format!("{:x}\r\n", body.len()) } else { String::new() };
            let mut stream = server.sent(format!("{head}\r\n\r\n{chunk}{body}")).await;
            let answer = to_end(&mut stream).await;
            assert_eq!(answer.get(9..12), Some(answered), "{path} {length}: {answer}");
        }
    }
}

#[tokio::test]
async fn who_never_stops_sending_is_cut_off() {
    let server = start(Limits { linger_timeout: SHORT, ..Limits::default() }).await;
    let head = format!("POST /unread HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\n\r\n", u64::MAX / 2);
    let mut stream = server.sent(head).await;
    let flood = async { while stream.write_all(&[b' '; 64 * 1024]).await.is_ok() {} };
    tokio::time::timeout(FOREVER, flood).await.expect("the server keeps the connection");
    let silent = server.sent("POST /unread HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n").await;
    // The slot is free again although this peer never closes its side.
    assert_eq!(tokio::time::timeout(FOREVER, server.stop()).await.unwrap(), Stopped { cut_off: 0 });
    drop(silent);
}

#[tokio::test]
async fn who_reads_nothing_of_the_answer_is_cut_off() {
    let limits = Limits { write_timeout: SHORT, head_timeout: SHORT * 3, ..Limits::default() };
    let server = start(limits).await;
    let mut stream = server.sent("GET /big HTTP/1.1\r\nhost: a\r\n\r\n").await;
    // A second connection shows when the first should have been cut off.
    assert_eq!(to_end(&mut server.connect().await).await, "");
    assert!(to_end(&mut stream).await.len() < 64 * 1024 * 1024);
}

#[tokio::test]
async fn heads_beyond_the_limits_are_refused() {
    let server = start(Limits::default()).await;
    let with_header =
        |bytes: usize| format!("GET /ok HTTP/1.1\r\nhost: a\r\nx-a: {}\r\n\r\n", "a".repeat(bytes));
    let with_target = |bytes: usize| format!("GET /{} HTTP/1.1\r\nhost: a\r\n\r\n", "a".repeat(bytes));
    let with_query = |bytes: usize| format!("GET /ok?{} HTTP/1.1\r\nhost: a\r\n\r\n", "a".repeat(bytes));
    let table = [
        (with_header(33 * 1024), "431", "request_header_fields_too_large"),
        (with_target(8 * 1024), "414", "uri_too_long"),
        (with_query(8 * 1024), "414", "uri_too_long"),
    ];
    for (request, status, code) in table {
        let mut stream = server.sent(&request).await;
        assert_eq!(problem(&to_end(&mut stream).await), (status, code.to_owned()));
    }
    let fits = [(with_header(31 * 1024), "200"), (with_target(8 * 1024 - 1), "404")];
    for (request, status) in fits {
        let answer = one_answer(&mut server.sent(&request).await).await;
        assert_eq!(answer.get(9..12), Some(status));
    }
}

/// Heads that do not fit hyper's buffer, and bytes that are not HTTP: hyper's own answers are not sent.
#[tokio::test]
async fn what_hyper_refuses_gets_the_headers_and_the_body_of_every_answer() {
    let server = start(Limits::default()).await;
    let lines = "x: y\r\n".repeat(101);
    let table = [
        (format!("GET /ok HTTP/1.1\r\nhost: a\r\nx-a: {}\r\n\r\n", "a".repeat(80 * 1024)), "431", HEADERS),
        (format!("GET /ok HTTP/1.1\r\n{lines}\r\n"), "431", HEADERS),
        ("GET /ok HTTP/1.1\r\nbad header\r\n\r\n".into(), "400", REQUEST),
        ("POST /read HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n".into(), "400", REQUEST),
        ("GET /ok HTTP/7.7\r\nhost: a\r\n\r\n".into(), "400", REQUEST),
        ("hello\r\n\r\n".into(), "400", REQUEST),
        ("\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}".into(), "400", REQUEST),
    ];
    for (request, status, code) in table {
        let mut fresh = server.sent(&request).await;
        let mut reused = server.connect().await;
        ok(&mut reused).await;
        reused.write_all(request.as_bytes()).await.unwrap();
        for stream in [&mut fresh, &mut reused] {
            let answer = to_end(stream).await;
            assert_eq!(problem(&answer), (status, code.to_owned()), "{request:.40}");
            for line in
                ["cache-control: no-store", "x-content-type-options: nosniff", "connection: close", "date: "]
            {
                assert_eq!(answer.matches(line).count(), 1, "{line} in {answer}");
            }
        }
    }
}

const REQUEST: &str = "invalid_request";
const HEADERS: &str = "request_header_fields_too_large";

#[tokio::test]
async fn the_host_is_there_once_and_well_formed() {
    let server = start(Limits::default()).await;
    let good = ["host: a\r\n", "Host:  api.example.com:8080 \r\n", "host: [::1]:80\r\n", "host:\r\n"];
    for lines in good {
        let answer = one_answer(&mut server.sent(format!("GET /ok HTTP/1.1\r\n{lines}\r\n")).await).await;
        assert_eq!(answer.get(9..12), Some("200"), "{lines:?}");
    }
    let answer = to_end(&mut server.sent("GET /ok HTTP/1.0\r\n\r\n").await).await;
    assert_eq!(answer.get(9..12), Some("200"), "a version without Host");
    let bad =
        ["", "host: a\r\nhost: a\r\n", "host: a b\r\n", "host: a/b\r\n", "host: u@a\r\n", "host: a:b\r\n"];
    for lines in bad {
        let answer = to_end(&mut server.sent(format!("GET /ok HTTP/1.1\r\n{lines}\r\n")).await).await;
        assert_eq!(problem(&answer), ("400", REQUEST.to_owned()), "{lines:?}");
        assert!(answer.contains("connection: close"), "{answer}");
    }
}

#[tokio::test]
async fn transfer_codings_other_than_chunked_are_not_implemented() {
    let server = start(Limits::default()).await;
    let codings =
        ["gzip", "identity", "gzip, chunked", "chunked, chunked", "chunked, gzip", "chunked;q=1", ""];
    for coding in codings {
        let request = format!(
            "POST /read HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: {coding}\r\n\r\n\
             2\r\n{{}}\r\n0\r\n\r\n"
        );
        let answer = to_end(&mut server.sent(request).await).await;
        assert_eq!(problem(&answer), ("501", "not_implemented".to_owned()), "{coding}");
        assert!(answer.contains("connection: close"), "{answer}");
    }
    let request = "POST /read HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: Chunked\r\n\r\n\
                   2\r\n{}\r\n0\r\n\r\n";
    assert!(one_answer(&mut server.sent(request).await).await.ends_with("\r\n\r\n{}"));
}

/// Every read makes progress, and the whole is still too slow.
#[tokio::test]
async fn who_takes_an_answer_in_drops_is_cut_off() {
    let server = start(Limits { answer_timeout: SHORT, ..Limits::default() }).await;
    let mut stream = server.sent("GET /big HTTP/1.1\r\nhost: a\r\n\r\n").await;
    let mut ticks = tokio::time::interval(SHORT / 10);
    let (mut drop, mut taken) = ([0; 64 * 1024], 0);
    let drip = async {
        loop {
            ticks.tick().await;
            match stream.read(&mut drop).await {
                Ok(0) | Err(_) => return taken,
                Ok(some) => taken += some,
            }
        }
    };
    let taken = tokio::time::timeout(FOREVER, drip).await.expect("the server keeps the connection");
    assert!(taken < 64 * 1024 * 1024);
}

#[tokio::test]
async fn two_lengths_are_refused_in_either_order_and_on_a_reused_connection() {
    let server = start(Limits::default()).await;
    let post = |lines: &str| {
        format!("POST /read HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n{lines}\r\n")
    };
    let body = "2\r\n{}\r\n0\r\n\r\n";
    let ambiguous = [
        "content-length: 2\r\ntransfer-encoding: chunked\r\n",
        "transfer-encoding: chunked\r\ncontent-length: 2\r\n",
        "Transfer-Encoding: chunked\r\nx: y\r\nCONTENT-LENGTH: 12\r\n",
        "transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n",
    ];
    for lines in ambiguous {
        let request = format!("{}{body}", post(lines));
        let mut fresh = server.sent(&request).await;
        assert_eq!(problem(&to_end(&mut fresh).await), ("400", "invalid_request".into()), "{lines:?}");
        let mut reused = server.connect().await;
        ok(&mut reused).await;
        reused.write_all(request.as_bytes()).await.unwrap();
        assert_eq!(problem(&to_end(&mut reused).await), ("400", "invalid_request".into()), "{lines:?}");
    }
    let mut stream = server.connect().await;
    for _ in 0..3 {
        let request = format!("{}{body}", post("transfer-encoding: chunked\r\n"));
        stream.write_all(request.as_bytes()).await.unwrap();
        assert!(one_answer(&mut stream).await.ends_with("\r\n\r\n{}"));
        let request = format!("{}{{}}", post("content-length: 2\r\n"));
        stream.write_all(request.as_bytes()).await.unwrap();
        assert!(one_answer(&mut stream).await.ends_with("\r\n\r\n{}"));
    }
}

#[tokio::test]
async fn a_chunked_body_pipelined_behind_another_request_is_refused() {
    // Its head was read together with the other request, so it is unknown what hyper dropped from it.
    let server = start(Limits::default()).await;
    let pipelined = "GET /ok HTTP/1.1\r\nhost: a\r\n\r\nPOST /read HTTP/1.1\r\nhost: a\r\n\
                     content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n";
    let mut stream = server.sent(pipelined).await;
    assert!(one_answer(&mut stream).await.ends_with("\r\n\r\nok"));
    assert_eq!(problem(&to_end(&mut stream).await), ("400", "invalid_request".into()));
}

#[tokio::test]
async fn a_reused_connection_may_rest_longer_than_a_head_may_take_but_not_for_ever() {
    let server = start(Limits { head_timeout: SHORT, idle_timeout: SHORT * 3, ..Limits::default() }).await;
    let mut stream = server.connect().await;
    ok(&mut stream).await;
    // A fresh connection shows when the head's deadline has passed.
    assert_eq!(to_end(&mut server.connect().await).await, "");
    ok(&mut stream).await;
    assert_eq!(to_end(&mut stream).await, "");
}

#[tokio::test]
async fn idle_connections_keep_nobody_out() {
    let server = start(Limits { max_connections: 16, head_timeout: FOREVER * 2, ..Limits::default() }).await;
    let mut idle = Vec::new();
    for round in 0..300 {
        idle.push(server.sent(if round % 2 == 0 { "" } else { "GET /ok HTTP/1.1\r\n" }).await);
    }
    ok(&mut server.connect().await).await;
    // The first ones were evicted.
    assert_eq!(to_end(&mut idle[0]).await, "");
}

#[tokio::test]
async fn who_has_sent_a_request_gives_way_last() {
    let server = start(Limits { max_connections: 3, head_timeout: FOREVER * 2, ..Limits::default() }).await;
    let mut proven = server.connect().await;
    ok(&mut proven).await;
    let mut fresh = Vec::new();
    for _ in 0..10 {
        fresh.push(server.connect().await);
    }
    ok(&mut proven).await;
    for stream in fresh.iter_mut().take(8) {
        assert_eq!(to_end(stream).await, "");
    }
}

#[tokio::test]
async fn resting_connections_keep_nobody_from_a_first_request() {
    let server = start(Limits { max_connections: 16, head_timeout: FOREVER * 2, ..Limits::default() }).await;
    let mut resting = Vec::new();
    for _ in 0..16 {
        let mut stream = server.connect().await;
        ok(&mut stream).await;
        resting.push(stream);
    }
    // Slow to send its first request, while others come.
    let mut slow = server.connect().await;
    for _ in 0..3 {
        ok(&mut server.connect().await).await;
    }
    ok(&mut slow).await;
    assert_eq!(to_end(&mut resting[0]).await, "");
}

#[tokio::test]
async fn a_request_in_flight_is_never_dropped_for_a_new_connection() {
    let server = start(Limits { max_connections: 1, ..Limits::default() }).await;
    let mut busy = server.sent("GET /wait HTTP/1.1\r\nhost: a\r\n\r\n").await;
    server.reached.notified().await;
    let mut next = server.sent("GET /ok HTTP/1.1\r\nhost: a\r\n\r\n").await;
    server.release.notify_one();
    assert!(one_answer(&mut busy).await.ends_with("waited"));
    assert!(one_answer(&mut next).await.ends_with("ok"));
}

#[tokio::test]
async fn a_graceful_stop_finishes_what_is_in_flight_and_nothing_else() {
    let server = start(Limits::default()).await;
    let mut resting = server.connect().await;
    ok(&mut resting).await;
    let mut silent = server.connect().await;
    let mut busy = server.sent("GET /wait HTTP/1.1\r\nhost: a\r\n\r\n").await;
    server.reached.notified().await;
    let (address, release) = (server.address, server.release.clone());
    let stopped = tokio::spawn(server.stop());
    assert_eq!(to_end(&mut resting).await, "");
    assert!(TcpStream::connect(address).await.is_err());
    release.notify_one();
    let answer = to_end(&mut busy).await;
    assert!(answer.ends_with("waited") && answer.contains("connection: close"), "{answer}");
    assert_eq!(to_end(&mut silent).await, "");
    assert_eq!(stopped.await.unwrap(), Stopped { cut_off: 0 });
}

#[tokio::test]
async fn what_outlasts_the_grace_period_is_cut_off() {
    let server = start(Limits { stop_grace: SHORT, ..Limits::default() }).await;
    let mut busy = server.sent("GET /wait HTTP/1.1\r\nhost: a\r\n\r\n").await;
    server.reached.notified().await;
    assert_eq!(server.stop().await, Stopped { cut_off: 1 });
    assert_eq!(to_end(&mut busy).await, "");
}
