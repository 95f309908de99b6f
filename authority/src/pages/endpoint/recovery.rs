//! Sending an endpoint what it missed: count first, then recover, then see how far it is.

use askama::Template;
use authority_domain::recovery::undelivered::UndeliveredReason;
use authority_domain::recovery::{Recovery, RecoveryStatus};
use authority_domain::{RecoveryId, Result};
use axum::Router;
use serde_json::Value;

use super::{KeepsEndpoints, ROWS, ShownEndpoint, route};
use crate::http::AppState;
use crate::http::rate_limit::Policy;
use crate::pages::filters;
use crate::pages::form::{self, Form};
use crate::pages::links::encoded;
use crate::pages::shell::Shell;
use crate::pages::view::{Cell, Fact, Table, fact, member, read, time_of};
use crate::pages::visit::{Outcome, Visit, done, submits};

/// The result of a dry run.
#[derive(Template)]
#[template(path = "counted.html")]
struct CountedPage {
    shell: Shell,
    path: String,
    url: String,
    since: String,
    until: String,
    matched: String,
    complete: bool,
}

/// How far a recovery is.
pub(crate) struct Progress {
    pub(crate) id: String,
    pub(crate) running: bool,
    pub(crate) facts: Vec<Fact>,
    /// For the bar: what was enqueued, of what was matched.
    pub(crate) enqueued: i64,
    pub(crate) matched: i64,
}

/// The routes.
pub(super) fn routes<W: KeepsEndpoints>() -> Router<AppState> {
    Router::new()
        .route(&route::<W>("recover/count"), submits(W::MANAGES, Policy::Delivery, count::<W>))
        .route(&route::<W>("recover"), submits(W::MANAGES, Policy::Delivery, recover::<W>))
        .route(&route::<W>("recoveries/{recovery}/cancel"), submits(W::MANAGES, Policy::Write, cancel::<W>))
}

fn body(form: &Form, dry_run: bool) -> Value {
    let since = Some(form.text("since").into());
    form::body([("since", since), ("until", form.given("until")), ("dry_run", Some(dry_run.into()))])
}

async fn count<W: KeepsEndpoints>(mut visit: Visit<W>, form: Form, id: String) -> Result<Outcome> {
    let shown = W::endpoint(&visit, &id).await?;
    let holder = visit.who.holder(&shown.owner);
    let endpoint = Ok(shown.endpoint.id.clone());
    match visit.app.recovery_count_first(holder, endpoint, &body(&form, true)).await {
        Ok(answer) => {
            let found: Value = read(&answer.body)?;
            visit.page(&CountedPage {
                shell: visit.shell.clone(),
                path: W::SITE.links.record("endpoints", &id),
                url: shown.endpoint.url,
                since: form.text("since").to_owned(),
                until: form.text("until").to_owned(),
                matched: member(&found, "matched"),
                complete: found.get("complete") == Some(&Value::Bool(true)),
            })
        }
        Err(refusal) => W::endpoint_page(visit.refused(refusal), &id, Some(&form)).await,
    }
}

async fn recover<W: KeepsEndpoints>(mut visit: Visit<W>, form: Form, id: String) -> Result<Outcome> {
    let ShownEndpoint { endpoint, owner, .. } = W::endpoint(&visit, &id).await?;
    let mutation = visit.mutation("endpoints.recover", &form);
    let begun = visit
        .app
        .endpoint_recover(visit.who.holder(&owner), mutation.with(body(&form, false)), Ok(endpoint.id))
        .await;
    match begun {
        Ok(answer) => {
            let found: Value = read(&answer.body)?;
            let recovery = encoded(&member(&found, "id"));
            let path = format!("{}?recovery={recovery}", W::SITE.links.record("endpoints", &id));
            Ok(done(&path, "recovering"))
        }
        Err(refusal) => W::endpoint_page(visit.refused(refusal), &id, Some(&form)).await,
    }
}

async fn cancel<W: KeepsEndpoints>(
    mut visit: Visit<W>,
    form: Form,
    (id, recovery): (String, String),
) -> Result<Outcome> {
    let shown = W::endpoint(&visit, &id).await?;
    let named = RecoveryId::named(&recovery)?;
    found(&visit, &shown, named.clone()).await?;
    let mutation = visit.mutation("recoveries.cancel", &form);
    match visit.app.recovery_cancel(visit.who.holder(&shown.owner), mutation, Ok(named)).await {
        Ok(_) => {
            let recovery = encoded(&recovery);
            let path = format!("{}?recovery={recovery}", W::SITE.links.record("endpoints", &id));
            Ok(done(&path, "recovery-cancelled"))
        }
        Err(refusal) => W::endpoint_page(visit.refused(refusal), &id, Some(&form)).await,
    }
}

/// A recovery of this endpoint; one of another endpoint is not there.
async fn found<W: KeepsEndpoints>(visit: &Visit<W>, shown: &ShownEndpoint, id: RecoveryId) -> Result<Value> {
    let answer = visit.app.recovery_get(visit.who.holder(&shown.owner), id).await?;
    let found: Value = read(&answer.body)?;
    if member(&found, "endpoint_id") != shown.endpoint.id.as_str() {
        return Err(RecoveryId::missing());
    }
    Ok(found)
}

/// The recovery that the page was asked for, if it is one of this endpoint.
pub(super) async fn progress<W: KeepsEndpoints>(
    visit: &Visit<W>,
    shown: &ShownEndpoint,
) -> Result<Option<Progress>> {
    let Some(id) = RecoveryId::parse(visit.asked("recovery")) else { return Ok(None) };
    let found = found(visit, shown, id).await?;
    let text = |name: &str| member(&found, name);
    let number = |name: &str| found.get(name).and_then(Value::as_i64).unwrap_or(0);
    Ok(Some(Progress {
        id: text("id"),
        running: text("status") == RecoveryStatus::Running.as_str(),
        facts: vec![
            fact("Status", Cell::state(text("status"))),
            fact("Events found", Cell::text(number("matched"))),
            fact("Of these sent or waiting", Cell::text(number("enqueued"))),
            fact("Since", time_of(&found, "since")),
            fact("Begun", time_of(&found, "created_at")),
            fact("Ended", time_of(&found, "finished_at")),
        ],
        enqueued: number("enqueued"),
        matched: number("matched"),
    }))
}

/// The recoveries of an endpoint that run, so that whoever did not begin one finds it to watch or cancel it.
pub(super) async fn running<W: KeepsEndpoints>(
    visit: &Visit<W>,
    shown: &ShownEndpoint,
) -> Result<Option<Table>> {
    let (holder, id) = (visit.who.holder(&shown.owner), shown.endpoint.id.clone());
    let path = W::SITE.links.record("endpoints", id.as_str());
    let found = visit.app.recoveries_running_for(holder, id, i64::from(ROWS)).await?;
    let row = |recovery: &Recovery| {
        let id = recovery.id.as_str();
        vec![
            Cell::link(id, format!("{path}?recovery={}", encoded(id))),
            Cell::at(recovery.since),
            Cell::text(recovery.matched),
            Cell::text(recovery.enqueued),
            Cell::at(recovery.created_at),
        ]
    };
    Ok((!found.is_empty()).then(|| Table {
        caption: "Recoveries that run, newest first",
        head: &["Recovery", "Since", "Events found", "Sent or waiting", "Begun"],
        rows: found.iter().map(row).collect(),
        empty: "",
    }))
}

/// Why an event has not arrived, in words.
pub(super) fn words(reason: UndeliveredReason) -> String {
    reason.as_str().replace('_', " ")
}
