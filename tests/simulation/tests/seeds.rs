//! Two hundred seeds of the simulation, the proof that a seed decides a run, and the bugs that the judge must find.

#![allow(clippy::panic, reason = "a test fails by panicking")]

use std::ops::Range;

use simulation::{Planted, Settings, run};

/// Simulated days of each seed.
const DAYS: i64 = 2;

/// Planted bugs need longer: some show after five days at the earliest.
const DAYS_WITH_A_BUG: i64 = 12;

/// A bug must be found within so many seeds.
const SEEDS_WITH_A_BUG: usize = 12;

fn settings(seed: u64) -> Settings {
    Settings { seed, days: DAYS, planted: None, shown: false }
}

fn seeds(seeds: Range<u64>) {
    for seed in seeds {
        run(settings(seed)).expect_no_violation();
    }
}

#[test]
fn no_rule_is_broken_by_the_first_fifty_seeds() {
    seeds(0..50);
}

#[test]
fn no_rule_is_broken_by_the_second_fifty_seeds() {
    seeds(50..100);
}

#[test]
fn no_rule_is_broken_by_the_third_fifty_seeds() {
    seeds(100..150);
}

#[test]
fn no_rule_is_broken_by_the_last_fifty_seeds() {
    seeds(150..200);
}

/// Seeds that found something, with their days. 283: a rotation lifted the hold of attempts that were under way.
const FOUND: &[(u64, i64)] = &[(283, 3)];

#[test]
fn what_was_found_stays_mended() {
    for (seed, days) in FOUND {
        run(Settings { days: *days, ..settings(*seed) }).expect_no_violation();
    }
}

#[test]
fn a_seed_decides_everything() {
    for seed in [3, 77, 141] {
        let (first, second) = (run(settings(seed)), run(settings(seed)));
        assert_eq!((first.digest, first.tally), (second.digest, second.tally), "seed {seed}");
        assert_eq!(first.journal, second.journal, "seed {seed}");
    }
    assert_ne!(run(settings(3)).digest, run(settings(4)).digest);
}

/// Where the search begins: the seeds before it do not show the bug, and cost minutes.
fn first_seed(planted: Planted) -> u64 {
    match planted {
        Planted::PutOffUsesUpTheSchedule => 1,
        Planted::AllAtOnceAfterAHold => 4,
        Planted::RefusalsBelongToTheFirst => 7,
        _ => 0,
    }
}

/// Runs with the bug until it is found; returns what the judge said.
fn found(planted: Planted) -> String {
    for seed in (first_seed(planted)..).take(SEEDS_WITH_A_BUG) {
        let report = run(Settings { seed, days: DAYS_WITH_A_BUG, planted: Some(planted), shown: false });
        if let Some(violation) = report.violation {
            println!("{planted:?}: found with seed {seed} after {} days: {violation}", report.days);
            return violation.0;
        }
    }
    panic!("{planted:?} was not found with {SEEDS_WITH_A_BUG} seeds")
}

/// The judge must find every planted bug, and see it for what it is: a test for each, so that they run side by side.
macro_rules! planted_bugs_are_found {
    ($($(#[$mark:meta])* $test:ident: $bug:ident;)+) => {
        $(
            #[test]
            $(#[$mark])*
            fn $test() {
                let said = found(Planted::$bug);
                assert!(Planted::$bug.looks_like(&said), "it was found as: {said}");
            }
        )+

        #[test]
        fn every_planted_bug_has_its_test() {
            assert_eq!(Planted::ALL.as_slice(), [$(Planted::$bug),+]);
        }
    };
}

planted_bugs_are_found! {
    a_failure_taken_for_success_is_found: FailureTakenForSuccess;
    a_retry_after_that_is_ignored_is_found: RetryAfterIgnored;
    attempts_that_come_too_early_are_found: TooEarly;
    too_much_jitter_is_found: TooMuchJitter;
    an_attempt_too_many_is_found: BudgetExceeded;
    requests_beyond_the_limit_are_found: CapExceeded;
    a_hold_that_is_forgotten_is_found: HoldForgotten;
    requests_that_come_back_all_at_once_are_found: AllAtOnceAfterAHold;
    a_schedule_that_put_off_attempts_use_up_is_found: PutOffUsesUpTheSchedule;
    an_endpoint_that_stays_enabled_is_found: DisabledStaysEnabled;
    a_retired_secret_that_signs_is_found: RetiredSecretSigns;
    a_stale_token_that_settles_is_found: StaleTokenSettles;
    a_delivery_that_is_forgotten_is_found: DeliveryForgotten;
    a_delivery_that_is_not_made_is_found: DeliveryNotMade;
    refusals_that_do_not_halve_are_found: RefusalsBelongToTheFirst;
    an_endpoint_that_is_never_disabled_is_found: NeverDisabledForFailing;
}
