//! The dedup records in Workers KV: the short way to "duplicate".
//!
//! `evt:<id>` holds the time of the claim (Unix milliseconds, decimal) for as long as claims are kept. It is written
//! after a claim and never otherwise, so finding one is proof; not finding one is no proof of anything. Beside the
//! inbox every failure here is therefore a miss, noted in the log: the inbox decides.

use worker::worker_sys::Context;
use worker::{Env, Error, Result, console_warn};

use crate::driven::settled;
use crate::runtime;

/// Name of the KV namespace's binding, by which `runtime.js` goes.
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

/// Records behind the answer, as well as it goes, that `event_id` was claimed at `claimed_at_ms` (Unix milliseconds).
pub(crate) fn note(env: &Env, context: &Context, event_id: &str, claimed_at_ms: i64, ttl_seconds: u32) {
    let noted = runtime::note_record(context, env, &key(event_id), &claimed_at_ms.to_string(), ttl_seconds);
    if let Err(error) = noted {
        console_warn!("{BINDING} could not be written: {}", Error::from(error));
    }
}

/// Records that `event_id` was claimed at `claimed_at_ms` (Unix milliseconds), for `ttl_seconds`.
pub(crate) async fn record(env: &Env, event_id: &str, claimed_at_ms: i64, ttl_seconds: u32) -> Result<()> {
    let put = runtime::put_record(env, &key(event_id), &claimed_at_ms.to_string(), ttl_seconds)?;
    settled(put).await?;
    Ok(())
}

async fn read(env: &Env, event_id: &str) -> Result<bool> {
    Ok(!settled(runtime::record(env, &key(event_id))?).await?.is_null())
}

fn key(event_id: &str) -> String {
    format!("evt:{event_id}")
}
