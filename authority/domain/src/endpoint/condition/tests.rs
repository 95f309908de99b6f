//! The transitions of contract 7.5, and properties that hold for any order of attempts.

use proptest::prelude::*;

use super::*;
use crate::delivery::retry::LONG_SCHEDULE_S;
use crate::endpoint::hold::cap;

const HOUR: i64 = 60 * 60 * 1000;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(1_788_264_000_000 + ms)
}

fn untried() -> Condition {
    let (first_failure_at, hold) = (None, Hold::default());
    Condition { health: Health::UNTRIED, first_failure_at, failed_events: Vec::new(), hold }
}

fn event(nth: usize) -> EventId {
    EventId::from_store(format!("evt_{nth}"))
}

/// An attempt of so many milliseconds that got this status.
fn note(condition: &mut Condition, took_ms: i64, status: u16, nth_event: usize, ended_at: Timestamp) {
    condition.note(&EndedAttempt {
        event_id: &event(nth_event),
        started_at: ended_at.plus_ms(-took_ms),
        ended_at,
        outcome: AttemptOutcome::of_status(status),
        status: Some(status),
        retry_after_ms: None,
    });
}

fn answered(condition: &mut Condition, status: u16, nth_event: usize, ended_at: Timestamp) {
    note(condition, 1, status, nth_event, ended_at);
}

#[test]
fn health_goes_by_failures_in_a_row_and_time() {
    use HealthState::{Degraded, Failing, Healthy, Unknown};
    // (status, how often, at which hour) → (state, failures in a row), one after the other.
    let table = [
        (500, 4, 0, Unknown, 4),
        (500, 1, 1, Degraded, 5),
        (200, 1, 2, Healthy, 0),
        (404, 4, 3, Healthy, 4),
        (302, 1, 3, Degraded, 5),
        (500, 5, 26, Degraded, 10),
        (500, 1, 27, Failing, 11),
        (500, 1, 28, Failing, 12),
        (299, 1, 29, Healthy, 0),
        (500, 9, 30, Degraded, 9),
        (500, 1, 54, Failing, 10),
        (200, 2, 55, Healthy, 0),
        (500, 1, 200, Healthy, 1),
    ];
    let mut condition = untried();
    for (status, times, hour, state, failures) in table {
        for _ in 0..times {
            answered(&mut condition, status, 0, at(hour * HOUR));
        }
        let health = &condition.health;
        assert_eq!((health.state, health.consecutive_failures), (state, failures), "hour {hour}");
        assert_eq!(health.last_response_status, Some(i64::from(status)), "hour {hour}");
    }
    let health = condition.health;
    assert_eq!((health.last_success_at, health.last_failure_at), (Some(at(55 * HOUR)), Some(at(200 * HOUR))));
    assert_eq!(health.last_error.as_deref(), Some("http_error"));
}

/// The last attempt need not be a day old; the first failure must be.
#[test]
fn time_alone_makes_an_endpoint_failing() {
    let mut condition = untried();
    for nth in 0..FAILING_AFTER {
        answered(&mut condition, 500, 0, at(nth));
    }
    condition.passes(at(24 * HOUR - 1));
    assert_eq!(condition.health.state, HealthState::Degraded);
    condition.passes(at(24 * HOUR));
    assert_eq!(condition.health.state, HealthState::Failing);
}

#[test]
fn five_days_ten_failures_and_three_events_disable() {
    // (failures, of so many events, hours since the first) → to be disabled.
    let table = [
        (10, 3, 120, true),
        (10, 3, 119, false),
        (9, 3, 120, false),
        (10, 2, 120, false),
        (300, 2, 1_000, false),
        (300, 300, 120, true),
    ];
    for (failures, events, hours, expected) in table {
        let mut condition = untried();
        for nth in 0..failures {
            answered(&mut condition, 503, nth % events, at(0));
        }
        let policy = DisablePolicy::default();
        let failed = condition.has_failed_for_good(policy, at(hours * HOUR));
        assert_eq!(failed, expected, "{failures} {events} {hours}");
        // A success begins anew.
        answered(&mut condition, 200, 0, at(hours * HOUR));
        assert!(!condition.has_failed_for_good(policy, at(10_000 * HOUR)));
        assert_eq!((condition.first_failure_at, condition.failed_events.len()), (None, 0));
    }
    let mut condition = untried();
    for nth in 0..10 {
        answered(&mut condition, 503, nth, at(0));
    }
    assert!(condition.has_failed_for_good(DisablePolicy { after_ms: HOUR }, at(HOUR)));
    assert!(!condition.has_failed_for_good(DisablePolicy { after_ms: HOUR }, at(HOUR - 1)));
}

#[test]
fn an_endpoint_with_the_long_schedule_is_disabled_after_its_waits() {
    let ms = |waits_s: &[u32]| waits_s.iter().map(|wait_s| i64::from(*wait_s) * 1000).sum::<i64>();
    let longest = ms(&LONG_SCHEDULE_S) * 6 / 5;
    assert!(longest < LONG_DISABLED_AFTER_MS, "{longest}");
    let policy = DisablePolicy::default();
    for schedule in [RetrySchedule::Standard, RetrySchedule::Short] {
        assert_eq!(policy.for_schedule(schedule), policy);
    }
    assert_eq!(policy.for_schedule(RetrySchedule::Long).after_ms, 9 * 24 * HOUR);
    let patient = DisablePolicy { after_ms: 1_000 * HOUR };
    assert_eq!(patient.for_schedule(RetrySchedule::Long), patient);
}

#[test]
fn what_comes_late_says_what_it_still_can() {
    let mut condition = untried();
    answered(&mut condition, 200, 0, at(100));
    // A failure from before the success: forgotten before it was known.
    answered(&mut condition, 503, 1, at(50));
    assert_eq!((condition.health.consecutive_failures, condition.first_failure_at), (0, None));
    assert_eq!((condition.health.last_failure_at, &condition.hold), (Some(at(50)), &Hold::default()));
    assert_eq!(condition.health.last_response_status, Some(200), "the newest");
    // A success from before all failures changes nothing but its time.
    answered(&mut condition, 503, 1, at(200));
    answered(&mut condition, 503, 2, at(2_000));
    let failed = condition.clone();
    answered(&mut condition, 200, 3, at(150));
    assert_eq!(condition.health.last_success_at, Some(at(150)));
    condition.health.last_success_at = failed.health.last_success_at;
    assert_eq!(condition, failed);
    // One from between them leaves the last failure and its hold standing.
    answered(&mut condition, 200, 3, at(1_000));
    assert_eq!((condition.health.consecutive_failures, condition.first_failure_at), (1, Some(at(2_000))));
    assert_eq!((&condition.hold, condition.health.state), (&failed.hold, HealthState::Healthy));
}

#[test]
fn a_probe_that_fails_otherwise_leaves_the_hold_as_it_is() {
    let mut condition = untried();
    answered(&mut condition, 503, 0, at(0));
    let hold = condition.hold.clone();
    for status in [500, 404, 301, 408, 410] {
        answered(&mut condition, status, 0, at(5_000));
        assert_eq!(condition.hold, hold, "{status}");
        assert_eq!(cap(&condition.hold, condition.health.state, at(5_000)), Some(1));
    }
    answered(&mut condition, 204, 0, at(5_001));
    assert_eq!(cap(&condition.hold, condition.health.state, at(5_001)), Some(2), "they come back one by one");
}

/// (how long the attempt took, how long after the one before it ended, its status, its event)
type Drawn = (i64, i64, u16, usize);

fn drawn() -> impl Strategy<Value = Vec<Drawn>> {
    let status = prop::sample::select(vec![200_u16, 204, 500, 503, 429, 404]);
    prop::collection::vec((0..20_000_i64, 0..100_000_000_i64, status, 0..5_usize), 1..60)
}

fn tell(condition: &mut Condition, drawn: &[Drawn]) -> Timestamp {
    let mut now = at(0);
    for (took, wait, status, nth) in drawn {
        now = now.plus_ms(*wait);
        note(condition, *took, *status, *nth, now);
    }
    now
}

proptest! {
    /// The condition against the whole history, which it does not have.
    #[test]
    fn a_condition_is_what_the_history_says(drawn in drawn()) {
        let mut condition = untried();
        let now = tell(&mut condition, &drawn);
        let mut ends = Vec::new();
        for (_, wait, status, nth) in &drawn {
            let before = ends.last().map_or(at(0), |(at, ..): &(Timestamp, u16, usize)| *at);
            ends.push((before.plus_ms(*wait), *status, *nth));
        }
        let success = ends.iter().rposition(|(_, status, _)| *status < 300);
        let since = ends.split_at(success.map_or(0, |last| last + 1)).1;
        prop_assert_eq!(condition.health.consecutive_failures, i64::try_from(since.len()).unwrap());
        prop_assert_eq!(condition.first_failure_at, since.first().map(|(at, ..)| *at));
        prop_assert_eq!(condition.health.last_success_at, success.map(|last| ends[last].0));
        let mut events: Vec<usize> = since.iter().map(|(.., nth)| *nth).collect();
        events.sort_unstable();
        events.dedup();
        prop_assert_eq!(condition.failed_events.len(), events.len().min(DISABLED_AFTER_EVENTS));
        let elapsed = since.first().map_or(0, |(first, ..)| now.as_ms() - first.as_ms());
        let expected = match since.len() {
            10.. if elapsed >= 24 * HOUR => HealthState::Failing,
            5.. => HealthState::Degraded,
            _ if success.is_some() => HealthState::Healthy,
            _ => HealthState::Unknown,
        };
        prop_assert_eq!(condition.health.state, expected);
        let good = since.len() >= 10 && events.len() >= 3 && elapsed >= 120 * HOUR;
        prop_assert_eq!(condition.has_failed_for_good(DisablePolicy::default(), now), good);
        let held = since.iter().any(|(_, status, _)| matches!(status, 503 | 429));
        prop_assert_eq!(condition.hold.step > 0, held);
    }

    /// In whatever order the attempts are recorded, a success that ended last clears everything before it.
    #[test]
    fn after_a_success_an_endpoint_is_healthy(drawn in drawn(), seed in any::<u64>()) {
        let mut told: Vec<(Timestamp, Drawn)> = Vec::new();
        let mut now = at(0);
        for one in &drawn {
            now = now.plus_ms(one.1);
            told.push((now, *one));
        }
        told.push((now.plus_ms(1), (0, 0, 200, 0)));
        // A shuffle by a simple hash of the index: any order will do.
        let mut keyed: Vec<_> = told.iter().enumerate().collect();
        keyed.sort_by_key(|(nth, _)| seed.wrapping_mul(2 * *nth as u64 + 1).rotate_left(17));
        let mut condition = untried();
        for (_, (ended_at, (took, _, status, nth))) in keyed {
            note(&mut condition, *took, *status, *nth, *ended_at);
        }
        prop_assert_eq!(condition.health.consecutive_failures, 0);
        prop_assert_eq!(condition.health.state, HealthState::Healthy);
        prop_assert_eq!((condition.first_failure_at, condition.failed_events.len()), (None, 0));
        prop_assert_eq!((condition.hold.until, condition.hold.step), (None, 0));
    }
}
