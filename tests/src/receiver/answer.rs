//! What a receiver answers, when, and with which body.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http::StatusCode;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::Frame;
use tokio::sync::watch;

/// What the receiver answers.
#[derive(Clone, Debug)]
pub struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: Vec<(&'static str, String)>,
    gate: Option<watch::Receiver<bool>>,
    after: Duration,
    drips: bool,
    body: Bytes,
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
            body: Bytes::new(),
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

    /// The same with this body.
    #[must_use]
    pub fn with_body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
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

    /// Waits for the time of this answer.
    pub(super) async fn is_due(&mut self) {
        if let Some(gate) = &mut self.gate {
            // A gate that is gone never opens.
            if gate.wait_for(|open| *open).await.is_err() {
                std::future::pending::<Infallible>().await;
            }
        }
        if !self.after.is_zero() {
            let mut ticks = tokio::time::interval(self.after);
            ticks.tick().await;
            ticks.tick().await;
        }
    }

    pub(super) fn body(&self) -> UnsyncBoxBody<Bytes, Infallible> {
        if self.drips { drip() } else { Full::new(self.body.clone()).boxed_unsync() }
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

    /// How many answers it holds. One whose client has gone away is not among them.
    #[must_use]
    pub fn holds(&self) -> usize {
        self.0.receiver_count()
    }
}

fn drip() -> UnsyncBoxBody<Bytes, Infallible> {
    let drops = stream::unfold(tokio::time::interval(DRIP), async |mut ticks| {
        ticks.tick().await;
        Some((Ok(Frame::data(Bytes::from_static(b"."))), ticks))
    });
    StreamBody::new(drops).boxed_unsync()
}
