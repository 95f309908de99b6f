//! Search by anything: one result leads straight to its page, several are listed.

use askama::Template;
use authority_domain::Result;
use axum::Router;

use super::alerts::PATH as ALERTS;
use super::audit_log::of_author;
use super::links;
use super::visit::{Outcome, Visit};
use crate::app::console::MatchedName;
use crate::app::console::search::Found;
use crate::http::AppState;
use crate::pages::filters;
use crate::pages::shell::Shell;
use crate::pages::view::{Cell, Table};
use crate::pages::visit::shows;

/// Longest text that is searched for, in bytes; longer than any name.
const TEXT_MAX: usize = 512;

#[derive(Template)]
#[template(path = "search.html")]
struct Page {
    shell: Shell,
    asked: bool,
    results: Table,
}

/// The routes.
pub(super) fn routes() -> Router<AppState> {
    Router::new().route("/console/search", shows(search))
}

async fn search(mut visit: Visit, (): ()) -> Result<Outcome> {
    let text = visit.asked("q").to_owned();
    let usable = !text.is_empty() && text.len() <= TEXT_MAX && !text.contains('\0');
    let found = if usable { visit.app.search(&text).await? } else { Vec::new() };
    if let [only] = found.as_slice() {
        return Ok(Outcome::Redirect(place(only).1));
    }
    visit.shell.searched.clone_from(&text);
    let rows = found.iter().map(|found| {
        let (id, path, what) = place(found);
        vec![Cell::link(id, path), Cell::text(what), Cell::some(owner(found))]
    });
    let results = Table {
        caption: "What was found, newest first",
        head: &["Record", "Found by", "Merchant"],
        rows: rows.collect(),
        empty: "Nothing has this number, id or reference.",
    };
    visit.page(&Page { shell: visit.shell.clone(), asked: !text.is_empty(), results })
}

/// What to show of a record, where its page is, and how it was found.
fn place(found: &Found) -> (String, String, &'static str) {
    let by_id = |room: &str, id: &str| (id.to_owned(), links::record(room, id), "id");
    match found {
        Found::OfOrder { tenant, number, id, by } => {
            let text = if id == number { number.clone() } else { format!("{number} ({id})") };
            (text, links::order(tenant, number), name(*by))
        }
        Found::Record { id, by } => (id.clone(), links::record("records", id), name(*by)),
        Found::Event(id) => by_id("events", id.as_str()),
        Found::Delivery(id) => by_id("deliveries", id.as_str()),
        Found::Endpoint(id) => by_id("endpoints", id.as_str()),
        Found::Recovery(endpoint, id) => {
            let path = links::record("endpoints", endpoint.as_str());
            (id.to_string(), format!("{path}?recovery={}", links::encoded(id.as_str())), "id")
        }
        Found::Merchant(id) => by_id("merchants", id.as_str()),
        Found::Alert(status) => ("alert".to_owned(), format!("{ALERTS}?status={status}"), "id"),
        Found::Author(author) => (author.to_string(), of_author(author.as_str()), "id"),
    }
}

fn owner(found: &Found) -> Option<String> {
    match found {
        Found::OfOrder { tenant, .. } => {
            Some(format!("{} ({})", tenant.merchant_id, links::mode(tenant.livemode)))
        }
        _ => None,
    }
}

fn name(by: Option<MatchedName>) -> &'static str {
    match by {
        None => "id",
        Some(MatchedName::OrderNumber) => "order number",
        Some(MatchedName::ExternalReference) => "external reference",
        Some(MatchedName::CustomerReference) => "customer reference",
        Some(MatchedName::TrackingNumber) => "tracking number",
        Some(MatchedName::ProcessorReference) => "processor reference",
    }
}
