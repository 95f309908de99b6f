//! An endpoint: how it is, why it is held back, what it missed; what can be done about it ([`actions`],
//! [`recovery`]); and why its receiver refused a delivery ([`explain`]).

mod actions;
mod explain;
mod recovery;

use askama::Template;
use authority_domain::delivery::undelivered::UndeliveredReason;
use authority_domain::endpoint::{Endpoint, EndpointStatus};
use authority_domain::id::{EndpointId, MerchantId};
use authority_domain::refusal::Refusal;
use authority_domain::tenant::Tenant;
use axum::Router;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use axum::routing::get;
use serde_json::Value;

use super::chart::{Chart, chart, percentile};
use super::delivery;
use super::event::MANAGES;
use super::form::Form;
use super::shell::Shell;
use super::view::{Cell, Fact, Table, duration, fact, member, time_of};
use super::visit::{Outcome, Visit, show};
use super::{filters, links};
use crate::app::console::overview::EndpointDay;
use crate::app::delivery::operator::AllDeliveriesFilter;
use crate::app::delivery::undelivered::UndeliveredFilter;
use crate::app::lists::ListRequest;
use crate::http::entry::AppState;

/// Rows of the lists on this page.
const ROWS: u16 = 10;

#[derive(Template)]
#[template(path = "endpoint.html")]
struct Page {
    shell: Shell,
    path: String,
    facts: Vec<Fact>,
    day: Vec<Fact>,
    chart: Chart,
    deliveries: Table,
    all_deliveries: String,
    /// `None` for the platform's own endpoint, which has no stream of its own.
    undelivered: Option<Table>,
    recovery: Option<recovery::Progress>,
    /// The forms, when this key may send them.
    forms: Option<Forms>,
}

/// What the forms begin with: what was typed, or what is so now.
struct Forms {
    version: i64,
    enabled: bool,
    of_merchant: bool,
    overlap: bool,
    url: String,
    reason: String,
    since: String,
}

/// An endpoint with its owner.
struct Shown {
    endpoint: Endpoint,
    owner: Tenant,
    deleted_at: String,
}

/// The routes.
pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route("/console/endpoints/{endpoint}", get(endpoint))
        .merge(actions::routes())
        .merge(recovery::routes())
        .merge(explain::routes())
}

async fn endpoint(State(state): State<AppState>, Path(id): Path<String>, request: Request) -> Response {
    show(state, request, async |visit| page(&visit, &id, None).await).await
}

/// The endpoint as the operator API reads it.
async fn find(visit: &Visit, id: &str) -> Result<Shown, Refusal> {
    let answer = visit.app.endpoint_find(EndpointId::parse(id)).await?;
    let record: Value = serde_json::from_str(&answer.body).map_err(|_| Refusal::internal())?;
    let deleted_at = member(&record, "deleted_at");
    let owner = match MerchantId::parse(&member(&record, "merchant_id")) {
        None => Tenant::operator(),
        Some(merchant_id) => {
            let livemode = record.get("livemode").and_then(Value::as_bool).ok_or_else(Refusal::internal)?;
            Tenant { merchant_id, livemode }
        }
    };
    let mut record = record;
    if let Some(members) = record.as_object_mut() {
        members.insert("livemode".to_owned(), owner.livemode.into());
    }
    let endpoint = serde_json::from_value(record).map_err(|_| Refusal::internal())?;
    Ok(Shown { endpoint, owner, deleted_at })
}

/// The page; `typed` is a form that was refused.
async fn page(visit: &Visit, id: &str, typed: Option<&Form>) -> Result<Outcome, Refusal> {
    let shown = find(visit, id).await?;
    let Shown { endpoint, owner, deleted_at } = &shown;
    let day = visit.app.endpoint_day(owner, &endpoint.id).await?;
    let of_endpoint =
        AllDeliveriesFilter { endpoint_id: Some(endpoint.id.clone()), ..AllDeliveriesFilter::default() };
    let newest = ListRequest { limit: ROWS, cursor: None, filter: String::new() };
    let deliveries = visit.app.all_deliveries_list(&newest, of_endpoint).await?;
    let alive = deleted_at.is_empty();
    let of_merchant = alive && !owner.is_operator();
    let undelivered = if of_merchant { Some(undelivered(visit, &shown).await?) } else { None };
    let recovery = recovery::progress(visit, &shown).await?;
    let forms = (alive && visit.may(MANAGES)).then(|| forms(&shown, typed, visit, of_merchant));
    visit.page(&Page {
        shell: visit.shell.clone(),
        path: links::record("endpoints", endpoint.id.as_str()),
        facts: facts(&shown, visit),
        day: day_facts(&day, visit),
        chart: chart(&day.hours, visit.now),
        deliveries: delivery::table(&deliveries.items)?,
        all_deliveries: format!("/console/deliveries?endpoint={}", links::encoded(endpoint.id.as_str())),
        undelivered,
        recovery,
        forms,
    })
}

fn forms(shown: &Shown, typed: Option<&Form>, visit: &Visit, of_merchant: bool) -> Forms {
    let endpoint = &shown.endpoint;
    let kept = |name: &str, otherwise: String| {
        let typed = typed.map_or("", |form| form.text(name));
        if typed.is_empty() { otherwise } else { typed.to_owned() }
    };
    let since = endpoint.health.last_success_at.unwrap_or(endpoint.created_at);
    Forms {
        version: endpoint.resource_version,
        enabled: endpoint.status == EndpointStatus::Enabled,
        of_merchant,
        overlap: endpoint.previous_secret_expires_at.is_some_and(|until| until > visit.now),
        url: kept("url", endpoint.url.clone()),
        reason: kept("reason", String::new()),
        since: kept("since", since.to_string()),
    }
}

fn facts(shown: &Shown, visit: &Visit) -> Vec<Fact> {
    let Shown { endpoint, owner, deleted_at } = shown;
    let health = &endpoint.health;
    let owned = if owner.is_operator() {
        [fact("Owner", Cell::text("the platform")), fact("Mode", Cell::Nothing)]
    } else {
        let mode = Cell::text(links::mode(owner.livemode));
        [fact("Merchant", Cell::id(&owner.merchant_id)), fact("Mode", mode)]
    };
    let held = endpoint.held_until.filter(|until| *until > visit.now);
    let certificate = endpoint.client_certificate.as_ref();
    let mut facts = vec![
        fact("URL", Cell::text(&endpoint.url)),
        fact("Description", Cell::some(endpoint.description.clone())),
        fact("Status", Cell::state(endpoint.status)),
        fact("Disabled because", Cell::some(endpoint.disabled_reason)),
        fact("Disabled", Cell::maybe_at(endpoint.disabled_at)),
        fact("Health", Cell::state(health.state)),
        fact("Held back until", Cell::maybe_at(held)),
        fact("Held back because", Cell::some(held.and(endpoint.held_reason))),
        fact("Failures since the last success", Cell::text(health.consecutive_failures)),
        fact("Last success", Cell::maybe_at(health.last_success_at)),
        fact("Last failure", Cell::maybe_at(health.last_failure_at)),
        fact("Last answer", Cell::some(health.last_response_status)),
        fact("Last error", Cell::some(health.last_error.clone())),
        fact("Events", Cell::text(endpoint.enabled_events.join(", "))),
        fact("Secret ends with", Cell::text(&endpoint.secret_hint)),
        fact("Secret rotated", Cell::maybe_at(endpoint.secret_rotated_at)),
        fact("Previous secret signs until", Cell::maybe_at(endpoint.previous_secret_expires_at)),
        fact("Client certificate ends", Cell::maybe_at(certificate.map(|found| found.expires_at))),
        fact("Created", Cell::at(endpoint.created_at)),
        fact("Deleted", if deleted_at.is_empty() { Cell::Nothing } else { Cell::Time(deleted_at.clone()) }),
    ];
    facts.splice(2..2, owned);
    facts
}

fn day_facts(day: &EndpointDay, visit: &Visit) -> Vec<Fact> {
    let figures = &day.figures;
    let good = figures.attempts - figures.failed_attempts;
    let rate = (figures.attempts > 0).then(|| format!("{} %", good * 100 / figures.attempts.max(1)));
    let took = |share| Cell::some(percentile(&figures.durations_ms, share).map(|ms| format!("{ms} ms")));
    let age = figures.oldest_pending_at.map(|at| format!("{} ago", duration(visit.now.as_ms() - at.as_ms())));
    vec![
        fact("Attempts in 24 hours", Cell::text(figures.attempts)),
        fact("Of these successful", Cell::some(rate)),
        fact("Failed for good", Cell::text(figures.failed_deliveries)),
        fact("Latency, median", took(50)),
        fact("Latency, 95th percentile", took(95)),
        fact("Deliveries that wait", Cell::text(figures.pending)),
        fact("Of these due now", Cell::text(figures.due)),
        fact("Oldest of them", Cell::some(age)),
    ]
}

async fn undelivered(visit: &Visit, shown: &Shown) -> Result<Table, Refusal> {
    let id = shown.endpoint.id.clone();
    let newest = ListRequest { limit: ROWS, cursor: None, filter: id.to_string() };
    let filter = UndeliveredFilter::default();
    let found = visit.app.undelivered_list(&shown.owner, Some(id), &newest, filter).await?;
    let row = |item: &String| {
        let event: Value = serde_json::from_str(item).map_err(|_| Refusal::internal())?;
        let reason = member(&event, "reason");
        let words = UndeliveredReason::parse(&reason).map_or(String::new(), recovery::words);
        Ok(vec![
            Cell::id(member(&event, "event_id")),
            Cell::text(member(&event, "event_type")),
            Cell::text(words),
            time_of(&event, "created_at"),
        ])
    };
    Ok(Table {
        caption: "Newest events that have not arrived",
        head: &["Event", "Type", "Why", "Created"],
        rows: found.items.iter().map(row).collect::<Result<_, Refusal>>()?,
        empty: "Everything has arrived.",
    })
}
