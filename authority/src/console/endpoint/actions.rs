//! Forms about one endpoint: change its URL, disable and enable it, rotate and retire its secret, test it.

use askama::Template;
use authority_domain::endpoint::EndpointStatus;
use authority_domain::refusal::{MemberCode, Refusal};
use axum::Router;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use axum::routing::post;
use serde_json::{Value, json};

use super::{Shown, find, page};
use crate::app::console::endpoints_of;
use crate::app::{Answer, Mutation};
use crate::console::event::MANAGES;
use crate::console::form::Form;
use crate::console::shell::Shell;
use crate::console::view::member;
use crate::console::visit::{Visit, done, submit};
use crate::console::{filters, links};
use crate::http::entry::AppState;

/// The one page that shows a secret: the answer to the form that made it.
#[derive(Template)]
#[template(path = "secret.html")]
struct SecretPage {
    shell: Shell,
    path: String,
    url: String,
    secret: String,
    until: String,
}

/// The routes.
pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route("/console/endpoints/{endpoint}/url", post(change))
        .route("/console/endpoints/{endpoint}/disable", post(disable))
        .route("/console/endpoints/{endpoint}/enable", post(enable))
        .route("/console/endpoints/{endpoint}/rotate", post(rotate))
        .route("/console/endpoints/{endpoint}/retire", post(retire))
        .route("/console/endpoints/{endpoint}/test", post(test))
}

/// Runs a form's use case; what follows is the endpoint's page, with what was done or why it was not.
async fn act<F>(state: AppState, request: Request, id: String, form_of: F) -> Response
where
    F: AsyncFnOnce(&Visit, &Form, Shown) -> Result<&'static str, Refusal>,
{
    submit(state, request, MANAGES, async |mut visit, form| {
        let shown = find(&visit, &id).await?;
        match form_of(&visit, &form, shown).await {
            Ok(what) => Ok(done(&links::record("endpoints", &id), what)),
            Err(refusal) => {
                visit.refused(refusal);
                page(&visit, &id, Some(&form)).await
            }
        }
    })
    .await
}

async fn change(State(state): State<AppState>, Path(id): Path<String>, request: Request) -> Response {
    act(state, request, id, async |visit, form, shown| {
        let mutation = visit.mutation("endpoints.change", form);
        let (id, body) = (Some(shown.endpoint.id.clone()), json!({ "url": form.text("url") }));
        let answer = visit.app.endpoint_change(endpoints_of(&shown.owner), mutation, id, body).await?;
        let same = answer.version == Some(shown.endpoint.resource_version);
        Ok(if same && !answer.replayed { "unchanged" } else { "changed" })
    })
    .await
}

async fn disable(State(state): State<AppState>, Path(id): Path<String>, request: Request) -> Response {
    act(state, request, id, async |visit, form, shown| {
        let mutation = visit.mutation("endpoints.disable", form);
        switch(visit, form, shown, mutation, EndpointStatus::Disabled).await.map(|_| "disabled")
    })
    .await
}

async fn enable(State(state): State<AppState>, Path(id): Path<String>, request: Request) -> Response {
    act(state, request, id, async |visit, form, shown| {
        let mutation = visit.mutation("endpoints.enable", form);
        switch(visit, form, shown, mutation, EndpointStatus::Enabled).await.map(|_| "enabled")
    })
    .await
}

async fn switch(
    visit: &Visit,
    form: &Form,
    shown: Shown,
    mutation: Mutation,
    status: EndpointStatus,
) -> Result<Answer, Refusal> {
    let body = json!({ "reason": form.text("reason") });
    visit.app.endpoint_switch(mutation, Some(shown.endpoint.id), status, body).await
}

async fn retire(State(state): State<AppState>, Path(id): Path<String>, request: Request) -> Response {
    act(state, request, id, async |visit, form, shown| {
        let mutation = visit.mutation("endpoints.retire_secret", form);
        let (holder, id) = (endpoints_of(&shown.owner), Some(shown.endpoint.id));
        visit.app.endpoint_retire_secret(holder, mutation, id, json!({})).await.map(|_| "retired")
    })
    .await
}

async fn test(State(state): State<AppState>, Path(id): Path<String>, request: Request) -> Response {
    act(state, request, id, async |visit, form, shown| {
        let mutation = visit.mutation("endpoints.test", form);
        let (holder, id) = (endpoints_of(&shown.owner), Some(shown.endpoint.id));
        let by = &visit.who.operator.key_id;
        visit.app.endpoint_test(holder, mutation, by, id, None).await.map(|_| "tested")
    })
    .await
}

/// Answers with a page of its own: the secret is shown here and nowhere else. Sent twice, the form shows the same one.
async fn rotate(State(state): State<AppState>, Path(id): Path<String>, request: Request) -> Response {
    submit(state, request, MANAGES, async |mut visit, form| {
        let shown = find(&visit, &id).await?;
        match rotated(&visit, &form, &shown).await {
            Ok(answer) => {
                let record: Value = serde_json::from_str(&answer.body).map_err(|_| Refusal::internal())?;
                visit.page(&SecretPage {
                    shell: visit.shell.clone(),
                    path: links::record("endpoints", &id),
                    url: shown.endpoint.url,
                    secret: member(&record, "secret"),
                    until: member(&record, "previous_secret_expires_at"),
                })
            }
            Err(refusal) => {
                visit.refused(refusal);
                page(&visit, &id, Some(&form)).await
            }
        }
    })
    .await
}

async fn rotated(visit: &Visit, form: &Form, shown: &Shown) -> Result<Answer, Refusal> {
    let hours = form.text("overlap_hours");
    let hours: i64 = hours.parse().ok().filter(|hours| (0..=720).contains(hours)).ok_or_else(|| {
        Refusal::member("/overlap_hours", MemberCode::OutOfRange, "Must be a number from 0 to 720.")
    })?;
    let body = json!({ "overlap_seconds": hours * 3600, "force": form.text("force") == "yes" });
    let (holder, id) = (endpoints_of(&shown.owner), Some(shown.endpoint.id.clone()));
    let mutation = visit.mutation("endpoints.rotate_secret", form);
    visit.app.endpoint_rotate_secret(holder, mutation, id, body).await
}
