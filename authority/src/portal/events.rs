//! Events: the stream, newest first, and one with its content and what became of it at each endpoint.

use askama::Template;
use authority_domain::list_filter::EventFilter;
use authority_domain::{EventId, Result};
use axum::Router;
use serde_json::{Value, json};
use verify_core::catalog::EventType;

use super::visitor::EVENTS;
use super::{LINKS, Visit, following};
use crate::app::portal::sessions::PortalVisitor;
use crate::http::AppState;
use crate::http::rate_limit::Policy;
use crate::pages::form::Form;
use crate::pages::links::encoded;
use crate::pages::shell::Shell;
use crate::pages::view::{Cell, Table, fact, member, read, time_of};
use crate::pages::visit::{Outcome, done, shows, submits};
use crate::pages::{self, Visitor as _, filters};

#[derive(Template)]
#[template(path = "events.html")]
struct List {
    shell: Shell,
    kind: &'static str,
    kinds: Vec<&'static str>,
    /// This list, so that it can be loaded again.
    here: String,
    table: Table,
    next: Option<String>,
}

/// The routes.
pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route("/portal/events", shows(list))
        .route("/portal/events/{event}", shows(async |visit: Visit, id: String| page(&visit, &id).await))
        .route("/portal/events/{event}/replay", submits(PortalVisitor::MANAGES, Policy::Delivery, replay))
}

async fn list(visit: Visit, (): ()) -> Result<Outcome> {
    visit.who.check_scope(EVENTS)?;
    let shell = following(&visit).await?;
    let asked = visit.asked("type");
    let kinds = EventType::ALL.map(|kind| kind.as_str());
    let wanted = EventType::parse(asked);
    let kind = wanted.map_or("", EventType::as_str);
    let filter = EventFilter { types: wanted.into_iter().collect(), ..EventFilter::default() };
    let tenant = visit.who.caller.tenant.clone();
    let found = visit.app.stream_list(&visit.list_request(kind), tenant, filter).await?;
    let here = format!("/portal/events?type={kind}");
    let next = found.next_cursor.map(|cursor| format!("{here}&cursor={}", encoded(&cursor)));
    let table = table(&found.items)?;
    visit.page(&List { shell, kind, kinds: kinds.into(), here, table, next })
}

fn table(items: &[String]) -> Result<Table> {
    let row = |item: &String| {
        let event: Value = read(item)?;
        let about = pages::event::about(&event);
        let number = member(about, "order_number");
        let subject = if number.is_empty() { member(about, "id") } else { number };
        Ok(vec![
            LINKS.id(member(&event, "id")),
            Cell::text(member(&event, "type")),
            Cell::text(member(&event, "sequence")),
            Cell::text(subject),
            time_of(&event, "created_at"),
        ])
    };
    Ok(Table {
        caption: "Events, newest first",
        head: &["Event", "Type", "Sequence", "About", "Created"],
        rows: items.iter().map(row).collect::<Result<_>>()?,
        empty: "There are none.",
    })
}

async fn page(visit: &Visit, id: &str) -> Result<Outcome> {
    visit.who.check_scope(EVENTS)?;
    let caller = &visit.who.caller;
    let shell = following(visit).await?;
    let history = visit.app.portal_event(caller, EventId::named(id)?).await?;
    let object = history.events.first().map_or(&Value::Null, pages::event::about);
    let more = vec![fact("Order", Cell::text(member(object, "order_number")))];
    let sees_fates = visit.may(PortalVisitor::MANAGES);
    pages::event::page(visit, shell, &history, &caller.tenant, more, sees_fates)
}

async fn replay(mut visit: Visit, form: Form, id: String) -> Result<Outcome> {
    let endpoint = form.text("endpoint");
    let body = if endpoint.is_empty() { json!({}) } else { json!({ "endpoint_ids": [endpoint] }) };
    let mutation = visit.mutation("events.replay", &form);
    match visit.app.event_replay(&visit.who.caller, mutation.with(body), EventId::named(&id)).await {
        Ok(_) => Ok(done(&LINKS.record("events", &id), "replayed")),
        Err(refusal) => page(visit.refused(refusal), &id).await,
    }
}
