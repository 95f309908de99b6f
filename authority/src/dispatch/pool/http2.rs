//! A connection that carries many requests at a time.
//!
//! The receiver decides how many (`SETTINGS_MAX_CONCURRENT_STREAMS`), and announces it after the handshake. Until
//! then only one request is sent, and it is not known whether more connections are needed; so waiting attempts must
//! be served as soon as the limit arrives. hyper shows the limit but does not signal its arrival, so [`Watched`]
//! checks it after each step of the connection's own tasks.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioIo, TokioTimer};

use super::connection::{Failed, MAX_RESPONSE_HEAD_BYTES, SendAgain};
use super::tasks::{InUse, Watched};
use super::{About, Origin, Pool, PoolLimits, Stream};
use crate::dispatch::connection_count::{CountedConnection, Received};
use crate::dispatch::connector::ConnectFailure;

/// The most streams at a time on one connection, for a receiver that sets no limit: the most requests that one
/// endpoint may have in flight.
const STREAMS_MAX: usize = 256;

/// What hyper shows as the limit until the receiver has announced one: a number that nobody would choose.
const NOT_SAID_YET: usize = 0x2b3d_5f71;

pub(super) struct Http2 {
    sender: SendRequest<Full<Bytes>>,
    /// The receiver's limit as it is now; `None` once the connection takes no more requests.
    limit: Box<dyn Fn() -> Option<usize> + Send + Sync>,
    about: About,
    /// It is closed as soon as nobody uses it.
    pub(super) above_limit: bool,
    heard: Received,
    in_flight: AtomicUsize,
    /// Milliseconds of the clock at which the last stream ended.
    idle_since: AtomicU64,
    /// A request was answered on it.
    served: AtomicBool,
    /// The receiver has announced its stream limit.
    settled: AtomicBool,
    /// The pool waits until the receiver allows streams again.
    halted: AtomicBool,
    /// It takes no more requests.
    retired: AtomicBool,
    #[expect(dead_code, reason = "held until nothing uses the connection")]
    in_use: InUse,
}

/// Begins HTTP/2 on this connection.
pub(super) async fn open<IO: Stream>(
    stream: CountedConnection<IO>,
    origin: &Origin,
    about: About,
    limits: PoolLimits,
    pool: &Weak<Pool>,
) -> Result<Arc<Http2>, ConnectFailure> {
    let (heard, above_limit) = (stream.heard(), stream.above_limit());
    let in_use = InUse::default();
    let tasks = in_use.tasks(limits.closing);
    let watched = Watched::new(tasks.clone());
    let mut builder = Builder::new(watched.clone());
    builder
        .timer(TokioTimer::new())
        .keep_alive_interval(limits.ping_interval)
        .keep_alive_timeout(limits.ping_timeout)
        .max_header_list_size(MAX_RESPONSE_HEAD_BYTES as u32)
        .initial_max_send_streams(NOT_SAID_YET);
    let begun = builder.handshake(TokioIo::new(stream)).await;
    let (sender, connection) = begun.map_err(|error| ConnectFailure::of_http(error, &heard))?;
    let driven = Arc::new(Mutex::new(Some(connection)));
    let shown = Arc::clone(&driven);
    let limit = move || {
        let connection = shown.lock().unwrap_or_else(PoisonError::into_inner);
        connection.as_ref().map(|connection| connection.current_max_send_streams())
    };
    let http2 = Arc::new(Http2 {
        sender,
        limit: Box::new(limit),
        about,
        above_limit,
        heard,
        in_flight: AtomicUsize::new(0),
        idle_since: AtomicU64::new(whole_ms(about.begun)),
        served: AtomicBool::new(false),
        settled: AtomicBool::new(false),
        halted: AtomicBool::new(false),
        retired: AtomicBool::new(false),
        in_use,
    });
    // Both the task and the callback hold only weak references: a connection that nothing else holds any more ends.
    let (weak, pool_told, at) = (Arc::downgrade(&http2), pool.clone(), origin.clone());
    tokio::spawn(tasks.run(async move {
        poll_fn(|cx| {
            let mut driven = driven.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(connection) = driven.as_mut() else { return Poll::Ready(()) };
            let polled = Pin::new(connection).poll(cx);
            if polled.is_ready() {
                *driven = None;
            }
            polled.map(|_| ())
        })
        .await;
        if let (Some(pool), Some(http2)) = (pool_told.upgrade(), weak.upgrade()) {
            pool.ended(&at, &http2);
        }
    }));
    let (weak, pool_told, at) = (Arc::downgrade(&http2), pool.clone(), origin.clone());
    watched.tell(move || {
        if let Some(http2) = weak.upgrade()
            && http2.has_news()
            && let Some(pool) = pool_told.upgrade()
        {
            pool.has_room(&at);
        }
    });
    // A limit that arrived before the callback was set has notified nobody: note it now.
    http2.has_news();
    Ok(http2)
}

impl Http2 {
    /// Whether TLS has ended it.
    pub(super) fn tls_failed(&self) -> bool {
        self.heard.tls_failed()
    }

    pub(super) fn number(&self) -> u64 {
        self.about.number
    }

    /// Whether it may take requests.
    pub(super) fn is_usable(&self, now: Duration, limits: PoolLimits) -> bool {
        !self.retired.load(Ordering::Relaxed)
            && !self.sender.is_closed()
            && now.saturating_sub(self.about.begun) < limits.age
    }

    /// Since when it has been idle, if it is.
    pub(super) fn idle_since(&self) -> Option<Duration> {
        let idle = self.in_flight.load(Ordering::Acquire) == 0;
        idle.then(|| Duration::from_millis(self.idle_since.load(Ordering::Relaxed)))
    }

    /// Whether it can take one more request now.
    pub(super) fn has_room(&self) -> bool {
        let room = match (self.limit)() {
            Some(limit) if self.is_settled() => limit.min(STREAMS_MAX),
            Some(_) => 1,
            None => 0,
        };
        self.in_flight.load(Ordering::Relaxed) < room
    }

    /// Whether the receiver has announced its stream limit.
    pub(super) fn is_settled(&self) -> bool {
        self.settled.load(Ordering::Relaxed)
    }

    /// How many requests it takes at a time, if that was announced and is not 0.
    pub(super) fn known_limit(&self) -> Option<usize> {
        let limit = (self.limit)().filter(|limit| *limit > 0 && self.is_settled())?;
        Some(limit.min(STREAMS_MAX))
    }

    /// Whether it ended without ever having been of use.
    pub(super) fn never_served(&self) -> bool {
        !self.is_settled() && !self.served.load(Ordering::Relaxed)
    }

    /// Whether the receiver allows no streams at present. It will say when it does again, and then the pool is told.
    pub(super) fn is_halted(&self) -> bool {
        let halted = || self.is_settled() && (self.limit)() == Some(0);
        if !halted() {
            return false;
        }
        self.halted.store(true, Ordering::SeqCst);
        // Once more: what came in between has told nobody.
        halted()
    }

    /// Checks whether the pool is to be told: the stream limit has arrived, or is no longer 0. True once for each.
    fn has_news(&self) -> bool {
        if self.is_settled() && !self.halted.load(Ordering::SeqCst) {
            return false;
        }
        let Some(limit) = (self.limit)().filter(|limit| *limit != NOT_SAID_YET) else { return false };
        let settles = !self.settled.swap(true, Ordering::Relaxed);
        let resumes = limit > 0 && self.halted.swap(false, Ordering::SeqCst);
        settles || resumes
    }
}

/// One stream's slot on a connection, held until the response's body has ended.
pub(super) struct StreamSlot {
    connection: Arc<Http2>,
    pool: Weak<Pool>,
    origin: Origin,
    undone: bool,
}

impl StreamSlot {
    pub(super) fn take(connection: &Arc<Http2>, pool: &Arc<Pool>, origin: &Origin) -> Self {
        connection.in_flight.fetch_add(1, Ordering::Relaxed);
        let (connection, pool) = (Arc::clone(connection), Arc::downgrade(pool));
        Self { connection, pool, origin: origin.clone(), undone: false }
    }

    /// Gives the slot back without notifying the pool.
    pub(super) fn undo(mut self) {
        self.undone = true;
    }

    pub(super) async fn send(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, Failed> {
        let connection = &self.connection;
        let served_before = connection.served.load(Ordering::Relaxed);
        match connection.sender.clone().try_send_request(request).await {
            Ok(response) => {
                connection.served.store(true, Ordering::Relaxed);
                Ok(response)
            }
            Err(mut error) => {
                let unsent = error.take_message().is_some();
                let error = error.into_error();
                let again = match refusal(&error) {
                    _ if unsent && served_before => SendAgain::Elsewhere,
                    Refusal::NotProcessed => SendAgain::Elsewhere,
                    Refusal::ConnectionLost if served_before => SendAgain::Fresh,
                    Refusal::ConnectionLost | Refusal::OfTheRequest => SendAgain::Never,
                };
                if again != SendAgain::Never {
                    connection.retired.store(true, Ordering::Relaxed);
                }
                let tls_failed = connection.heard.tls_failed();
                Err(Failed { error, again, number: connection.number(), tls_failed })
            }
        }
    }
}

impl Drop for StreamSlot {
    fn drop(&mut self) {
        let pool = self.pool.upgrade().filter(|_| !self.undone);
        if let Some(pool) = &pool {
            self.connection.idle_since.store(whole_ms(pool.now()), Ordering::Relaxed);
        }
        // After that, so that it never looks idle for longer than it is.
        self.connection.in_flight.fetch_sub(1, Ordering::Release);
        if let Some(pool) = pool {
            pool.has_room(&self.origin);
        }
    }
}

/// What the error of a failed request means.
enum Refusal {
    /// The receiver has not begun to process it.
    NotProcessed,
    /// The connection is gone.
    ConnectionLost,
    /// The receiver has reset this stream, or what it sent is not HTTP/2.
    OfTheRequest,
}

fn refusal(error: &hyper::Error) -> Refusal {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<h2::Error>());
    match source {
        // A GOAWAY does not end the streams that the receiver may have begun to process.
        Some(h2) if h2.is_remote() && h2.is_go_away() => Refusal::NotProcessed,
        Some(h2) if h2.is_remote() && h2.reason() == Some(h2::Reason::REFUSED_STREAM) => {
            Refusal::NotProcessed
        }
        Some(h2) if !h2.is_io() => Refusal::OfTheRequest,
        _ => Refusal::ConnectionLost,
    }
}

fn whole_ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
