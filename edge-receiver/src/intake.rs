//! The way of a verified delivery's event into this receiver.
//!
//! With the inbox (`DEDUP=inbox`, what is assumed):
//!
//! 1. KV is asked for `evt:<id>`. A hit is a certain duplicate, because such a record is only ever written after a
//!    claim. A miss means nothing: KV is eventually consistent and has no insert-if-absent.
//! 2. The inbox decides, and makes the event durable. What follows is its own matter.
//! 3. After a first claim the KV record is written, behind the answer. When that fails, or the Worker dies before it,
//!    the next duplicate takes the longer way through the inbox and gets the same answer.
//!
//! With KV alone (`DEDUP=kv`, for accounts without Durable Objects) there is nothing durable to retry from. So the
//! event is handed over at once, before its record is written and before the answer: what fails is asked for again,
//! by the sender. Simultaneous deliveries of one event may all be handed over.

use verify_core::event::Envelope;
use verify_core::receiver::{Claimed, Verdict};
use worker::js_sys::Promise;
use worker::js_sys::futures::future_to_promise;
use worker::wasm_bindgen::JsValue;
use worker::{Env, console_error, console_warn};

use crate::answer::Answer;
use crate::configuration::{Dedup, InvalidVariable};
use crate::driven::settled;
use crate::inbox::within_deadline;
use crate::receive::Delivery;
use crate::sink::Sink;
use crate::{dedup, inbox};

/// Takes the event of a delivery in: `envelope` has passed verification, `now_ms` is the time (Unix milliseconds).
///
/// # Errors
/// The answer to give instead: the event was not taken in, and must come again.
pub(crate) async fn accept(
    delivery: &Delivery<'_>,
    envelope: &Envelope<'_>,
    now_ms: i64,
) -> Result<Claimed, Answer> {
    let Delivery { env, context, settings, .. } = delivery;
    let ttl_seconds = settings.retention_seconds.map_err(unusable)?;
    let decides = settings.dedup.map_err(unusable)?;
    if dedup::is_recorded(env, &envelope.id).await {
        return Ok(Claimed::Duplicate);
    }
    if decides == Dedup::Kv {
        return hand_off_at_once(env, envelope, now_ms, ttl_seconds).await;
    }
    let claimed = inbox::claim(env, &envelope.id, envelope.text.as_bytes()).await.map_err(|error| {
        console_error!("event {} could not be claimed: {error}", envelope.id);
        Answer::Verdict(Verdict::StorageUnavailable)
    })?;
    if claimed == Claimed::First {
        dedup::note(env, context, &envelope.id, now_ms, ttl_seconds);
    }
    Ok(claimed)
}

async fn hand_off_at_once(
    env: &Env,
    envelope: &Envelope<'_>,
    now_ms: i64,
    ttl_seconds: u32,
) -> Result<Claimed, Answer> {
    if let Some(sink) = Sink::bound(env).map_err(unusable)? {
        settled(hand_off(sink, envelope.text.as_bytes().to_vec(), now_ms)).await.map_err(|failure| {
            let failure = failure.as_string().unwrap_or_default();
            console_warn!("event {} was not taken: {failure}", envelope.id);
            Answer::ProcessingFailed
        })?;
    }
    dedup::record(env, &envelope.id, now_ms, ttl_seconds).await.map_err(|error| {
        console_error!("event {} could not be recorded: {error}", envelope.id);
        Answer::Verdict(Verdict::StorageUnavailable)
    })?;
    Ok(Claimed::First)
}

/// A promise of its own, because sink and deadline are awaited together. It is rejected with the failure's text.
fn hand_off(sink: Sink, body: Vec<u8>, now_ms: i64) -> Promise {
    future_to_promise(async move {
        let outcome = within_deadline(sink.take(&body, 1, now_ms)).await;
        outcome.map(|()| JsValue::UNDEFINED).map_err(|failure| failure.to_string().into())
    })
}

fn unusable(InvalidVariable(name): InvalidVariable) -> Answer {
    console_error!("the value of {name} cannot be used");
    Answer::InvalidConfiguration
}
