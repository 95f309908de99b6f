//! All recoveries of an endpoint: the newest that run, as on its own page, and every one that has ended.

use askama::Template;
use authority_domain::{Refusal, Result};
use axum::Router;
use serde_json::Value;

use super::{KeepsEndpoints, recovery, route};
use crate::app::List;
use crate::http::AppState;
use crate::pages::filters;
use crate::pages::links::encoded;
use crate::pages::shell::Shell;
use crate::pages::view::{Cell, Table, member, read, time_of};
use crate::pages::visit::{Outcome, Visit, shows};

#[derive(Template)]
#[template(path = "recoveries.html")]
struct Page {
    shell: Shell,
    path: String,
    url: String,
    running: Option<Table>,
    ended: Table,
    next: Option<String>,
}

/// The route.
pub(super) fn routes<W: KeepsEndpoints>() -> Router<AppState> {
    Router::new()
        .route(&route::<W>("recoveries"), shows(async |visit: Visit<W>, id: String| page(&visit, &id).await))
}

async fn page<W: KeepsEndpoints>(visit: &Visit<W>, id: &str) -> Result<Outcome> {
    let shown = W::endpoint(visit, id).await?;
    // The platform's own endpoint has no stream of its own, of which something could be recovered.
    if shown.owner.is_operator() {
        return Err(Refusal::not_found("page"));
    }
    let running = recovery::running(visit, &shown).await?;
    let (holder, endpoint) = (visit.who.holder(&shown.owner), shown.endpoint.id);
    let path = W::SITE.links.record("endpoints", endpoint.as_str());
    let List { items, next_cursor, .. } =
        visit.app.recoveries_ended_list(holder, endpoint, &visit.list_request("")).await?;
    visit.page(&Page {
        shell: visit.shell.clone(),
        running,
        ended: table(&items, &path)?,
        next: next_cursor.map(|cursor| format!("{path}/recoveries?cursor={}", encoded(&cursor))),
        path,
        url: shown.endpoint.url,
    })
}

fn table(items: &[String], path: &str) -> Result<Table> {
    let row = |item: &String| {
        let recovery: Value = read(item)?;
        let id = member(&recovery, "id");
        Ok(vec![
            Cell::link(&id, format!("{path}?recovery={}", encoded(&id))),
            Cell::state(member(&recovery, "status")),
            time_of(&recovery, "since"),
            Cell::text(member(&recovery, "matched")),
            Cell::text(member(&recovery, "enqueued")),
            time_of(&recovery, "created_at"),
            time_of(&recovery, "finished_at"),
        ])
    };
    Ok(Table {
        caption: "Recoveries that have ended, newest first",
        head: &["Recovery", "Status", "Since", "Events found", "Sent or waiting", "Begun", "Ended"],
        rows: items.iter().map(row).collect::<Result<_>>()?,
        empty: "No recovery has ended yet.",
    })
}
