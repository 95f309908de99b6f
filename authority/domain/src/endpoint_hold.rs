//! The back-off of a whole endpoint, and when it gets another request (contract 7.4, 15.4 and 15.6).
//!
//! An answer that says "not now" (429, 502, 503, 504), or no answer at all, is about the receiver and not about the one
//! event that met it: whatever else waits for that endpoint would fare the same. So it begins a [`Hold`]: no request
//! begins for a second, then one at a time is tried, and each one that fails in this way doubles the time, up to five
//! minutes, until a success. A receiver that says in `Retry-After` when to come back is taken at its word.
//!
//! Outcomes arrive in batches, from several instances, and late. Requests that were in flight together and failed
//! together are one step, since all but the first were begun before the hold; a success lifts the hold unless it ended
//! before the failure that made it.
//!
//! Before a delivery is taken, [`room`] says how many requests its endpoint may have beside those in flight. The claim
//! of the store is the same rule in SQL, and whoever hands a fresh delivery over asks it here.
//!
//! Deliberately absent: the waits of a single delivery, which are [`crate::retry`]'s, and chance: an endpoint is one
//! receiver, and its first request after a hold is a single one.

use crate::endpoint::HealthState;
use crate::outcome::AttemptOutcome;
use crate::retry::MAX_RETRY_AFTER_MS;
use crate::time::Timestamp;

/// The first hold: 1 s, in milliseconds. Each further one is twice as long (contract 15.6).
pub const FIRST_HOLD_MS: i64 = 1000;

/// The longest hold that is not the receiver's own wish: 5 min, in milliseconds (contract 15.6).
pub const LONGEST_HOLD_MS: i64 = 5 * 60 * 1000;

/// How far an endpoint is held back, as it is stored beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hold {
    /// No request begins before this time.
    pub until: Option<Timestamp>,
    /// How often the hold was lengthened since the last success. Above 0, one request at a time.
    pub step: i64,
    /// When it was last lengthened, or lifted because the endpoint was changed. What began before says nothing new.
    pub since: Option<Timestamp>,
}

impl Hold {
    /// Takes note of an attempt that says "not now" ([`holds_back`]). `retry_after_ms` is the wait the receiver asked
    /// for: honoured exactly, up to 24 h; 0 asks for no hold, and leaves the one there is as it is.
    pub fn lengthen(&mut self, started_at: Timestamp, ended_at: Timestamp, retry_after_ms: Option<u64>) {
        let asked = retry_after_ms
            .map(|asked| ended_at.plus_ms(i64::try_from(asked.min(MAX_RETRY_AFTER_MS)).unwrap_or(i64::MAX)));
        if self.until.is_some_and(|until| started_at < until) {
            // It was in flight when the hold began. Only what it asks for is news.
            self.until = self.until.max(asked);
            return;
        }
        let lifted_meanwhile = self.step == 0 && self.since.is_some_and(|since| started_at < since);
        if lifted_meanwhile || retry_after_ms == Some(0) {
            return;
        }
        self.step = self.step.saturating_add(1);
        self.until = Some(asked.unwrap_or_else(|| ended_at.plus_ms(hold_ms(self.step))));
        self.since = Some(ended_at);
    }

    /// Takes note of a success: the hold is over, unless the success is older than what made it.
    pub fn lift(&mut self, ended_at: Timestamp) {
        if self.step > 0 && self.since.is_none_or(|since| since <= ended_at) {
            *self = Self::default();
        }
    }
}

/// The length of the hold after so many steps, in milliseconds: 1 s, 2 s, 4 s, … 5 min.
#[must_use]
pub fn hold_ms(step: i64) -> i64 {
    let doublings = u32::try_from(step.saturating_sub(1).clamp(0, 30)).unwrap_or(0);
    (FIRST_HOLD_MS << doublings).min(LONGEST_HOLD_MS)
}

/// Whether an attempt that ended so holds its endpoint back (contract 15.6). Beside the statuses and the timeout that
/// the contract names this is everything that ends without a response: a receiver that cannot be resolved, refuses the
/// connection, has no valid certificate or speaks no HTTP will treat the next event like this one.
#[must_use]
pub fn holds_back(outcome: AttemptOutcome, status: Option<u16>) -> bool {
    match outcome {
        AttemptOutcome::Success | AttemptOutcome::Redirect => false,
        AttemptOutcome::HttpError => matches!(status, Some(429 | 502 | 503 | 504)),
        AttemptOutcome::Timeout
        | AttemptOutcome::DnsError
        | AttemptOutcome::ConnectError
        | AttemptOutcome::TlsError
        | AttemptOutcome::BlockedAddress
        | AttemptOutcome::ProtocolError => true,
    }
}

/// How many more requests an endpoint may have at `now` beside the `in_flight` ones; `cap` is the configured number of
/// requests at a time, at least 1. Never negative: what is in flight may be more than a cap that has become smaller.
#[must_use]
pub fn room(hold: &Hold, health: HealthState, cap: i64, in_flight: i64, now: Timestamp) -> i64 {
    if hold.until.is_some_and(|until| until > now) {
        return 0;
    }
    let cap = if hold.step > 0 || health == HealthState::Failing { 1 } else { cap };
    (cap - in_flight).max(0)
}

#[cfg(test)]
mod tests;
