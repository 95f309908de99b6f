//! The condition of an endpoint that follows from its attempts: its health, its back-off, and whether it is to be
//! disabled (contract 7.4, 7.5, 15.6).
//!
//! Every attempt that ended is recorded in the [`Condition`] of its endpoint ([`Condition::note`]). The passing of
//! time is recorded too ([`Condition::passes`]): a day of failures makes the endpoint `failing`, and after five days
//! ([`DisablePolicy`]) it is disabled, even when no attempt is due then.
//!
//! Attempts are recorded in the order in which they ended, as far as that is known. Of an attempt that is recorded
//! late, only what is still relevant counts: a failure from before the last success changes nothing, and a success
//! from before the last failure leaves that failure in force.
//!
//! Deliberately absent: the history of attempts. Everything that is decided here is decided from the condition alone.

use crate::delivery::outcome::AttemptOutcome;
use crate::delivery::retry::RetrySchedule;
use crate::endpoint::hold::{Hold, hold_reason};
use crate::endpoint::{DEGRADED_AFTER, FAILING_AFTER, FAILING_AFTER_MS, Health, HealthState};
use crate::id::EventId;
use crate::time::Timestamp;

/// The number of different events that must have failed before an endpoint is disabled (contract 7.5): one event
/// that its receiver cannot process is no reason to withhold all others.
pub const DISABLED_AFTER_EVENTS: usize = 3;

/// The least time without a success after which an endpoint with the schedule `long` is disabled, in milliseconds: nine
/// days. The schedule's waits take less, also when each is a fifth longer, so that an outage which the schedule bridges
/// does not disable the endpoint and cancel what waits.
pub const LONG_DISABLED_AFTER_MS: i64 = 9 * 24 * 60 * 60 * 1000;

/// What the attempts to reach an endpoint have shown about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// What merchants see of it.
    pub health: Health,
    /// When the current run of failures began; `None` after a success.
    pub first_failure_at: Option<Timestamp>,
    /// The first [`DISABLED_AFTER_EVENTS`] different events that failed since the last success.
    pub failed_events: Vec<EventId>,
    /// Its back-off.
    pub hold: Hold,
}

/// An attempt that has ended.
#[derive(Clone, Debug)]
pub struct EndedAttempt<'a> {
    /// The event that was to be delivered.
    pub event_id: &'a EventId,
    /// When the attempt began.
    pub started_at: Timestamp,
    /// When its outcome was final.
    pub ended_at: Timestamp,
    /// How it ended.
    pub outcome: AttemptOutcome,
    /// The status, when a response came.
    pub status: Option<u16>,
    /// The wait in milliseconds that the response asks for, where that is honoured.
    pub retry_after_ms: Option<u64>,
}

/// When an endpoint that keeps failing is disabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DisablePolicy {
    /// The time after the first failure, without a success since, in milliseconds.
    pub after_ms: i64,
}

impl Default for DisablePolicy {
    /// Five days (contract 7.5).
    fn default() -> Self {
        Self { after_ms: 120 * 60 * 60 * 1000 }
    }
}

impl DisablePolicy {
    /// The policy for endpoints with this retry schedule.
    #[must_use]
    pub fn for_schedule(self, schedule: RetrySchedule) -> Self {
        match schedule {
            RetrySchedule::Long => Self { after_ms: self.after_ms.max(LONG_DISABLED_AFTER_MS) },
            RetrySchedule::Standard | RetrySchedule::Short => self,
        }
    }
}

impl Condition {
    /// Records an attempt that has ended.
    pub fn note(&mut self, ended: &EndedAttempt<'_>) {
        let health = &self.health;
        if health.last_success_at.max(health.last_failure_at).is_none_or(|newest| newest <= ended.ended_at) {
            self.health.last_response_status = ended.status.map(i64::from).or(health.last_response_status);
        }
        if ended.outcome == AttemptOutcome::Success {
            self.note_success(ended.started_at, ended.ended_at);
        } else {
            self.note_failure(ended);
        }
    }

    /// Records that time has passed: a day of failures makes an endpoint `failing` (contract 7.5).
    pub fn passes(&mut self, now: Timestamp) {
        if self.failed_for(FAILING_AFTER_MS, now) {
            self.health.state = HealthState::Failing;
        }
    }

    /// Whether the endpoint is to be disabled at `now` (contract 7.5): no success for the policy's time since the
    /// first failure, ten failures or more, of three different events or more.
    #[must_use]
    pub fn has_failed_for_good(&self, policy: DisablePolicy, now: Timestamp) -> bool {
        self.failed_for(policy.after_ms, now) && self.failed_events.len() >= DISABLED_AFTER_EVENTS
    }

    fn failed_for(&self, ms: i64, now: Timestamp) -> bool {
        self.health.consecutive_failures >= FAILING_AFTER
            && self.first_failure_at.is_some_and(|first| now >= first.plus_ms(ms))
    }

    fn note_success(&mut self, started_at: Timestamp, at: Timestamp) {
        let health = &mut self.health;
        let known_newer = health.last_success_at.is_some_and(|success| success > at);
        health.last_success_at = health.last_success_at.max(Some(at));
        self.hold.lift(started_at, at);
        if known_newer || self.first_failure_at.is_some_and(|first| first > at) {
            // All failures that count are later than this success.
            return;
        }
        health.state = HealthState::Healthy;
        self.failed_events.clear();
        // This success is recorded late: how many of the failures came after it is not known, only that the last one
        // did.
        self.first_failure_at = health.last_failure_at.filter(|last| *last > at);
        health.consecutive_failures = i64::from(self.first_failure_at.is_some());
    }

    fn note_failure(&mut self, ended: &EndedAttempt<'_>) {
        let (health, at) = (&mut self.health, ended.ended_at);
        if health.last_failure_at.is_none_or(|last| last <= at) {
            health.last_failure_at = Some(at);
            health.last_error = Some(ended.outcome.as_str().to_owned());
        }
        if health.last_success_at.is_some_and(|success| success > at) {
            return;
        }
        health.consecutive_failures = health.consecutive_failures.saturating_add(1);
        self.first_failure_at = Some(self.first_failure_at.map_or(at, |first| first.min(at)));
        if self.failed_events.len() < DISABLED_AFTER_EVENTS && !self.failed_events.contains(ended.event_id) {
            self.failed_events.push(ended.event_id.clone());
        }
        if health.consecutive_failures >= DEGRADED_AFTER && health.state != HealthState::Failing {
            health.state = HealthState::Degraded;
        }
        if let Some(reason) = hold_reason(ended.outcome, ended.status) {
            self.hold.lengthen(reason, ended.started_at, at, ended.retry_after_ms);
        }
        self.passes(at);
    }
}

#[cfg(test)]
mod tests;
