//! An endpoint as both sites show it: how it is, why it is held back, what it missed. What can be done about it is in
//! [`actions`] and [`recovery`], all that it missed in [`undelivered`], all its recoveries in [`recoveries`], which
//! secret signs what in [`rotation`], and why its receiver refused a delivery in [`explain`]. Each site says whose
//! endpoints it shows ([`KeepsEndpoints`]) and adds the forms that differ.

pub(crate) mod actions;
pub(crate) mod delete;
mod explain;
mod recoveries;
pub(crate) mod recovery;
pub(crate) mod rotation;
mod undelivered;

use authority_domain::{Endpoint, EndpointStatus, Result, Tenant, Timestamp};
use axum::Router;
use serde_json::Value;

use super::Visitor;
use super::chart::{Chart, attempts, latencies, percentile};
use super::form::Form;
use super::links::{encoded, mode};
use super::view::{Cell, Fact, Table, duration, fact};
use super::visit::{Outcome, Visit};
use crate::app::ListRequest;
use crate::app::console::overview::EndpointDay;
use crate::app::endpoint::merchant::Holder;
use crate::http::AppState;

/// Rows of the lists on the page of an endpoint.
pub(crate) const ROWS: u16 = 10;

/// A visitor who looks after endpoints.
pub(crate) trait KeepsEndpoints: Visitor {
    /// An endpoint that the visitor may see.
    ///
    /// # Errors
    /// `not_found`.
    fn endpoint(visit: &Visit<Self>, id: &str) -> impl Future<Output = Result<ShownEndpoint>> + Send;

    /// The use cases' name for the owner of such an endpoint.
    fn holder(&self, owner: &Tenant) -> Holder;

    /// The use cases' name for the owner of the endpoint with this id.
    ///
    /// # Errors
    /// `not_found`.
    fn holder_of(visit: &Visit<Self>, id: &str) -> impl Future<Output = Result<Holder>> + Send;

    /// Where to go when an endpoint was deleted.
    fn after_deletion(id: &str) -> String;

    /// The page of an endpoint; `typed` is a form that was refused.
    ///
    /// # Errors
    /// As the site's reads have them.
    fn endpoint_page(
        visit: &Visit<Self>,
        id: &str,
        typed: Option<&Form>,
    ) -> impl Future<Output = Result<Outcome>> + Send;
}

/// An endpoint with its owner.
pub(crate) struct ShownEndpoint {
    /// The endpoint.
    pub(crate) endpoint: Endpoint,
    /// Whose it is.
    pub(crate) owner: Tenant,
    /// When its merchant deleted it; empty when it is there.
    pub(crate) deleted_at: String,
}

/// What the page of an endpoint has on both sites.
pub(crate) struct EndpointView {
    pub(crate) path: String,
    pub(crate) facts: Vec<Fact>,
    pub(crate) day: Vec<Fact>,
    pub(crate) chart: Chart,
    /// How long attempts took.
    pub(crate) latencies: Chart,
    /// While two secrets sign.
    pub(crate) rotation: Option<rotation::Rotation>,
    pub(crate) deliveries: Table,
    pub(crate) all_deliveries: String,
    /// What has not arrived, and where there is more of it; `None` for the platform's own endpoint, which has no stream
    /// of its own.
    pub(crate) undelivered: Option<(Table, Option<String>)>,
    pub(crate) recovery: Option<recovery::Progress>,
    /// Recoveries that run; `None` when none does.
    pub(crate) recoveries: Option<Table>,
    /// Where all are, those that have ended among them; `None` for the platform's own endpoint.
    pub(crate) all_recoveries: Option<String>,
    /// The forms, when the visitor may send them.
    pub(crate) forms: Option<Forms>,
}

/// What the forms begin with: what was typed, or what is so now.
pub(crate) struct Forms {
    pub(crate) version: i64,
    pub(crate) enabled: bool,
    pub(crate) of_merchant: bool,
    pub(crate) overlap: bool,
    pub(crate) overlap_hours: String,
    /// The overlap that is open is to be ended.
    pub(crate) force: bool,
    pub(crate) url: String,
    /// The names of its own headers, which another host does not get; empty when it has none.
    pub(crate) header_names: String,
    pub(crate) removes_headers: bool,
    pub(crate) since: String,
}

/// The routes that both sites have.
pub(crate) fn routes<W: KeepsEndpoints>() -> Router<AppState> {
    Router::new()
        .merge(actions::routes::<W>())
        .merge(recovery::routes::<W>())
        .merge(recoveries::routes::<W>())
        .merge(explain::routes::<W>())
        .merge(delete::routes::<W>())
        .merge(undelivered::routes::<W>())
}

/// The path of a form of an endpoint, for the router.
fn route<W: Visitor>(form: &str) -> String {
    format!("{}/endpoints/{{endpoint}}/{form}", W::SITE.links.root)
}

/// What was typed, also when it is nothing, or what is so now where that form was not sent.
pub(crate) fn kept(typed: Option<&Form>, name: &str, now: impl ToString) -> String {
    typed.and_then(|form| form.typed(name)).map_or_else(|| now.to_string(), str::to_owned)
}

fn removes_headers(form: &Form) -> bool {
    form.text("remove_headers") == "yes"
}

/// The member `headers` of a change that a form asks for: null when it removes them. Their values are never shown, so
/// no form has them to be sent again.
pub(crate) fn headers(form: &Form) -> Option<Value> {
    removes_headers(form).then_some(Value::Null)
}

/// What both sites show of an endpoint; `deliveries` are its newest ones.
///
/// # Errors
/// Only what the store reports, and `not_found` for a recovery of another endpoint.
pub(crate) async fn view<W: KeepsEndpoints>(
    visit: &Visit<W>,
    shown: &ShownEndpoint,
    deliveries: Table,
    typed: Option<&Form>,
) -> Result<EndpointView> {
    let ShownEndpoint { endpoint, owner, deleted_at } = shown;
    let links = &W::SITE.links;
    let day = visit.app.endpoint_day(owner, &endpoint.id).await?;
    let alive = deleted_at.is_empty();
    let of_merchant = alive && !owner.is_operator();
    let newest = ListRequest { limit: ROWS, cursor: None, filter: endpoint.id.to_string() };
    let since = endpoint.health.last_success_at.unwrap_or(endpoint.created_at);
    let path = links.record("endpoints", endpoint.id.as_str());
    Ok(EndpointView {
        all_recoveries: (!owner.is_operator()).then(|| format!("{path}/recoveries")),
        path,
        facts: facts(shown, visit),
        day: day_facts(&day, visit.now),
        chart: attempts(&day.hours, visit.now),
        latencies: latencies(&day.figures.durations_ms),
        rotation: rotation::rotation(endpoint, visit.now),
        deliveries,
        all_deliveries: format!("{}/deliveries?endpoint={}", links.root, encoded(endpoint.id.as_str())),
        undelivered: if of_merchant { Some(undelivered::newest(visit, shown, &newest).await?) } else { None },
        recovery: recovery::progress(visit, shown).await?,
        recoveries: if of_merchant { recovery::running(visit, shown).await? } else { None },
        forms: (alive && visit.may(W::MANAGES)).then(|| Forms {
            version: endpoint.resource_version,
            enabled: endpoint.status == EndpointStatus::Enabled,
            of_merchant,
            overlap: endpoint.previous_secret_expires_at.is_some_and(|until| until > visit.now),
            overlap_hours: kept(typed, "overlap_hours", actions::OVERLAP_HOURS),
            force: typed.is_some_and(actions::forces),
            url: kept(typed, "url", &endpoint.url),
            header_names: endpoint.header_names.join(", "),
            removes_headers: typed.is_some_and(removes_headers),
            since: kept(typed, "since", since),
        }),
    })
}

fn facts<W: Visitor>(shown: &ShownEndpoint, visit: &Visit<W>) -> Vec<Fact> {
    let ShownEndpoint { endpoint, owner, deleted_at } = shown;
    let health = &endpoint.health;
    let owned = if owner.is_operator() {
        [fact("Owner", Cell::text("the platform")), fact("Mode", Cell::Nothing)]
    } else {
        let mode = Cell::text(mode(owner.livemode));
        [fact("Merchant", W::SITE.links.id(&owner.merchant_id)), fact("Mode", mode)]
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

fn day_facts(day: &EndpointDay, now: Timestamp) -> Vec<Fact> {
    let figures = &day.figures;
    let good = figures.attempts - figures.failed_attempts;
    let rate = (figures.attempts > 0).then(|| format!("{} %", good * 100 / figures.attempts.max(1)));
    let took = |share| Cell::some(percentile(&figures.durations_ms, share).map(|ms| format!("{ms} ms")));
    let age = figures.oldest_pending_at.map(|at| format!("{} ago", duration(now.as_ms() - at.as_ms())));
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
