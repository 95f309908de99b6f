//! The platform's alerts: the list, and closing one that was looked into.

use askama::Template;
use authority_domain::list_filter::AlertFilter;
use authority_domain::{AlertId, AlertStatus, OperatorScope, Result};
use axum::Router;
use serde_json::Value;

use super::links;
use super::visit::{Outcome, Visit, done};
use crate::http::AppState;
use crate::http::rate_limit::Policy;
use crate::pages::filters;
use crate::pages::form::Form;
use crate::pages::shell::Shell;
use crate::pages::view::{Cell, member, read, time_of};
use crate::pages::visit::{shows, submits};

pub(super) const PATH: &str = "/console/alerts";
const CLOSES: &[OperatorScope] = &[OperatorScope::OperatorWrite];

#[derive(Template)]
#[template(path = "alerts.html")]
struct Page {
    shell: Shell,
    status: AlertStatus,
    alerts: Vec<Shown>,
    may_close: bool,
    next: Option<String>,
}

struct Shown {
    id: String,
    severity: String,
    code: String,
    message: String,
    subject: Cell,
    count: String,
    first: Cell,
    last: Cell,
}

/// The routes.
pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route(PATH, shows(async |visit: Visit, ()| page(&visit).await))
        .route("/console/alerts/{alert}/close", submits(CLOSES, Policy::Write, close))
}

async fn close(mut visit: Visit, form: Form, id: String) -> Result<Outcome> {
    let mutation = visit.mutation("alerts.close", &form);
    match visit.app.alert_close(mutation, AlertId::named(&id)).await {
        Ok(_) => Ok(done(PATH, "closed")),
        Err(refusal) => page(visit.refused(refusal)).await,
    }
}

async fn page(visit: &Visit) -> Result<Outcome> {
    let status = AlertStatus::parse(visit.asked("status")).unwrap_or(AlertStatus::Open);
    let filter = AlertFilter { status: vec![status], ..AlertFilter::default() };
    let found = visit.app.alerts_list(&visit.list_request(status.as_str()), filter).await?;
    let shown = |item: &String| {
        let alert: Value = read(item)?;
        let text = |name: &str| member(&alert, name);
        Ok(Shown {
            id: text("id"),
            severity: text("severity"),
            code: text("code").replace('_', " "),
            message: text("message"),
            subject: links::id(text("subject")),
            count: text("count"),
            first: time_of(&alert, "first_seen_at"),
            last: time_of(&alert, "last_seen_at"),
        })
    };
    let next =
        found.next_cursor.map(|cursor| format!("{PATH}?status={status}&cursor={}", links::encoded(&cursor)));
    visit.page(&Page {
        shell: visit.shell.clone(),
        status,
        alerts: found.items.iter().map(shown).collect::<Result<_>>()?,
        may_close: status == AlertStatus::Open && visit.may(CLOSES),
        next,
    })
}
