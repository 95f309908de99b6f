//! The audit log: who did what, newest first.

use askama::Template;
use authority_domain::audit_log::Author;
use authority_domain::list_filter::AuditFilter;
use authority_domain::refusal::Refusal;
use axum::Router;
use serde_json::Value;
use url::form_urlencoded;

use super::links;
use super::visit::{Outcome, Visit};
use crate::http::entry::AppState;
use crate::pages::filters;
use crate::pages::shell::Shell;
use crate::pages::view::{Cell, Table, member, time_of};
use crate::pages::visit::shows;

pub(super) const PATH: &str = "/console/audit-log";
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

async fn page(visit: &Visit) -> Result<Outcome, Refusal> {
    let usable = |text: &str| text.len() <= TEXT_MAX && !text.contains('\0');
    let asked =
        |name: &str| Some(visit.asked(name)).filter(|text| usable(text)).unwrap_or_default().to_owned();
    let (author, resource) = (asked("author"), asked("resource"));
    let filter = AuditFilter {
        author: Author::parse(&author),
        resource_id: Some(resource.clone()).filter(|text| !text.is_empty()),
        ..AuditFilter::default()
    };
    let query = |cursor: &str| {
        form_urlencoded::Serializer::new(String::new())
            .append_pair("author", &author)
            .append_pair("resource", &resource)
            .append_pair("cursor", cursor)
            .finish()
    };
    let found = visit.app.audit_log_list(&visit.list_request(&query("")), filter).await?;
    let row = |item: &String| {
        let entry: Value = serde_json::from_str(item).map_err(|_| Refusal::internal())?;
        let text = |name: &str| member(&entry, name);
        Ok(vec![
            time_of(&entry, "created_at"),
            Cell::text(text("created_by")),
            Cell::text(text("operation")),
            links::id(text("resource_id")),
            Cell::text(text("reason")),
            Cell::text(text("request_id")),
        ])
    };
    let table = Table {
        caption: "Writes of operators, newest first",
        head: &["When", "Who", "What", "Record", "Why", "Request"],
        rows: found.items.iter().map(row).collect::<Result<_, Refusal>>()?,
        empty: "There are none.",
    };
    let next = found.next_cursor.map(|cursor| format!("{PATH}?{}", query(&cursor)));
    visit.page(&Page { shell: visit.shell.clone(), author, resource, table, next })
}
