//! Sends an event to a Cloudflare Queue.
//!
//! The message is the event as an object, so that a consumer has `message.body.id`, `message.body.resource_version` and
//! so on. A queue takes messages up to 128 KB; an event can be twice as long (contract 5.6). One that is too long
//! travels without `data` and says so, `"data_omitted":true`: the consumer reads the resource at `links.resource`.

use worker::js_sys::{JSON, Object, Reflect};
use worker::wasm_bindgen::{JsCast as _, JsValue};

use super::Failure;
use crate::js;

/// The longest event that is sent whole, in bytes of its text. A queue's limit is 128,000 bytes with what it adds.
const TEXT_MAX: usize = 120_000;

pub(super) async fn send(queue: &JsValue, text: &str) -> Result<(), Failure> {
    let message = message(text).map_err(|_| Failure::Unreadable)?;
    let options = js::object([("contentType", "json".into())]).map_err(|_| Failure::QueueRefused)?;
    js::call(queue, "send", &[message, options]).await.map_err(|_| Failure::QueueRefused)?;
    Ok(())
}

fn message(text: &str) -> Result<JsValue, JsValue> {
    let event = JSON::parse(text)?;
    if text.len() > TEXT_MAX {
        Reflect::delete_property(event.unchecked_ref::<Object>(), &"data".into())?;
        Reflect::set(&event, &"data_omitted".into(), &true.into())?;
    }
    Ok(event)
}
