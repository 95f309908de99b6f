//! Where recorded events go: a queue, an origin, or another Worker.
//!
//! Which one it is, the bindings say; without any the events stay in the inbox.
//!
//! | Bound | Sink |
//! |---|---|
//! | `SINK_QUEUE` | a Cloudflare Queue; the message is the event |
//! | `SINK_SERVICE` | another Worker, by a service binding; `SINK_URL` says the URL that it sees |
//! | `SINK_URL` alone | an origin; `FORWARDING_SECRET` is required |
//!
//! Origin and Worker get a delivery like the one that came: the same bytes under the same headers, with a timestamp of
//! now, signed with `FORWARDING_SECRET` by the core that verified. So whatever verifies the service's deliveries
//! verifies these. Any 2xx status takes the event; redirects are not followed.
//!
//! A sink may see an event again when its answer was lost, and never sees it again once its answer arrived. It is the
//! event's id that tells.

mod destination;
mod forward;
mod queue;

use std::fmt;

use worker::Env;
use worker::wasm_bindgen::JsValue;

use crate::configuration::InvalidVariable;
use forward::Forward;

pub use destination::{SINK_QUEUE, SINK_SERVICE, SINK_URL, is_usable_url};

/// Why a sink did not take an event. Says nothing about where the sink is, or with which secret it was spoken to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// It answered with this status.
    Answered(u16),
    /// It could not be reached, or the connection broke before it answered.
    Unreachable,
    /// It had not answered when the attempt's time was over.
    TimedOut,
    /// The queue did not take the message.
    QueueRefused,
    /// The receiver itself was ended in the middle of the attempt.
    CutOff,
    /// The record's body is not the event that was recorded.
    Unreadable,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered(status) => write!(f, "answered {status}"),
            Self::Unreachable => f.write_str("could not be reached"),
            Self::TimedOut => f.write_str("did not answer in time"),
            Self::QueueRefused => f.write_str("the queue did not take the message"),
            Self::CutOff => f.write_str("the attempt was cut off"),
            Self::Unreadable => f.write_str("the recorded body is not an event"),
        }
    }
}

/// A sink, ready to take events.
pub(crate) enum Sink {
    /// A Cloudflare Queue.
    Queue(JsValue),
    /// An origin or another Worker.
    Forward(Forward),
}

impl Sink {
    /// The sink that the bindings name, `None` without any.
    ///
    /// # Errors
    /// The binding or variable that cannot be used.
    pub(crate) fn bound(env: &Env) -> Result<Option<Self>, InvalidVariable> {
        destination::bound(env)
    }

    /// Hands an event over; `body` is what was recorded, `attempt` counts from 1, `now_ms` is the time that is signed
    /// (Unix milliseconds). When it returns, the sink has the event.
    ///
    /// # Errors
    /// Why it did not take it, as far as that is known.
    pub(crate) async fn take(&self, body: &[u8], attempt: i64, now_ms: i64) -> Result<(), Failure> {
        let envelope = verify_core::event::read(body).map_err(|_| Failure::Unreadable)?;
        match self {
            Self::Queue(queue) => queue::send(queue, envelope.text).await,
            Self::Forward(forward) => forward.send(&envelope, attempt, now_ms).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// They are shown inside JSON as they are.
    #[test]
    fn failures_need_no_escape() {
        for failure in [
            Failure::Answered(503),
            Failure::Unreachable,
            Failure::TimedOut,
            Failure::QueueRefused,
            Failure::CutOff,
            Failure::Unreadable,
        ] {
            let text = failure.to_string();
            assert!(text.bytes().all(|byte| byte == b' ' || byte.is_ascii_alphanumeric()), "{text}");
        }
    }
}
