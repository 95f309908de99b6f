//! The first page: what is wrong now and what to do about it, then the figures of the day.

use askama::Template;
use authority_domain::alert::AlertStatus;
use authority_domain::endpoint::{EndpointStatus, HealthState};
use authority_domain::refusal::Refusal;
use authority_domain::time::Timestamp;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::get;
use serde_json::Value;

use super::chart::{Chart, chart};
use super::shell::Shell;
use super::view::{Cell, Fact, Table, duration, fact, member};
use super::visit::{Outcome, Visit, show};
use super::{ROOT, filters, links};
use crate::app::alerts::AlertFilter;
use crate::app::console::FoundEndpoint;
use crate::app::console::overview::Overview;
use crate::app::lists::List;
use crate::http::entry::AppState;

/// How long a delivery may wait before the page says so.
const PATIENCE_MS: i64 = 5 * 60 * 1000;

#[derive(Template)]
#[template(path = "overview.html")]
struct Page {
    shell: Shell,
    problems: Vec<Problem>,
    more_alerts: bool,
    backlog: Vec<Fact>,
    backlogs: Table,
    chart: Chart,
}

/// Something that is wrong, and what to do.
struct Problem {
    /// `critical`, `warning` or `info`.
    severity: String,
    what: String,
    advice: &'static str,
    path: String,
    link: &'static str,
}

/// The routes.
pub(super) fn routes() -> Router<AppState> {
    Router::new().route(ROOT, get(overview))
}

async fn overview(State(state): State<AppState>, request: Request) -> Response {
    show(state, request, async |visit| page(&visit).await).await
}

async fn page(visit: &Visit) -> Result<Outcome, Refusal> {
    let open = AlertFilter { status: vec![AlertStatus::Open], ..AlertFilter::default() };
    let List { items, next_cursor, .. } = visit.app.alerts_list(&visit.list_request("open"), open).await?;
    let found = visit.app.overview().await?;
    let mut problems = Vec::new();
    for item in &items {
        let alert: Value = serde_json::from_str(item).map_err(|_| Refusal::internal())?;
        problems.push(of_alert(&alert));
    }
    problems.extend(found.troubled.iter().map(|found| of_endpoint(found, visit.now)));
    problems.extend(of_backlog(&found, visit.now));
    problems.sort_by_key(|problem| match problem.severity.as_str() {
        "critical" => 0,
        "warning" => 1,
        _ => 2,
    });
    visit.page(&Page {
        shell: visit.shell.clone(),
        problems,
        more_alerts: next_cursor.is_some(),
        backlog: backlog(&found, visit.now),
        backlogs: backlogs(&found, visit.now),
        chart: chart(&found.hours, visit.now),
    })
}

fn of_alert(alert: &Value) -> Problem {
    let advice = match member(alert, "code").as_str() {
        "late_payment" => "Give the money back, then close the alert.",
        "report_refused" => "Look at what the processor or carrier says of the record, then close the alert.",
        _ => "Look into it, then close the alert.",
    };
    Problem {
        severity: member(alert, "severity"),
        what: member(alert, "message"),
        advice,
        path: links::anything(&member(alert, "subject")),
        link: "Show the record",
    }
}

fn of_endpoint(found: &FoundEndpoint, now: Timestamp) -> Problem {
    let endpoint = &found.endpoint;
    let url = &endpoint.url;
    let since = endpoint.health.last_success_at.map(|at| duration(now.as_ms() - at.as_ms()));
    let since =
        since.map_or("It never took one".to_owned(), |since| format!("The last success was {since} ago"));
    let (severity, what, advice) = if endpoint.status == EndpointStatus::Disabled {
        let reason = endpoint.disabled_reason.map_or("", |reason| reason.as_str());
        let what = format!("The endpoint {url} is disabled ({reason}). {since}.");
        ("critical", what, "Correct it, enable it, and recover what it missed.")
    } else if let Some(until) = endpoint.held_until.filter(|until| *until > now) {
        let wait = duration(until.as_ms() - now.as_ms());
        let what = format!("The endpoint {url} fails and is held back for another {wait}. {since}.");
        ("warning", what, "See why its last attempts failed.")
    } else {
        let failures = endpoint.health.consecutive_failures;
        let what = format!("The endpoint {url} fails: {failures} times since its last success. {since}.");
        let severity = if endpoint.health.state == HealthState::Failing { "critical" } else { "warning" };
        (severity, what, "See why its last attempts failed.")
    };
    let path = links::record("endpoints", endpoint.id.as_str());
    Problem { severity: severity.to_owned(), what, advice, path, link: "Show the endpoint" }
}

fn of_backlog(found: &Overview, now: Timestamp) -> Option<Problem> {
    let oldest = found.outbox.oldest_pending_at?;
    let waited = now.as_ms() - oldest.as_ms();
    if waited < PATIENCE_MS {
        return None;
    }
    let first = found.backlogs.iter().min_by_key(|backlog| backlog.oldest_pending_at)?;
    Some(Problem {
        severity: "warning".to_owned(),
        what: format!("The oldest event that has not arrived has waited {}.", duration(waited)),
        advice: "See what keeps its endpoint from taking it.",
        path: links::record("endpoints", first.endpoint_id.as_str()),
        link: "Show the endpoint",
    })
}

fn backlog(found: &Overview, now: Timestamp) -> Vec<Fact> {
    let outbox = &found.outbox;
    let age = outbox.oldest_pending_at.map(|at| format!("{} ago", duration(now.as_ms() - at.as_ms())));
    vec![
        fact("Deliveries that wait", Cell::text(outbox.pending)),
        fact("Of these due now", Cell::text(outbox.due)),
        fact("Oldest of them", age.map_or(Cell::text("none"), Cell::text)),
        fact("Failed for good in 24 hours", Cell::text(outbox.failed)),
    ]
}

fn backlogs(found: &Overview, now: Timestamp) -> Table {
    let rows = found.backlogs.iter().map(|backlog| {
        let id = backlog.endpoint_id.as_str();
        vec![
            Cell::link(id, links::record("endpoints", id)),
            Cell::state(backlog.state),
            Cell::text(backlog.pending),
            Cell::text(duration(now.as_ms() - backlog.oldest_pending_at.as_ms())),
        ]
    });
    Table {
        caption: "Endpoints with the largest backlog",
        head: &["Endpoint", "Health", "Deliveries that wait", "Oldest"],
        rows: rows.collect(),
        empty: "No delivery waits.",
    }
}
