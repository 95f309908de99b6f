//! When an inbox does what: the wait after a failure, and the next time its alarm rings.
//!
//! An event is tried again until its sink has taken it; there is no last attempt. The waits double from one second to
//! one hour, so a sink that recovers has everything an hour later, and one that never does costs one attempt an hour
//! per event.

use verify_core::receiver::Status;

/// How many attempts an inbox makes at once. Sixteen inboxes make at most 256.
pub const SLOTS: usize = 16;
/// How many of them may be at events that failed before, so that those never keep fresh ones waiting.
pub const SLOTS_FOR_RETRIES: usize = 4;
/// How many attempts one alarm begins, before it ends and rings again: one invocation may make 1,000 requests. It waits
/// for those under way before it ends, so the number is as large as that allows. In the smallest plan an invocation may
/// make 50; what is beyond fails there and is made again by the next alarm.
pub const ATTEMPTS_PER_ALARM: usize = 400;
/// How long one alarm begins attempts, milliseconds: it may run for 15 minutes, and events that fail slowly in the few
/// slots for them would take longer than that.
pub const BEGINS_FOR_MS: i64 = 5 * 60 * 1_000;
/// How long an attempt may take, milliseconds.
pub const DEADLINE_MS: u32 = 10_000;
/// How many records one alarm removes at most.
pub const PURGE_STEP: usize = 500;

const FIRST_WAIT_MS: i64 = 1_000;
const LONGEST_WAIT_MS: i64 = 60 * 60 * 1_000;
/// How long the alarm sleeps at least before it looks for records that have become too old.
const PURGE_PAUSE_MS: i64 = 60 * 60 * 1_000;

/// Whether an alarm that has begun so many attempts in so many milliseconds begins another.
#[must_use]
pub fn may_begin(begun: usize, running_ms: i64) -> bool {
    begun < ATTEMPTS_PER_ALARM && running_ms < BEGINS_FOR_MS
}

/// Which events a free slot is for, the first choice first, while `retries` slots are at events that failed before.
/// One slot is theirs whatever comes in; else fresh events go first.
#[must_use]
pub fn choices(retries: usize) -> &'static [Status] {
    match retries {
        0 => &[Status::Error, Status::Received],
        1..SLOTS_FOR_RETRIES => &[Status::Received, Status::Error],
        _ => &[Status::Received],
    }
}

/// How long to wait after the attempt of this number (from 1) has failed, milliseconds.
#[must_use]
pub fn wait_ms(attempts: i64) -> i64 {
    let doublings = u32::try_from(attempts.saturating_sub(1).clamp(0, 30)).unwrap_or_default();
    (FIRST_WAIT_MS << doublings).min(LONGEST_WAIT_MS)
}

/// What is left to do when an alarm has done its part.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Left {
    /// When the next attempt is due, Unix milliseconds of the runtime's clock; `None` when there is none.
    pub next_attempt_ms: Option<i64>,
    /// How long it takes until the oldest record is too old, milliseconds; `None` when there is none.
    pub next_purge_in_ms: Option<i64>,
}

/// When the alarm rings again, Unix milliseconds; `None` when there is nothing to wait for.
#[must_use]
pub fn next_alarm_ms(left: Left, now_ms: i64) -> Option<i64> {
    let purge_ms = left.next_purge_in_ms.map(|wait| match wait {
        ..=0 => now_ms,
        wait => now_ms.saturating_add(wait.max(PURGE_PAUSE_MS)),
    });
    [left.next_attempt_ms, purge_ms].into_iter().flatten().min().map(|at| at.max(now_ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_an_hour() {
        for (attempts, seconds) in [
            (1, 1),
            (2, 2),
            (3, 4),
            (4, 8),
            (12, 2048),
            (13, 3600),
            (14, 3600),
            (1_000_000, 3600),
            (i64::MAX, 3600),
        ] {
            assert_eq!(wait_ms(attempts), seconds * 1000, "{attempts}");
        }
        // No attempt made is no reason to wait longer.
        assert_eq!([0, -5, i64::MIN].map(wait_ms), [1000; 3]);
    }

    #[test]
    fn a_slot_is_kept_for_events_that_failed_and_most_are_for_fresh_ones() {
        use Status::{Error, Received};
        assert_eq!(choices(0), [Error, Received]);
        for retries in 1..SLOTS_FOR_RETRIES {
            assert_eq!(choices(retries), [Received, Error], "{retries}");
        }
        assert_eq!(choices(SLOTS_FOR_RETRIES), [Received]);
        assert_eq!(choices(SLOTS), [Received]);
    }

    #[test]
    fn an_alarm_ends_in_time_however_slow_its_attempts_are() {
        assert!(may_begin(0, 0) && may_begin(ATTEMPTS_PER_ALARM - 1, BEGINS_FOR_MS - 1));
        assert!(!may_begin(ATTEMPTS_PER_ALARM, 0) && !may_begin(0, BEGINS_FOR_MS));
        // A clock that was set back costs nothing: the number of attempts is bounded as well.
        assert!(may_begin(0, -1));
    }

    #[test]
    fn the_alarm_rings_for_whatever_comes_first() {
        const HOUR: i64 = 3_600_000;
        let now = 10 * HOUR;
        let left = |next_attempt_ms, next_purge_in_ms| Left { next_attempt_ms, next_purge_in_ms };
        for (left, expected) in [
            (left(None, None), None),
            (left(Some(0), None), Some(now)),
            (left(Some(now + 5), None), Some(now + 5)),
            (left(None, Some(0)), Some(now)),
            (left(None, Some(-5)), Some(now)),
            // Rather a few more at once than an alarm for each.
            (left(None, Some(1)), Some(now + HOUR)),
            (left(None, Some(2 * HOUR)), Some(now + 2 * HOUR)),
            (left(Some(now + 5), Some(0)), Some(now)),
            (left(Some(now + 5), Some(1)), Some(now + 5)),
            (left(Some(now + 3 * HOUR), Some(2 * HOUR)), Some(now + 2 * HOUR)),
            (left(None, Some(i64::MAX)), Some(i64::MAX)),
        ] {
            assert_eq!(next_alarm_ms(left, now), expected, "{left:?}");
        }
    }
}
