//! The durable inbox: the claim store that decides, and the record of every event (contract 11.2).
//!
//! An [`EventInbox`] is a Durable Object with a SQLite database of its own; [`crate::shard`] says which one
//! owns an id. It runs alone on its data, the insert is decided by the primary key, and the runtime holds the
//! answer back until the insert is on disk. So of any number of simultaneous deliveries one is the first, and
//! an event that was acknowledged is stored.
//!
//! The object is given the verified body and nothing else, and reads the record from it. It trusts the Worker
//! to have verified the signature: only the Worker can reach it.

use std::cell::Cell;

use verify_core::event;
use worker::js_sys::Uint8Array;
use worker::wasm_bindgen;
use worker::web_sys::RequestInit;
use worker::{
    DurableObject, Env, Request, Response, Result, SqlStorage, SqlStorageValue, State, console_error,
    durable_object,
};

use crate::claim::Claim;
use crate::clock;
use crate::record::{CREATE_TABLE, INSERT, Record};
use crate::shard;

/// Name of the Durable Object namespace's binding.
const BINDING: &str = "INBOX";

/// Asks the inbox that owns `event_id` to claim the event with this verified body. The object may have stored
/// the event even when this fails; the redelivery that follows is then a duplicate.
pub(crate) async fn claim(env: &Env, event_id: &str, body: &[u8]) -> Result<Claim> {
    let inbox = env.durable_object(BINDING)?.get_by_name(&shard::name(event_id))?;
    let response = inbox.fetch_with_request(request(body)?).await?;
    let status = response.status_code();
    Claim::from_status(status).ok_or_else(|| format!("the inbox answered {status}").into())
}

/// The request that carries an event to its inbox. Made by hand, because the worker crate's own builder brings
/// every option that a request at the edge can have, and with them 17 KB of module.
fn request(body: &[u8]) -> Result<Request> {
    let init = RequestInit::new();
    init.set_method("POST");
    init.set_body(&Uint8Array::from(body));
    // The address is never looked up: an object's own stub carries the request.
    Ok(worker::web_sys::Request::new_with_str_and_init("https://inbox/", &init)?.into())
}

/// One shard of the inbox.
#[durable_object(fetch)]
pub struct EventInbox {
    sql: SqlStorage,
    env: Env,
    has_table: Cell<bool>,
}

impl DurableObject for EventInbox {
    fn new(state: State, env: Env) -> Self {
        Self { sql: state.storage().sql(), env, has_table: Cell::new(false) }
    }

    async fn fetch(&self, mut request: Request) -> Result<Response> {
        let body = request.bytes().await?;
        match self.insert(&body) {
            Ok(claim) => Ok(Response::empty()?.with_status(claim.status())),
            Err(error) => {
                console_error!("the inbox could not record an event: {error}");
                Ok(Response::empty()?.with_status(500))
            }
        }
    }
}

impl EventInbox {
    fn insert(&self, body: &[u8]) -> Result<Claim> {
        let envelope = event::read(body).map_err(|code| format!("not an event: {code}"))?;
        if !self.has_table.get() {
            self.sql.exec(CREATE_TABLE, None)?;
            self.has_table.set(true);
        }
        let record = Record::new(&envelope, clock::now_ms(&self.env));
        let inserted = self.sql.exec(INSERT, parameters(&record)?)?.raw().next().transpose()?;
        Ok(if inserted.is_some() { Claim::First } else { Claim::Duplicate })
    }
}

/// The parameters of [`INSERT`]. SQLite has no boolean, and the runtime takes none: 0 and 1.
fn parameters(record: &Record<'_>) -> Result<Vec<SqlStorageValue>> {
    Ok(vec![
        record.id.into(),
        record.event_type.into(),
        record.created_at.into(),
        record.merchant_id.into(),
        record.livemode.map(i32::from).into(),
        SqlStorageValue::try_from_i64(record.received_at_ms.cast_signed())?,
        record.body.to_vec().into(),
    ])
}
