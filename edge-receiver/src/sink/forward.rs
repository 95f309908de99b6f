//! Forwards an event by HTTP: to an origin, or to another Worker by its binding.

use verify_core::event::Envelope;
use verify_core::{Secret, header, sign};
use worker::js_sys;
use worker::js_sys::{Reflect, Uint8Array};
use worker::wasm_bindgen::JsValue;

use super::Failure;
use crate::inbox::schedule::DEADLINE_MS;
use crate::js;

/// Somebody who takes deliveries.
pub(crate) struct Forward {
    /// Has the method `fetch`: the global object, or a binding.
    fetcher: JsValue,
    url: String,
    secret: Option<Secret>,
}

impl Forward {
    pub(super) fn new(fetcher: JsValue, url: String, secret: Option<Secret>) -> Self {
        Self { fetcher, url, secret }
    }

    pub(super) async fn send(
        &self,
        envelope: &Envelope<'_>,
        attempt: i64,
        now_ms: i64,
    ) -> Result<(), Failure> {
        let request = self.request(envelope, attempt, now_ms).map_err(|_| Failure::Unreachable)?;
        let response = js::call(&self.fetcher, "fetch", &[self.url.as_str().into(), request])
            .await
            .map_err(|error| cause(&error))?;
        let status = status(&response).ok_or(Failure::Unreachable)?;
        discard_body(&response);
        if (200..300).contains(&status) { Ok(()) } else { Err(Failure::Answered(status)) }
    }

    /// The second argument of `fetch`.
    fn request(&self, envelope: &Envelope<'_>, attempt: i64, now_ms: i64) -> Result<JsValue, JsValue> {
        let timestamp = format!("{:010}", now_ms.div_euclid(1000));
        let body = envelope.text.as_bytes();
        let headers = js::object([
            ("content-type", "application/json".into()),
            ("user-agent", "Service-Edge-Receiver/1".into()),
            (header::EVENT_ID, (&*envelope.id).into()),
            (header::TIMESTAMP, timestamp.as_str().into()),
            (header::VERSION, (&*envelope.api_version).into()),
            ("service-attempt", attempt.to_string().into()),
        ])?;
        if let Some(secret) = &self.secret {
            let signature = sign::signature_header([secret], &timestamp, body);
            Reflect::set(&headers, &header::SIGNATURE.into(), &signature.into())?;
        }
        let deadline = js::call_now(
            &Reflect::get(&js_sys::global(), &"AbortSignal".into())?,
            "timeout",
            &[DEADLINE_MS.into()],
        )?;
        js::object([
            ("method", "POST".into()),
            ("redirect", "manual".into()),
            ("headers", headers),
            ("body", Uint8Array::from(body).into()),
            ("signal", deadline),
        ])
    }
}

fn status(response: &JsValue) -> Option<u16> {
    let status = Reflect::get(response, &"status".into()).ok()?.as_f64()?;
    (100.0..1000.0).contains(&status).then_some(status as u16)
}

/// An answer's body says nothing here. Unread, it would hold one of the few connections that an invocation may have.
fn discard_body(response: &JsValue) {
    if let Ok(body) = Reflect::get(response, &"body".into())
        && body.is_object()
    {
        // What comes of it changes nothing: the answer has arrived.
        let _ = js::call_now(&body, "cancel", &[]);
    }
}

fn cause(error: &JsValue) -> Failure {
    let name = Reflect::get(error, &"name".into()).ok().and_then(|name| name.as_string());
    if name.as_deref() == Some("TimeoutError") { Failure::TimedOut } else { Failure::Unreachable }
}
