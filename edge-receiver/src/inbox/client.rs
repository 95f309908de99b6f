//! What the Worker asks of the inboxes.

use verify_core::receiver::Claimed;
use worker::{Env, Result, web_sys};

use super::batch::{self, Taken};
use super::operation::{self, Operation, Retried};
use super::stored::Summary;
use crate::runtime::text;
use crate::{runtime, shard};

/// Name of the Durable Object namespace's binding.
const BINDING: &str = "INBOX";

/// Asks the inbox that owns `event_id` to claim the event with this body, which must have passed verification. When it
/// returns, the record is on disk. The object may have stored the event even when this fails; the redelivery that
/// follows is then a duplicate.
///
/// # Errors
/// The inbox could not be asked, or could not store.
pub(crate) async fn claim(env: &Env, event_id: &str, body: &[u8]) -> Result<Claimed> {
    let status = ask(env, &shard::name(event_id), &Operation::Claim, Some(body)).await?.status();
    operation::claimed(status).ok_or_else(|| unexpected(status))
}

/// Asks one inbox to claim events that all belong to it and come from the API itself; how many were new, and how many
/// it does not take because they are too old. When it returns, all others are on disk; some may be when it fails.
///
/// # Errors
/// The inbox could not be asked, or could not store.
pub(crate) async fn claim_all(env: &Env, shard: u8, bodies: &[&str]) -> Result<Taken> {
    let body = batch::encode(bodies).ok_or("an event is too long")?;
    let answer = ask(env, &shard::name_of(shard), &Operation::ClaimAll, Some(&body)).await?;
    Taken::parse(&text(answer).await?).ok_or_else(|| "the inbox answered nonsense".into())
}

/// How the events of all inboxes stand. Asks each of them, one after the other.
///
/// # Errors
/// One of them could not be asked, or could not answer.
pub(crate) async fn summary(env: &Env) -> Result<Summary> {
    let mut total = Summary::default();
    for shard in shard::names() {
        let text = text(ask(env, &shard, &Operation::Summary, None).await?).await?;
        total.add(&Summary::parse(&text).ok_or("the inbox answered nonsense")?);
    }
    Ok(total)
}

/// The record of an event as JSON ([`super::stored::to_json`]), `None` when there is none.
///
/// # Errors
/// The inbox could not be asked, or could not answer.
pub(crate) async fn look_up(env: &Env, event_id: &str) -> Result<Option<String>> {
    let response = ask(env, &shard::name(event_id), &Operation::LookUp(event_id), None).await?;
    if response.status() == 404 { Ok(None) } else { text(response).await.map(Some) }
}

/// Has the next attempt at an event made now.
///
/// # Errors
/// The inbox could not be asked, or could not store.
pub(crate) async fn retry(env: &Env, event_id: &str) -> Result<Retried> {
    let status = ask(env, &shard::name(event_id), &Operation::Retry(event_id), None).await?.status();
    Retried::from_status(status).ok_or_else(|| unexpected(status))
}

async fn ask(
    env: &Env,
    inbox: &str,
    operation: &Operation<'_>,
    body: Option<&[u8]>,
) -> Result<web_sys::Response> {
    runtime::ask(env, [BINDING, inbox], &operation.path(), body).await
}

fn unexpected(status: u16) -> worker::Error {
    format!("the inbox answered {status}").into()
}
