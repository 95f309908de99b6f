//! The dedup records in Workers KV: the short way to "duplicate".
//!
//! `evt:<id>` holds the time of the claim (Unix milliseconds, decimal) for [`TTL_SECONDS`]. It is written after
//! a claim and never otherwise, so finding one is proof; not finding one is no proof of anything. Every failure
//! here is therefore a miss, noted in the log: the inbox decides.

use worker::{Env, console_warn, kv::KvStore};

/// Name of the KV namespace's binding.
const BINDING: &str = "DEDUP_RECORDS";

/// How long a record is kept: 90 days, the least that contract 11.2 asks for. The claim itself outlives it.
const TTL_SECONDS: u64 = 90 * 24 * 60 * 60;

/// Whether there is a record of `event_id`.
pub(crate) async fn is_recorded(env: &Env, event_id: &str) -> bool {
    match read(env, event_id).await {
        Ok(found) => found,
        Err(error) => {
            console_warn!("{BINDING} could not be read: {error}");
            false
        }
    }
}

/// Records that `event_id` was claimed at `claimed_at_ms` (Unix milliseconds).
pub(crate) async fn record(env: Env, event_id: String, claimed_at_ms: u64) {
    if let Err(error) = write(&env, &event_id, claimed_at_ms).await {
        console_warn!("{BINDING} could not be written: {error}");
    }
}

async fn read(env: &Env, event_id: &str) -> worker::Result<bool> {
    Ok(namespace(env)?.get(&key(event_id)).text().await?.is_some())
}

async fn write(env: &Env, event_id: &str, claimed_at_ms: u64) -> worker::Result<()> {
    let record = namespace(env)?.put(&key(event_id), claimed_at_ms.to_string())?;
    Ok(record.expiration_ttl(TTL_SECONDS).execute().await?)
}

fn namespace(env: &Env) -> worker::Result<KvStore> {
    env.kv(BINDING)
}

fn key(event_id: &str) -> String {
    format!("evt:{event_id}")
}
