//! The time at which something happened, as reported by others (contract 18.3). It must not be before the record was
//! created, nor in the future. Allowances cover clocks that differ and reports that overtake each other.

use crate::refusal::{MemberCode, Refusal, Result};
use crate::time::Timestamp;

/// How far a time given by a client may lie in the future (contract 4.7).
const FUTURE_ALLOWANCE_MS: i64 = 5 * 60 * 1000;
/// How long before the creation of its record something may have happened.
const PAST_ALLOWANCE_MS: i64 = 24 * 60 * 60 * 1000;

/// Whether a time lies in the future.
#[must_use]
pub(crate) fn is_ahead(at: Timestamp, now: Timestamp) -> bool {
    at > now.plus_ms(FUTURE_ALLOWANCE_MS)
}

/// Whether something happened too early to concern a record that was created at `made_at`.
#[must_use]
pub(crate) fn is_before(at: Timestamp, made_at: Timestamp) -> bool {
    at < made_at.plus_ms(-PAST_ALLOWANCE_MS)
}

/// Refuses a report of something that happened too early to concern its record.
///
/// # Errors
/// `validation_failed` at `/occurred_at`.
pub(crate) fn check(occurred_at: Option<Timestamp>, made_at: Timestamp) -> Result<()> {
    match occurred_at {
        Some(at) if is_before(at, made_at) => {
            let detail = "must not be more than 24 hours before the record was made";
            Err(Refusal::member("/occurred_at", MemberCode::OutOfRange, detail))
        }
        _ => Ok(()),
    }
}
