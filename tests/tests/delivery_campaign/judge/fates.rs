//! What was promised is there, every event has a delivery for everyone that wanted it, and every delivery an end that
//! can be understood.

use std::collections::{BTreeMap, BTreeSet};

use authority_domain::AttemptOutcome;
use authority_domain::delivery::outcome::{OutcomeClass, classify};

use super::{Case, Findings, READ_BEFORE_MS};
use crate::facts::{AttemptRow, DeliveryRow, EventRow};
use crate::history::{History, Standing};
use crate::merchants::{Acknowledged, Promise};
use crate::plan::{ATTEMPTS, REJECTED_ATTEMPTS, TEST_ATTEMPTS};

/// Whether an endpoint wanted what was committed at some moment from `from` to `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Yes,
    No,
    /// It changed at about that time.
    Either,
}

/// Every acknowledged write has its event, once, with its deliveries (I12); every acknowledged delivery is there.
pub(super) fn check_promises(case: &Case<'_>, findings: &mut Findings) {
    let arrived = arrived_anyhow(case);
    let mut about: BTreeMap<(&str, &str), Vec<&EventRow>> = BTreeMap::new();
    for event in &case.evidence.facts.events {
        about.entry((event.resource_id.as_str(), event.event_type.as_str())).or_default().push(event);
    }
    let fanned_out: BTreeSet<(&str, &str)> = (case.evidence.facts.deliveries.iter())
        .filter(|row| row.triggered_by == "event")
        .map(|row| (row.event_id.as_str(), row.endpoint_id.as_str()))
        .collect();
    for acknowledged in &case.evidence.acknowledged {
        match &acknowledged.promise {
            Promise::Event { merchant, resource, event_type } => {
                let told = about.get(&(resource.as_str(), event_type.as_str()));
                let Some(&[event]) = told.map(Vec::as_slice) else {
                    let times = told.map_or(0, Vec::len);
                    findings.lost(format_args!("{event_type} of {resource} is told {times} times"));
                    continue;
                };
                if event.merchant_id != *merchant {
                    findings.wrong(format_args!("{} is told to another merchant", event.id));
                }
                for history in case.evidence.histories.iter().filter(|of| of.merchant == *merchant) {
                    let there = fanned_out.contains(&(event.id.as_str(), history.endpoint.as_str()));
                    let (event, endpoint) = (&event.id, &history.endpoint);
                    match (wanted(case, history, acknowledged, event_type), there) {
                        (Wanted::Yes, false) => {
                            findings.lost(format_args!("{event} has no delivery for {endpoint}"));
                        }
                        (Wanted::No, true) => {
                            findings.wrong(format_args!("{event} has a delivery for {endpoint}"));
                        }
                        _ => {}
                    }
                    let older =
                        history.eras.first().is_some_and(|era| era.answered_at < acknowledged.asked_at);
                    let caught_up = history.recovered && older && history.wants(event_type);
                    if caught_up && !arrived.contains(&(event.as_str(), endpoint.as_str())) {
                        findings
                            .lost(format_args!("{event} never arrived at {endpoint}, which has caught up"));
                    }
                }
            }
            Promise::Delivery { delivery, event, endpoint } => {
                let row = case.deliveries.get(delivery.as_str());
                if row.is_none_or(|row| (&row.event_id, &row.endpoint_id) != (event, endpoint)) {
                    findings.lost(format_args!("{delivery} was acknowledged and is not there"));
                }
            }
        }
    }
}

/// Which events have arrived at which endpoints with a 2xx, by any delivery.
fn arrived_anyhow<'e>(case: &Case<'e>) -> BTreeSet<(&'e str, &'e str)> {
    let acknowledged = case.evidence.record.arrivals.iter().filter(|arrival| arrival.acknowledged());
    let deliveries = acknowledged.filter_map(|arrival| case.deliveries.get(arrival.delivery.as_str()));
    deliveries.map(|row| (row.event_id.as_str(), row.endpoint_id.as_str())).collect()
}

fn wanted(case: &Case<'_>, history: &History, acknowledged: &Acknowledged, event_type: &str) -> Wanted {
    let (from, to) = (acknowledged.asked_at, acknowledged.answered_at);
    let possible = history.possible(from, to);
    let is_enabled =
        |at: &Option<&crate::history::Era>| at.is_some_and(|era| era.state.standing == Standing::Enabled);
    if !history.wants(event_type) || !possible.iter().any(is_enabled) {
        return Wanted::No;
    }
    if !possible.iter().all(is_enabled) {
        return Wanted::Either;
    }
    // Since it was last said to be enabled; a 410 of just before may have been written after that.
    let said = history.eras.iter().rev().find(|era| era.sets_standing && era.answered_at < from);
    let since = said.map_or(i64::MIN, |era| era.asked_at - READ_BEFORE_MS);
    let gone = case.gone.get(history.endpoint.as_str()).into_iter().flatten();
    if gone.into_iter().any(|at| (since..=to).contains(at)) { Wanted::Either } else { Wanted::Yes }
}

/// I12, and the end of each delivery fits its attempts and its endpoint.
pub(super) fn check_deliveries(case: &Case<'_>, findings: &mut Findings) {
    let mut once = BTreeSet::new();
    for row in &case.evidence.facts.deliveries {
        let id = &row.id;
        let event = case.events.get(row.event_id.as_str());
        let Some((event, history)) = event.zip(case.histories.get(row.endpoint_id.as_str())) else {
            findings.wrong(format_args!("{id} is of an event or an endpoint that is not there"));
            continue;
        };
        if event.merchant_id != history.merchant {
            findings.wrong(format_args!("{id} goes to another merchant"));
        }
        if row.triggered_by == "event" && !once.insert((&row.event_id, &row.endpoint_id)) {
            findings.wrong(format_args!("{id} is the second one of its event and endpoint"));
        }
        if row.triggered_by == "event" && !history.wants(&event.event_type) {
            findings.wrong(format_args!("{id} is not wanted by its endpoint"));
        }
        let last = case.attempts_of(id).last().copied();
        let fits = match (row.status.as_str(), row.failure_reason.as_deref()) {
            ("pending", None) => {
                findings.lost(format_args!("{id} waits still, after {} attempts", row.attempt_count));
                true
            }
            ("succeeded", None) => arrived(case, row, findings),
            ("failed", Some(reason)) => last.is_some_and(|last| ends(row, last, reason)),
            ("cancelled", Some(reason)) => was_cancelled(case, history, reason),
            _ => false,
        };
        if !fits {
            findings.lost(format_args!("{id} has no reason to have ended: {row:?}, {last:?}"));
        }
    }
}

/// A delivery that is called succeeded has arrived and was answered with a 2xx, at that attempt.
fn arrived(case: &Case<'_>, row: &DeliveryRow, findings: &mut Findings) -> bool {
    let arrived = case.arrivals_of(&row.id).iter().any(|arrival| arrival.acknowledged());
    if !arrived {
        findings.lost(format_args!("{} is called succeeded and never arrived with a 2xx", row.id));
    }
    case.attempts_of(&row.id).last().is_some_and(|last| last.outcome == "success")
}

/// Whether the last attempt gives this reason (contract 7.2, 7.3).
fn ends(row: &DeliveryRow, last: &AttemptRow, reason: &str) -> bool {
    let Some(outcome) = AttemptOutcome::parse(&last.outcome) else { return false };
    let class = classify(outcome, last.response_status.and_then(|status| u16::try_from(status).ok()));
    let attempts = if row.triggered_by == "test" { TEST_ATTEMPTS } else { ATTEMPTS };
    match reason {
        "attempts_exhausted" => class == OutcomeClass::Retryable && last.number == attempts,
        "rejected" => class == OutcomeClass::Rejected && last.number >= REJECTED_ATTEMPTS.min(attempts),
        "gone" => class == OutcomeClass::Gone,
        _ => false,
    }
}

/// Whether the endpoint was ever disabled or deleted, by its merchant or by a 410.
fn was_cancelled(case: &Case<'_>, history: &History, reason: &str) -> bool {
    let was = |standing| history.eras.iter().any(|era| era.state.standing == standing);
    match reason {
        "endpoint_disabled" => was(Standing::Disabled) || case.gone.contains_key(history.endpoint.as_str()),
        "endpoint_deleted" => was(Standing::Deleted),
        _ => false,
    }
}
