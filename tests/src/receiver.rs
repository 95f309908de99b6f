//! A merchant's receiver on a real socket, which answers as its script says and keeps everything that arrived.
//!
//! One receiver serves any number of endpoints, each at its own path. The script sees the arrival with its count and
//! decides the answer; an answer can be held until the test opens a [`Gate`]. Signatures are judged afterwards, with
//! the core that the merchants' receivers use ([`Arrival::verify`]), at the time of the arrival.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use verify_core::event::Envelope;
use verify_core::verify::{Headers, Tolerance, Verifier};
use verify_core::{VerificationCode, header};

use crate::clock::now_ms;
use crate::eventually::within;

/// One request of the authority.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// How it was asked.
    pub method: Method,
    /// Where it came to, e.g. `/hook`.
    pub path: String,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its exact bytes.
    pub body: Bytes,
    /// What the header says; empty when there is none.
    pub event_id: String,
    /// The how many-th request with this event at this path, from 1.
    pub nth: usize,
    /// The how many-th request of all, from 1.
    pub number: usize,
    /// When it had arrived, Unix milliseconds.
    pub arrived_at: i64,
    /// The status that it is answered with.
    pub status: u16,
}

impl Arrival {
    /// The only line of a header, empty when there is none.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        let lines: Vec<_> = self.headers.get_all(name).iter().collect();
        assert!(lines.len() < 2, "{name} is there twice");
        lines.first().map_or("", |line| line.to_str().unwrap())
    }

    /// Verifies it as a receiver does that trusts `secret` and stands at the time of the arrival.
    ///
    /// # Errors
    /// The code of contract 10.2.
    pub fn verify(&self, secret: &str) -> Result<Envelope<'_>, VerificationCode> {
        self.verify_at(secret, self.arrived_at)
    }

    /// The same for a receiver that stands at another time, in Unix milliseconds.
    ///
    /// # Errors
    /// The code of contract 10.2.
    pub fn verify_at(&self, secret: &str, now_ms: i64) -> Result<Envelope<'_>, VerificationCode> {
        let verifier = Verifier::new(&[secret], Tolerance::DEFAULT).unwrap();
        let line = |name| self.headers.get(name).map(HeaderValue::as_bytes);
        let headers = Headers {
            timestamp: line(header::TIMESTAMP),
            signature: line(header::SIGNATURE),
            event_id: line(header::EVENT_ID),
        };
        verifier.verify(Some(&self.body), &headers, now_ms.div_euclid(1000))
    }
}

/// What the receiver answers.
#[derive(Clone, Debug)]
pub struct Answer {
    status: StatusCode,
    headers: Vec<(&'static str, String)>,
    gate: Option<watch::Receiver<bool>>,
    after: Duration,
    drips: bool,
}

/// How often a dripping body grows by a byte.
const DRIP: Duration = Duration::from_millis(50);

impl Answer {
    /// At once, with this status and nothing else.
    #[must_use]
    pub fn status(status: u16) -> Self {
        Self {
            status: StatusCode::from_u16(status).unwrap(),
            headers: Vec::new(),
            gate: None,
            after: Duration::ZERO,
            drips: false,
        }
    }

    /// The same, so much later: a receiver that takes its time.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.after = delay;
        self
    }

    /// The same with a body that comes byte by byte and never ends.
    #[must_use]
    pub fn dripping(mut self) -> Self {
        self.drips = true;
        self
    }

    /// The same with a header.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// The same, held until `gate` is open.
    #[must_use]
    pub fn held_by(mut self, gate: &Gate) -> Self {
        self.gate = Some(gate.0.subscribe());
        self
    }
}

/// Holds answers back until it is opened.
#[derive(Clone, Debug)]
pub struct Gate(Arc<watch::Sender<bool>>);

impl Gate {
    /// A closed one.
    #[must_use]
    pub fn closed() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    /// Lets every answer go.
    pub fn open(&self) {
        self.0.send_replace(true);
    }
}

/// What has arrived so far.
#[derive(Clone, Debug, Default)]
pub struct Arrivals {
    /// In the order in which they arrived.
    pub all: Vec<Arrival>,
    counts: BTreeMap<(String, String), usize>,
    accepted: BTreeMap<String, BTreeSet<String>>,
}

impl Arrivals {
    /// Those at one path, in order.
    pub fn at(&self, path: &str) -> impl Iterator<Item = &Arrival> {
        self.all.iter().filter(move |arrival| arrival.path == path)
    }

    /// How many different events were answered with 2xx at a path.
    #[must_use]
    pub fn accepted(&self, path: &str) -> usize {
        self.accepted.get(path).map_or(0, BTreeSet::len)
    }

    /// The events' types at one path, in order.
    #[must_use]
    pub fn types_at(&self, path: &str) -> Vec<String> {
        let parse = |arrival: &Arrival| serde_json::from_slice::<serde_json::Value>(&arrival.body).unwrap();
        self.at(path).map(|arrival| parse(arrival)["type"].as_str().unwrap().to_owned()).collect()
    }

    fn add(&mut self, mut arrival: Arrival, script: &Script) -> Answer {
        let count = self.counts.entry((arrival.path.clone(), arrival.event_id.clone())).or_default();
        *count += 1;
        arrival.nth = *count;
        arrival.number = self.all.len() + 1;
        let answer = script(&arrival);
        arrival.status = answer.status.as_u16();
        if answer.status.is_success() {
            self.accepted.entry(arrival.path.clone()).or_default().insert(arrival.event_id.clone());
        }
        self.all.push(arrival);
        answer
    }
}

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

fn drip() -> UnsyncBoxBody<Bytes, Infallible> {
    let drops = stream::unfold(tokio::time::interval(DRIP), async |mut ticks| {
        ticks.tick().await;
        Some((Ok(Frame::data(Bytes::from_static(b"."))), ticks))
    });
    StreamBody::new(drops).boxed_unsync()
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
    let (arrived_at, headers) = (now_ms(), head.headers);
    let method = head.method;
    let arrival = Arrival { method, path, headers, body, event_id, nth: 0, number: 0, arrived_at, status: 0 };
    let mut answer = None;
    arrivals.send_modify(|arrivals| answer = Some(arrivals.add(arrival, script)));
    let answer = answer.unwrap();
    if let Some(mut gate) = answer.gate {
        // A gate that is gone never opens.
        if gate.wait_for(|open| *open).await.is_err() {
            std::future::pending::<Infallible>().await;
        }
    }
    if !answer.after.is_zero() {
        tokio::time::sleep(answer.after).await;
    }
    let body = if answer.drips { drip() } else { Full::default().boxed_unsync() };
    let mut response = Response::new(body);
    *response.status_mut() = answer.status;
    for (name, value) in answer.headers {
        response.headers_mut().insert(HeaderName::from_static(name), value.parse().unwrap());
    }
    Ok(response)
}
