//! One connection, for one request at a time or for many, and what may be done when a request gets no answer.
//!
//! A request that got no answer is sent again within its attempt in two cases only. Either the receiver said that it
//! has not processed the request (HTTP/2: `GOAWAY` below its stream, `REFUSED_STREAM`). Or the connection had been
//! used or idle before and ended before a single byte of an answer came: this happens when a receiver closes an idle
//! connection while a request is on its way (RFC 9112 9.3.1). When a receiver closes a fresh connection, the request
//! is not sent again.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::HOST;
use http::{HeaderValue, Request, Response, Uri};
use http_body_util::Full;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::time::timeout;

use super::http2::{self, Http2, StreamSlot};
use super::tasks::InUse;
use super::{About, Origin, Pool, PoolLimits, Stream};
use crate::dispatch::connection_count::{CountedConnection, Received};
use crate::dispatch::connector::ConnectFailure;

/// The limit of response header bytes, after which no more are read. Bytes beyond it from the last read still count.
pub(super) const MAX_RESPONSE_HEAD_BYTES: usize = 64 * 1024;

/// How long a connection may take to become usable again after its response has ended.
const NEAR: Duration = Duration::from_millis(100);

/// The most response headers that are read.
const MAX_RESPONSE_HEADERS: usize = 100;

/// A connection that was just made.
pub(super) enum Opened {
    Http1(Http1),
    Http2(Arc<Http2>),
}

/// Begins HTTP on a connection, in the version that the receiver has chosen in the TLS handshake.
pub(super) async fn open<IO: Stream>(
    stream: CountedConnection<IO>,
    origin: &Origin,
    about: About,
    limits: PoolLimits,
    pool: &Weak<Pool>,
) -> Result<Opened, ConnectFailure> {
    if stream.stream().connected().is_negotiated_h2() {
        return http2::open(stream, origin, about, limits, pool).await.map(Opened::Http2);
    }
    let (heard, serves_once) = (stream.heard(), stream.above_limit());
    let builder = {
        let mut builder = http1::Builder::new();
        builder.max_buf_size(MAX_RESPONSE_HEAD_BYTES).max_headers(MAX_RESPONSE_HEADERS);
        builder
    };
    let (mut sender, connection) = builder
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|error| ConnectFailure::of_http(error, &heard))?;
    let in_use = InUse::default();
    let driver = tokio::spawn(in_use.tasks(limits.closing).run(connection));
    if let Err(closed) = sender.ready().await {
        // The connection's task knows why it was closed.
        let cause = driver.await.ok().flatten().and_then(Result::err).unwrap_or(closed);
        return Err(ConnectFailure::of_http(cause, &heard));
    }
    let (kept, idle_since) = (false, about.begun);
    Ok(Opened::Http1(Http1 { sender, about, heard, serves_once, kept, idle_since, in_use }))
}

/// A connection that carries one request at a time.
pub(super) struct Http1 {
    sender: http1::SendRequest<Full<Bytes>>,
    about: About,
    heard: Received,
    pub(super) serves_once: bool,
    /// It has served a request or been idle, so the receiver may have closed it meanwhile.
    pub(super) kept: bool,
    pub(super) idle_since: Duration,
    in_use: InUse,
}

impl Http1 {
    /// Whether it may take a request.
    pub(super) fn is_usable(&self, now: Duration, limits: PoolLimits) -> bool {
        !self.sender.is_closed()
            && now.saturating_sub(self.about.begun) < limits.age
            && now.saturating_sub(self.idle_since) < limits.idle
    }

    async fn send(&mut self, mut request: Request<Full<Bytes>>) -> Result<Response<Incoming>, Failed> {
        origin_form(&mut request);
        let heard_before = self.heard.bytes();
        match self.sender.try_send_request(request).await {
            Ok(response) => {
                self.kept = true;
                Ok(response)
            }
            Err(error) => {
                let silent = self.heard.bytes() == heard_before;
                let again = if self.kept && silent { SendAgain::Fresh } else { SendAgain::Never };
                let (error, number) = (error.into_error(), self.about.number);
                Err(Failed { error, again, number, tls_failed: self.heard.tls_failed() })
            }
        }
    }
}

/// The request as HTTP/1.1 writes it: the path alone, and the host as a header.
fn origin_form(request: &mut Request<Full<Bytes>>) {
    if let Some(host) = request.uri().authority()
        && let Ok(host) = HeaderValue::from_str(host.as_str())
    {
        request.headers_mut().insert(HOST, host);
    }
    if let Some(path) = request.uri().path_and_query().cloned() {
        *request.uri_mut() = Uri::from(path);
    }
}

/// What to do about a request that got no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::dispatch) enum SendAgain {
    /// It may have been processed.
    Never,
    /// Send it on a connection that was begun later than this one.
    Fresh,
    /// The receiver has not processed it: send it on any other connection.
    Elsewhere,
}

/// A request that got no answer.
#[derive(Debug)]
pub(in crate::dispatch) struct Failed {
    pub(in crate::dispatch) error: hyper::Error,
    pub(in crate::dispatch) again: SendAgain,
    /// The connection it was sent on.
    pub(in crate::dispatch) number: u64,
    /// TLS has ended that connection.
    pub(in crate::dispatch) tls_failed: bool,
}

/// The right to send one request. Dropped unused, or while the request is under way, its connection or stream ends.
pub(in crate::dispatch) struct Lease(Leased);

enum Leased {
    Http1 { connection: Http1, pool: Weak<Pool>, origin: Origin },
    Http2(StreamSlot),
}

impl Lease {
    pub(super) fn http1(connection: Http1, pool: &Arc<Pool>, origin: &Origin) -> Self {
        Self(Leased::Http1 { connection, pool: Arc::downgrade(pool), origin: origin.clone() })
    }

    pub(super) fn http2(connection: &Arc<Http2>, pool: &Arc<Pool>, origin: &Origin) -> Self {
        Self(Leased::Http2(StreamSlot::take(connection, pool, origin)))
    }

    /// Ends the lease without notifying the pool. Returns the connection, if it speaks HTTP/1.1.
    pub(super) fn undo(self) -> Option<Http1> {
        match self.0 {
            Leased::Http1 { connection, .. } => Some(connection),
            Leased::Http2(slot) => {
                slot.undo();
                None
            }
        }
    }

    /// Sends the request and returns the response, read to the end of its headers.
    pub(in crate::dispatch) async fn send(
        self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<LeasedBody>, Failed> {
        match self.0 {
            Leased::Http1 { mut connection, pool, origin } => {
                let response = connection.send(request).await?;
                let (near, in_use) = (AtomicBool::new(connection.serves_once), connection.in_use.clone());
                let back = Arc::new(WayBack { pool, origin, near, in_use });
                if response.body().is_end_stream() {
                    back.is_near();
                }
                let slot = LeasedSlot::Http1(Arc::clone(&back));
                give_back(connection, back);
                Ok(response.map(|body| LeasedBody { body, slot }))
            }
            Leased::Http2(slot) => {
                let response = slot.send(request).await?;
                Ok(response.map(|body| LeasedBody { body, slot: LeasedSlot::Http2(slot) }))
            }
        }
    }
}

/// Gives the connection back when the response's body has been read to its end.
fn give_back(mut connection: Http1, back: Arc<WayBack>) {
    let Some(pool) = back.pool.upgrade().filter(|_| !connection.serves_once) else { return };
    connection.idle_since = pool.now();
    drop(pool);
    tokio::spawn(async move {
        let ready = is_ready(&mut connection.sender, &back).await;
        if let Some(pool) = back.pool.upgrade() {
            pool.came_back(&back.origin, ready.then_some(connection), &back.near);
        }
    });
}

/// Waits until the connection can take a request; false when it cannot. Does not wait for a receiver that has
/// answered but does not read the rest of the request.
async fn is_ready(sender: &mut http1::SendRequest<Full<Bytes>>, back: &Arc<WayBack>) -> bool {
    let mut is_over = false;
    loop {
        match timeout(NEAR, sender.ready()).await {
            Ok(ready) => return ready.is_ok(),
            Err(_) if is_over => return false,
            Err(_) => is_over = back.is_over(),
        }
    }
}

/// The way of an HTTP/1.1 connection back to its pool after its response.
struct WayBack {
    pool: Weak<Pool>,
    origin: Origin,
    /// Whether the pool expects it back soon; changed under the pool's lock.
    near: AtomicBool,
    #[expect(dead_code, reason = "held while the body is read")]
    in_use: InUse,
}

impl WayBack {
    /// Whether the response's body has ended, or is read no further: then only the connection itself is on this way.
    fn is_over(self: &Arc<Self>) -> bool {
        self.near.load(Ordering::Relaxed) || Arc::strong_count(self) == 1
    }

    /// The response has ended: the connection will be back shortly, so a waiting attempt needs no new one.
    fn is_near(&self) {
        if let Some(pool) = self.pool.upgrade() {
            pool.comes_back(&self.origin, &self.near);
        }
    }
}

/// What a response occupies until its body has ended.
enum LeasedSlot {
    Http1(Arc<WayBack>),
    Http2(#[expect(dead_code, reason = "held until it is dropped")] StreamSlot),
}

/// A response's body, and what it occupies.
pub(in crate::dispatch) struct LeasedBody {
    body: Incoming,
    slot: LeasedSlot,
}

impl Body for LeasedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if let (Poll::Ready(None), LeasedSlot::Http1(back)) = (&polled, &self.slot) {
            back.is_near();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
