//! Deliveries to one of the merchant's endpoints, and one with every attempt.

use askama::Template;
use authority_domain::list_filter::{DeliveryFilter, EndpointFilter};
use authority_domain::{DeliveryId, DeliveryStatus, EndpointId, Result};
use axum::Router;
use serde_json::Value;

use super::{LINKS, Visit, following};
use crate::app::ListRequest;
use crate::app::portal::sessions::PortalVisitor;
use crate::http::AppState;
use crate::http::rate_limit::Policy;
use crate::pages::form::Form;
use crate::pages::links::encoded;
use crate::pages::shell::Shell;
use crate::pages::view::{Cell, Table, member, read};
use crate::pages::visit::{Outcome, done, shows, submits};
use crate::pages::{self, Visitor as _, filters};

/// Endpoints to choose from; those of a merchant with more have a link to their deliveries on their own pages.
const CHOICES: u16 = 50;

#[derive(Template)]
#[template(path = "portal_deliveries.html")]
struct List {
    shell: Shell,
    endpoint: String,
    /// Ids and URLs.
    endpoints: Vec<(String, String)>,
    status: &'static str,
    statuses: Vec<&'static str>,
    /// This list, so that it can be loaded again.
    here: String,
    table: Table,
    next: Option<String>,
}

/// The routes.
pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route("/portal/deliveries", shows(list))
        .route(
            "/portal/deliveries/{delivery}",
            shows(async |visit: Visit, id: String| page(&visit, &id).await),
        )
        .route(
            "/portal/deliveries/{delivery}/retry",
            submits(PortalVisitor::MANAGES, Policy::Delivery, retry),
        )
}

async fn list(visit: Visit, (): ()) -> Result<Outcome> {
    let caller = &visit.who.caller;
    caller.check_scope(PortalVisitor::MANAGES)?;
    let shell = following(&visit).await?;
    let newest = ListRequest { limit: CHOICES, cursor: None, filter: String::new() };
    let known = visit.app.endpoints_list(caller, &newest, EndpointFilter::default()).await?;
    let endpoints = known.items.iter().map(|item| choice(item)).collect::<Result<Vec<_>, _>>()?;
    let asked = visit.asked("endpoint");
    let first = endpoints.first().map_or("", |(id, _)| id.as_str());
    let endpoint = if asked.is_empty() { first } else { asked }.to_owned();
    let wanted = DeliveryStatus::parse(visit.asked("status"));
    let status = wanted.map_or("", |status| status.as_str());
    let here = format!("/portal/deliveries?endpoint={}&status={status}", encoded(&endpoint));
    let found = deliveries(&visit, &endpoint, wanted).await?;
    let (items, cursor) = found.map_or_else(Default::default, |found| (found.items, found.next_cursor));
    visit.page(&List {
        shell,
        endpoint,
        endpoints,
        status,
        statuses: DeliveryStatus::ALL.iter().map(|status| status.as_str()).collect(),
        next: cursor.map(|cursor| format!("{here}&cursor={}", encoded(&cursor))),
        here,
        table: pages::delivery::table(&items, &LINKS)?,
    })
}

/// The page of the list; `None` when the merchant has no endpoint.
async fn deliveries(
    visit: &Visit,
    endpoint: &str,
    wanted: Option<DeliveryStatus>,
) -> Result<Option<crate::app::lists::List>> {
    if endpoint.is_empty() {
        return Ok(None);
    }
    let filter = DeliveryFilter { status: wanted.into_iter().collect(), ..DeliveryFilter::default() };
    let status = wanted.map_or("", |status| status.as_str());
    let request = visit.list_request(&format!("{endpoint} {status}"));
    let id = EndpointId::named(endpoint);
    visit.app.deliveries_list(&visit.who.caller, id, &request, filter).await.map(Some)
}

fn choice(item: &str) -> Result<(String, String)> {
    let endpoint: Value = read(item)?;
    Ok((member(&endpoint, "id"), member(&endpoint, "url")))
}

async fn page(visit: &Visit, id: &str) -> Result<Outcome> {
    let caller = &visit.who.caller;
    caller.check_scope(PortalVisitor::MANAGES)?;
    let shell = following(visit).await?;
    let found = visit.app.delivery_of(caller, DeliveryId::named(id)?).await?;
    pages::delivery::page(visit, shell, &found.delivery, &found.attempts, Vec::new())
}

async fn retry(mut visit: Visit, form: Form, id: String) -> Result<Outcome> {
    let mutation = visit.mutation("deliveries.retry", &form);
    let id = DeliveryId::named(&id);
    match visit.app.delivery_retry_own(&visit.who.caller, mutation, id.clone()).await {
        Ok(answer) => {
            let sent: Value = read(&answer.body)?;
            Ok(done(&LINKS.record("deliveries", &member(&sent, "id")), "retried"))
        }
        Err(refusal) => page(visit.refused(refusal), id.as_ref().map_or("", DeliveryId::as_str)).await,
    }
}
