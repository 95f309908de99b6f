//! The dedup records in Workers KV: the short way to "duplicate".
//!
//! `evt:<id>` holds the time of the claim (Unix milliseconds, decimal) for as long as claims are kept. It is written
//! after a claim and never otherwise, so finding one is proof; not finding one is no proof of anything. Beside the
//! inbox every failure here is therefore a miss, noted in the log: the inbox decides.

use worker::wasm_bindgen::JsValue;
use worker::{Env, Result, console_warn};

use crate::binding;
use crate::js;

/// Name of the KV namespace's binding.
const BINDING: &str = "DEDUP_RECORDS";

/// Whether there is a record of `event_id`; `false` also when KV cannot say.
pub(crate) async fn is_recorded(env: &Env, event_id: &str) -> bool {
    match read(env, event_id).await {
        Ok(found) => found,
        Err(error) => {
            console_warn!("{BINDING} could not be read: {error}");
            false
        }
    }
}

/// Records behind a claim, as well as it goes, that `event_id` was claimed at `claimed_at_ms` (Unix milliseconds).
pub(crate) async fn note(env: Env, event_id: String, claimed_at_ms: i64, ttl_seconds: u32) {
    if let Err(error) = record(&env, &event_id, claimed_at_ms, ttl_seconds).await {
        console_warn!("{BINDING} could not be written: {error}");
    }
}

/// Records that `event_id` was claimed at `claimed_at_ms` (Unix milliseconds), for `ttl_seconds`.
pub(crate) async fn record(env: &Env, event_id: &str, claimed_at_ms: i64, ttl_seconds: u32) -> Result<()> {
    let options = js::object([("expirationTtl", ttl_seconds.into())])?;
    let arguments = [key(event_id), claimed_at_ms.to_string().into(), options];
    js::call(&namespace(env)?, "put", &arguments).await?;
    Ok(())
}

async fn read(env: &Env, event_id: &str) -> Result<bool> {
    Ok(!js::call(&namespace(env)?, "get", &[key(event_id)]).await?.is_null())
}

fn namespace(env: &Env) -> Result<JsValue> {
    binding::object(env, BINDING).ok().flatten().ok_or_else(|| "there is no such binding".into())
}

fn key(event_id: &str) -> JsValue {
    format!("evt:{event_id}").into()
}
