//! The back-off of an endpoint against the table of contract 15.6, and as a rule.

use proptest::prelude::*;

use super::*;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(1_788_264_000_000 + ms)
}

#[test]
fn an_endpoint_may_have_what_its_hold_and_health_say() {
    let now = Timestamp::from_ms(1_000);
    let at = |ms: i64| Some(Timestamp::from_ms(ms));
    // (held until, step, successes since, state) → requests at a time.
    let table = [
        (None, 0, 0, HealthState::Unknown, None),
        (None, 0, 0, HealthState::Degraded, None),
        (at(1_001), 0, 0, HealthState::Healthy, Some(0)),
        (at(1_001), 1, 0, HealthState::Failing, Some(0)),
        (at(1_000), 0, 0, HealthState::Healthy, None),
        (at(1_000), 1, 0, HealthState::Healthy, Some(1)),
        (at(999), 7, 0, HealthState::Degraded, Some(1)),
        (None, 0, 0, HealthState::Failing, Some(1)),
        (None, 3, 0, HealthState::Unknown, Some(1)),
        (None, 0, 1, HealthState::Healthy, Some(2)),
        (None, 0, 2, HealthState::Healthy, Some(4)),
        (None, 0, 3, HealthState::Healthy, Some(8)),
        (None, 0, 3, HealthState::Failing, Some(1)),
    ];
    for (until, step, regained, health, expected) in table {
        let hold = Hold { until, step, regained, ..Hold::default() };
        assert_eq!(cap(&hold, health, now), expected, "{hold:?} {health:?}");
    }
}

#[test]
fn these_answers_hold_an_endpoint_back() {
    for status in 100..=999 {
        let outcome = AttemptOutcome::of_status(status);
        let expected = match status {
            429 => Some(HoldReason::RateLimited),
            502..=504 => Some(HoldReason::Unavailable),
            _ => None,
        };
        assert_eq!(hold_reason(outcome, Some(status)), expected, "{status}");
    }
    for outcome in AttemptOutcome::ALL {
        let expected = match outcome {
            AttemptOutcome::Success | AttemptOutcome::HttpError | AttemptOutcome::Redirect => None,
            AttemptOutcome::Timeout => Some(HoldReason::Timeout),
            _ => Some(HoldReason::Unreachable),
        };
        assert_eq!(hold_reason(*outcome, None), expected, "{outcome}");
    }
}

#[test]
fn a_hold_doubles_from_a_second_to_five_minutes() {
    let seconds: Vec<i64> = (1..=12).map(|step| hold_ms(step) / 1000).collect();
    assert_eq!(seconds, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]);
    assert_eq!(hold_ms(i64::MAX), LONGEST_HOLD_MS);
    let mut hold = Hold::default();
    let mut now = at(0);
    for (nth, seconds) in seconds.into_iter().enumerate() {
        // Each probe begins when the hold is over and takes 15 s.
        hold.lengthen(HoldReason::Timeout, now, now.plus_ms(15_000), None);
        let until = now.plus_ms(15_000 + seconds * 1000);
        let step = i64::try_from(nth).unwrap() + 1;
        let since = Some(now.plus_ms(15_000));
        let reason = Some(HoldReason::Timeout);
        assert_eq!(hold, Hold { until: Some(until), step, since, reason, ..Hold::default() });
        now = until;
    }
    hold.lift(now, now);
    assert_eq!((hold.until, hold.step), (None, 0));
}

#[test]
fn what_a_receiver_asks_for_is_honoured_exactly() {
    const DAY: i64 = 24 * 60 * 60 * 1000;
    // (steps before, Retry-After in ms) → (held for so long after the answer, steps).
    let table = [
        (0, Some(1), Some(1), 1),
        (0, Some(7_000), Some(7_000), 1),
        (5, Some(7_000), Some(7_000), 6),
        (5, Some(3_600_000), Some(3_600_000), 6),
        (0, Some(MAX_RETRY_AFTER_MS), Some(DAY), 1),
        (0, Some(MAX_RETRY_AFTER_MS + 1), Some(DAY), 1),
        (0, Some(u64::MAX), Some(DAY), 1),
        (0, Some(0), None, 0),
        (5, Some(0), None, 5),
        (5, None, Some(32_000), 6),
    ];
    for (before, asked, held_ms, step) in table {
        let mut hold = Hold { step: before, ..Hold::default() };
        hold.lengthen(HoldReason::Timeout, at(0), at(500), asked);
        assert_eq!((hold.until, hold.step), (held_ms.map(|ms| at(500 + ms)), step), "{before} {asked:?}");
    }
}

#[test]
fn one_that_was_in_flight_lengthens_a_hold_only_by_what_it_asks() {
    let mut hold = Hold::default();
    hold.lengthen(HoldReason::Timeout, at(0), at(100), None);
    let first = hold.clone();
    for (asked, until) in [(None, 1_100), (Some(0), 1_100), (Some(500), 1_100), (Some(5_000), 5_200)] {
        hold.lengthen(HoldReason::RateLimited, at(90), at(200), asked);
        let longer = until > 1_100;
        let reason = Some(if longer { HoldReason::RateLimited } else { HoldReason::Timeout });
        let expected = Hold { until: Some(at(until)), asked: longer, reason, ..first.clone() };
        assert_eq!(hold, expected, "{asked:?}");
    }
}

#[test]
fn one_that_was_requested_during_a_hold_can_shorten_it_by_what_it_asks() {
    let mut hold = Hold::default();
    hold.lengthen(HoldReason::Unavailable, at(0), at(100), Some(3_600_000));
    let first = hold.clone();
    for (asked, until) in
        [(None, 3_600_100), (Some(0), 3_600_100), (Some(5_000), 5_200), (Some(7_200_000), 7_200_200)]
    {
        let mut hold = first.clone();
        hold.lengthen(HoldReason::Unavailable, at(101), at(200), asked);
        assert_eq!(hold, Hold { until: Some(at(until)), ..first.clone() }, "{asked:?}");
    }
    // It began in the same millisecond in which the hold did: it may have been in flight.
    hold.lengthen(HoldReason::Unavailable, at(100), at(200), Some(5_000));
    assert_eq!(hold, first);
}

#[test]
fn a_hold_that_was_lifted_by_a_change_ignores_what_began_before() {
    let changed = Hold { since: Some(at(1_000)), ..Hold::default() };
    let mut hold = changed.clone();
    hold.lengthen(HoldReason::Timeout, at(999), at(5_000), Some(60_000));
    assert_eq!(hold, changed);
    hold.lengthen(HoldReason::Timeout, at(1_000), at(5_000), None);
    let since = Some(at(5_000));
    let reason = Some(HoldReason::Timeout);
    assert_eq!(hold, Hold { until: Some(at(6_000)), step: 1, since, reason, ..Hold::default() });
}

#[test]
fn after_a_hold_requests_are_given_back_one_success_at_a_time() {
    let mut hold = Hold::default();
    hold.lengthen(HoldReason::Timeout, at(0), at(100), None);
    let mut caps = Vec::new();
    for nth in 0..5 {
        let began = at(1_100 + nth);
        caps.push(cap(&hold, HealthState::Healthy, began));
        hold.lift(began, began);
    }
    assert_eq!(caps, [Some(1), Some(2), Some(4), Some(8), None]);
    assert_eq!(hold, Hold::default());
    // An attempt that was in flight when the hold began does not raise the number; the next refusal lowers it to one
    // again.
    hold.lengthen(HoldReason::Timeout, at(0), at(100), None);
    hold.lift(at(1_100), at(1_200));
    let regaining = hold.clone();
    hold.lift(at(99), at(1_300));
    assert_eq!(hold, regaining);
    hold.lengthen(HoldReason::Timeout, at(1_200), at(1_400), None);
    assert_eq!((hold.step, hold.regained), (1, 0));
}

#[test]
fn a_success_that_was_in_flight_lifts_a_hold_unless_a_time_was_named() {
    for (asked, lifted) in [(None, true), (Some(5_000), false)] {
        let mut hold = Hold::default();
        hold.lengthen(HoldReason::Timeout, at(0), at(100), asked);
        let held = hold.clone();
        hold.lift(at(50), at(200));
        assert_eq!(hold, if lifted { Hold::default() } else { held }, "{asked:?}");
    }
}

/// An attempt as it ended: when it began, how long it took, and whether it succeeded.
#[derive(Clone, Copy, Debug)]
struct Ended {
    started_at: Timestamp,
    ended_at: Timestamp,
    success: bool,
    asked: Option<u64>,
}

fn note(hold: &mut Hold, ended: Ended) {
    if ended.success {
        hold.lift(ended.started_at, ended.ended_at);
    } else {
        hold.lengthen(HoldReason::Timeout, ended.started_at, ended.ended_at, ended.asked);
    }
}

fn attempts(success: impl Strategy<Value = bool> + Clone) -> impl Strategy<Value = Vec<Ended>> {
    let one = (0..1000_i64, 0..1000_i64, success, prop::option::of(0..100_000_u64));
    prop::collection::vec(one, 1..20).prop_map(|all| {
        let ended = |(began, took, success, asked)| {
            let started_at = at(began);
            Ended { started_at, ended_at: started_at.plus_ms(took), success, asked }
        };
        all.into_iter().map(ended).collect()
    })
}

proptest! {
    /// However many attempts were in flight together, and in whatever order they are recorded.
    #[test]
    fn failures_in_flight_together_are_one_step(mut together in attempts(Just(false)), steps in 0..20_i64) {
        for failure in &mut together {
            failure.asked = None;
        }
        // All of them begin within a second, when the hold before is over, and the shortest hold is a second.
        let mut hold = Hold { until: Some(at(0)), step: steps, since: Some(at(-1_000)), ..Hold::default() };
        for failure in &together {
            note(&mut hold, Ended { started_at: at(0), ..*failure });
        }
        prop_assert_eq!(hold.step, steps + 1);
        let held_ms = hold.until.unwrap().as_ms() - hold.since.unwrap().as_ms();
        prop_assert_eq!(held_ms, hold_ms(steps + 1));
    }

    /// A success ends every hold that failures before it made.
    #[test]
    fn after_the_last_success_nothing_is_held(mut all in attempts(any::<bool>())) {
        let last = all.iter().map(|ended| ended.ended_at).max().unwrap();
        all.push(Ended { started_at: last, ended_at: last, success: true, asked: None });
        let mut hold = Hold::default();
        all.into_iter().for_each(|ended| note(&mut hold, ended));
        prop_assert_eq!((hold.until, hold.step), (None, 0));
    }

    /// A success that ended before the failure does not end its hold, whenever it is recorded.
    #[test]
    fn a_success_from_before_lifts_nothing(all in attempts(Just(true)), asked in prop::option::of(1..100_000_u64)) {
        let mut hold = Hold::default();
        hold.lengthen(HoldReason::Timeout, at(2_000), at(3_000), asked);
        let held = hold.clone();
        all.into_iter().for_each(|success| note(&mut hold, success));
        prop_assert_eq!(hold, held);
    }

    /// Nothing shortens a hold but a success, and what a receiver asks for when it is tried during the hold; and no
    /// hold is longer than a day from the last answer.
    #[test]
    fn failures_that_were_in_flight_never_shorten_a_hold(all in attempts(Just(false))) {
        let mut hold = Hold::default();
        let mut before = hold.clone();
        for failure in all {
            note(&mut hold, failure);
            let was_in_flight = before.since.is_none_or(|since| failure.started_at <= since);
            let asks = failure.asked.is_some_and(|asked| asked > 0);
            let may_shorten = !was_in_flight && (asks || failure.started_at >= before.until.unwrap());
            prop_assert!(hold.until >= before.until || may_shorten);
            prop_assert!(hold.step >= before.step);
            prop_assert!(hold.until.is_none_or(|until| until <= at(2_000 + 24 * 60 * 60 * 1000)));
            before = hold.clone();
        }
    }

    /// One at a time until a success: in the order of time, never more than one request is allowed.
    #[test]
    fn a_held_endpoint_never_has_two_requests(gaps in prop::collection::vec((0..400_000_i64, 0..60_000_i64), 1..40)) {
        let (mut hold, mut now) = (Hold::default(), at(0));
        hold.lengthen(HoldReason::Timeout, now, now, None);
        for (wait, took) in gaps {
            now = now.plus_ms(wait);
            let free = cap(&hold, HealthState::Healthy, now);
            prop_assert_eq!(free, Some(i64::from(hold.until.unwrap() <= now)));
            if free == Some(1) {
                let ended = now.plus_ms(took);
                hold.lengthen(HoldReason::Timeout, now, ended, None);
                prop_assert_eq!(hold.until, Some(ended.plus_ms(hold_ms(hold.step))));
                now = ended;
            }
        }
    }
}
