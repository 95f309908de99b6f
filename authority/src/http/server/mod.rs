//! Accepts connections and serves one router on them, with a limit on everything a peer can hold.
//!
//! The accept loop passes each connection to its own task, in which hyper speaks HTTP/1.1. A peer that sends nothing,
//! half a head, a body that stalls, or never reads its answer is cut off at a deadline. When all slots are taken, a
//! waiting connection is evicted (`connections`), so that idle peers, and those that announce bodies and do not send
//! them, never keep others out. One whose request is whole is not closed for others before its answer.
//!
//! When told to stop, the server accepts what waits in the system's queue and nothing after it, answers what peers
//! had sent by then, lets requests in flight finish, and closes the rest after a grace period. Deliberately absent:
//! `axum::serve`, which holds stalled connections for ever; HTTP/2 and TLS, which belong to the proxy in front; and
//! every rule about the content of a request (see [`super::answer`]).

mod connections;
mod defect;
mod own_answer;
mod request_body;
mod stream;

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use http::HeaderValue;
use http::header::CONNECTION;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tower::ServiceExt;

use self::connections::{Connections, Evicted, Slot};
use self::request_body::{RequestBody, ResponseBody};
use self::stream::LimitedStream;

pub use self::defect::{Defect, Malformed};
pub use self::request_body::BodyTimeout;

/// Largest head that is read before hyper itself refuses it. Twice the limit of [`super::answer`], so that heads
/// slightly above the limit are read to their end.
const READ_BUFFER_BYTES: usize = 64 * 1024;
/// Pause after the system refused a connection for lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);
/// How long connections without a request stay open when the server stops. What their peers sent before they could know
/// arrives within half a round trip, and is answered.
const LAST_REQUEST_WAIT: Duration = Duration::from_millis(250);

/// What a peer may hold, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Connections open at once. The default, 1,024, is far more than the requests that one instance answers at a
    /// time. The store and the dispatcher need file descriptors as well: a process whose limit is lower (often
    /// 1,024) than the total closes waiting connections when it runs out, and logs it.
    pub max_connections: usize,
    /// From the first byte of a request (or from accepting the connection) to the end of its head. 10 s.
    pub head_timeout: Duration,
    /// How long a connection may be idle between two requests. 75 s: longer than the idle time of proxies and
    /// client pools, so that they close first and no request hits a closing connection.
    pub idle_timeout: Duration,
    /// From the end of the head to the end of the body. 30 s.
    pub body_timeout: Duration,
    /// How long a peer may read nothing of an answer that is ready for it. 30 s.
    pub write_timeout: Duration,
    /// How long a peer may take to read a whole answer. 120 s: a page of a list is at most about 4 MiB, and a peer
    /// that reads it very slowly would hold that much memory as long as it likes.
    pub answer_timeout: Duration,
    /// How long a peer that was answered early may continue to send before its connection is closed. 5 s: enough
    /// for a body of many times the limit, and the slot becomes available to others soon.
    pub linger_timeout: Duration,
    /// How long requests in flight may take to finish when the service stops. 20 s (T8).
    pub stop_grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_connections: 1_024,
            head_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(75),
            body_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            answer_timeout: Duration::from_secs(120),
            linger_timeout: Duration::from_secs(5),
            stop_grace: Duration::from_secs(20),
        }
    }
}

/// The address of the peer: the other end of the connection, in the extensions of every request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerAddress(pub SocketAddr);

/// How a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped {
    /// Connections that were still busy after the grace period, or still waited for a slot, and were cut off.
    pub cut_off: usize,
}

type Accepted = (TcpStream, SocketAddr);

/// The phases of the server's shutdown, as connections see them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Serving,
    /// Finish requests in flight, and those that were sent by now.
    Stopping,
    /// Close now.
    Over,
}

/// Serves `router` on `listener` until `stop` resolves, then stops gracefully. Dropping the future closes
/// everything at once.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    stop: impl Future<Output = ()>,
) -> Stopped {
    let connections = Arc::new(Connections::new(limits.max_connections));
    let (phase, phase_seen) = watch::channel(Phase::Serving);
    let begin = |(stream, peer), slot| {
        let (router, connections, phase) = (router.clone(), connections.clone(), phase_seen.clone());
        tokio::spawn(Connection { peer, slot, limits, router, connections, phase }.run(stream));
    };
    tokio::pin!(stop);
    let without_slot = loop {
        let accepted = tokio::select! {
            biased;
            () = &mut stop => break None,
            accepted = accept(&listener, &connections) => accepted,
        };
        let Some(accepted) = accepted else { continue };
        tokio::select! {
            biased;
            () = &mut stop => break Some(accepted),
            slot = connections.enter() => begin(accepted, slot),
        }
    };
    phase.send_replace(Phase::Stopping);
    let mut waiting: VecDeque<_> = without_slot.into_iter().collect();
    waiting.extend(queued(listener, limits.max_connections));
    let ended = async {
        while !waiting.is_empty() {
            let slot = connections.enter_when_free().await;
            if let Some(accepted) = waiting.pop_front() {
                begin(accepted, slot);
            }
        }
        connections.emptied().await;
    };
    if tokio::time::timeout(limits.stop_grace, ended).await.is_ok() {
        return Stopped { cut_off: 0 };
    }
    let cut_off = connections.count() + waiting.len();
    phase.send_replace(Phase::Over);
    connections.emptied().await;
    Stopped { cut_off }
}

/// Waits for a connection. `None` when the peer is gone again or the system is out of descriptors.
async fn accept(listener: &TcpListener, connections: &Connections) -> Option<Accepted> {
    match listener.accept().await {
        Ok(accepted) => Some(accepted),
        Err(error) if is_of_one_connection(&error) => None,
        Err(error) => {
            tracing::warn!(%error, "cannot accept a connection; the longest waiting one gives way");
            connections.evict_one();
            tokio::time::sleep(ACCEPT_PAUSE).await;
            None
        }
    }
}

/// The connections that wait in the system's queue, `most` at most: it resets them when the listener is closed,
/// whatever they have sent. Asked of the system itself, as the runtime may not have heard of all of them.
fn queued(listener: TcpListener, most: usize) -> Vec<Accepted> {
    let mut queued = Vec::new();
    let Ok(listener) = listener.into_std() else { return queued };
    while queued.len() < most {
        match listener.accept() {
            Ok((stream, peer)) => {
                let stream = stream.set_nonblocking(true).and_then(|()| TcpStream::from_std(stream));
                queued.extend(stream.ok().map(|stream| (stream, peer)));
            }
            Err(error) if is_of_one_connection(&error) => {}
            Err(_) => break,
        }
    }
    queued
}

/// Errors that concern only the connection to be accepted; the next one can be accepted at once.
fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionReset
    )
}

/// One accepted connection.
struct Connection {
    peer: SocketAddr,
    slot: Arc<Slot>,
    limits: Limits,
    router: Router,
    connections: Arc<Connections>,
    phase: watch::Receiver<Phase>,
}

impl Connection {
    async fn run(self, stream: TcpStream) {
        let _place = self.connections.place(&self.slot);
        // Answers are written whole; delaying small writes only adds latency.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(peer = %self.peer, %error, "the connection was gone before it was served");
            return;
        }
        let stream =
            LimitedStream::new(stream, self.slot.clone(), self.limits, (self.router.clone(), self.peer));
        let service = service_fn(|request| self.answer(request));
        let mut builder = hyper::server::conn::http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.idle_timeout)
            .max_buf_size(READ_BUFFER_BYTES);
        let serving = builder.serve_connection(TokioIo::new(stream), service);
        let last_request = async {
            self.reaches(|phase| phase != Phase::Serving).await;
            tokio::time::sleep(LAST_REQUEST_WAIT).await;
        };
        tokio::pin!(serving, last_request);
        let mut stopping = false;
        loop {
            tokio::select! {
                // Serving first: what has arrived is read before the connection is told to end.
                biased;
                ended = serving.as_mut() => {
                    if let Err(error) = ended {
                        // Deadlines, resets, and requests that hyper refused: caused by the peer.
                        tracing::debug!(peer = %self.peer, %error, "connection ended");
                    }
                    return;
                }
                () = self.slot.evicted() => return,
                () = self.reaches(|phase| phase == Phase::Over) => return,
                () = &mut last_request, if !stopping => {
                    stopping = true;
                    serving.as_mut().graceful_shutdown();
                }
            }
        }
    }

    /// Waits for a phase of the server, or until the server's future is dropped: then every phase is over.
    async fn reaches(&self, awaited: impl Fn(Phase) -> bool) {
        let mut phase = self.phase.clone();
        let _gone = phase.wait_for(|phase| awaited(*phase)).await;
    }

    async fn answer(&self, request: hyper::Request<Incoming>) -> Result<Response<ResponseBody>, Evicted> {
        let (turn, head) = self.slot.begin()?;
        let (mut parts, incoming) = request.into_parts();
        parts.extensions.insert(PeerAddress(self.peer));
        if let Some(defect) = Defect::of(&parts, &head) {
            parts.extensions.insert(Malformed(defect));
        }
        let (body, body_state) = RequestBody::new(incoming, self.slot.clone(), self.limits.body_timeout);
        let request = Request::from_parts(parts, Body::new(body));
        let mut response = match self.router.clone().oneshot(request).await {
            Ok(response) => response,
            Err(never) => never_fails(never),
        };
        let left = !body_state.is_finished();
        if left {
            // The rest of the body could be mistaken for the next request's head.
            self.slot.leave_body();
        }
        if left || *self.phase.borrow() != Phase::Serving {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        self.slot.note_answer();
        Ok(response.map(|body| ResponseBody::new(body, turn)))
    }
}

fn never_fails(never: Infallible) -> Response {
    match never {}
}

#[cfg(test)]
mod tests;
