//! When something happened, as others tell it (contract 18.3): not long before the record that it is about was made, and
//! not in the future, but for clocks that differ and news that overtake each other.

use crate::refusal::{MemberCode, Refusal};
use crate::time::Timestamp;

/// How far a time given by a client may lie in the future (contract 4.7).
const FUTURE_ALLOWANCE_MS: i64 = 5 * 60 * 1000;
/// How long before its record was made something may have happened.
const PAST_ALLOWANCE_MS: i64 = 24 * 60 * 60 * 1000;

/// Whether a time lies in the future.
#[must_use]
pub(crate) fn is_ahead(at: Timestamp, now: Timestamp) -> bool {
    at > now.plus_ms(FUTURE_ALLOWANCE_MS)
}

/// Whether something happened before it can have concerned a record that was made at `made_at`.
#[must_use]
pub(crate) fn is_before(at: Timestamp, made_at: Timestamp) -> bool {
    at < made_at.plus_ms(-PAST_ALLOWANCE_MS)
}

/// Refuses a report of something that happened before its record was made.
///
/// # Errors
/// `validation_failed` at `/occurred_at`.
pub(crate) fn check(occurred_at: Option<Timestamp>, made_at: Timestamp) -> Result<(), Refusal> {
    match occurred_at {
        Some(at) if is_before(at, made_at) => {
            let detail = "must not be more than 24 hours before the record was made";
            Err(Refusal::member("/occurred_at", MemberCode::OutOfRange, detail))
        }
        _ => Ok(()),
    }
}
