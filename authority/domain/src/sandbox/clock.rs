//! The clock of a test merchant: time that a developer lets pass at once, to see what time does to records.
//!
//! An advance makes every record that exists at that moment older by some seconds: its open checkout expires sooner,
//! its order has been pending for longer, its subscription's period ends sooner. Records made afterwards are as young
//! as ever, and all times that are written and told stay those of the real clock, so signatures, cursors and deliveries
//! do not notice. Live mode has no such clock.

use serde_json::{Value, json};

use crate::body;
use crate::refusal::Result;
use crate::subscription::{Subscription, SubscriptionStatus};
use crate::time::Timestamp;

/// The longest advance, in seconds: 366 days.
const ADVANCE_MAX_S: i64 = 366 * 24 * 60 * 60;

/// How many advances of a merchant are remembered; an older one no longer counts.
pub const ADVANCES_MAX: i64 = 1_000;

/// `POST /clock`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockRequest {
    /// How far, in seconds.
    pub advance_seconds: i64,
}

impl ClockRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// 422 with every wrong member.
    pub fn read(body: &Value) -> Result<Self> {
        body::read(body, |m| Self {
            advance_seconds: m.integer("advance_seconds", 1..=ADVANCE_MAX_S).required(),
        })
    }
}

/// One advance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockAdvance {
    /// When it was asked for.
    pub at: Timestamp,
    /// How far, in seconds.
    pub seconds: i64,
}

/// The clock: all remembered advances, oldest first.
#[derive(Clone, Debug, Default)]
pub struct SandboxClock {
    advances: Vec<ClockAdvance>,
}

impl SandboxClock {
    /// The clock with these advances, oldest first.
    #[must_use]
    pub fn new(advances: Vec<ClockAdvance>) -> Self {
        Self { advances }
    }

    /// The last advance.
    #[must_use]
    pub fn last(&self) -> Option<ClockAdvance> {
        self.advances.last().copied()
    }

    /// How far it was advanced in all, in seconds.
    #[must_use]
    pub fn total_seconds(&self) -> i64 {
        self.advances.iter().map(|advance| advance.seconds).sum()
    }

    /// What time it is for a record made at `created_at`, when the real clock says `now`: later by every advance since.
    #[must_use]
    pub fn time_for(&self, created_at: Timestamp, now: Timestamp) -> Timestamp {
        let since = self.advances.iter().filter(|advance| advance.at >= created_at);
        now.plus_ms(since.map(|advance| advance.seconds * 1_000).sum())
    }

    /// The latest time that it can be for any record.
    #[must_use]
    pub fn latest_time(&self, now: Timestamp) -> Timestamp {
        now.plus_ms(self.total_seconds() * 1_000)
    }
}

/// What the platform reports of a subscription whose period is over at `time`: it ends if that was agreed on, else it
/// renews; a trial becomes its first period. `None`: nothing is due.
#[must_use]
pub fn period_report(subscription: &Subscription, time: Timestamp) -> Option<Value> {
    let end = subscription.current_period_end.filter(|end| *end <= time)?;
    match subscription.status {
        SubscriptionStatus::Trialing | SubscriptionStatus::Active if subscription.cancel_at_period_end => {
            Some(json!({ "status": "cancelled" }))
        }
        SubscriptionStatus::Trialing => Some(json!({ "status": "active", "renew": { "period_start": end } })),
        SubscriptionStatus::Active => Some(json!({ "renew": true })),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use proptest::prelude::*;

    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    #[test]
    fn a_record_is_older_by_the_advances_since_it_was_made() {
        let clock = SandboxClock::new(vec![
            ClockAdvance { at: at(1_000), seconds: 60 },
            ClockAdvance { at: at(5_000), seconds: 3_600 },
        ]);
        let seen = [(0, 3_660), (1_000, 3_660), (1_001, 3_600), (5_000, 3_600), (5_001, 0)];
        for (created_at, seconds) in seen {
            assert_eq!(
                clock.time_for(at(created_at), at(9_000)),
                at(9_000 + seconds * 1_000),
                "{created_at}"
            );
        }
        assert_eq!((clock.total_seconds(), clock.latest_time(at(9_000))), (3_660, at(3_669_000)));
        assert_eq!(SandboxClock::default().time_for(at(0), at(7)), at(7));
    }

    proptest! {
        #[test]
        fn an_older_record_is_never_younger(
            advances in prop::collection::vec((0i64..10_000, 1..=ADVANCE_MAX_S), 0..20),
            older in 0i64..10_000,
            gap in 0i64..10_000,
        ) {
            let clock = SandboxClock::new(
                advances.into_iter().map(|(ms, seconds)| ClockAdvance { at: at(ms), seconds }).collect(),
            );
            let (first, second) = (clock.time_for(at(older), at(0)), clock.time_for(at(older + gap), at(0)));
            prop_assert!(first >= second && first <= clock.latest_time(at(0)));
        }
    }
}
