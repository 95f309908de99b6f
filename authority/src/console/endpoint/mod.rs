//! An endpoint of any merchant, or the platform's own, and the forms that only an operator has: a new URL, and
//! disabling or enabling it for a reason.

mod actions;

use askama::Template;
use authority_domain::list_filter::AllDeliveriesFilter;
use authority_domain::{EndpointId, MerchantId, Refusal, Result, Tenant};
use axum::Router;
use serde_json::Value;

use super::links::{self, LINKS};
use super::visit::{Outcome, Visit};
use crate::app::ListRequest;
use crate::app::console::endpoints_of;
use crate::app::console::sessions::SignedIn;
use crate::app::endpoint::merchant::Holder;
use crate::http::AppState;
use crate::pages::endpoint::{self, EndpointView, KeepsEndpoints, ROWS, ShownEndpoint, kept};
use crate::pages::form::Form;
use crate::pages::shell::Shell;
use crate::pages::view::{Cell, member, read};
use crate::pages::visit::shows;
use crate::pages::{delivery, filters};

#[derive(Template)]
#[template(path = "operators_endpoint.html")]
struct Page {
    shell: Shell,
    view: EndpointView,
    reason: String,
}

/// The routes.
pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route(
            "/console/endpoints/{endpoint}",
            shows(async |visit: Visit, id: String| SignedIn::endpoint_page(&visit, &id, None).await),
        )
        .merge(actions::routes())
        .merge(endpoint::routes::<SignedIn>())
}

impl KeepsEndpoints for SignedIn {
    async fn endpoint(visit: &Visit, id: &str) -> Result<ShownEndpoint> {
        find(visit, id).await
    }

    fn holder(&self, owner: &Tenant) -> Holder {
        endpoints_of(owner)
    }

    async fn holder_of(visit: &Visit, id: &str) -> Result<Holder> {
        Ok(endpoints_of(&find(visit, id).await?.owner))
    }

    /// An operator sees what was deleted.
    fn after_deletion(id: &str) -> String {
        LINKS.record("endpoints", id)
    }

    async fn endpoint_page(visit: &Visit, id: &str, typed: Option<&Form>) -> Result<Outcome> {
        let shown = find(visit, id).await?;
        let of_endpoint = AllDeliveriesFilter {
            endpoint_id: Some(shown.endpoint.id.clone()),
            ..AllDeliveriesFilter::default()
        };
        let newest = ListRequest { limit: ROWS, cursor: None, filter: String::new() };
        let deliveries = visit.app.all_deliveries_list(&newest, of_endpoint).await?;
        let deliveries = delivery::table(&deliveries.items, &LINKS)?;
        visit.page(&Page {
            shell: visit.following_late(links::live(Some(&shown.owner))),
            view: endpoint::view(visit, &shown, deliveries, typed).await?,
            reason: kept(typed, "reason", ""),
        })
    }
}

/// The endpoint as the operator API reads it.
async fn find(visit: &Visit, id: &str) -> Result<ShownEndpoint> {
    let answer = visit.app.endpoint_find(EndpointId::named(id)?).await?;
    let mut record: Value = read(&answer.body)?;
    let deleted_at = member(&record, "deleted_at");
    let owner = match MerchantId::parse(&member(&record, "merchant_id")) {
        None => Tenant::operator(),
        Some(merchant_id) => {
            let livemode = record.get("livemode").and_then(Value::as_bool).ok_or_else(Refusal::internal)?;
            Tenant { merchant_id, livemode }
        }
    };
    if let Some(members) = record.as_object_mut() {
        members.insert("livemode".to_owned(), owner.livemode.into());
    }
    let endpoint = serde_json::from_value(record).map_err(|_| Refusal::internal())?;
    Ok(ShownEndpoint { endpoint, owner, deleted_at })
}
