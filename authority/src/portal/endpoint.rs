//! One of the merchant's endpoints, and the forms that only the merchant has: change it, disable and enable it.

use askama::Template;
use authority_domain::list_filter::DeliveryFilter;
use authority_domain::{EndpointId, EndpointStatus, Result, Tenant};
use axum::Router;
use serde_json::{Value, json};

use super::{LINKS, Visit, endpoints, following};
use crate::app::ListRequest;
use crate::app::endpoint::merchant::Holder;
use crate::app::portal::sessions::PortalVisitor;
use crate::http::AppState;
use crate::http::rate_limit::Policy;
use crate::pages::endpoint::actions::act;
use crate::pages::endpoint::{self, EndpointView, KeepsEndpoints, ROWS, ShownEndpoint, kept};
use crate::pages::form::{self, Form};
use crate::pages::shell::Shell;
use crate::pages::view::{Cell, read};
use crate::pages::visit::{Outcome, shows, submits};
use crate::pages::{Visitor as _, delivery, filters};

#[derive(Template)]
#[template(path = "merchants_endpoint.html")]
struct Page {
    shell: Shell,
    view: EndpointView,
    events: String,
    description: String,
}

/// The routes.
pub(super) fn routes() -> Router<AppState> {
    let switches = |status| {
        submits(PortalVisitor::MANAGES, Policy::Write, move |visit, form, id| switch(visit, form, id, status))
    };
    Router::new()
        .route(
            "/portal/endpoints/{endpoint}",
            shows(async |visit: Visit, id: String| PortalVisitor::endpoint_page(&visit, &id, None).await),
        )
        .route("/portal/endpoints/{endpoint}/change", submits(PortalVisitor::MANAGES, Policy::Write, change))
        .route("/portal/endpoints/{endpoint}/disable", switches(EndpointStatus::Disabled))
        .route("/portal/endpoints/{endpoint}/enable", switches(EndpointStatus::Enabled))
        .merge(endpoint::routes::<PortalVisitor>())
}

impl KeepsEndpoints for PortalVisitor {
    async fn endpoint(visit: &Visit, id: &str) -> Result<ShownEndpoint> {
        let caller = &visit.who.caller;
        caller.check_scope(Self::MANAGES)?;
        let answer = visit.app.endpoint_get(caller, EndpointId::named(id)?).await?;
        Ok(ShownEndpoint {
            endpoint: read(&answer.body)?,
            owner: caller.tenant.clone(),
            deleted_at: String::new(),
        })
    }

    fn holder(&self, _: &Tenant) -> Holder {
        Holder::from(&self.caller)
    }

    async fn holder_of(visit: &Visit, _: &str) -> Result<Holder> {
        Ok(Holder::from(&visit.who.caller))
    }

    fn after_deletion(_: &str) -> String {
        format!("{}/endpoints", LINKS.root)
    }

    async fn endpoint_page(visit: &Visit, id: &str, typed: Option<&Form>) -> Result<Outcome> {
        let shell = following(visit).await?;
        let shown = Self::endpoint(visit, id).await?;
        let endpoint = &shown.endpoint;
        let newest = ListRequest { limit: ROWS, cursor: None, filter: endpoint.id.to_string() };
        let of = Ok(endpoint.id.clone());
        let deliveries =
            visit.app.deliveries_list(&visit.who.caller, of, &newest, DeliveryFilter::default()).await?;
        let deliveries = delivery::table(&deliveries.items, &LINKS)?;
        visit.page(&Page {
            shell,
            view: endpoint::view(visit, &shown, deliveries, typed).await?,
            events: kept(typed, "events", endpoint.enabled_events.join(" ")),
            description: kept(typed, "description", endpoint.description.clone().unwrap_or_default()),
        })
    }
}

async fn change(visit: Visit, form: Form, id: String) -> Result<Outcome> {
    act(visit, form, id, async |visit, form, shown| {
        let body = form::body([
            ("url", Some(form.text("url").into())),
            ("enabled_events", Some(endpoints::events(form))),
            ("description", Some(form.given("description").unwrap_or(Value::Null))),
            ("headers", endpoint::headers(form)),
        ]);
        patched(visit, form, &shown, body, "changed").await
    })
    .await
}

async fn switch(visit: Visit, form: Form, id: String, status: EndpointStatus) -> Result<Outcome> {
    act(visit, form, id, async |visit, form, shown| {
        patched(visit, form, &shown, json!({ "status": status }), status.as_str()).await
    })
    .await
}

/// Changes the endpoint as the API's PATCH does; `what` was done, unless it was like this already.
async fn patched(
    visit: &Visit,
    form: &Form,
    shown: &ShownEndpoint,
    body: Value,
    what: &'static str,
) -> Result<&'static str> {
    let mutation = visit.mutation("endpoints.change", form);
    let id = Ok(shown.endpoint.id.clone());
    let answer = visit.app.endpoint_change(&visit.who.caller, mutation.with(body), id).await?;
    let same = answer.version == Some(shown.endpoint.resource_version);
    Ok(if same && !answer.replayed { "unchanged" } else { what })
}
