//! The sink that the bindings name.

use verify_core::Secret;
use worker::wasm_bindgen::JsValue;
use worker::{Env, js_sys};

use super::forward::Forward;
use super::{Failure, is_usable_url, queue};
use crate::binding;
use crate::configuration::InvalidVariable;
use crate::settings::variable;

/// The binding of a Cloudflare Queue.
const SINK_QUEUE: &str = "SINK_QUEUE";
/// The binding of another Worker.
const SINK_SERVICE: &str = "SINK_SERVICE";
/// The URL of an origin, or the one that another Worker sees.
const SINK_URL: &str = "SINK_URL";
/// The secret that forwarded events are signed with.
const FORWARDING_SECRET: &str = "FORWARDING_SECRET";

/// What a Worker that has no URL of its own sees. No name is looked up for it.
const SERVICE_URL: &str = "https://sink/webhooks";

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
        let object = |name| binding::object(env, name).map_err(|_| InvalidVariable(name));
        let (queue, service, url) = (object(SINK_QUEUE)?, object(SINK_SERVICE)?, variable(env, SINK_URL)?);
        if url.as_deref().is_some_and(|url| !is_usable_url(url)) {
            return Err(InvalidVariable(SINK_URL));
        }
        let secret = match variable(env, FORWARDING_SECRET)? {
            Some(text) => Some(Secret::parse(&text).map_err(|_| InvalidVariable(FORWARDING_SECRET))?),
            None => None,
        };
        match (queue, service, url) {
            (None, None, None) => Ok(None),
            (Some(queue), None, None) => Ok(Some(Sink::Queue(queue))),
            (Some(_), _, _) => Err(InvalidVariable(SINK_QUEUE)),
            (None, Some(service), url) => {
                let url = url.unwrap_or_else(|| SERVICE_URL.to_owned());
                Ok(Some(Sink::Forward(Forward::new(service, url, secret))))
            }
            (None, None, Some(url)) => {
                let secret = secret.ok_or(InvalidVariable(FORWARDING_SECRET))?;
                Ok(Some(Sink::Forward(Forward::new(js_sys::global().into(), url, Some(secret)))))
            }
        }
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
