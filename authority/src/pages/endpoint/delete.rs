//! Deleting an endpoint: a page says what is lost and asks, a form does it.

use askama::Template;
use authority_domain::{EndpointId, Refusal, Result};
use axum::Router;

use super::{KeepsEndpoints, route};
use crate::http::AppState;
use crate::http::rate_limit::Policy;
use crate::pages::filters;
use crate::pages::form::Form;
use crate::pages::shell::Shell;
use crate::pages::visit::{Outcome, Visit, done, shows, submits};

#[derive(Template)]
#[template(path = "delete.html")]
struct Page {
    shell: Shell,
    path: String,
    url: String,
    version: i64,
    /// Deliveries that wait.
    pending: i64,
}

/// The routes.
pub(super) fn routes<W: KeepsEndpoints>() -> Router<AppState> {
    Router::new().route(
        &route::<W>("delete"),
        shows(async |visit: Visit<W>, id: String| page(&visit, &id).await).merge(submits(
            W::MANAGES,
            Policy::Write,
            delete::<W>,
        )),
    )
}

async fn page<W: KeepsEndpoints>(visit: &Visit<W>, id: &str) -> Result<Outcome> {
    visit.who.check_scope(W::MANAGES)?;
    let shown = W::endpoint(visit, id).await?;
    if !shown.deleted_at.is_empty() {
        return Err(Refusal::not_found("endpoint"));
    }
    let day = visit.app.endpoint_day(&shown.owner, &shown.endpoint.id).await?;
    visit.page(&Page {
        shell: visit.shell.clone(),
        path: W::SITE.links.record("endpoints", id),
        url: shown.endpoint.url,
        version: shown.endpoint.resource_version,
        pending: day.figures.pending,
    })
}

/// Whose endpoint it is, is asked without looking for the endpoint where the session says it: the form that is sent a
/// second time gets the first answer.
async fn delete<W: KeepsEndpoints>(mut visit: Visit<W>, form: Form, id: String) -> Result<Outcome> {
    let holder = W::holder_of(&visit, &id).await?;
    let mutation = visit.mutation("endpoints.delete", &form);
    match visit.app.endpoint_delete(holder, mutation, EndpointId::named(&id)).await {
        Ok(_) => Ok(done(&W::after_deletion(&id), "deleted")),
        Err(refusal) => page(visit.refused(refusal), &id).await,
    }
}
