//! The merchants' receiver: it fails in every way that receivers fail, at random, and records everything that arrives.
//!
//! It lives in the campaign's process and so outlives every kill. What it does with a request is drawn from the seed
//! and the request's number; some events it never likes, so that deliveries come to their end. Once it is told to be
//! [well](Receiver::heal) it answers everything with 200.
//!
//! A request is recorded when its last byte has arrived, before anything is answered. What was cut off on its way is no
//! arrival.

use std::collections::HashMap;
use std::convert::Infallible;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::stream;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use tests::now_ms;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

use crate::pace::after_ms;

/// One request that arrived whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    pub(crate) path: String,
    /// `Service-Delivery-Id`.
    pub(crate) delivery: String,
    /// `Service-Event-Id`.
    pub(crate) event: String,
    /// `Service-Attempt`.
    pub(crate) attempt: i64,
    /// `Service-Timestamp`, Unix seconds.
    pub(crate) timestamp: i64,
    /// `Service-Signature`.
    pub(crate) signature: String,
    /// Unix milliseconds.
    pub(crate) at: i64,
    /// The status that it is answered with; `None` when it gets no answer.
    pub(crate) answered: Option<u16>,
    /// The body, where it is not that of the event's first arrival.
    pub(crate) other_body: Option<Bytes>,
}

impl Arrival {
    /// Whether the receiver has acknowledged it.
    pub(crate) fn acknowledged(&self) -> bool {
        self.answered.is_some_and(|status| (200..300).contains(&status))
    }
}

/// Everything that has arrived.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    /// In the order in which they arrived.
    pub(crate) arrivals: Vec<Arrival>,
    /// The body of each event's first arrival.
    pub(crate) bodies: HashMap<String, Bytes>,
}

/// What is done with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    /// An answer at once.
    Status(u16),
    /// The same with `Retry-After`, in seconds.
    Later(u16, u32),
    /// 200 after so many milliseconds.
    Slowly(u64),
    /// 200, and a body that drips for ever.
    Drip,
    /// The connection is closed without an answer.
    HangUp,
    /// No answer for as long as the other side waits.
    Silence,
}

impl Deed {
    fn status(self) -> Option<u16> {
        match self {
            Self::Status(status) | Self::Later(status, _) => Some(status),
            Self::Slowly(_) | Self::Drip => Some(200),
            Self::HangUp | Self::Silence => None,
        }
    }
}

struct State {
    seed: u64,
    number: AtomicU64,
    well: AtomicBool,
    record: Mutex<Record>,
}

/// A running receiver; it ends when this value is dropped.
pub(crate) struct Receiver {
    base: String,
    state: Arc<State>,
    accepting: AbortHandle,
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Receiver {
    /// Listens on a free loopback port.
    pub(crate) async fn start(seed: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(State {
            seed,
            number: AtomicU64::new(0),
            well: AtomicBool::new(false),
            record: Mutex::default(),
        });
        let accepting = tokio::spawn(accept(listener, Arc::clone(&state))).abort_handle();
        Self { base, state, accepting }
    }

    /// The address of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// From now on everything is answered with 200.
    pub(crate) fn heal(&self) {
        self.state.well.store(true, Ordering::SeqCst);
    }

    /// Everything that has arrived so far.
    pub(crate) fn record(&self) -> Record {
        self.state.record.lock().unwrap().clone()
    }
}

async fn accept(listener: TcpListener, state: Arc<State>) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let state = Arc::clone(&state);
        tokio::spawn(async move {
            let answering = service_fn(|request| answer(request, &state));
            // Ends with an error when the authority is killed, and when the receiver hangs up.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), answering).await;
        });
    }
}

/// The receiver hangs up.
#[derive(Debug)]
struct HungUp;

impl std::fmt::Display for HungUp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the receiver hangs up")
    }
}

impl std::error::Error for HungUp {}

async fn answer(
    request: Request<Incoming>,
    state: &State,
) -> Result<Response<BoxBody<Bytes, Infallible>>, HungUp> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(|_| HungUp)?.to_bytes();
    let deed = state.deed(text(&head.headers, "service-event-id"));
    state.record(head.uri.path(), &head.headers, body, deed);
    match deed {
        Deed::HangUp => return Err(HungUp),
        Deed::Silence => std::future::pending().await,
        Deed::Slowly(ms) => after_ms(ms).await,
        Deed::Status(_) | Deed::Later(..) | Deed::Drip => {}
    }
    let body = if deed == Deed::Drip { dripping() } else { Full::default().boxed() };
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(deed.status().unwrap()).unwrap();
    if let Deed::Later(_, seconds) = deed {
        response.headers_mut().insert("retry-after", seconds.into());
    }
    if response.status().is_redirection() {
        response.headers_mut().insert("location", "/elsewhere".parse().unwrap());
    }
    Ok(response)
}

/// A byte every 100 ms, for ever.
fn dripping() -> BoxBody<Bytes, Infallible> {
    let drops = stream::unfold((), |()| async {
        after_ms(100).await;
        Some((Ok(Frame::data(Bytes::from_static(b"."))), ()))
    });
    BoxBody::new(StreamBody::new(Box::pin(drops)))
}

impl State {
    fn deed(&self, event: &str) -> Deed {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        if self.well.load(Ordering::SeqCst) {
            return Deed::Status(200);
        }
        // What this receiver thinks of an event is the same at every attempt.
        let mut hasher = DefaultHasher::new();
        (self.seed, event).hash(&mut hasher);
        match hasher.finish() % 1000 {
            0..4 => return Deed::Status(422),
            4..8 => return Deed::Status(500),
            _ => {}
        }
        let mut dice = StdRng::seed_from_u64(self.seed.wrapping_add(number));
        // Those that hold the whole endpoint back (contract 15.6) are rare, or nothing else would happen.
        match dice.random_range(0..1000) {
            0..2 => Deed::Status(410),
            2..5 => Deed::Later(429, dice.random_range(0..3)),
            5..8 => Deed::Later(503, dice.random_range(0..3)),
            8..10 => Deed::Status(504),
            10..14 => Deed::Silence,
            14..44 => Deed::HangUp,
            44..54 => Deed::Drip,
            54..74 => Deed::Slowly(dice.random_range(100..700)),
            74..84 => Deed::Status([301, 302, 307, 308][dice.random_range(0..4)]),
            84..104 => Deed::Status([400, 401, 403, 404, 405, 413][dice.random_range(0..6)]),
            104..134 => Deed::Status([408, 409, 425][dice.random_range(0..3)]),
            134..214 => Deed::Status([500, 501, 505, 599][dice.random_range(0..4)]),
            _ => Deed::Status([200, 201, 202, 204][dice.random_range(0..4)]),
        }
    }

    fn record(&self, path: &str, headers: &HeaderMap, body: Bytes, deed: Deed) {
        let event = text(headers, "service-event-id").to_owned();
        let mut record = self.record.lock().unwrap();
        let first = record.bodies.entry(event.clone()).or_insert_with(|| body.clone());
        let other_body = (*first != body).then_some(body);
        record.arrivals.push(Arrival {
            path: path.to_owned(),
            delivery: text(headers, "service-delivery-id").to_owned(),
            event,
            attempt: text(headers, "service-attempt").parse().unwrap_or(0),
            timestamp: text(headers, "service-timestamp").parse().unwrap_or(0),
            signature: text(headers, "service-signature").to_owned(),
            at: now_ms(),
            answered: deed.status(),
            other_body,
        });
    }
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> &'h str {
    headers.get(name).and_then(|line| line.to_str().ok()).unwrap_or_default()
}
