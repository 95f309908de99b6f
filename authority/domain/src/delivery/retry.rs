//! When a delivery is tried again, and when it is given up (contract 7.2, 7.3 and 15.6).
//!
//! After each attempt the dispatcher asks [`RetryPolicy::next_attempt`] with the number of the attempt that ended
//! and the class of its outcome. The answer is a time or an end. The schedule's waits run from the end of the failed
//! attempt, each varied at random so that deliveries that failed together do not come back together. A receiver's
//! `Retry-After` moves the next attempt later, never earlier; and since it only says that the receiver cannot take
//! requests now, and nothing about the event, such an attempt does not use up the schedule, until the schedule's
//! whole time has passed (contract 18.4-5).
//!
//! Deliberately absent: the hold-back of a whole endpoint ([`crate::endpoint::hold`]), and the clock and the dice,
//! which are passed in.

use std::borrow::Cow;

use rand_core::Rng;

use crate::delivery::outcome::{FailureReason, OutcomeClass};
use crate::text_enum::text_enum;

/// The waits before attempts 1 to 10, in seconds (contract 7.2; the Standard Webhooks table).
pub const STANDARD_SCHEDULE_S: [u32; 10] = [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];

/// The waits of [`RetrySchedule::Short`], in seconds: 38 minutes; with the jitter of ± 20 % and the longest attempts
/// still less than an hour.
pub const SHORT_SCHEDULE_S: [u32; 7] = [0, 5, 30, 120, 300, 600, 1_200];

/// The waits of [`RetrySchedule::Long`], in seconds: those of the standard table and then every day, 7 days and 3½
/// hours.
pub const LONG_SCHEDULE_S: [u32; 14] =
    [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400, 86_400, 86_400, 86_400, 86_400];

text_enum! {
    /// How long a delivery that fails is tried again (contract 4.10, 7.2).
    RetrySchedule {
        /// As the platform has set it: ten attempts over about three days where it has set nothing.
        Standard = "standard",
        /// Seven attempts within an hour, for events that are worthless later.
        Short = "short",
        /// Fourteen attempts over about a week, for receivers with long outages.
        Long = "long",
    }
}

/// Attempts of a test delivery: at once, after 5 s, after 5 min (contract 4.10).
pub const TEST_DELIVERY_ATTEMPTS: usize = 3;

/// The longest `Retry-After` that is honoured: 24 h (contract 7.2).
pub const MAX_RETRY_AFTER_MS: u64 = 24 * 60 * 60 * 1000;

/// The most attempts a schedule may have; far above the 10 of the standard table, and a bound on attempt rows.
pub const MAX_ATTEMPTS: usize = 100;

/// The longest single wait a schedule may have: 30 days.
pub const MAX_WAIT_S: u32 = 30 * 24 * 60 * 60;

/// The most attempts that a receiver may postpone; later ones use up the schedule whatever the receiver asks for.
/// This bounds the attempt rows.
pub const PUT_OFF_MAX: u32 = 90;

/// How often a delivery was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tried {
    /// The number of the attempt that has ended, from 1.
    pub number: u32,
    /// Attempts before it that the receiver postponed with `Retry-After`.
    pub put_off: u32,
    /// When the delivery was made, in Unix milliseconds.
    pub created_at_ms: i64,
}

/// When to try again.
#[derive(Debug, Clone, PartialEq)]
pub struct RetryPolicy {
    waits_s: Vec<u32>,
    jitter: f64,
    rejected_attempts: u32,
    /// Whether a receiver may put attempts off without using up the schedule.
    puts_off: bool,
}

/// Why a [`RetryPolicy`] cannot be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RetryPolicyError {
    /// No wait, or more than [`MAX_ATTEMPTS`].
    #[error("the schedule must have 1 to {MAX_ATTEMPTS} waits")]
    ScheduleLength,
    /// A wait above [`MAX_WAIT_S`].
    #[error("a wait of the schedule must not exceed {MAX_WAIT_S} seconds")]
    WaitTooLong,
    /// Not a number from 0 to 1.
    #[error("the jitter must be a number from 0 to 1")]
    JitterRange,
    /// Zero attempts.
    #[error("a rejected delivery must have at least 1 attempt")]
    RejectedAttempts,
}

/// What happens to a delivery after an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Nothing: it is delivered.
    Succeeded,
    /// Another attempt at this time, in Unix milliseconds.
    At(i64),
    /// Another attempt at this time, because the receiver asked for it: the attempt that ended did not use up the
    /// schedule.
    PutOff(i64),
    /// It has failed.
    GiveUp(FailureReason),
}

impl RetryPolicy {
    /// A policy of the waits before each attempt in seconds, the share (0 to 1) by which a wait may vary either way,
    /// and the number of attempts for a receiver that refuses.
    ///
    /// # Errors
    ///
    /// [`RetryPolicyError`] for a value out of range.
    pub fn new(waits_s: Vec<u32>, jitter: f64, rejected_attempts: u32) -> Result<Self, RetryPolicyError> {
        if waits_s.is_empty() || waits_s.len() > MAX_ATTEMPTS {
            return Err(RetryPolicyError::ScheduleLength);
        }
        if waits_s.iter().any(|wait_s| *wait_s > MAX_WAIT_S) {
            return Err(RetryPolicyError::WaitTooLong);
        }
        if !(0.0..=1.0).contains(&jitter) {
            return Err(RetryPolicyError::JitterRange);
        }
        if rejected_attempts == 0 {
            return Err(RetryPolicyError::RejectedAttempts);
        }
        Ok(Self { waits_s, jitter, rejected_attempts, puts_off: true })
    }

    /// The policy of contract 7.2 and 7.3: ten attempts over about three days, ± 20 %, four for a receiver that
    /// refuses.
    pub fn standard() -> Self {
        Self { waits_s: STANDARD_SCHEDULE_S.to_vec(), jitter: 0.2, rejected_attempts: 4, puts_off: true }
    }

    /// The policy for test deliveries: the first [`TEST_DELIVERY_ATTEMPTS`] of this schedule, and no more, whatever the
    /// receiver asks for (contract 4.10).
    pub fn for_test_deliveries(&self) -> Self {
        let waits_s = self.waits_s.iter().copied().take(TEST_DELIVERY_ATTEMPTS).collect();
        Self { waits_s, puts_off: false, ..*self }
    }

    /// The policy for an endpoint with this schedule: the jitter and the attempts for a receiver that refuses are the
    /// deployment's in each.
    pub fn for_schedule(&self, schedule: RetrySchedule) -> Cow<'_, Self> {
        let waits_s = match schedule {
            RetrySchedule::Standard => return Cow::Borrowed(self),
            RetrySchedule::Short => SHORT_SCHEDULE_S.to_vec(),
            RetrySchedule::Long => LONG_SCHEDULE_S.to_vec(),
        };
        Cow::Owned(Self { waits_s, ..*self })
    }

    /// The time of the first attempt of a delivery made at `created_at_ms`, both in Unix milliseconds.
    pub fn first_attempt_at(&self, created_at_ms: i64) -> i64 {
        let wait_s = self.waits_s.first().copied().unwrap_or(0);
        created_at_ms.saturating_add(i64::from(wait_s) * 1000)
    }

    /// What follows an attempt that ended at `finished_at_ms` (Unix milliseconds).
    ///
    /// `retry_after_ms` is the wait the receiver asked for, given only for the statuses that
    /// [`crate::delivery::outcome::honours_retry_after`]; it is honoured exactly, without variation, up to
    /// [`MAX_RETRY_AFTER_MS`], when it is later than the schedule's wait.
    pub fn next_attempt(
        &self,
        tried: Tried,
        class: OutcomeClass,
        retry_after_ms: Option<u64>,
        finished_at_ms: i64,
        dice: &mut dyn Rng,
    ) -> Next {
        let reason = match class {
            OutcomeClass::Success => return Next::Succeeded,
            OutcomeClass::Gone => return Next::GiveUp(FailureReason::Gone),
            OutcomeClass::Rejected => FailureReason::Rejected,
            OutcomeClass::Retryable | OutcomeClass::Blocked => FailureReason::AttemptsExhausted,
        };
        let step = tried.number.saturating_sub(tried.put_off);
        if class == OutcomeClass::Rejected && step >= self.rejected_attempts {
            return Next::GiveUp(reason);
        }
        // The wait before attempt n + 1 stands at index n.
        let index = usize::try_from(step).unwrap_or(usize::MAX);
        let Some(wait_s) = self.waits_s.get(index) else {
            return Next::GiveUp(reason);
        };
        let asked_ms = retry_after_ms.filter(|_| class == OutcomeClass::Retryable).unwrap_or(0);
        let wait_ms = self.varied_ms(*wait_s, dice).max(asked_ms.min(MAX_RETRY_AFTER_MS));
        let at = finished_at_ms.saturating_add(i64::try_from(wait_ms).unwrap_or(i64::MAX));
        let lasts_ms = self.waits_s.iter().map(|wait_s| i64::from(*wait_s) * 1000).sum();
        let young = finished_at_ms.saturating_sub(tried.created_at_ms) < lasts_ms;
        if self.puts_off && asked_ms > 0 && young && tried.put_off < PUT_OFF_MAX {
            Next::PutOff(at)
        } else {
            Next::At(at)
        }
    }

    /// The wait in milliseconds × (1 ± jitter), uniformly.
    fn varied_ms(&self, wait_s: u32, dice: &mut dyn Rng) -> u64 {
        let wait_ms = u64::from(wait_s) * 1000;
        if wait_ms == 0 || self.jitter == 0.0 {
            return wait_ms;
        }
        // The top 53 bits as a number in [0, 1): as many as a f64 holds exactly.
        let unit = (dice.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let factor = 1.0 + self.jitter * (2.0 * unit - 1.0);
        (wait_ms as f64 * factor).round() as u64
    }
}
