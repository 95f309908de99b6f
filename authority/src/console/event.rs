//! An event of any merchant, and sending it again.

use authority_domain::{EventId, MerchantId, Refusal, Result, Tenant};
use axum::Router;
use serde_json::json;

use super::links;
use super::visit::{MANAGES, Outcome, Visit, done};
use crate::app::console::endpoints_of;
use crate::app::console::stories::EventHistory;
use crate::http::AppState;
use crate::http::rate_limit::Policy;
use crate::pages;
use crate::pages::event::about;
use crate::pages::form::Form;
use crate::pages::view::{Cell, fact, member};
use crate::pages::visit::{shows, submits};

/// The routes.
pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route("/console/events/{event}", shows(async |visit: Visit, id: String| page(&visit, &id).await))
        .route("/console/events/{event}/replay", submits(MANAGES, Policy::Write, replay))
}

async fn replay(mut visit: Visit, form: Form, id: String) -> Result<Outcome> {
    let history = visit.app.event_story(EventId::named(&id)?).await?;
    let owner = owner(&history).ok_or_else(Refusal::internal)?;
    let endpoint = form.text("endpoint");
    let body = if endpoint.is_empty() { json!({}) } else { json!({ "endpoint_ids": [endpoint] }) };
    let mutation = visit.mutation("events.replay", &form);
    match visit.app.event_replay(endpoints_of(&owner), mutation.with(body), EventId::named(&id)).await {
        Ok(_) => Ok(done(&links::record("events", &id), "replayed")),
        Err(refusal) => page(visit.refused(refusal), &id).await,
    }
}

async fn page(visit: &Visit, id: &str) -> Result<Outcome> {
    let history = visit.app.event_story(EventId::named(id)?).await?;
    let owner = owner(&history).ok_or_else(Refusal::internal)?;
    let number = history.events.first().map_or(String::new(), |event| member(about(event), "order_number"));
    let order =
        if number.is_empty() { Cell::Nothing } else { Cell::link(&number, links::order(&owner, &number)) };
    let more = vec![
        fact("Merchant", links::id(&owner.merchant_id)),
        fact("Mode", Cell::text(links::mode(owner.livemode))),
        fact("Order", order),
    ];
    let shell = visit.following_late(links::live(Some(&owner)));
    pages::event::page(visit, shell, &history, &owner, more, true)
}

/// Whose event it is.
fn owner(history: &EventHistory) -> Option<Tenant> {
    let event = history.events.first()?;
    let merchant_id = MerchantId::parse(event.pointer("/merchant/id")?.as_str()?)?;
    Some(Tenant { merchant_id, livemode: event.get("livemode")?.as_bool()? })
}
