//! The durable inbox as the Worker sees it: who is first, what is recorded, and how it stands (contract 11.2).
//!
//! Sixteen Durable Objects (`object`) share the events by their ids ([`crate::shard`]). The Worker asks them by
//! requests ([`operation`]) that only it can send.
//!
//! The way in is `claim`, or `claim_all` for many: an event that was verified, or that came from the API itself, becomes a
//! record, once. From there the object hands it over by itself (`hand_over`). `summary`, `look_up` and `retry` are for
//! people who look after the receiver.

pub mod batch;
mod hand_over;
mod object;
pub mod operation;
pub mod schedule;
pub mod stored;
mod table;

pub(crate) use hand_over::within_deadline;

use verify_core::receiver::Claimed;
use worker::js_sys::Uint8Array;
use worker::web_sys::RequestInit;
use worker::{Env, Request, Response, Result};

use crate::shard;
use operation::{Operation, Retried};
use stored::Summary;

/// Name of the Durable Object namespace's binding.
const BINDING: &str = "INBOX";

/// Asks the inbox that owns `event_id` to claim the event with this body, which must have passed verification. When it
/// returns, the record is on disk. The object may have stored the event even when this fails; the redelivery that
/// follows is then a duplicate.
///
/// # Errors
/// The inbox could not be asked, or could not store.
pub(crate) async fn claim(env: &Env, event_id: &str, body: &[u8]) -> Result<Claimed> {
    let status = ask(env, &shard::name(event_id), &Operation::Claim, Some(body)).await?.status_code();
    operation::claimed(status).ok_or_else(|| unexpected(status))
}

/// Asks one inbox to claim events that all belong to it and have passed verification or come from the API itself; how
/// many were new. When it returns, all are on disk; some may be when it fails.
///
/// # Errors
/// The inbox could not be asked, or could not store.
pub(crate) async fn claim_all(env: &Env, shard: u8, bodies: &[&str]) -> Result<u32> {
    let body = batch::encode(bodies).ok_or("an event is too long")?;
    let answer = ask(env, &shard::name_of(shard), &Operation::ClaimAll, Some(&body)).await?;
    text(answer).await?.parse().map_err(|_| "the inbox answered nonsense".into())
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

/// The record of an event as JSON ([`stored::to_json`]), `None` when there is none.
///
/// # Errors
/// The inbox could not be asked, or could not answer.
pub(crate) async fn look_up(env: &Env, event_id: &str) -> Result<Option<String>> {
    let response = ask(env, &shard::name(event_id), &Operation::LookUp(event_id), None).await?;
    if response.status_code() == 404 { Ok(None) } else { text(response).await.map(Some) }
}

/// Has the next attempt at an event made now.
///
/// # Errors
/// The inbox could not be asked, or could not store.
pub(crate) async fn retry(env: &Env, event_id: &str) -> Result<Retried> {
    let status = ask(env, &shard::name(event_id), &Operation::Retry(event_id), None).await?.status_code();
    Retried::from_status(status).ok_or_else(|| unexpected(status))
}

/// Sends a request to one inbox. Made by hand, because the worker crate's own builder brings every option that a
/// request at the edge can have, and with them 17 KB of module.
async fn ask(env: &Env, shard: &str, operation: &Operation<'_>, body: Option<&[u8]>) -> Result<Response> {
    let init = RequestInit::new();
    init.set_method("POST");
    if let Some(body) = body {
        init.set_body(&Uint8Array::from(body));
    }
    // The host is never looked up: an object's own stub carries the request.
    let url = format!("https://inbox{}", operation.path());
    let request: Request = worker::web_sys::Request::new_with_str_and_init(&url, &init)?.into();
    env.durable_object(BINDING)?.get_by_name(shard)?.fetch_with_request(request).await
}

async fn text(mut response: Response) -> Result<String> {
    match response.status_code() {
        200 => response.text().await,
        status => Err(unexpected(status)),
    }
}

fn unexpected(status: u16) -> worker::Error {
    format!("the inbox answered {status}").into()
}
