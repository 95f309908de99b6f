//! The operator's own forms about an endpoint: change its URL, disable and enable it.

use authority_domain::{EndpointStatus, Result};
use axum::Router;
use serde_json::json;

use crate::app::{Answer, Mutation};
use crate::console::visit::{MANAGES, Visit};
use crate::http::AppState;
use crate::http::rate_limit::Policy;
use crate::pages::endpoint::actions::act;
use crate::pages::endpoint::{KeepsEndpoints as _, ShownEndpoint};
use crate::pages::form::Form;
use crate::pages::visit::{Outcome, submits};

/// The routes.
pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route("/console/endpoints/{endpoint}/url", submits(MANAGES, Policy::Write, change))
        .route("/console/endpoints/{endpoint}/disable", submits(MANAGES, Policy::Write, disable))
        .route("/console/endpoints/{endpoint}/enable", submits(MANAGES, Policy::Write, enable))
}

async fn change(visit: Visit, form: Form, id: String) -> Result<Outcome> {
    act(visit, form, id, async |visit, form, shown| {
        let mutation = visit.mutation("endpoints.change", form);
        let (id, body) = (Ok(shown.endpoint.id.clone()), json!({ "url": form.text("url") }));
        let answer =
            visit.app.endpoint_change(visit.who.holder(&shown.owner), mutation.with(body), id).await?;
        let same = answer.version == Some(shown.endpoint.resource_version);
        Ok(if same && !answer.replayed { "unchanged" } else { "changed" })
    })
    .await
}

async fn disable(visit: Visit, form: Form, id: String) -> Result<Outcome> {
    act(visit, form, id, async |visit, form, shown| {
        let mutation = visit.mutation("endpoints.disable", form);
        switch(visit, form, shown, mutation, EndpointStatus::Disabled).await.map(|_| "disabled")
    })
    .await
}

async fn enable(visit: Visit, form: Form, id: String) -> Result<Outcome> {
    act(visit, form, id, async |visit, form, shown| {
        let mutation = visit.mutation("endpoints.enable", form);
        switch(visit, form, shown, mutation, EndpointStatus::Enabled).await.map(|_| "enabled")
    })
    .await
}

async fn switch(
    visit: &Visit,
    form: &Form,
    shown: ShownEndpoint,
    mutation: Mutation,
    status: EndpointStatus,
) -> Result<Answer> {
    let body = json!({ "reason": form.text("reason") });
    visit.app.endpoint_switch(mutation.with(body), Ok(shown.endpoint.id), status).await
}
