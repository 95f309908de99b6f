//! The rule that is used, beside the two that it was chosen over, on model receivers in model time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use authority_domain::endpoint::in_flight_limit::{
    DEFAULT_MAX_IN_FLIGHT, FIRST_LIMIT, InFlightLimit, Request,
};

use crate::ours;

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
