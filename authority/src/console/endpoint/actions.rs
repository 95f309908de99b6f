//! The operator's own forms about an endpoint: change its URL, disable and enable it.

use authority_domain::{EndpointStatus, Result};
use axum::Router;
use serde_json::json;

use crate::console::visit::{MANAGES, Visit};
use crate::http::AppState;
use crate::http::rate_limit::Policy;
use crate::pages::endpoint::actions::act;
use crate::pages::endpoint::{self, KeepsEndpoints as _};
use crate::pages::form::{self, Form};
use crate::pages::visit::{Outcome, submits};

/// The routes.
pub(super) fn routes() -> Router<AppState> {
    let switches =
        |status| submits(MANAGES, Policy::Write, move |visit, form, id| switch(visit, form, id, status));
    Router::new()
        .route("/console/endpoints/{endpoint}/url", submits(MANAGES, Policy::Write, change))
        .route("/console/endpoints/{endpoint}/disable", switches(EndpointStatus::Disabled))
        .route("/console/endpoints/{endpoint}/enable", switches(EndpointStatus::Enabled))
}

async fn change(visit: Visit, form: Form, id: String) -> Result<Outcome> {
    act(visit, form, id, async |visit, form, shown| {
        let mutation = visit.mutation("endpoints.change", form);
        let body = form::body([("url", Some(form.text("url").into())), ("headers", endpoint::headers(form))]);
        let id = Ok(shown.endpoint.id.clone());
        let answer =
            visit.app.endpoint_change(visit.who.holder(&shown.owner), mutation.with(body), id).await?;
        let same = answer.version == Some(shown.endpoint.resource_version);
        Ok(if same && !answer.replayed { "unchanged" } else { "changed" })
    })
    .await
}

async fn switch(visit: Visit, form: Form, id: String, status: EndpointStatus) -> Result<Outcome> {
    let operation = match status {
        EndpointStatus::Enabled => "endpoints.enable",
        EndpointStatus::Disabled => "endpoints.disable",
    };
    act(visit, form, id, async |visit, form, shown| {
        let mutation = visit.mutation(operation, form).with(json!({ "reason": form.text("reason") }));
        visit.app.endpoint_switch(mutation, Ok(shown.endpoint.id), status).await.map(|_| status.as_str())
    })
    .await
}
