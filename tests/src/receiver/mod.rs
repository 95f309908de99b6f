//! A merchant's receiver on a real socket, which answers as its script says and keeps everything that arrived.
//!
//! One receiver serves any number of endpoints, each at its own path. The script sees the arrival with its count and
//! decides the answer; an answer can be held until the test opens a [`Gate`]. Signatures are judged afterwards, with
//! the core that the merchants' receivers use ([`Arrival::verify`]), at the time of the arrival.

mod answer;
mod arrival;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::{HeaderName, Request, Response};
use http_body_util::BodyExt as _;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use verify_core::header;

pub use answer::{Answer, Gate};
pub use arrival::{Arrival, Arrivals};

use crate::clock::now_ms;
use crate::eventually::within;

type Script = dyn Fn(&Arrival) -> Answer + Send + Sync;

/// A running receiver; it ends when this value is dropped.
#[derive(Debug)]
pub struct Receiver {
    base: String,
    connections: Arc<AtomicUsize>,
    arrivals: Arc<watch::Sender<Arrivals>>,
    accepting: AbortHandle,
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Receiver {
    /// Listens on a free loopback port.
    pub async fn start(script: impl Fn(&Arrival) -> Answer + Send + Sync + 'static) -> Self {
        Self::listening(TcpListener::bind("127.0.0.1:0").await.unwrap(), script)
    }

    fn listening(listener: TcpListener, script: impl Fn(&Arrival) -> Answer + Send + Sync + 'static) -> Self {
        let base = format!("http://{}", listener.local_addr().unwrap());
        let arrivals = Arc::new(watch::Sender::new(Arrivals::default()));
        let connections = Arc::<AtomicUsize>::default();
        let accepting =
            tokio::spawn(accept(listener, Arc::clone(&connections), Arc::clone(&arrivals), Arc::new(script)));
        Self { base, connections, arrivals, accepting: accepting.abort_handle() }
    }

    /// One that accepts everything.
    pub async fn accepting() -> Self {
        Self::start(|_| Answer::status(200)).await
    }

    /// One that holds every request until its gate is open, and answers with this status then.
    pub async fn gated(status: u16) -> (Self, Gate) {
        let gate = Gate::closed();
        let held = gate.clone();
        (Self::start(move |_| Answer::status(status).held_by(&held)).await, gate)
    }

    /// The address of a path.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// How many connections were made to it, whatever came over them.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// What has arrived so far.
    #[must_use]
    pub fn arrivals(&self) -> Arrivals {
        self.arrivals.borrow().clone()
    }

    /// Waits until what has arrived satisfies `enough`, and returns it. `what` names it in the failure.
    pub async fn until(&self, what: &str, mut enough: impl FnMut(&Arrivals) -> bool) -> Arrivals {
        let mut arrivals = self.arrivals.subscribe();
        within(what, arrivals.wait_for(|arrivals| enough(arrivals))).await.unwrap().clone()
    }
}

/// A receiver that is down: its port is its own, and whoever connects is refused.
#[derive(Debug)]
pub struct Down {
    socket: TcpSocket,
    address: SocketAddr,
}

impl Down {
    /// One at a free loopback port.
    #[must_use]
    pub fn new() -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = socket.local_addr().unwrap();
        Self { socket, address }
    }

    /// The address of a path.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Comes up, at the same port.
    #[must_use]
    pub fn up(self, script: impl Fn(&Arrival) -> Answer + Send + Sync + 'static) -> Receiver {
        Receiver::listening(self.socket.listen(1024).unwrap(), script)
    }
}

impl Default for Down {
    fn default() -> Self {
        Self::new()
    }
}

async fn accept(
    listener: TcpListener,
    connections: Arc<AtomicUsize>,
    arrivals: Arc<watch::Sender<Arrivals>>,
    script: Arc<Script>,
) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        connections.fetch_add(1, Ordering::SeqCst);
        let (arrivals, script) = (Arc::clone(&arrivals), Arc::clone(&script));
        tokio::spawn(async move {
            let answering = service_fn(|request| answer(request, &arrivals, script.as_ref()));
            // The authority may be killed in the middle of a request: that ends the connection and nothing else.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), answering).await;
        });
    }
}

async fn answer(
    request: Request<Incoming>,
    arrivals: &watch::Sender<Arrivals>,
    script: &Script,
) -> Result<Response<UnsyncBoxBody<Bytes, Infallible>>, hyper::Error> {
    let (head, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    let event_id = head.headers.get(header::EVENT_ID).map_or("", |line| line.to_str().unwrap()).to_owned();
    let path = head.uri.path().to_owned();
    let query = head.uri.query().unwrap_or_default().to_owned();
    let (arrived_at, headers) = (now_ms(), head.headers);
    let method = head.method;
    let arrival =
        Arrival { method, path, query, headers, body, event_id, nth: 0, number: 0, arrived_at, status: 0 };
    let mut answer = None;
    arrivals.send_modify(|arrivals| answer = Some(arrivals.add(arrival, script)));
    let mut answer: Answer = answer.unwrap();
    answer.is_due().await;
    let mut response = Response::new(answer.body());
    *response.status_mut() = answer.status;
    for (name, value) in answer.headers {
        response.headers_mut().insert(HeaderName::from_static(name), value.parse().unwrap());
    }
    Ok(response)
}
