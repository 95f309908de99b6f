//! An event: what it says, where it went, and what became of it there. The story of an order shows its events the same
//! way.

use askama::Template;
use authority_domain::id::{EndpointId, EventId, MerchantId};
use authority_domain::merchant::scope::OperatorScope;
use authority_domain::refusal::Refusal;
use authority_domain::tenant::Tenant;
use axum::Router;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use axum::routing::{get, post};
use serde_json::{Value, json};

use super::delivery::{attempts_table, reason};
use super::shell::Shell;
use super::view::{Cell, Fact, Table, fact, member, time_of};
use super::visit::{Outcome, Visit, done, show, submit};
use super::{filters, links};
use crate::app::console::order_story::EventHistory;
use crate::app::console::{FoundDelivery, endpoints_of};
use crate::http::entry::AppState;

/// What sends something again, and what manages endpoints.
pub(super) const MANAGES: &[OperatorScope] = &[OperatorScope::KeysWrite];

/// An event and what became of it.
pub(super) struct ShownEvent {
    pub(super) kind: String,
    pub(super) path: String,
    pub(super) at: Cell,
    pub(super) fates: Vec<Fate>,
}

/// One delivery of it.
pub(super) struct Fate {
    pub(super) url: String,
    pub(super) endpoint_path: String,
    pub(super) endpoint: String,
    pub(super) delivery_path: String,
    pub(super) status: String,
    /// Why it has not arrived.
    pub(super) why: String,
    pub(super) attempts: Table,
    /// How it can be sent once more by this key: `retry` of the delivery, or `replay` of the event.
    pub(super) again: Option<&'static str>,
}

#[derive(Template)]
#[template(path = "event.html")]
struct Page {
    shell: Shell,
    id: String,
    facts: Vec<Fact>,
    shown: ShownEvent,
    json: String,
    may_replay: bool,
}

/// The routes.
pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route("/console/events/{event}", get(event))
        .route("/console/events/{event}/replay", post(replay))
}

async fn event(State(state): State<AppState>, Path(id): Path<String>, request: Request) -> Response {
    show(state, request, async |visit| page(&visit, &id).await).await
}

async fn replay(State(state): State<AppState>, Path(id): Path<String>, request: Request) -> Response {
    submit(state, request, MANAGES, async |mut visit, form| {
        let history = visit.app.event_story(EventId::parse(&id)).await?;
        let owner = owner(&history).ok_or_else(Refusal::internal)?;
        let endpoint = form.text("endpoint");
        let body = if endpoint.is_empty() { json!({}) } else { json!({ "endpoint_ids": [endpoint] }) };
        let mutation = visit.mutation("events.replay", &form);
        match visit.app.event_replay(endpoints_of(&owner), mutation, EventId::parse(&id), body).await {
            Ok(_) => Ok(done(&links::record("events", &id), "replayed")),
            Err(refusal) => {
                visit.refused(refusal);
                page(&visit, &id).await
            }
        }
    })
    .await
}

async fn page(visit: &Visit, id: &str) -> Result<Outcome, Refusal> {
    let history = visit.app.event_story(EventId::parse(id)).await?;
    let owner = owner(&history).ok_or_else(Refusal::internal)?;
    let event = history.events.first().ok_or_else(Refusal::internal)?;
    let shown = shown_events(&history, &owner, visit)?.pop().ok_or_else(Refusal::internal)?;
    let object = about(event);
    let number = member(object, "order_number");
    let order =
        if number.is_empty() { Cell::Nothing } else { Cell::link(&number, links::order(&owner, &number)) };
    visit.page(&Page {
        shell: visit.shell.clone(),
        id: id.to_owned(),
        facts: vec![
            fact("Type", Cell::text(member(event, "type"))),
            fact("Created", time_of(event, "created_at")),
            fact("Sequence", Cell::text(member(event, "sequence"))),
            fact("Merchant", Cell::id(&owner.merchant_id)),
            fact("Mode", Cell::text(links::mode(owner.livemode))),
            fact("Order", order),
            fact("Record", Cell::id(member(object, "id"))),
        ],
        shown,
        json: serde_json::to_string_pretty(event).map_err(|_| Refusal::internal())?,
        may_replay: visit.may(MANAGES),
    })
}

/// The record that an event is about.
fn about(event: &Value) -> &Value {
    event.pointer("/data/object").unwrap_or(&Value::Null)
}

/// Whose event it is.
fn owner(history: &EventHistory) -> Option<Tenant> {
    let event = history.events.first()?;
    let merchant_id = MerchantId::parse(event.pointer("/merchant/id")?.as_str()?)?;
    Some(Tenant { merchant_id, livemode: event.get("livemode")?.as_bool()? })
}

/// The events with their deliveries and attempts, newest first.
pub(super) fn shown_events(
    history: &EventHistory,
    owner: &Tenant,
    visit: &Visit,
) -> Result<Vec<ShownEvent>, Refusal> {
    let manages = visit.may(MANAGES);
    let shown = |event: &Value| {
        let id = member(event, "id");
        let of_event = history.deliveries.iter().rev().filter(|found| found.delivery.event_id.as_str() == id);
        Ok(ShownEvent {
            kind: member(event, "type"),
            path: links::record("events", &id),
            at: time_of(event, "created_at"),
            fates: of_event.map(|found| fate(history, found, owner, manages)).collect(),
        })
    };
    history.events.iter().map(shown).collect()
}

fn fate(history: &EventHistory, found: &FoundDelivery, owner: &Tenant, manages: bool) -> Fate {
    let delivery = &found.delivery;
    let url = |id: &EndpointId| history.urls.get(id).cloned().unwrap_or_default();
    let attempts = history.attempts.iter().rev().filter(|attempt| attempt.delivery_id == delivery.id);
    let status = delivery.status.as_str();
    let again = match status {
        "succeeded" => (found.owner == *owner).then_some("replay"),
        _ => Some("retry"),
    };
    Fate {
        url: url(&delivery.endpoint_id),
        endpoint_path: links::record("endpoints", delivery.endpoint_id.as_str()),
        endpoint: delivery.endpoint_id.to_string(),
        delivery_path: links::record("deliveries", delivery.id.as_str()),
        status: status.to_owned(),
        why: reason(delivery),
        attempts: attempts_table(attempts),
        again: again.filter(|_| manages),
    }
}
