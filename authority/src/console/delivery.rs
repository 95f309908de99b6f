//! Deliveries: the list of all merchants, and one with every attempt.

use askama::Template;
use authority_domain::list_filter::AllDeliveriesFilter;
use authority_domain::{DeliveryId, DeliveryStatus, EndpointId, Result};
use axum::Router;
use serde_json::Value;

use super::links;
use super::links::LINKS;
use super::visit::{MANAGES, Outcome, Visit, done};
use crate::app::console::stories::DeliveryStory;
use crate::app::live::Watched;
use crate::http::AppState;
use crate::http::rate_limit::Policy;
use crate::pages::form::Form;
use crate::pages::shell::Shell;
use crate::pages::view::{Cell, Table, fact, member, read};
use crate::pages::visit::{shows, submits};
use crate::pages::{delivery, filters};

#[derive(Template)]
#[template(path = "deliveries.html")]
struct List {
    shell: Shell,
    /// The endpoint whose deliveries these are; empty for those of all.
    endpoint: String,
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
        .route("/console/deliveries", shows(list))
        .route(
            "/console/deliveries/{delivery}",
            shows(async |visit: Visit, id: String| page(&visit, &id).await),
        )
        .route("/console/deliveries/{delivery}/retry", submits(MANAGES, Policy::Write, retry))
}

async fn list(visit: Visit, (): ()) -> Result<Outcome> {
    let shell = visit.following(links::live(None), &Watched::Platform).await?;
    let wanted = DeliveryStatus::parse(visit.asked("status"));
    let status = wanted.map_or("", |status| status.as_str());
    let endpoint = EndpointId::parse(visit.asked("endpoint"));
    let of = endpoint.as_ref().map_or("", |endpoint| endpoint.as_str());
    let filter = AllDeliveriesFilter {
        status: wanted.into_iter().collect(),
        endpoint_id: endpoint.clone(),
        ..AllDeliveriesFilter::default()
    };
    let query = format!("endpoint={of}&status={status}");
    let found = visit.app.all_deliveries_list(&visit.list_request(&query), filter).await?;
    let next = found
        .next_cursor
        .map(|cursor| format!("/console/deliveries?{query}&cursor={}", links::encoded(&cursor)));
    visit.page(&List {
        shell,
        here: format!("/console/deliveries?{query}"),
        endpoint: of.to_owned(),
        status,
        statuses: DeliveryStatus::ALL.iter().map(|status| status.as_str()).collect(),
        table: delivery::table(&found.items, &LINKS)?,
        next,
    })
}

async fn retry(mut visit: Visit, form: Form, id: String) -> Result<Outcome> {
    let mutation = visit.mutation("deliveries.retry", &form);
    match visit.app.delivery_retry(mutation, DeliveryId::named(&id)).await {
        Ok(answer) => {
            let sent: Value = read(&answer.body)?;
            Ok(done(&links::record("deliveries", &member(&sent, "id")), "retried"))
        }
        Err(refusal) => page(visit.refused(refusal), &id).await,
    }
}

async fn page(visit: &Visit, id: &str) -> Result<Outcome> {
    let DeliveryStory { found, attempts, url } = visit.app.delivery_story(DeliveryId::named(id)?).await?;
    let more = vec![fact("Sent to", Cell::text(url)), fact("Merchant", links::id(&found.merchant_id))];
    let shell = visit.following_late(links::live(Some(&found.owner)));
    delivery::page(visit, shell, &found.delivery, &attempts, more)
}
