//! Forms about one endpoint that both sites have: rotate and retire its secret, test it.

use askama::Template;
use authority_domain::endpoint::changes::{OVERLAP_DEFAULT_S, OVERLAP_MAX_S};
use authority_domain::{ErrorCode, Refusal, Result};
use axum::Router;
use serde_json::{Value, json};

use super::{KeepsEndpoints, ShownEndpoint, route};
use crate::app::Answer;
use crate::http::AppState;
use crate::http::rate_limit::Policy;
use crate::pages::filters;
use crate::pages::form::Form;
use crate::pages::shell::Shell;
use crate::pages::view::{member, read};
use crate::pages::visit::{Outcome, Visit, done, submits};

const HOUR_S: i64 = 60 * 60;

/// How long both secrets sign, where nothing else was typed.
pub(super) const OVERLAP_HOURS: i64 = OVERLAP_DEFAULT_S / HOUR_S;

/// The one page that shows a secret: the answer to the form that made it.
#[derive(Template)]
#[template(path = "secret.html")]
struct SecretPage {
    shell: Shell,
    path: String,
    what: &'static str,
    url: String,
    secret: String,
    until: String,
}

/// The routes.
pub(super) fn routes<W: KeepsEndpoints>() -> Router<AppState> {
    Router::new()
        .route(&route::<W>("rotate"), submits(W::MANAGES, Policy::Write, rotate::<W>))
        .route(&route::<W>("retire"), submits(W::MANAGES, Policy::Write, retire::<W>))
        .route(&route::<W>("test"), submits(W::MANAGES, Policy::Delivery, test::<W>))
}

/// Runs a form's use case; what follows is the endpoint's page, with what was done or why it was not.
pub(crate) async fn act<W, F>(mut visit: Visit<W>, form: Form, id: String, form_of: F) -> Result<Outcome>
where
    W: KeepsEndpoints,
    F: AsyncFnOnce(&Visit<W>, &Form, ShownEndpoint) -> Result<&'static str>,
{
    let shown = W::endpoint(&visit, &id).await?;
    match form_of(&visit, &form, shown).await {
        Ok(what) => Ok(done(&W::SITE.links.record("endpoints", &id), what)),
        Err(refusal) => W::endpoint_page(visit.refused(refusal), &id, Some(&form)).await,
    }
}

async fn retire<W: KeepsEndpoints>(visit: Visit<W>, form: Form, id: String) -> Result<Outcome> {
    act(visit, form, id, async |visit, form, shown| {
        let mutation = visit.mutation("endpoints.retire_secret", form);
        let (holder, id) = (visit.who.holder(&shown.owner), Ok(shown.endpoint.id));
        visit.app.endpoint_retire_secret(holder, mutation, id).await.map(|_| "retired")
    })
    .await
}

async fn test<W: KeepsEndpoints>(visit: Visit<W>, form: Form, id: String) -> Result<Outcome> {
    act(visit, form, id, async |visit, form, shown| {
        let mutation = visit.mutation("endpoints.test", form);
        let (holder, id) = (visit.who.holder(&shown.owner), Ok(shown.endpoint.id));
        let by = visit.who.credential();
        visit.app.endpoint_test(holder, mutation, by, id).await.map(|_| "tested")
    })
    .await
}

/// Answers with a page of its own: the secret is shown here and nowhere else. Sent twice, the form shows the same one.
async fn rotate<W: KeepsEndpoints>(mut visit: Visit<W>, form: Form, id: String) -> Result<Outcome> {
    let shown = W::endpoint(&visit, &id).await?;
    match rotated(&visit, &form, &shown).await {
        Ok(answer) => secret_page(&visit, &answer, "rotated"),
        Err(refusal) => W::endpoint_page(visit.refused(refusal), &id, Some(&form)).await,
    }
}

/// The page that shows the secret of an endpoint which was `created` or `rotated` just now.
///
/// # Errors
/// `internal_error` when it cannot be rendered.
pub(crate) fn secret_page<W: KeepsEndpoints>(
    visit: &Visit<W>,
    answer: &Answer,
    what: &'static str,
) -> Result<Outcome> {
    let record: Value = read(&answer.body)?;
    visit.page_when_done(&SecretPage {
        shell: visit.shell.clone(),
        path: W::SITE.links.record("endpoints", &member(&record, "id")),
        what,
        url: member(&record, "url"),
        secret: member(&record, "secret"),
        until: member(&record, "previous_secret_expires_at"),
    })
}

async fn rotated<W: KeepsEndpoints>(visit: &Visit<W>, form: &Form, shown: &ShownEndpoint) -> Result<Answer> {
    let body = json!({ "overlap_seconds": overlap_hours(form)? * HOUR_S, "force": forces(form) });
    let (holder, id) = (visit.who.holder(&shown.owner), Ok(shown.endpoint.id.clone()));
    let mutation = visit.mutation("endpoints.rotate_secret", form);
    visit.app.endpoint_rotate_secret(holder, mutation.with(body), id).await
}

/// The field is named as the page names it: nobody has typed the API's `overlap_seconds`.
fn overlap_hours(form: &Form) -> Result<i64> {
    let most = OVERLAP_MAX_S / HOUR_S;
    let typed = form.text("overlap_hours").parse().ok();
    typed.filter(|hours| (0..=most).contains(hours)).ok_or_else(|| {
        let detail =
            format!("Hours in which the previous secret signs too: must be a number from 0 to {most}.");
        Refusal::new(ErrorCode::ValidationFailed, detail)
    })
}

/// Whether an overlap that is open is to be ended by the rotation.
pub(super) fn forces(form: &Form) -> bool {
    form.text("force") == "yes"
}
