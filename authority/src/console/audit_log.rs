//! The audit log: who did what, newest first.

use std::collections::BTreeMap;

use askama::Template;
use authority_domain::list_filter::AuditFilter;
use authority_domain::{Author, Result};
use axum::Router;
use serde_json::Value;
use url::form_urlencoded;

use super::links;
use super::visit::{Outcome, Visit};
use crate::app::List;
use crate::http::AppState;
use crate::pages::filters;
use crate::pages::shell::Shell;
use crate::pages::view::{Cell, Table, member, read, time_of};
use crate::pages::visit::shows;

const PATH: &str = "/console/audit-log";
/// Longer than any id.
const TEXT_MAX: usize = 255;

#[derive(Template)]
#[template(path = "audit_log.html")]
struct Page {
    shell: Shell,
    author: String,
    resource: String,
    table: Table,
    next: Option<String>,
}

/// The routes.
pub(super) fn routes() -> Router<AppState> {
    Router::new().route(PATH, shows(async |visit: Visit, ()| page(&visit).await))
}

async fn page(visit: &Visit) -> Result<Outcome> {
    let (author, resource) = (visit.asked("author").to_owned(), visit.asked("resource").to_owned());
    let query = |cursor: &str| {
        form_urlencoded::Serializer::new(String::new())
            .append_pair("author", &author)
            .append_pair("resource", &resource)
            .append_pair("cursor", cursor)
            .finish()
    };
    let found = match filter(&author, &resource) {
        Some(filter) => visit.app.audit_log_list(&visit.list_request(&query("")), filter).await?,
        None => List::default(),
    };
    let names = visit.app.operator_key_names().await?;
    let row = |item: &String| {
        let entry: Value = read(item)?;
        let text = |name: &str| member(&entry, name);
        Ok(vec![
            time_of(&entry, "created_at"),
            who(text("created_by"), &names),
            Cell::text(text("operation")),
            links::id(text("resource_id")),
            Cell::text(text("reason")),
            Cell::text(text("request_id")),
        ])
    };
    let known = author.is_empty() || Author::parse(&author).is_some();
    let table = Table {
        caption: "Writes of operators, newest first",
        head: &["When", "Who", "What", "Record", "Why", "Request"],
        rows: found.items.iter().map(row).collect::<Result<_>>()?,
        empty: if known { "There are none." } else { "This is the id of no operator key or portal session." },
    };
    let next = found.next_cursor.map(|cursor| format!("{PATH}?{}", query(&cursor)));
    visit.page(&Page { shell: visit.shell.clone(), author, resource, table, next })
}

/// What is asked for; `None` when nothing can have such an author or id. The log of everybody under the name of one
/// would be wrong.
fn filter(author: &str, resource: &str) -> Option<AuditFilter> {
    let usable = resource.len() <= TEXT_MAX && !resource.contains('\0');
    let by = Author::parse(author);
    let wanted = AuditFilter {
        author: by.clone(),
        resource_id: Some(resource.to_owned()).filter(|text| !text.is_empty()),
        ..AuditFilter::default()
    };
    (usable && (author.is_empty() || by.is_some())).then_some(wanted)
}

/// The author with the name of its key, which leads to all that it wrote.
fn who(id: String, names: &BTreeMap<String, String>) -> Cell {
    let text = names.get(&id).map_or_else(|| id.clone(), |name| format!("{id} ({name})"));
    Cell::link(text, of_author(&id))
}

/// What an author wrote.
pub(super) fn of_author(id: &str) -> String {
    format!("{PATH}?author={}", links::encoded(id))
}
