//! The API keys of the merchant and mode, to look at.
//!
//! A session with `webhooks:manage` sees them. That is the scope of whoever runs the integration: names and scopes of
//! keys say which systems a merchant has and what each may do, which is nothing to a session that only reads events. No
//! scope of the API is about keys, and none is added for this page.
//!
//! Of a key stands here what it is recognised by and what it may do: never the key, which nobody has any more, nor its
//! hash, nor the ids of operator keys. Deliberately absent: making, replacing and revoking. A session is got by a link
//! and ends; a key made in it would go on, with scopes that the session may never have had. And a key that is revoked
//! stops a system of the merchant at once. So the operator alone does it, under its own name (contract 2.11).
//!
//! Nothing here arrives by itself, so the page does not follow: the marks of change know nothing of keys, and the times
//! of last use would have every page of the merchant ask for itself every minute.

use askama::Template;
use authority_domain::Result;
use axum::Router;
use serde_json::Value;

use super::Visit;
use super::visitor::KEYS;
use crate::http::AppState;
use crate::pages::links::encoded;
use crate::pages::shell::Shell;
use crate::pages::view::{Cell, Table, member, read, time_of};
use crate::pages::visit::{Outcome, shows};
use crate::pages::{Visitor as _, filters};

const PATH: &str = "/portal/api-keys";

#[derive(Template)]
#[template(path = "api_keys.html")]
struct Page {
    shell: Shell,
    table: Table,
    next: Option<String>,
}

/// The route.
pub(super) fn routes() -> Router<AppState> {
    Router::new().route(PATH, shows(list))
}

async fn list(visit: Visit, (): ()) -> Result<Outcome> {
    visit.who.check_scope(KEYS)?;
    let found = visit.app.api_keys_own(&visit.who.caller, &visit.list_request("")).await?;
    visit.page(&Page {
        shell: visit.shell.clone(),
        table: table(&found.items)?,
        next: found.next_cursor.map(|cursor| format!("{PATH}?cursor={}", encoded(&cursor))),
    })
}

fn table(items: &[String]) -> Result<Table> {
    let row = |item: &String| {
        let key: Value = read(item)?;
        let scopes = key.get("scopes").and_then(Value::as_array).into_iter().flatten();
        let scopes: Vec<&str> = scopes.filter_map(Value::as_str).collect();
        Ok(vec![
            Cell::text(member(&key, "name")),
            Cell::text(member(&key, "display")),
            Cell::text(scopes.join(", ")),
            Cell::state(member(&key, "status")),
            time_of(&key, "created_at"),
            time_of(&key, "last_used_at"),
            time_of(&key, "expires_at"),
        ])
    };
    Ok(Table {
        caption: "API keys, newest first",
        head: &["Name", "Key", "Scopes", "Status", "Created", "Last used", "Expires"],
        rows: items.iter().map(row).collect::<Result<_>>()?,
        empty: "There is no API key yet.",
    })
}
