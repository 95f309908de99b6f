//! The management commands: what the operator API does for merchants, keys, endpoints, deliveries and events, for a
//! person with access to the database (contract 6.4).
//!
//! Each command runs a use case of the operator API in one transaction, with or without a running service beside it.
//! The audit log shows its writes as `cli`. The commands need the configuration of `serve`. A key is printed once, on
//! standard output. A list is a table with headings ([`table`]); with `--json` every record is one JSON line. A refusal
//! is one line: the exit code is 2 when an option has to be corrected, 1 otherwise.

mod args;
mod deliveries;
mod delivery_tail;
mod endpoints;
mod events;
mod keys;
mod merchants;
mod operator_keys;
mod sandbox;
pub(in crate::cli) mod table;

pub(super) use args::{Events, Key, MerchantCommand, OperatorKey, SandboxCommand};
pub(super) use deliveries::{Delivery, run as delivery};
pub(super) use endpoints::{Endpoint, run as endpoint};
pub(super) use events::run as events;
pub(super) use keys::run as key;
pub(super) use merchants::run as merchant;
pub(super) use operator_keys::run as operator_key;
pub(super) use sandbox::run as sandbox;

use std::sync::Arc;

use authority_domain::list_filter::MerchantFilter;
use authority_domain::{Author, EndpointId, MemberCode, MerchantId, Refusal, RequestId, Result};
use authority_store::Access;
use rand::SeedableRng;
use rand::rngs::StdRng;
use serde_json::{Value, json};

use super::serve::block_on;
use super::{Failure, Process};
use crate::app::{Answer, App, List, ListRequest, Mutation};
use crate::clock::SystemClock;
use crate::config::Config;
use crate::dice::SystemDice;
use crate::service::open_app;

/// Rows per page. The commands read all pages of a list.
const PAGE: u16 = 100;

/// Opens the use cases, runs `work`, and closes the database.
fn with_app<T>(
    process: &Process<'_>,
    work: impl AsyncFnOnce(&App) -> Result<T, Failure>,
) -> Result<T, Failure> {
    with_config(&Config::read(process.environment)?, work)
}

/// The same with a configuration that was read.
pub(super) fn with_config<T>(
    config: &Config,
    work: impl AsyncFnOnce(&App) -> Result<T, Failure>,
) -> Result<T, Failure> {
    block_on(async {
        let app =
            open_app(config, Access::Shared, Arc::new(SystemClock::new()), Arc::new(SystemDice)).await?;
        let done = work(&app).await;
        app.store.close().await;
        done.map_err(|failure| failure.of_database(&config.database_url))
    })
}

/// A write by the command line, under the name of the operator API's operation.
fn by_command(app: &App, operation: &'static str) -> Mutation {
    let mut seed = [0; 32];
    app.dice.fill(&mut seed);
    Mutation {
        operation,
        request_id: RequestId::generate(app.now(), &mut StdRng::from_seed(seed)),
        trace: None,
        idempotency: None,
        if_match: None,
        author: Some(Author::CommandLine),
        body: json!({}),
    }
}

/// The merchant that `--merchant` names, by id or by slug.
async fn named_merchant(app: &App, name: &str) -> Result<MerchantId, Failure> {
    let unknown = || Failure::Failed("there is no such merchant".to_owned());
    if let Some(id) = MerchantId::parse(name) {
        app.merchant_get(id.clone()).await.map_err(refused)?;
        return Ok(id);
    }
    let filter = MerchantFilter { slug: Some(name.to_owned()), ..MerchantFilter::default() };
    let found = app.merchants_list(&page(None), filter).await.map_err(refused)?;
    let merchant: Value = found.items.first().map(|text| read(text)).transpose()?.ok_or_else(unknown)?;
    merchant.get("id").and_then(Value::as_str).and_then(MerchantId::parse).ok_or_else(unknown)
}

/// How many records a tail begins with.
fn last_records(last: u32) -> Result<u8, Failure> {
    let usage = || Failure::Usage(format!("--last must be 0 to {PAGE}"));
    u8::try_from(last).ok().filter(|last| u16::from(*last) <= PAGE).ok_or_else(usage)
}

/// The endpoint that `--endpoint` names, if it is given.
fn endpoint_id(given: Option<&str>) -> Result<Option<EndpointId>, Failure> {
    let unknown = || Failure::Failed("there is no such webhook endpoint".to_owned());
    given.map(|id| EndpointId::parse(id).ok_or_else(unknown)).transpose()
}

fn page(cursor: Option<String>) -> ListRequest {
    ListRequest { limit: PAGE, cursor, filter: String::new() }
}

/// Reads a list page by page to its end.
async fn all_pages(mut fetch: impl AsyncFnMut(ListRequest) -> Result<List>) -> Result<Vec<String>, Failure> {
    let (mut found, mut cursor) = (Vec::new(), None);
    loop {
        let list = fetch(page(cursor)).await.map_err(refused)?;
        found.extend(list.items);
        cursor = list.next_cursor;
        if cursor.is_none() {
            return Ok(found);
        }
    }
}

/// One line for a refusal by a use case. A wrong member of the body is reported as the option of the same name.
fn refused(refusal: Refusal) -> Failure {
    let Some(member) = refusal.members.first() else { return Failure::of_refusal(refusal) };
    let inner = member.pointer.trim_start_matches("/limits").trim_start_matches('/');
    let name: String = inner.split('/').take(1).collect();
    let line = format!("--{}: {}", name.replace('_', "-"), member.detail);
    match member.code {
        MemberCode::Duplicate => Failure::Failed(line),
        _ => Failure::Usage(line),
    }
}

fn read(text: &str) -> Result<Value, Failure> {
    serde_json::from_str(text).map_err(Failure::failed)
}

/// Prints a record: all of it as JSON, or only the named members as text.
fn print_record(text: &str, members: &[&str], json: bool, process: &mut Process<'_>) -> Result<(), Failure> {
    if json {
        writeln!(process.stdout, "{text}")?;
    } else {
        let record = read(text)?;
        let shown: Vec<String> = members.iter().map(|member| shown(record.get(*member))).collect();
        writeln!(process.stdout, "{}", shown.join("  "))?;
    }
    process.stdout.flush()?;
    Ok(())
}

/// A member as text on one line, so that text from a merchant cannot act as terminal control codes.
fn shown(value: Option<&Value>) -> String {
    let text = match value {
        None | Some(Value::Null) => "-".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(items)) => items.iter().map(|item| shown(Some(item))).collect::<Vec<_>>().join(","),
        Some(other) => other.to_string(),
    };
    super::plain(&text)
}

/// Prints an answer that shows a key: only the key on standard output, the details of its record on standard error.
fn print_key(answer: &Answer, json: bool, process: &mut Process<'_>) -> Result<(), Failure> {
    if json {
        return print_record(&answer.body, &[], true, process);
    }
    print_record(&answer.body, &["key"], false, process)?;
    let record = read(&answer.body)?;
    let (id, scopes) = (shown(record.get("id")), shown(record.get("scopes")));
    writeln!(process.stderr, "authority: {id} with {scopes}; the key is not shown again")?;
    Ok(())
}
