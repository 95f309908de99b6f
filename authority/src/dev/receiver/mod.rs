//! The built-in receiver of the merchant: it verifies, claims, acts and answers as every receiver does (contract 11).
//!
//! As in the edge receiver, the core (`verify_core::receiver`) defines the decisions, the records and the answers; this
//! module is the runtime. A request is checked in steps: first its head, then the signature over the raw bytes, and
//! only then the content. A verified event is claimed in the inbox before anything is done with it. The effect of this
//! receiver is to report the event on a channel, so that it can be shown on the screen. After that the event is marked
//! as processed. Events that a crash left claimed but unprocessed are reported at the next start.
//!
//! Claim and effect run in their own task, so that a sender that disconnects cannot separate them. The listener is the
//! same as the authority's, with the same limits on connections, heads and bodies.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use authority_store::inbox::Inbox;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::any;
use bytes::Bytes;
use http::header::{ALLOW, CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use http_body::Body as _;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use verify_core::catalog::EventType;
use verify_core::event::Envelope;
use verify_core::header;
use verify_core::receiver::{BODY_LIMIT, Head, Record, Verdict, admit};
use verify_core::verify::{Headers, Verifier};

use crate::clock::Clock;
use crate::dice::Dice;
use crate::http::server::{Limits, Stopped, serve};

/// The path that accepts deliveries.
const PATH: &str = "/webhooks";

/// Capacity of the channel of arrivals; when it is full, answers wait.
const ARRIVALS_MAX: usize = 256;

/// The range for random ports. It is below the ports that systems use for outgoing connections (Linux from 32768,
/// others from 49152), because the endpoint keeps its port from one run to the next.
const PORTS: std::ops::Range<u16> = 20_000..30_000;
const PORTS_TRIED: usize = 32;

/// The receiver's decision about a request, and the event if the request was verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// The decision, which is also the answer.
    pub(crate) verdict: Verdict,
    /// The event of a verified request.
    pub(crate) event: Option<ArrivedEvent>,
}

/// A verified event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ArrivedEvent {
    /// `evt_…`
    pub(crate) id: String,
    /// The event's name.
    pub(crate) event_type: String,
    /// Its position in the stream, if the event states it.
    pub(crate) sequence: Option<u64>,
}

/// A running receiver.
pub(crate) struct Receiver {
    /// Its inbox.
    pub(crate) inbox: Inbox,
    stop: watch::Sender<bool>,
    server: JoinHandle<Stopped>,
}

/// The receiver's address on a port of this machine.
pub(crate) fn url(port: u16) -> String {
    format!("http://127.0.0.1:{port}{PATH}")
}

/// Listens on the loopback address: on `port`, or on a free port.
///
/// # Errors
/// The reason why the port cannot be used.
pub(crate) async fn listen(port: Option<u16>, dice: &dyn Dice) -> std::io::Result<(TcpListener, u16)> {
    if let Some(port) = port {
        return Ok((TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?, port));
    }
    let mut tries = 1;
    loop {
        let mut random = [0; 2];
        dice.fill(&mut random);
        let port = PORTS.start + u16::from_ne_bytes(random) % (PORTS.end - PORTS.start);
        match TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await {
            Ok(listener) => return Ok((listener, port)),
            Err(error) if tries == PORTS_TRIED => return Err(error),
            Err(_) => tries += 1,
        }
    }
}

impl Receiver {
    /// Starts to accept deliveries; the decisions come through the channel.
    pub(crate) fn start(
        listener: TcpListener,
        verifier: Verifier,
        inbox: Inbox,
        clock: Arc<dyn Clock>,
    ) -> (Self, mpsc::Receiver<Arrival>) {
        let (sender, arrivals) = mpsc::channel(ARRIVALS_MAX);
        let (stop, mut stopped) = watch::channel(false);
        let state = Arc::new(ReceiverState { verifier, inbox: inbox.clone(), clock, arrivals: sender });
        let router = Router::new().route(PATH, any(receive)).with_state(Arc::clone(&state));
        let server = tokio::spawn(async move {
            state.finish_what_was_left().await;
            drop(state);
            let stopped = async move {
                // A dropped sender means that the receiver is gone: stop, too.
                let _ = stopped.wait_for(|stop| *stop).await;
            };
            serve(listener, router, Limits::default(), stopped).await
        });
        (Self { inbox, stop, server }, arrivals)
    }

    /// Finishes the requests in flight and closes the inbox.
    pub(crate) async fn stop(self) {
        self.stop.send_replace(true);
        if self.server.await.is_err() {
            tracing::error!("the receiver panicked");
        }
        self.inbox.close().await;
    }
}

struct ReceiverState {
    verifier: Verifier,
    inbox: Inbox,
    clock: Arc<dyn Clock>,
    arrivals: mpsc::Sender<Arrival>,
}

async fn receive(State(state): State<Arc<ReceiverState>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let verdict = match read(&parts.method, &parts.headers, body).await {
        Ok(body) => {
            let judging = tokio::spawn(async move { state.judge(&parts.headers, body.as_deref()).await });
            judging.await.unwrap_or(Verdict::StorageUnavailable)
        }
        Err(verdict) => {
            state.tell(Arrival { verdict, event: None }).await;
            verdict
        }
    };
    answer(verdict)
}

/// Reads the body, up to the limit, if the head is acceptable. A body that breaks off counts as missing.
async fn read(method: &Method, headers: &HeaderMap, body: Body) -> Result<Option<Bytes>, Verdict> {
    // No rule accepts a value that is not text.
    let value = |name| {
        let joined = header::join_lines(headers.get_all(name).iter().map(HeaderValue::as_bytes));
        joined.map(|value| String::from_utf8_lossy(&value).into_owned())
    };
    let (content_type, content_encoding) = (value(CONTENT_TYPE), value(CONTENT_ENCODING));
    admit(&Head {
        method: method.as_str(),
        content_type: content_type.as_deref(),
        content_encoding: content_encoding.as_deref(),
        declared_length: Some(body.size_hint().lower()),
    })?;
    match Limited::new(body, BODY_LIMIT).collect().await {
        Ok(body) => Ok(Some(body.to_bytes())),
        Err(error) if error.is::<LengthLimitError>() => Err(Verdict::TooLarge),
        Err(_) => Ok(None),
    }
}

fn answer(verdict: Verdict) -> Response {
    let mut response = Response::new(Body::from(verdict.body()));
    *response.status_mut() =
        StatusCode::from_u16(verdict.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if verdict == Verdict::MethodNotAllowed {
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
    }
    response
}

impl ReceiverState {
    async fn judge(&self, headers: &HeaderMap, body: Option<&[u8]>) -> Verdict {
        let value = |name| header::join_lines(headers.get_all(name).iter().map(HeaderValue::as_bytes));
        let (timestamp, signature, event_id) =
            (value(header::TIMESTAMP), value(header::SIGNATURE), value(header::EVENT_ID));
        let headers = Headers {
            timestamp: timestamp.as_deref(),
            signature: signature.as_deref(),
            event_id: event_id.as_deref(),
        };
        let now_ms = self.clock.now_ms();
        match self.verifier.verify(body, &headers, now_ms.div_euclid(1000)) {
            Ok(envelope) => self.take_in(&envelope, now_ms).await,
            Err(code) => {
                let verdict = Verdict::Rejected(code);
                self.tell(Arrival { verdict, event: None }).await;
                verdict
            }
        }
    }

    async fn take_in(&self, envelope: &Envelope<'_>, now_ms: i64) -> Verdict {
        if EventType::parse(&envelope.event_type).is_none() {
            tracing::info!(event_id = %envelope.id, event_type = %envelope.event_type, "unknown event type");
        }
        let verdict = match self.inbox.claim(&Record::new(envelope, now_ms)).await {
            Ok(claimed) => claimed.verdict(),
            Err(error) => {
                tracing::error!(event_id = %envelope.id, %error, "the event could not be claimed");
                Verdict::StorageUnavailable
            }
        };
        self.act(envelope, verdict).await;
        verdict
    }

    /// Reports the event and marks it as processed.
    async fn act(&self, envelope: &Envelope<'_>, verdict: Verdict) {
        let event = ArrivedEvent {
            id: envelope.id.clone().into_owned(),
            event_type: envelope.event_type.clone().into_owned(),
            sequence: envelope.sequence,
        };
        self.tell(Arrival { verdict, event: Some(event) }).await;
        if verdict == Verdict::First
            && let Err(error) = self.inbox.processed(&envelope.id).await
        {
            tracing::warn!(event_id = %envelope.id, %error, "processed, but not recorded: it is processed again at the next start");
        }
    }

    /// Processes the events that an earlier process claimed but did not process.
    async fn finish_what_was_left(&self) {
        let left = match self.inbox.unprocessed().await {
            Ok(left) => left,
            Err(error) => {
                tracing::error!(%error, "the inbox cannot be read");
                return;
            }
        };
        for body in left {
            match verify_core::event::read(&body) {
                Ok(envelope) => self.act(&envelope, Verdict::First).await,
                Err(code) => tracing::error!(%code, "the inbox holds something that is no event"),
            }
        }
    }

    async fn tell(&self, arrival: Arrival) {
        // The channel is closed when the process is about to end.
        let _ = self.arrivals.send(arrival).await;
    }
}

#[cfg(test)]
mod tests;
