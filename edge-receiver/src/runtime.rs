//! What is asked of the runtime on the way of a delivery.
//!
//! The wrappers of the worker crate ask for one thing at a time, and for some that nobody needs; on this way each
//! call counts, so `runtime.js` gathers what belongs together. Every function here is one call. What the runtime may
//! refuse is a value; reading a head and making an answer are not refused, and if they were, the instance would end
//! (`worker.js`).

use worker::js_sys::{Promise, Uint8Array};
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::wasm_bindgen::{JsCast as _, JsValue};
use worker::worker_sys::Context;
use worker::{Env, web_sys};

use crate::driven::settled;

/// What there was to read.
pub(crate) enum Body {
    Whole(Vec<u8>),
    TooLong,
    /// None was sent.
    Missing,
    /// It broke off.
    Broken,
}

/// Reads the body of a request or a response, never more than `limit` bytes of it.
pub(crate) async fn read(message: &JsValue, limit: usize) -> Body {
    let Ok(promise) = bounded(message, limit) else { return Body::Broken };
    match settled(promise).await {
        Ok(value) if value.is_null() => Body::TooLong,
        Ok(value) if value.is_object() => Body::Whole(Uint8Array::new(&value).to_vec()),
        Ok(_) => Body::Missing,
        Err(_) => Body::Broken,
    }
}

/// Reads the body of a request that says how long it is, which the runtime holds it to: the cheapest way.
pub(crate) async fn read_whole(request: &web_sys::Request) -> Body {
    let Ok(promise) = whole(request) else { return Body::Broken };
    match settled(promise).await {
        Ok(value) => Body::Whole(Uint8Array::new(&value).to_vec()),
        Err(_) => Body::Broken,
    }
}

/// Sends a request to a Durable Object, by the name of its namespace's binding and its own. The host of the URL is
/// never looked up: an object's own stub carries the request.
///
/// # Errors
/// The object could not be asked.
pub(crate) async fn ask(
    env: &Env,
    [binding, object]: [&str; 2],
    path: &str,
    body: Option<&[u8]>,
) -> worker::Result<web_sys::Response> {
    let asked = ask_object(env, binding, object, path, body)?;
    Ok(settled(asked).await?.dyn_into::<web_sys::Response>()?)
}

/// The text of an object's answer.
///
/// # Errors
/// Its status is not 200, or it cannot be read.
pub(crate) async fn text(answer: web_sys::Response) -> worker::Result<String> {
    match answer.status() {
        200 => {
            let text = settled(answer.text()?).await?;
            text.as_string().ok_or_else(|| "the object answered nonsense".into())
        }
        status => Err(format!("the object answered {status}").into()),
    }
}

#[wasm_bindgen(wasm_bindgen = worker::wasm_bindgen, module = "/src/runtime.js")]
extern "C" {
    /// Everything of a request that is judged before its body; [`crate::head::read`] takes it apart. `is_standard`: the
    /// headers of Standard Webhooks stand in the places of the service's own.
    pub(crate) fn head(request: &web_sys::Request, is_standard: bool) -> String;

    /// The whole body of a request, an `ArrayBuffer`.
    #[wasm_bindgen(catch)]
    fn whole(request: &web_sys::Request) -> Result<Promise, JsValue>;

    /// The body of a request or a response, an `ArrayBuffer`; `undefined` when it has none, `null` when it is longer
    /// than `limit` bytes.
    #[wasm_bindgen(catch)]
    fn bounded(message: &JsValue, limit: usize) -> Result<Promise, JsValue>;

    /// A response with a body of JSON; `is_private` keeps it out of caches. `name` and `value`: one more header.
    pub(crate) fn respond(
        status: u16,
        body: &str,
        is_private: bool,
        name: Option<&'static str>,
        value: Option<&'static str>,
    ) -> web_sys::Response;

    /// The record in KV under `key`, a text or `null`.
    #[wasm_bindgen(catch)]
    pub(crate) fn record(env: &Env, key: &str) -> Result<Promise, JsValue>;

    /// Puts a record into KV that lasts for `ttl_seconds`.
    #[wasm_bindgen(catch, js_name = putRecord)]
    pub(crate) fn put_record(env: &Env, key: &str, value: &str, ttl_seconds: u32)
    -> Result<Promise, JsValue>;

    /// The same behind the answer: the runtime is told to wait for it, and a failure ends in the log.
    #[wasm_bindgen(catch, js_name = noteRecord)]
    pub(crate) fn note_record(
        context: &Context,
        env: &Env,
        key: &str,
        value: &str,
        ttl_seconds: u32,
    ) -> Result<(), JsValue>;

    /// The response of a Durable Object to a request; see [`ask`].
    #[wasm_bindgen(catch, js_name = askObject)]
    fn ask_object(
        env: &Env,
        binding: &str,
        object: &str,
        path: &str,
        body: Option<&[u8]>,
    ) -> Result<Promise, JsValue>;
}
