//! The events that an endpoint wants and has not received: the newest on its own page, all of them here.
//!
//! A page looks at a limited part of the stream. So it may show few events or none, and still lead on.

use askama::Template;
use authority_domain::list_filter::UndeliveredFilter;
use authority_domain::recovery::undelivered::UndeliveredReason;
use authority_domain::{Refusal, Result};
use axum::Router;
use serde_json::Value;

use super::{KeepsEndpoints, ShownEndpoint, recovery, route};
use crate::app::delivery::undelivered::Reach;
use crate::app::{List, ListRequest};
use crate::http::AppState;
use crate::pages::links::encoded;
use crate::pages::shell::Shell;
use crate::pages::view::{Cell, Table, member, read, time_of};
use crate::pages::visit::{Outcome, Visit, shows};
use crate::pages::{Visitor, filters};

#[derive(Template)]
#[template(path = "undelivered.html")]
struct Page {
    shell: Shell,
    path: String,
    url: String,
    table: Table,
    next: Option<String>,
}

/// The route.
pub(super) fn routes<W: KeepsEndpoints>() -> Router<AppState> {
    Router::new()
        .route(&route::<W>("undelivered"), shows(async |visit: Visit<W>, id: String| page(&visit, &id).await))
}

async fn page<W: KeepsEndpoints>(visit: &Visit<W>, id: &str) -> Result<Outcome> {
    let shown = W::endpoint(visit, id).await?;
    // The platform's own endpoint has no stream of its own, of which something could be missing.
    if shown.owner.is_operator() {
        return Err(Refusal::not_found("page"));
    }
    let request = visit.list_request(shown.endpoint.id.as_str());
    let (table, cursor) = newest(visit, &shown, &request).await?;
    let path = W::SITE.links.record("endpoints", shown.endpoint.id.as_str());
    visit.page(&Page {
        shell: visit.shell.clone(),
        next: cursor.map(|cursor| format!("{path}/undelivered?cursor={}", encoded(&cursor))),
        path,
        url: shown.endpoint.url,
        table,
    })
}

/// A page of them, and the cursor of what is behind it.
pub(super) async fn newest<W: Visitor>(
    visit: &Visit<W>,
    shown: &ShownEndpoint,
    request: &ListRequest,
) -> Result<(Table, Option<String>)> {
    let id = Ok(shown.endpoint.id.clone());
    let filter = UndeliveredFilter::default();
    let found = visit.app.undelivered_list(&shown.owner, id, request, filter, Reach::Page).await?;
    let List { items, next_cursor, .. } = found;
    let row = |item: &String| {
        let event: Value = read(item)?;
        let reason = member(&event, "reason");
        let words = UndeliveredReason::parse(&reason).map_or(String::new(), recovery::words);
        Ok(vec![
            visit.who.link(&member(&event, "event_id")),
            Cell::text(member(&event, "event_type")),
            Cell::text(words),
            time_of(&event, "created_at"),
        ])
    };
    let table = Table {
        caption: "Newest events that have not arrived",
        head: &["Event", "Type", "Why", "Created"],
        rows: items.iter().map(row).collect::<Result<_>>()?,
        empty: if next_cursor.is_some() {
            "Every event up to here has arrived."
        } else {
            "Everything has arrived."
        },
    };
    Ok((table, next_cursor))
}
