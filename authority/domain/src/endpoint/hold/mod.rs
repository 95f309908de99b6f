//! The back-off of a whole endpoint, and when it gets another request (contract 7.4, 15.4, 15.6 and 18.4-5).
//!
//! An answer that says "not now" (429, 502, 503, 504), or no answer at all, is about the receiver and not about the
//! event that was sent: every other delivery to that endpoint would fail in the same way. So it begins a [`Hold`]:
//! no request begins for a second, then one at a time is tried, and each one that fails in this way doubles the
//! time, up to five minutes, until a success. If the receiver names a time in `Retry-After`, that time is honoured.
//!
//! After a success that began under a hold, the number of requests in flight grows with each success: 1, 2, 4, 8,
//! then as many as the endpoint may have ([`crate::endpoint::in_flight_limit`]). A success that was in flight when
//! the hold began shows that the receiver still takes requests: it lifts the hold at once, unless the receiver had
//! named a time.
//!
//! Outcomes arrive in batches, from several instances, and late. Requests that were in flight together and failed
//! together count as one step: the first of them begins the hold, and the others began before it. A success lifts
//! the hold unless it ended before the failure that caused the hold.
//!
//! Before a delivery is leased, [`cap`] says how many requests its endpoint may have at a time while it is held back
//! or recovering. The store's claim applies the same rule in SQL; the hand-off of a fresh delivery uses this
//! function.
//!
//! Deliberately absent: the waits of a single delivery, which [`crate::delivery::retry`] decides, and jitter: an
//! endpoint is one receiver, and its first request after a hold is a single one.

use crate::delivery::outcome::AttemptOutcome;
use crate::delivery::retry::MAX_RETRY_AFTER_MS;
use crate::endpoint::HealthState;
use crate::text_enum::text_enum;
use crate::time::Timestamp;

/// The first hold: 1 s, in milliseconds. Each further one is twice as long (contract 15.6).
pub const FIRST_HOLD_MS: i64 = 1000;

/// The longest hold that the receiver did not ask for: 5 min, in milliseconds (contract 15.6).
pub const LONGEST_HOLD_MS: i64 = 5 * 60 * 1000;

/// Successes after a hold until the endpoint may have as many requests as before it: 2, 4 and 8 at a time in between.
pub const REGAINED_AFTER: i64 = 4;

text_enum! {
    /// Why an endpoint is held back.
    HoldReason as "EndpointHoldReason" {
        /// It answered 429.
        RateLimited = "rate_limited",
        /// It answered 502, 503 or 504.
        Unavailable = "unavailable",
        /// It did not answer in time.
        Timeout = "timeout",
        /// No answer was to be had: its name, the connection, TLS or the protocol failed.
        Unreachable = "unreachable",
    }
}

/// How far an endpoint is held back, as stored beside its record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hold {
    /// No request begins before this time.
    pub until: Option<Timestamp>,
    /// How often the hold was lengthened since the last success. While above 0, one request at a time may be in
    /// flight.
    pub step: i64,
    /// When it was last lengthened, or lifted because the endpoint was changed. Attempts that began before show
    /// nothing new.
    pub since: Option<Timestamp>,
    /// The reason for the present hold; `None` when nothing holds the endpoint back.
    pub reason: Option<HoldReason>,
    /// Whether the receiver named the time in `until`.
    pub asked: bool,
    /// Successes since the last hold ended, from 1 to [`REGAINED_AFTER`] - 1; 0 when the number of requests is not
    /// restricted by recovery.
    pub regained: i64,
}

impl Hold {
    /// Records an attempt that says "not now" ([`hold_reason`]). `retry_after_ms` is the wait the receiver asked
    /// for: honoured exactly, up to 24 h; 0 asks for no hold, and leaves an existing one as it is.
    pub fn lengthen(
        &mut self,
        reason: HoldReason,
        started_at: Timestamp,
        ended_at: Timestamp,
        retry_after_ms: Option<u64>,
    ) {
        let asked = retry_after_ms
            .map(|asked| ended_at.plus_ms(i64::try_from(asked.min(MAX_RETRY_AFTER_MS)).unwrap_or(i64::MAX)));
        if self.until.is_some_and(|until| started_at < until) {
            // Mostly this attempt was in flight when the hold began: only a longer time that it asks for is new. One
            // that began later was requested (contract 18.4-6): the time it asks for is the receiver's last word.
            let was_requested = self.since.is_some_and(|since| since < started_at);
            if asked > self.until || (was_requested && retry_after_ms > Some(0)) {
                self.until = asked;
                self.asked = true;
                self.reason = Some(reason);
            }
            return;
        }
        let lifted_meanwhile = self.step == 0 && self.since.is_some_and(|since| started_at < since);
        if lifted_meanwhile || retry_after_ms == Some(0) {
            return;
        }
        self.step = self.step.saturating_add(1);
        self.until = Some(asked.unwrap_or_else(|| ended_at.plus_ms(hold_ms(self.step))));
        self.since = Some(ended_at);
        self.reason = Some(reason);
        self.asked = asked.is_some();
        self.regained = 0;
    }

    /// Records a success: the hold is over, unless the success is older than the failure that caused it, or was in
    /// flight when the receiver named a time.
    pub fn lift(&mut self, started_at: Timestamp, ended_at: Timestamp) {
        let began_since = self.since.is_none_or(|since| since <= started_at);
        if self.step > 0 {
            if began_since {
                *self = Self { since: self.since, regained: 1, ..Self::default() };
            } else if !self.asked && self.since.is_none_or(|since| since <= ended_at) {
                *self = Self::default();
            }
        } else if self.regained > 0 && began_since {
            let regained = self.regained + 1;
            *self =
                if regained < REGAINED_AFTER { Self { regained, ..self.clone() } } else { Self::default() };
        }
    }
}

/// The length of the hold after this many steps, in milliseconds: 1 s, 2 s, 4 s, … 5 min.
#[must_use]
pub fn hold_ms(step: i64) -> i64 {
    let doublings = u32::try_from(step.saturating_sub(1).clamp(0, 30)).unwrap_or(0);
    (FIRST_HOLD_MS << doublings).min(LONGEST_HOLD_MS)
}

/// Why an attempt with this result holds its endpoint back; `None` when it does not (contract 15.6). Besides the
/// statuses and the timeout that the contract names, this includes everything that ends without a response: a
/// receiver that cannot be resolved, refuses the connection, has no valid certificate or does not speak HTTP will
/// treat the next event like this one.
#[must_use]
pub fn hold_reason(outcome: AttemptOutcome, status: Option<u16>) -> Option<HoldReason> {
    match outcome {
        AttemptOutcome::Success | AttemptOutcome::Redirect => None,
        AttemptOutcome::HttpError => match status {
            Some(429) => Some(HoldReason::RateLimited),
            Some(502..=504) => Some(HoldReason::Unavailable),
            _ => None,
        },
        AttemptOutcome::Timeout => Some(HoldReason::Timeout),
        AttemptOutcome::DnsError
        | AttemptOutcome::ConnectError
        | AttemptOutcome::TlsError
        | AttemptOutcome::BlockedAddress
        | AttemptOutcome::ProtocolError => Some(HoldReason::Unreachable),
    }
}

/// How many requests an endpoint may have in flight at `now`, from all instances together; `None` when neither its
/// hold nor its health limits them.
#[must_use]
pub fn cap(hold: &Hold, health: HealthState, now: Timestamp) -> Option<i64> {
    if hold.until.is_some_and(|until| until > now) {
        Some(0)
    } else if hold.step > 0 || health == HealthState::Failing {
        Some(1)
    } else if (1..REGAINED_AFTER).contains(&hold.regained) {
        Some(1 << hold.regained)
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
