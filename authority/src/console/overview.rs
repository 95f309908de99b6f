//! The first page: what is wrong now and what to do about it, then the figures of the day.

use askama::Template;
use authority_domain::list_filter::{AlertFilter, AllPaymentsFilter};
use authority_domain::{AlertStatus, Result, Timestamp};
use axum::Router;
use serde_json::Value;

use super::links::LINKS;
use super::visit::{Outcome, Visit};
use super::{ROOT, links};
use crate::app::console::overview::Overview;
use crate::app::live::Watched;
use crate::app::{List, ListRequest, amount};
use crate::http::AppState;
use crate::pages::chart::{Chart, attempts, events};
use crate::pages::filters;
use crate::pages::problem::{self, Problem};
use crate::pages::shell::Shell;
use crate::pages::view::{Cell, Fact, Table, duration, fact, member, read, time_of};
use crate::pages::visit::shows;

/// Late payments that are looked at.
const LATE_ROWS: u16 = 100;

#[derive(Template)]
#[template(path = "overview.html")]
struct Page {
    shell: Shell,
    problems: Vec<Problem>,
    more_alerts: bool,
    backlog: Vec<Fact>,
    backlogs: Table,
    events: Chart,
    attempts: Chart,
    /// Money that came too late for its order and was not given back.
    late: Table,
}

/// The routes.
pub(super) fn routes() -> Router<AppState> {
    Router::new().route(ROOT, shows(async |visit: Visit, ()| page(&visit).await))
}

async fn page(visit: &Visit) -> Result<Outcome> {
    let shell = visit.following(links::live(None), &Watched::Platform).await?;
    let open = AlertFilter { status: vec![AlertStatus::Open], ..AlertFilter::default() };
    let List { items, next_cursor, .. } = visit.app.alerts_list(&visit.list_request("open"), open).await?;
    let found = visit.app.overview().await?;
    let late = late(visit).await?;
    let mut problems: Vec<Problem> =
        items.iter().map(|item| Ok(of_alert(&read(item)?))).collect::<Result<_>>()?;
    problems
        .extend(found.troubled.iter().map(|found| problem::of_endpoint(&found.endpoint, &LINKS, visit.now)));
    problems.extend(of_backlog(&found, visit.now));
    problem::sort(&mut problems);
    let of_each: Vec<_> = found.hours.iter().map(|hour| (hour.since, hour.events)).collect();
    visit.page(&Page {
        shell,
        problems,
        more_alerts: next_cursor.is_some(),
        backlog: backlog(&found, visit.now),
        backlogs: backlogs(&found, visit.now),
        events: events(&of_each, visit.now),
        attempts: attempts(&found.hours, visit.now),
        late,
    })
}

/// Late payments of which something is left, among the newest of all that came late. Closing an alert does not give
/// money back, so they are asked for by themselves.
async fn late(visit: &Visit) -> Result<Table> {
    let newest = ListRequest { limit: LATE_ROWS, cursor: None, filter: "late".to_owned() };
    let filter = AllPaymentsFilter { late: Some(true), ..AllPaymentsFilter::default() };
    let found = visit.app.payments_everywhere(&newest, filter).await?;
    let mut rows = Vec::new();
    for item in &found.items {
        let payment: Value = read(item)?;
        let number = |name: &str| payment.get(name).and_then(Value::as_i64).unwrap_or(0);
        let left = number("amount_captured") - number("amount_refunded") - number("amount_refund_pending");
        if left > 0 {
            let id = member(&payment, "id");
            rows.push(vec![
                Cell::link(&id, links::record("records", &id)),
                Cell::text(amount::written(left, &member(&payment, "currency"))),
                links::id(member(&payment, "merchant_id")),
                time_of(&payment, "created_at"),
            ]);
        }
    }
    Ok(Table {
        caption: "Payments that came too late and are not given back",
        head: &["Payment", "Left to give back", "Merchant", "Begun"],
        rows,
        empty: "No money that came too late is left.",
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

fn of_backlog(found: &Overview, now: Timestamp) -> Option<Problem> {
    let first = found.outbox.endpoints.iter().min_by_key(|backlog| backlog.oldest_pending_at)?;
    let endpoint = links::record("endpoints", first.endpoint_id.as_str());
    problem::of_backlog(found.outbox.figures.oldest_pending_at?, endpoint, now)
}

fn backlog(found: &Overview, now: Timestamp) -> Vec<Fact> {
    let outbox = &found.outbox.figures;
    let failed: i64 = found.hours.iter().map(|hour| hour.failed_deliveries).sum();
    let age = outbox.oldest_pending_at.map(|at| format!("{} ago", duration(now.as_ms() - at.as_ms())));
    vec![
        fact("Deliveries that wait", Cell::text(outbox.pending)),
        fact("Of these due now", Cell::text(outbox.due)),
        fact("Oldest of them", age.map_or(Cell::text("none"), Cell::text)),
        fact("Failed for good in 24 hours", Cell::text(failed)),
    ]
}

fn backlogs(found: &Overview, now: Timestamp) -> Table {
    let rows = found.outbox.endpoints.iter().map(|backlog| {
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
