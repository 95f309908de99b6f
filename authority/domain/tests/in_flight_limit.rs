//! How the number of requests in flight finds what a receiver can take (contract 18.4-8), on model receivers in model
//! time: the rule that is used, beside the two that it was chosen over.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use authority_domain::endpoint::in_flight_limit::{
    DEFAULT_MAX_IN_FLIGHT, FIRST_LIMIT, InFlightLimit, Request,
};
use proptest::prelude::*;

/// A rule that says how many requests may be in flight.
trait Rule {
    fn get(&self) -> u32;
    fn succeeded(&mut self, request: &Request);
    fn refused(&mut self, request: &Request);
}

impl Rule for InFlightLimit {
    fn get(&self) -> u32 {
        Self::get(self)
    }

    fn succeeded(&mut self, request: &Request) {
        Self::succeeded(self, request, true);
    }

    fn refused(&mut self, request: &Request) {
        Self::refused(self, request, true);
    }
}

/// One more in a round trip, half at a refusal.
struct Additive {
    limit: u32,
    successes: u32,
}

impl Rule for Additive {
    fn get(&self) -> u32 {
        self.limit
    }

    fn succeeded(&mut self, _: &Request) {
        self.successes += 1;
        if self.successes >= self.limit {
            (self.limit, self.successes) = ((self.limit + 1).min(DEFAULT_MAX_IN_FLIGHT), 0);
        }
    }

    fn refused(&mut self, _: &Request) {
        (self.limit, self.successes) = ((self.limit / 2).max(1), 0);
    }
}

/// One more in a round trip while fewer than three requests seem to wait at the receiver, one fewer when it is six.
struct Vegas {
    limit: u32,
    successes: u32,
    lowest_ms: u64,
}

impl Rule for Vegas {
    fn get(&self) -> u32 {
        self.limit
    }

    fn succeeded(&mut self, request: &Request) {
        let took = (request.ended_at - request.began_at).max(1);
        self.lowest_ms = self.lowest_ms.min(took);
        self.successes += 1;
        if self.successes >= self.limit {
            self.successes = 0;
            let waiting = u64::from(self.limit) * (took - self.lowest_ms) / took;
            self.limit = match waiting {
                0..3 => (self.limit + 1).min(DEFAULT_MAX_IN_FLIGHT),
                3..6 => self.limit,
                _ => (self.limit - 1).max(1),
            };
        }
    }

    fn refused(&mut self, _: &Request) {
        self.limit = (self.limit - 1).max(1);
    }
}

/// What a receiver does with a request that finds so many others: how long it takes, and whether it refuses.
type Receiver = fn(others: u32) -> (u64, bool);

/// Takes 100 ms, however many there are.
fn steady(_: u32) -> (u64, bool) {
    (100, true)
}

/// Takes 100 ms and 50 at once; refuses the others at once.
fn room_for_50(others: u32) -> (u64, bool) {
    if others < 50 { (100, true) } else { (1, false) }
}

/// Takes 100 ms and 20 at once; with more, everybody waits in proportion.
fn slower_beyond_20(others: u32) -> (u64, bool) {
    (u64::from((others + 1).max(20)) * 5, true)
}

/// What came of so many seconds with more to send than can be sent.
#[derive(Debug, Default)]
struct Outcome {
    taken: u64,
    refused: u64,
    most: u32,
    /// When the limit was first at its maximum, in milliseconds.
    full_at: Option<u64>,
    /// The longest that an answer took in the second half.
    slowest_ms: u64,
}

fn run(rule: &mut dyn Rule, receiver: Receiver, seconds: u64) -> Outcome {
    let mut ends = BinaryHeap::new();
    let (mut outcome, mut now, mut number) = (Outcome::default(), 0, 0_u64);
    while now < seconds * 1_000 {
        while (ends.len() as u32) < rule.get() {
            let (took, taken) = receiver(ends.len() as u32);
            number += 1;
            ends.push(Reverse((now + took, number, now, ends.len() as u32 + 1, taken)));
        }
        outcome.most = outcome.most.max(ends.len() as u32);
        let in_flight = ends.len() as u32;
        let Reverse((ended_at, _, began_at, in_flight_then, taken)) = ends.pop().unwrap();
        now = ended_at;
        let request = Request { began_at, ended_at, in_flight_then, in_flight };
        if taken {
            outcome.taken += 1;
            rule.succeeded(&request);
        } else {
            outcome.refused += 1;
            rule.refused(&request);
        }
        if now > seconds * 500 {
            outcome.slowest_ms = outcome.slowest_ms.max(ended_at - began_at);
        }
        if rule.get() == DEFAULT_MAX_IN_FLIGHT {
            outcome.full_at.get_or_insert(now);
        }
    }
    outcome
}

fn ours() -> InFlightLimit {
    InFlightLimit::new(DEFAULT_MAX_IN_FLIGHT)
}

fn additive() -> Additive {
    Additive { limit: FIRST_LIMIT, successes: 0 }
}

fn vegas() -> Vegas {
    Vegas { limit: FIRST_LIMIT, successes: 0, lowest_ms: u64::MAX }
}

#[test]
fn a_receiver_with_room_is_used_within_half_a_second() {
    assert_eq!(run(&mut ours(), steady, 20).full_at, Some(400));
    assert_eq!(run(&mut additive(), steady, 20).full_at, Some(12_000));
    assert_eq!(run(&mut vegas(), steady, 20).full_at, Some(12_000));
}

#[test]
fn a_receiver_that_refuses_gets_what_it_can_take() {
    let parts = |rule: &mut dyn Rule| {
        let Outcome { taken, refused, .. } = run(rule, room_for_50, 60);
        (taken as f64 / (60.0 * 500.0), refused as f64 / (taken + refused) as f64)
    };
    let (taken, refused) = parts(&mut ours());
    assert!(taken >= 0.97 && refused <= 0.005, "{taken} {refused}");
    let (taken, _) = parts(&mut additive());
    assert!(taken < 0.8, "additive growth is always on its way up: {taken}");
    let (_, refused) = parts(&mut vegas());
    assert!(refused > 0.01, "Vegas goes on asking for more: {refused}");
}

#[test]
fn a_receiver_that_gets_slower_is_not_pushed_further() {
    let outcome = run(&mut ours(), slower_beyond_20, 60);
    assert!(outcome.taken as f64 >= 0.95 * 60.0 * 200.0, "{outcome:?}");
    assert!(outcome.slowest_ms <= 2 * 100 + 25, "at most twice as slow: {outcome:?}");
    assert_eq!(run(&mut additive(), slower_beyond_20, 60).slowest_ms, 640, "it queues as many as it may");
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
