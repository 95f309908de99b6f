//! How the number of requests in flight finds what a receiver can take (contract 18.4-8): what it remembers of refusals
//! and holds, and its bounds.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod receivers;

use authority_domain::endpoint::in_flight_limit::{
    DEFAULT_MAX_IN_FLIGHT, FIRST_LIMIT, InFlightLimit, Request,
};
use proptest::prelude::*;

fn ours() -> InFlightLimit {
    InFlightLimit::new(DEFAULT_MAX_IN_FLIGHT)
}

/// A request of 100 ms that began at `at` and found so many in flight, of which there are 64 by now.
fn request(at: u64, in_flight_then: u32) -> Request {
    Request { began_at: at, ended_at: at + 100, in_flight_then, in_flight: 64 }
}

/// A limit of 64, of which 50 were acknowledged, refused at 64, 63, 51 and 60 after 200 ms.
fn refused_at_51() -> InFlightLimit {
    let mut limit = ours();
    for nth in 0..56 {
        limit.succeeded(&request(nth, 50), true);
    }
    assert_eq!(limit.get(), 64);
    for in_flight_then in [64, 63, 51, 60] {
        limit.refused(&request(100, in_flight_then), true);
    }
    limit
}

/// What it grows to within two hundred successes that end at `now`.
fn grown(limit: &InFlightLimit, now: u64) -> u32 {
    let mut limit = limit.clone();
    for _ in 0..200 {
        limit.succeeded(&request(now - 100, limit.get()), true);
    }
    limit.get()
}

/// A hold that ends at `now`: eight at a time are given back.
fn recovered(mut limit: InFlightLimit, now: u64) -> InFlightLimit {
    limit.hold();
    for in_flight_then in [50, 49, 48] {
        limit.succeeded(&request(100, in_flight_then), true);
    }
    assert_eq!(limit.get(), 1, "what was in flight when the hold began gives nothing back");
    for in_flight_then in [1, 2, 4] {
        limit.succeeded(&request(now - 100, in_flight_then), true);
    }
    assert_eq!(limit.get(), FIRST_LIMIT);
    limit
}

#[test]
fn it_halves_once_for_a_burst_and_stays_below_what_was_refused() {
    let limit = refused_at_51();
    assert_eq!(limit.get(), 32);
    assert_eq!(grown(&limit, 10_199), 50, "one below the smallest number that was refused");
    assert_eq!(grown(&limit, 10_200), 53, "ten seconds later it asks again, one more a round");
}

#[test]
fn what_led_to_a_hold_is_tried_again_when_that_costs_little() {
    let limit = recovered(refused_at_51(), 2_200);
    assert_eq!(grown(&limit, 102_199), 50, "fifty times the two seconds");
    assert!(grown(&limit, 102_200) > 50);
    let limit = recovered(refused_at_51(), 3_600_000);
    assert_eq!(grown(&limit, 4_199_999), 50);
    assert!(grown(&limit, 4_200_000) > 50, "ten minutes at most");
}

#[test]
fn a_receiver_that_was_away_gets_what_it_could_take_before() {
    // It was idle; then it does not answer, neither several nor one.
    let mut limit = ours();
    limit.succeeded(&request(0, 1), false);
    for (at, in_flight_then) in [(1_000, 8), (2_000, 4), (4_000, 1), (8_000, 1), (16_000, 1)] {
        limit.refused(&request(at, in_flight_then), false);
    }
    assert_eq!(limit.get(), 1);
    assert!(grown(&recovered(limit, 60_000), 60_100) > 10, "nothing is known of its room");
    // It took 50 until then, and refuses whatever it gets.
    let mut limit = refused_at_51();
    for (at, in_flight_then) in [(300, 32), (400, 16), (1_500, 1), (3_500, 1)] {
        limit.refused(&request(at, in_flight_then), false);
    }
    assert_eq!(grown(&recovered(limit, 7_000), 8_000), 50);
}

#[test]
fn a_receiver_that_takes_so_many_per_second_gets_ever_fewer_at_once() {
    let mut limit = refused_at_51();
    let mut rooms = Vec::new();
    for nth in 1..10 {
        let at = nth * 5_000;
        let mut now = recovered(limit, at);
        for _ in 0..200 {
            now.succeeded(&request(at, now.get()), true);
        }
        rooms.push(now.get());
        now.refused(&Request { in_flight: now.get(), ..request(at + 200, now.get()) }, true);
        limit = now;
    }
    assert_eq!(rooms, [50, 49, 47, 43, 35, 26, 20, 15, 11]);
    for nth in 50..150 {
        limit.refused(&request(nth * 1_000, 2), true);
    }
    assert_eq!(limit.get(), 1, "however often it refuses");
}

#[test]
fn after_a_hold_it_doubles_with_each_success() {
    let mut limit = ours();
    limit.hold();
    let mut seen = vec![limit.get()];
    for nth in 0..4 {
        let request = Request { began_at: nth, ended_at: nth + 1, in_flight_then: 1, in_flight: 1 };
        limit.succeeded(&request, false);
        seen.push(limit.get());
    }
    assert_eq!(seen, [1, 2, 4, 8, 8]);
}

proptest! {
    /// Whatever happens: at least 1, at most the setting, one more for a success at most, half for a refusal at least.
    #[test]
    fn it_stays_within_its_bounds(
        max in 1_u32..300,
        steps in prop::collection::vec(
            (any::<bool>(), 0_u64..2_000, 0_u64..20_000, any::<bool>(), any::<bool>()),
            1..400,
        ),
    ) {
        let mut limit = InFlightLimit::new(max);
        let (mut now, mut halved_at) = (0, None);
        for (success, took, gap, waiting, rate_limited) in steps {
            now += gap;
            let before = limit.get();
            let request = Request { began_at: now, ended_at: now + took, in_flight_then: before, in_flight: before };
            if success {
                limit.succeeded(&request, waiting);
                prop_assert!(limit.get() <= before + 1);
                prop_assert!(waiting || limit.get() <= before);
            } else {
                limit.refused(&request, rate_limited);
                if halved_at.is_none_or(|at| at <= now) {
                    prop_assert!(limit.get() <= (before / 2).max(1));
                    halved_at = Some(now + took);
                }
            }
            prop_assert!((1..=max.min(256)).contains(&limit.get()));
        }
    }
}
