//! Every attempt row tells of something that can have happened: numbered without gaps, one after the other, never
//! before it was due, and with the answer that the receiver remembers.

use super::{Case, Findings};
use crate::facts::{AttemptRow, DeliveryRow};
use crate::plan::TIMEOUT_MS;

/// Beyond the deadline of an attempt, on a machine that is busy with other things, milliseconds.
const LATE_MS: i64 = 20_000;

pub(super) fn check(case: &Case<'_>, findings: &mut Findings) {
    for id in case.attempts.keys().filter(|id| !case.deliveries.contains_key(*id)) {
        findings.wrong(format_args!("{id} has attempts and is not there"));
    }
    for row in &case.evidence.facts.deliveries {
        let attempts = case.attempts_of(&row.id);
        let numbers: Vec<_> = attempts.iter().map(|attempt| attempt.number).collect();
        if numbers != Vec::from_iter(1..=row.attempt_count) {
            findings.wrong(format_args!("{}: {} attempts, but {numbers:?}", row.id, row.attempt_count));
        }
        for (before, after) in attempts.iter().zip(attempts.iter().skip(1)) {
            if before.retry_at.is_none_or(|retry_at| retry_at > after.started_at) {
                findings.wrong(format_args!("too early or not at all: {before:?} {after:?}"));
            }
            if before.started_at + before.duration_ms > after.started_at || before.outcome == "success" {
                findings.wrong(format_args!("at once or needlessly: {before:?} {after:?}"));
            }
        }
        for attempt in attempts {
            if !plausible(row, attempt) || !remembered(case, attempt) {
                findings.wrong(format_args!("not plausible: {attempt:?} of {row:?}"));
            }
        }
    }
}

fn plausible(row: &DeliveryRow, attempt: &AttemptRow) -> bool {
    let answered = attempt.response_status.is_some();
    // Nothing here has a name to resolve, TLS, or an address that is refused.
    let outcome = match attempt.outcome.as_str() {
        "success" | "http_error" | "redirect" => answered,
        "timeout" | "connect_error" | "protocol_error" => !answered,
        _ => false,
    };
    outcome
        && attempt.started_at >= row.created_at
        && attempt.signed_timestamp == attempt.started_at.div_euclid(1000)
        && (0..TIMEOUT_MS + LATE_MS).contains(&attempt.duration_ms)
}

/// Where a status was seen, the receiver has sent it as the answer to this attempt.
fn remembered(case: &Case<'_>, attempt: &AttemptRow) -> bool {
    let Some(status) = attempt.response_status else { return true };
    case.arrivals_of(&attempt.delivery_id).iter().any(|arrival| {
        (arrival.attempt, arrival.timestamp) == (attempt.number, attempt.signed_timestamp)
            && arrival.answered.map(i64::from) == Some(status)
    })
}
