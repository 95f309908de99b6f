//! What is wrong now, and what to do: the first page of each site begins with it.

use authority_domain::endpoint::HealthState;
use authority_domain::{Endpoint, EndpointStatus, Timestamp};

use super::links::Links;
use super::view::duration;

/// How long a delivery may wait before a page says so: 5 minutes.
pub(crate) const PATIENCE_MS: i64 = 5 * 60 * 1000;

/// Something that is wrong, and what to do.
pub(crate) struct Problem {
    /// `critical`, `warning` or `info`.
    pub(crate) severity: String,
    /// What is wrong.
    pub(crate) what: String,
    /// What to do.
    pub(crate) advice: &'static str,
    /// Where to do it.
    pub(crate) path: String,
    /// What that leads to.
    pub(crate) link: &'static str,
}

/// An endpoint that fails or was disabled.
pub(crate) fn of_endpoint(endpoint: &Endpoint, links: &Links, now: Timestamp) -> Problem {
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
    let path = links.record("endpoints", endpoint.id.as_str());
    Problem { severity: severity.to_owned(), what, advice, path, link: "Show the endpoint" }
}

/// The oldest delivery has waited too long; `endpoint` is the path of what it waits for.
pub(crate) fn of_backlog(oldest: Timestamp, endpoint: String, now: Timestamp) -> Option<Problem> {
    let waited = now.as_ms() - oldest.as_ms();
    (waited >= PATIENCE_MS).then(|| Problem {
        severity: "warning".to_owned(),
        what: format!("The oldest event that has not arrived has waited {}.", duration(waited)),
        advice: "See what keeps its endpoint from taking it.",
        path: endpoint,
        link: "Show the endpoint",
    })
}

/// The worst ones first.
pub(crate) fn sort(problems: &mut [Problem]) {
    problems.sort_by_key(|problem| match problem.severity.as_str() {
        "critical" => 0,
        "warning" => 1,
        _ => 2,
    });
}
