//! The first page: what is wrong now with the merchant's endpoints and what to do about it, then how each fares.

use askama::Template;
use authority_domain::endpoint::HealthState;
use authority_domain::integration_health::EndpointFigures;
use authority_domain::{Endpoint, EndpointStatus, Result, Timestamp};
use axum::Router;

use super::visitor::EVENTS;
use super::{LINKS, Visit, following};
use crate::app::portal::sessions::PortalVisitor;
use crate::http::AppState;
use crate::pages::chart::{Chart, events, percentile};
use crate::pages::problem::{self, Problem};
use crate::pages::shell::Shell;
use crate::pages::view::{Cell, Fact, Table, duration, fact};
use crate::pages::visit::{Outcome, shows};
use crate::pages::{Visitor as _, filters};

/// Problems on the page; a merchant with more has them in the list of endpoints.
const PROBLEMS_MAX: usize = 20;
/// Rows on the page.
const ROWS_MAX: usize = 50;

#[derive(Template)]
#[template(path = "home.html")]
struct Page {
    shell: Shell,
    /// `None` when the session may not see endpoints.
    sees: Option<Health>,
    /// `None` when it may not see events.
    events: Option<Chart>,
    ends: Cell,
}

/// How the merchant's endpoints fare.
struct Health {
    problems: Vec<Problem>,
    more_problems: bool,
    sums: Vec<Fact>,
    endpoints: Table,
}

/// The route.
pub(super) fn routes() -> Router<AppState> {
    Router::new().route(LINKS.root, shows(async |visit: Visit, ()| page(&visit).await))
}

async fn page(visit: &Visit) -> Result<Outcome> {
    let shell = following(visit).await?;
    let sees = if visit.may(PortalVisitor::MANAGES) {
        Some(health(&visit.app.portal_overview(&visit.who.caller).await?, visit.now))
    } else {
        None
    };
    let events = if visit.may(EVENTS) {
        Some(events(&visit.app.portal_events_by_hour(&visit.who.caller).await?, visit.now))
    } else {
        None
    };
    visit.page(&Page { shell, sees, events, ends: Cell::at(visit.who.expires_at) })
}

fn health(found: &[(Endpoint, EndpointFigures)], now: Timestamp) -> Health {
    let troubled = found.iter().filter(|(endpoint, _)| is_troubled(endpoint));
    let mut problems: Vec<Problem> =
        troubled.map(|(endpoint, _)| problem::of_endpoint(endpoint, &LINKS, now)).collect();
    let oldest = found
        .iter()
        .filter_map(|(endpoint, figures)| Some((figures.oldest_pending_at?, endpoint)))
        .min_by_key(|(at, _)| *at);
    problems.extend(oldest.and_then(|(at, endpoint)| {
        problem::of_backlog(at, LINKS.record("endpoints", endpoint.id.as_str()), now)
    }));
    problem::sort(&mut problems);
    let more_problems = problems.len() > PROBLEMS_MAX;
    problems.truncate(PROBLEMS_MAX);
    let sum = |of: fn(&EndpointFigures) -> i64| Cell::text(found.iter().map(|(_, it)| of(it)).sum::<i64>());
    let age = oldest.map(|(at, _)| format!("{} ago", duration(now.as_ms() - at.as_ms())));
    Health {
        problems,
        more_problems,
        sums: vec![
            fact("Deliveries that wait", sum(|figures| figures.pending)),
            fact("Of these due now", sum(|figures| figures.due)),
            fact("Oldest of them", age.map_or(Cell::text("none"), Cell::text)),
            fact("Attempts in 24 hours", sum(|figures| figures.attempts)),
            fact("Of these failed", sum(|figures| figures.failed_attempts)),
            fact("Failed for good in 24 hours", sum(|figures| figures.failed_deliveries)),
        ],
        endpoints: table(found, now),
    }
}

/// Fails, or was disabled by somebody else than the merchant.
fn is_troubled(endpoint: &Endpoint) -> bool {
    let fails = endpoint.health.state != HealthState::Healthy || endpoint.held_until.is_some();
    match endpoint.status {
        EndpointStatus::Enabled => fails && endpoint.health.consecutive_failures > 0,
        EndpointStatus::Disabled => {
            endpoint.disabled_reason.is_some_and(|reason| reason.as_str() != "merchant")
        }
    }
}

/// How each endpoint fares.
pub(super) fn table(found: &[(Endpoint, EndpointFigures)], now: Timestamp) -> Table {
    let rows = found.iter().take(ROWS_MAX).map(|(endpoint, figures)| {
        let age = figures.oldest_pending_at.map(|at| duration(now.as_ms() - at.as_ms()));
        vec![
            Cell::link(&endpoint.url, LINKS.record("endpoints", endpoint.id.as_str())),
            Cell::state(endpoint.status),
            Cell::state(endpoint.health.state),
            Cell::text(figures.pending),
            Cell::some(age),
            Cell::text(figures.attempts),
            Cell::text(figures.failed_attempts),
            Cell::some(percentile(&figures.durations_ms, 95).map(|ms| format!("{ms} ms"))),
        ]
    });
    Table {
        caption: "Endpoints, newest first, with their last 24 hours",
        head: &["Endpoint", "Status", "Health", "Wait", "Oldest", "Attempts", "Failed", "95th percentile"],
        rows: rows.collect(),
        empty: "There is no endpoint yet.",
    }
}
