//! The retry policy against the tables of contract 7.2 and 7.3.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::convert::Infallible;

use authority_domain::FailureReason;
use authority_domain::delivery::outcome::OutcomeClass;
use authority_domain::delivery::retry::{
    LONG_SCHEDULE_S, MAX_RETRY_AFTER_MS, MAX_WAIT_S, Next, RetryPolicy, RetryPolicyError, RetrySchedule,
    SHORT_SCHEDULE_S, STANDARD_SCHEDULE_S, Tried,
};
use proptest::prelude::*;
use rand_core::TryRng;

/// Dice that always show the same face.
struct Loaded(u64);

impl TryRng for Loaded {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.0 >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        bytes.fill(self.0 as u8);
        Ok(())
    }
}

const LOWEST: u64 = 0;
const MIDDLE: u64 = 1 << 63;
const HIGHEST: u64 = u64::MAX;

fn steady() -> RetryPolicy {
    RetryPolicy::new(vec![0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400], 0.0, 4).unwrap()
}

/// Runs a delivery whose every attempt ends in this class; the elapsed seconds at each attempt, and the end.
fn run(policy: &RetryPolicy, class: OutcomeClass) -> (Vec<i64>, FailureReason) {
    let mut now_ms = policy.first_attempt_at(0);
    let mut attempts_s = vec![now_ms / 1000];
    for finished in 1.. {
        match policy.next_attempt(tried(finished), class, None, now_ms, &mut Loaded(MIDDLE)) {
            Next::At(at_ms) => {
                now_ms = at_ms;
                attempts_s.push(now_ms / 1000);
            }
            Next::GiveUp(reason) => return (attempts_s, reason),
            Next::PutOff(_) | Next::Succeeded => panic!("nobody asked, and nothing succeeds"),
        }
    }
    unreachable!("the schedule is finite")
}

#[test]
fn the_full_schedule_is_the_contracts_table() {
    let minutes = |hours: i64, minutes: i64| (hours * 60 + minutes) * 60 + 5;
    // The contract rounds these to whole minutes from the fourth on.
    let elapsed_s = vec![
        0,
        5,
        minutes(0, 5),
        minutes(0, 35),
        minutes(2, 35),
        minutes(7, 35),
        minutes(17, 35),
        minutes(31, 35),
        minutes(51, 35),
        minutes(75, 35),
    ];
    for class in [OutcomeClass::Retryable, OutcomeClass::Blocked] {
        assert_eq!(run(&steady(), class), (elapsed_s.clone(), FailureReason::AttemptsExhausted));
    }
    // The middle of the range is the table itself.
    assert_eq!(run(&RetryPolicy::standard(), OutcomeClass::Retryable).0, elapsed_s);
}

#[test]
fn a_named_schedule_has_its_own_waits_and_total() {
    let day = 24 * 60 * 60;
    let table: [(_, &[u32], usize, u32); 3] = [
        (RetrySchedule::Standard, &STANDARD_SCHEDULE_S, 10, 3 * day + 12_905),
        (RetrySchedule::Short, &SHORT_SCHEDULE_S, 7, 2_255),
        (RetrySchedule::Long, &LONG_SCHEDULE_S, 14, 7 * day + 12_905),
    ];
    assert_eq!(RetrySchedule::ALL, table.map(|(schedule, ..)| schedule));
    for (schedule, waits_s, attempts, total_s) in table {
        assert_eq!((waits_s.len(), waits_s.iter().sum::<u32>()), (attempts, total_s), "{schedule}");
        let elapsed_s: Vec<i64> = waits_s
            .iter()
            .scan(0, |at_s, wait_s| {
                *at_s += i64::from(*wait_s);
                Some(*at_s)
            })
            .collect();
        let policy = steady();
        let policy = policy.for_schedule(schedule);
        let exhausted = (elapsed_s.clone(), FailureReason::AttemptsExhausted);
        assert_eq!(run(&policy, OutcomeClass::Retryable), exhausted);
        assert_eq!(run(&policy, OutcomeClass::Rejected), (elapsed_s[..4].to_vec(), FailureReason::Rejected));
    }
    // With every wait at its longest, and attempts of 30 s and the time for the answer, `short` ends within the hour.
    let longest_s = f64::from(SHORT_SCHEDULE_S.iter().sum::<u32>()) * 1.2 + 7.0 * 32.0;
    assert!(longest_s < 3_600.0, "{longest_s}");
}

#[test]
fn a_named_schedule_keeps_the_rest_of_the_deployments_policy() {
    let deployment = RetryPolicy::new(vec![0, 9], 0.5, 2).unwrap();
    let next = |schedule, class, finished, dice| {
        deployment.for_schedule(schedule).next_attempt(tried(finished), class, None, 0, &mut Loaded(dice))
    };
    for schedule in [RetrySchedule::Short, RetrySchedule::Long] {
        assert_eq!(next(schedule, OutcomeClass::Retryable, 1, LOWEST), Next::At(2_500), "{schedule}");
        assert_eq!(next(schedule, OutcomeClass::Rejected, 1, MIDDLE), Next::At(5_000));
        assert_eq!(next(schedule, OutcomeClass::Rejected, 2, MIDDLE), Next::GiveUp(FailureReason::Rejected));
    }
    assert_eq!(*deployment.for_schedule(RetrySchedule::Standard), deployment);
    assert_eq!(next(RetrySchedule::Standard, OutcomeClass::Retryable, 1, MIDDLE), Next::At(9_000));
    let exhausted = Next::GiveUp(FailureReason::AttemptsExhausted);
    for (schedule, last) in
        [(RetrySchedule::Standard, 2), (RetrySchedule::Short, 7), (RetrySchedule::Long, 14)]
    {
        let before = next(schedule, OutcomeClass::Retryable, last - 1, MIDDLE);
        assert!(matches!(before, Next::At(_)), "{schedule}");
        for finished in [last, last + 1, u32::MAX] {
            assert_eq!(next(schedule, OutcomeClass::Retryable, finished, MIDDLE), exhausted, "{schedule}");
        }
    }
}

#[test]
fn a_refusing_receiver_gets_four_attempts() {
    assert_eq!(run(&steady(), OutcomeClass::Rejected), (vec![0, 5, 305, 2_105], FailureReason::Rejected));
}

#[test]
fn the_rejected_budget_can_be_the_whole_schedule_and_never_more() {
    let patient = RetryPolicy::new(vec![0, 1, 2], 0.0, 10).unwrap();
    assert_eq!(run(&patient, OutcomeClass::Rejected), (vec![0, 1, 3], FailureReason::Rejected));
    let once = RetryPolicy::new(vec![0, 1, 2], 0.0, 1).unwrap();
    assert_eq!(run(&once, OutcomeClass::Rejected), (vec![0], FailureReason::Rejected));
}

#[test]
fn a_refusal_after_the_short_budget_ends_the_delivery_at_once() {
    let next =
        |finished| steady().next_attempt(tried(finished), OutcomeClass::Rejected, None, 0, &mut Loaded(0));
    assert_eq!(next(3), Next::At(1_800_000));
    assert_eq!(next(4), Next::GiveUp(FailureReason::Rejected));
    assert_eq!(next(7), Next::GiveUp(FailureReason::Rejected));
    assert_eq!(next(u32::MAX), Next::GiveUp(FailureReason::Rejected));
}

#[test]
fn a_test_delivery_gets_three_attempts() {
    let policy = steady().for_test_deliveries();
    for (class, reason) in [
        (OutcomeClass::Retryable, FailureReason::AttemptsExhausted),
        (OutcomeClass::Blocked, FailureReason::AttemptsExhausted),
        (OutcomeClass::Rejected, FailureReason::Rejected),
    ] {
        assert_eq!(run(&policy, class), (vec![0, 5, 305], reason));
    }
    // Also when its receiver says "not now".
    let after = |finished| {
        policy.next_attempt(tried(finished), OutcomeClass::Retryable, Some(1_000), 0, &mut Loaded(0))
    };
    assert_eq!(after(2), Next::At(300_000));
    assert_eq!(after(3), Next::GiveUp(FailureReason::AttemptsExhausted));
}

#[test]
fn success_and_gone_end_it_whatever_is_left() {
    for finished in [1, 2, 10, 11] {
        let next = |class| steady().next_attempt(tried(finished), class, Some(1), 0, &mut Loaded(0));
        assert_eq!(next(OutcomeClass::Success), Next::Succeeded);
        assert_eq!(next(OutcomeClass::Gone), Next::GiveUp(FailureReason::Gone));
    }
}

#[test]
fn the_variation_reaches_a_fifth_either_way() {
    let standard = RetryPolicy::standard();
    let next =
        |dice| standard.next_attempt(tried(1), OutcomeClass::Retryable, None, 1_000, &mut Loaded(dice));
    assert_eq!(next(LOWEST), Next::At(1_000 + 4_000));
    assert_eq!(next(MIDDLE), Next::At(1_000 + 5_000));
    assert_eq!(next(HIGHEST), Next::At(1_000 + 6_000));
}

#[test]
fn retry_after_moves_later_only_exactly_and_up_to_a_day() {
    // (finished attempt, asked wait, class, wait)
    let day_ms = MAX_RETRY_AFTER_MS as i64;
    let table = [
        (1, Some(0), OutcomeClass::Retryable, 5_000),
        (1, Some(4_999), OutcomeClass::Retryable, 5_000),
        (1, Some(120_000), OutcomeClass::Retryable, 120_000),
        (1, Some(120_001), OutcomeClass::Retryable, 120_001),
        (1, Some(MAX_RETRY_AFTER_MS + 1), OutcomeClass::Retryable, day_ms),
        (1, Some(u64::MAX), OutcomeClass::Retryable, day_ms),
        (2, Some(120_000), OutcomeClass::Retryable, 300_000),
        (9, Some(u64::MAX), OutcomeClass::Retryable, day_ms),
        (1, Some(120_000), OutcomeClass::Rejected, 5_000),
        (1, Some(120_000), OutcomeClass::Blocked, 5_000),
    ];
    for (finished, asked, class, wait_ms) in table {
        let next = steady().next_attempt(tried(finished), class, asked, 7, &mut Loaded(MIDDLE));
        let put_off = asked != Some(0) && class == OutcomeClass::Retryable;
        let expected = if put_off { Next::PutOff(7 + wait_ms) } else { Next::At(7 + wait_ms) };
        assert_eq!(next, expected, "after attempt {finished}, {asked:?}, {class:?}");
    }
    let exhausted = steady().next_attempt(tried(10), OutcomeClass::Retryable, Some(1_000), 0, &mut Loaded(0));
    assert_eq!(exhausted, Next::GiveUp(FailureReason::AttemptsExhausted));
    // The last wait may vary beyond a day by itself; the bound on Retry-After does not shorten it.
    let (class, asked) = (OutcomeClass::Retryable, Some(u64::MAX));
    let last = RetryPolicy::standard().next_attempt(tried(9), class, asked, 0, &mut Loaded(HIGHEST));
    assert_eq!(last, Next::PutOff(day_ms * 12 / 10));
}

/// An attempt of a delivery that was made just before and never put off.
fn tried(number: u32) -> Tried {
    Tried { number, put_off: 0, created_at_ms: 0 }
}

#[test]
fn what_a_receiver_puts_off_does_not_use_up_the_schedule() {
    let lasts_ms: i64 = STANDARD_SCHEDULE_S.iter().map(|wait_s| i64::from(*wait_s) * 1000).sum();
    // (number, put off before, finished at, asked wait) → what follows, in ms from then.
    let table = [
        (2, 1, 1_000, Some(1_000), Next::PutOff(6_000)),
        (12, 11, 1_000, Some(7_000), Next::PutOff(8_000)),
        (12, 11, 1_000, None, Next::At(6_000)),
        (12, 10, 1_000, Some(1_000), Next::PutOff(301_000)),
        // Not for ever: neither in number nor in time.
        (91, 90, 1_000, Some(1_000), Next::At(6_000)),
        (3, 2, lasts_ms, Some(1_000), Next::At(lasts_ms + 5_000)),
        (3, 2, lasts_ms - 1, Some(1_000), Next::PutOff(lasts_ms - 1 + 5_000)),
        (20, 10, 1_000, Some(1_000), Next::GiveUp(FailureReason::AttemptsExhausted)),
    ];
    for (number, put_off, now_ms, asked, expected) in table {
        let tried = Tried { number, put_off, created_at_ms: 0 };
        let next = steady().next_attempt(tried, OutcomeClass::Retryable, asked, now_ms, &mut Loaded(MIDDLE));
        assert_eq!(next, expected, "{number} {put_off} {now_ms} {asked:?}");
    }
}

#[test]
fn values_out_of_range_make_no_policy() {
    let new = |waits: Vec<u32>, jitter, rejected| RetryPolicy::new(waits, jitter, rejected).unwrap_err();
    assert_eq!(new(vec![], 0.0, 4), RetryPolicyError::ScheduleLength);
    assert_eq!(new(vec![0; 101], 0.0, 4), RetryPolicyError::ScheduleLength);
    assert_eq!(new(vec![0, MAX_WAIT_S + 1], 0.0, 4), RetryPolicyError::WaitTooLong);
    assert_eq!(new(vec![0], -0.1, 4), RetryPolicyError::JitterRange);
    assert_eq!(new(vec![0], 1.1, 4), RetryPolicyError::JitterRange);
    assert_eq!(new(vec![0], f64::NAN, 4), RetryPolicyError::JitterRange);
    assert_eq!(new(vec![0], 0.0, 0), RetryPolicyError::RejectedAttempts);
}

proptest! {
    #[test]
    fn a_wait_stays_inside_its_range_and_never_comes_before_retry_after(
        finished in 1_u32..10,
        asked in prop::option::of(0..2 * MAX_RETRY_AFTER_MS),
        face in any::<u64>(),
        finished_at_ms in 0_i64..4_102_444_800_000,
    ) {
        let policy = RetryPolicy::standard();
        let table_ms = f64::from(STANDARD_SCHEDULE_S[finished as usize]) * 1000.0;
        let next = policy.next_attempt(tried(finished), OutcomeClass::Retryable, asked, finished_at_ms, &mut Loaded(face));
        let (Next::At(at_ms) | Next::PutOff(at_ms)) = next else {
            panic!("attempt {finished} of 10 is not the last")
        };
        let wait_ms = (at_ms - finished_at_ms) as f64;
        let asked_ms = asked.unwrap_or(0).min(MAX_RETRY_AFTER_MS) as f64;
        prop_assert!(wait_ms >= table_ms * 0.8 && wait_ms >= asked_ms);
        prop_assert!(wait_ms <= (table_ms * 1.2).max(asked_ms));
    }
}
