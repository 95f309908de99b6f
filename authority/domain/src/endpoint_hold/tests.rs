//! The back-off of an endpoint against the table of contract 15.6, and as a rule.

use proptest::prelude::*;

use super::*;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(1_788_264_000_000 + ms)
}

#[test]
fn an_endpoint_has_room_as_its_hold_and_health_say() {
    let now = Timestamp::from_ms(1_000);
    let at = |ms: i64| Some(Timestamp::from_ms(ms));
    // (held until, step, state, in flight) → room under a cap of 8.
    let table = [
        (None, 0, HealthState::Unknown, 0, 8),
        (None, 0, HealthState::Healthy, 7, 1),
        (None, 0, HealthState::Degraded, 8, 0),
        (None, 0, HealthState::Healthy, 9, 0),
        (at(1_001), 0, HealthState::Healthy, 0, 0),
        (at(1_001), 1, HealthState::Failing, 0, 0),
        (at(1_000), 0, HealthState::Healthy, 0, 8),
        (at(1_000), 1, HealthState::Healthy, 0, 1),
        (at(999), 7, HealthState::Degraded, 1, 0),
        (None, 0, HealthState::Failing, 0, 1),
        (None, 0, HealthState::Failing, 1, 0),
        (None, 3, HealthState::Unknown, 5, 0),
    ];
    for (until, step, health, in_flight, expected) in table {
        let hold = Hold { until, step, since: None };
        assert_eq!(room(&hold, health, 8, in_flight, now), expected, "{hold:?} {health:?} {in_flight}");
    }
}

#[test]
fn these_answers_hold_an_endpoint_back() {
    for status in 100..=999 {
        let outcome = AttemptOutcome::of_status(status);
        assert_eq!(holds_back(outcome, Some(status)), [429, 502, 503, 504].contains(&status), "{status}");
    }
    for outcome in AttemptOutcome::ALL {
        let answered = [AttemptOutcome::Success, AttemptOutcome::HttpError, AttemptOutcome::Redirect];
        assert_eq!(holds_back(*outcome, None), !answered.contains(outcome), "{outcome}");
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
        hold.lengthen(now, now.plus_ms(15_000), None);
        let until = now.plus_ms(15_000 + seconds * 1000);
        let step = i64::try_from(nth).unwrap() + 1;
        assert_eq!(hold, Hold { until: Some(until), step, since: Some(now.plus_ms(15_000)) });
        now = until;
    }
    hold.lift(now);
    assert_eq!(hold, Hold::default());
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
        let mut hold = Hold { until: None, step: before, since: None };
        hold.lengthen(at(0), at(500), asked);
        assert_eq!((hold.until, hold.step), (held_ms.map(|ms| at(500 + ms)), step), "{before} {asked:?}");
    }
}

#[test]
fn one_that_was_in_flight_lengthens_a_hold_only_by_what_it_asks() {
    let mut hold = Hold::default();
    hold.lengthen(at(0), at(100), None);
    let first = hold.clone();
    for (asked, until) in [(None, 1_100), (Some(0), 1_100), (Some(500), 1_100), (Some(5_000), 5_200)] {
        hold.lengthen(at(90), at(200), asked);
        assert_eq!(hold, Hold { until: Some(at(until)), ..first.clone() }, "{asked:?}");
    }
}

#[test]
fn a_hold_that_was_lifted_by_a_change_ignores_what_began_before() {
    let changed = Hold { until: None, step: 0, since: Some(at(1_000)) };
    let mut hold = changed.clone();
    hold.lengthen(at(999), at(5_000), Some(60_000));
    assert_eq!(hold, changed);
    hold.lengthen(at(1_000), at(5_000), None);
    assert_eq!(hold, Hold { until: Some(at(6_000)), step: 1, since: Some(at(5_000)) });
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
        hold.lift(ended.ended_at);
    } else {
        hold.lengthen(ended.started_at, ended.ended_at, ended.asked);
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
    /// However many were in flight together, and in whatever order they are told of.
    #[test]
    fn failures_in_flight_together_are_one_step(mut together in attempts(Just(false)), steps in 0..20_i64) {
        for failure in &mut together {
            failure.asked = None;
        }
        // All of them begin within a second, when the hold before is over, and the shortest hold is a second.
        let mut hold = Hold { until: Some(at(0)), step: steps, since: Some(at(-1_000)) };
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
        prop_assert_eq!(hold, Hold::default());
    }

    /// A success that ended before the failure does not end its hold, whenever it is told.
    #[test]
    fn a_success_from_before_lifts_nothing(all in attempts(Just(true)), asked in prop::option::of(1..100_000_u64)) {
        let mut hold = Hold::default();
        hold.lengthen(at(2_000), at(3_000), asked);
        let held = hold.clone();
        all.into_iter().for_each(|success| note(&mut hold, success));
        prop_assert_eq!(hold, held);
    }

    /// Nothing shortens a hold but a success; and no hold is longer than a day from the last answer.
    #[test]
    fn failures_never_shorten_a_hold(all in attempts(Just(false))) {
        let mut hold = Hold::default();
        let mut before = hold.clone();
        for failure in all {
            note(&mut hold, failure);
            prop_assert!(hold.until >= before.until || failure.started_at >= before.until.unwrap());
            prop_assert!(hold.step >= before.step);
            prop_assert!(hold.until.is_none_or(|until| until <= at(2_000 + 24 * 60 * 60 * 1000)));
            before = hold.clone();
        }
    }

    /// One at a time until a success: whoever asks for room in the order of time never gets more than one.
    #[test]
    fn a_held_endpoint_never_has_two_requests(gaps in prop::collection::vec((0..400_000_i64, 0..60_000_i64), 1..40)) {
        let (mut hold, mut now) = (Hold::default(), at(0));
        hold.lengthen(now, now, None);
        for (wait, took) in gaps {
            now = now.plus_ms(wait);
            let free = room(&hold, HealthState::Healthy, 8, 0, now);
            prop_assert_eq!(free, i64::from(hold.until.unwrap() <= now));
            prop_assert_eq!(room(&hold, HealthState::Healthy, 8, 1, now), 0);
            if free == 1 {
                let ended = now.plus_ms(took);
                hold.lengthen(now, ended, None);
                prop_assert_eq!(hold.until, Some(ended.plus_ms(hold_ms(hold.step))));
                now = ended;
            }
        }
    }
}
