//! How many requests one endpoint gets at a time (contract 18.4-8).
//!
//! A receiver is served as fast as it can take deliveries, and that speed is not known in advance. So every instance
//! finds it, as TCP finds the capacity of a path: it begins with [`FIRST_LIMIT`] requests in flight, adds one for
//! each success while deliveries wait for a slot, and halves the limit at once when the receiver shows that it is
//! too much.
//!
//! - **Growth.** One more for each success doubles the limit in one round trip: a receiver that takes 100 ms has 128
//!   requests half a second later. It grows only while the limit is the bottleneck: all slots in use, and deliveries
//!   waiting.
//! - **Too much.** 429, 502, 503, 504, a timeout, a refused connection: half of what was in flight. Failures of
//!   requests that began before the halving count as the same signal.
//! - **What was refused.** A number that is refused on the way up is remembered, and the limit stays below it until
//!   it is time to try again: after [`FIRST_PROBE_MS`], twice as long each time it is refused again, up to
//!   [`LONGEST_PROBE_MS`]. Where it led to a hold, the wait is at least [`PROBE_COST`] times what that cost. From
//!   there it grows by one in a round trip. A receiver that says 429 before that time takes fewer than was assumed:
//!   the steps down grow, up to a quarter. A receiver that refuses in another way what it took before is
//!   unavailable, which says nothing about its capacity.
//! - **Latency.** A queue at the receiver shows as latency that rises with the number of requests. The mean of a
//!   round is compared with the lowest recent mean: above 1.5 times that the limit stops growing; above twice it
//!   shrinks. Rises below [`UNNOTICED_MS`] are noise, this machine's own as often as the receiver's.
//!
//! Chosen among AIMD, Vegas and a gradient by simulation (`tests/in_flight_limit`): additive growth alone took 12
//! s to reach what a receiver of 100 ms could take; Vegas alone never saw a receiver that refuses without getting
//! slower.
//!
//! Each instance has its own limit, in memory; it starts over with the process. The store decides how many requests
//! all instances together may have, and how many a hold leaves of them ([`crate::endpoint::hold`]).

mod latency;

pub use latency::UNNOTICED_MS;
use latency::{Lowest, Slower};

/// The limit of an endpoint of which nothing is known, and the most to which the limit returns step by step after a
/// hold.
pub const FIRST_LIMIT: u32 = 8;

/// The most that an endpoint may be allowed (contract 18.4-8).
pub const LARGEST_MAX_IN_FLIGHT: u32 = 256;

/// What an endpoint is allowed unless something else is set (contract 18.4-8).
pub const DEFAULT_MAX_IN_FLIGHT: u32 = 128;

/// The time after a refusal until the limit may reach the refused number again: 10 s, in milliseconds.
pub const FIRST_PROBE_MS: u64 = 10_000;

/// The longest such wait: 10 min, in milliseconds.
pub const LONGEST_PROBE_MS: u64 = 600_000;

/// The limit stays below what was refused for so many times as long as the hold lasted: trying costs 2 % at most.
pub const PROBE_COST: u64 = 50;

/// What an endpoint may have in flight, by what its attempts have shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InFlightLimit {
    limit: u32,
    max: u32,
    /// The most in flight that was acknowledged since the receiver last refused so few.
    taken: u32,
    /// What is known of the number that was too much.
    refused: Option<Refused>,
    /// How far the next step down from it goes.
    step_down: u32,
    /// The wait before the next try beyond it, in milliseconds.
    probe_ms: u64,
    /// A limit was found: from now on it grows by one in a round trip.
    found: bool,
    /// When the limit was halved last. Failures of requests that began before are part of the same signal.
    halved_at: Option<u64>,
    /// Held back recently: the limit grows back one success at a time.
    recovering: bool,
    round: Round,
    lowest: Lowest,
}

/// The smallest number in flight at which a request was refused, since when, and when it may be tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Refused {
    at: u32,
    since: u64,
    again_at: u64,
    /// No hold that it led to has ended yet.
    cost_unknown: bool,
}

/// As many successes as the limit allows at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Round {
    successes: u32,
    sum_ms: u64,
}

/// A request that has ended, in monotonic milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// When it began.
    pub began_at: u64,
    /// When it ended.
    pub ended_at: u64,
    /// Requests in flight when it began, itself included.
    pub in_flight_then: u32,
    /// Requests in flight when it ended, itself included.
    pub in_flight: u32,
}

impl InFlightLimit {
    /// An endpoint of which nothing is known, with at most `max` requests.
    #[must_use]
    pub fn new(max: u32) -> Self {
        let max = max.clamp(1, LARGEST_MAX_IN_FLIGHT);
        Self {
            limit: FIRST_LIMIT.min(max),
            max,
            taken: 0,
            refused: None,
            step_down: 1,
            probe_ms: FIRST_PROBE_MS,
            found: false,
            halved_at: None,
            recovering: false,
            round: Round::default(),
            lowest: Lowest::default(),
        }
    }

    /// Requests at a time, at least 1.
    #[must_use]
    pub fn get(&self) -> u32 {
        self.limit
    }

    /// The setting has changed.
    pub fn set_max(&mut self, max: u32) {
        self.max = max.clamp(1, LARGEST_MAX_IN_FLIGHT);
        self.limit = self.limit.min(self.max);
    }

    /// The endpoint is held back: one request at a time, doubled with every success up to [`FIRST_LIMIT`].
    pub fn hold(&mut self) {
        self.limit = 1;
        self.recovering = true;
        self.round = Round::default();
    }

    /// The receiver has acknowledged. `waiting`: a delivery waits for a slot at this endpoint.
    pub fn succeeded(&mut self, request: &Request, waiting: bool) {
        let before_the_sign = self.halved_at.is_some_and(|halved_at| request.began_at < halved_at);
        self.note_taken(request.in_flight_then, before_the_sign);
        if self.recovering {
            if !before_the_sign {
                self.regain(request.ended_at);
            }
            return;
        }
        self.round.successes += 1;
        self.round.sum_ms += request.ended_at.saturating_sub(request.began_at);
        let round_over = self.round.successes >= self.limit;
        let mut slower = Slower::No;
        if round_over {
            let mean_ms = self.round.sum_ms / u64::from(self.round.successes);
            self.round = Round::default();
            slower = self.lowest.compare(mean_ms, request.ended_at);
        }
        match slower {
            Slower::Much(part) => {
                self.found = true;
                self.limit = part_of(self.limit, part).max(1);
                return;
            }
            Slower::Some => {
                self.found = true;
                return;
            }
            Slower::No => {}
        }
        let bound = waiting && request.in_flight >= self.limit;
        if !bound || self.limit >= self.ceiling(request.ended_at) {
            return;
        }
        // Below the refused number there is known capacity: the limit grows as quickly as at the beginning.
        if !self.found || self.refused.is_some_and(|refused| self.limit < refused.at - 1) || round_over {
            self.limit += 1;
        }
    }

    /// The receiver has refused, or did not answer: it was too much. `rate_limited`: it said 429.
    pub fn refused(&mut self, request: &Request, rate_limited: bool) {
        let at = request.in_flight_then;
        if let Some(halved_at) = self.halved_at.filter(|halved_at| request.began_at < *halved_at) {
            let remembered = self.refused.as_mut().filter(|refused| refused.since == halved_at);
            if let Some(refused) = remembered.filter(|_| at > self.taken.max(1)) {
                refused.at = refused.at.min(at);
            }
        } else {
            let bound = request.in_flight >= self.limit - self.limit / 8;
            self.limit = (self.limit.min(request.in_flight) / 2).max(1);
            self.halved_at = Some(request.ended_at);
            self.found = true;
            self.round = Round::default();
            self.learn(at, request.ended_at, bound, rate_limited);
        }
        self.limit = self.limit.min(self.ceiling(request.ended_at));
    }

    /// Learns from the first of several refusals. `at`: the number in flight. `bound`: whether the limit was what
    /// bounded it.
    fn learn(&mut self, at: u32, now: u64, bound: bool, rate_limited: bool) {
        let believed = self.refused.filter(|refused| now < refused.again_at).map(|refused| refused.at);
        // The number doubles, about, while an answer is under way, and requests overtake each other.
        let about_taken = self.taken - self.taken / 8..=3 * self.taken + 1;
        let on_the_way_up = bound && at > FIRST_LIMIT && about_taken.contains(&at);
        match believed {
            Some(believed) if rate_limited && at > 1 => {
                let lower = believed.saturating_sub(self.step_down.min(believed / 4));
                self.step_down = self.step_down.saturating_mul(2);
                self.remember(lower.max(2), now, self.probe_ms);
            }
            None if at > 1 && (rate_limited || on_the_way_up) => {
                let again =
                    self.refused.is_some_and(|refused| at <= refused.at.saturating_add(refused.at / 4));
                let wait_ms = if again { (self.probe_ms * 2).min(LONGEST_PROBE_MS) } else { FIRST_PROBE_MS };
                self.step_down = 1;
                self.remember(at, now, wait_ms);
            }
            _ => {}
        }
        self.taken = self.taken.min(at.saturating_sub(1));
    }

    /// Records that `at` requests in flight are too many, for `wait_ms`.
    fn remember(&mut self, at: u32, now: u64, wait_ms: u64) {
        self.probe_ms = wait_ms;
        self.refused = Some(Refused { at, since: now, again_at: now + wait_ms, cost_unknown: true });
    }

    /// Records that `in_flight` requests were not too many. Requests taken before the last refusal do not contradict
    /// it.
    fn note_taken(&mut self, in_flight: u32, before_the_sign: bool) {
        self.taken = self.taken.max(in_flight);
        let refutes = |refused: Refused| in_flight > refused.at + refused.at / 4;
        if !before_the_sign && self.refused.is_some_and(refutes) {
            self.refused = None;
        }
    }

    /// A success after a hold.
    fn regain(&mut self, now: u64) {
        let whole = FIRST_LIMIT.min(self.ceiling(now));
        self.limit = (self.limit * 2).min(whole);
        self.recovering = self.limit < whole;
        if !self.recovering {
            self.note_cost(now);
        }
    }

    /// The hold is over: puts the next try so far away that it costs little.
    fn note_cost(&mut self, now: u64) {
        if let Some(refused) = self.refused.as_mut().filter(|refused| refused.cost_unknown) {
            let cost_ms = PROBE_COST.saturating_mul(now.saturating_sub(refused.since));
            self.probe_ms = self.probe_ms.max(cost_ms).min(LONGEST_PROBE_MS);
            (refused.again_at, refused.cost_unknown) = (now + self.probe_ms, false);
        }
    }

    /// What the limit may grow to at `now`.
    fn ceiling(&self, now: u64) -> u32 {
        match self.refused {
            Some(refused) if now < refused.again_at => self.max.min(refused.at - 1),
            _ => self.max,
        }
    }
}

fn part_of(limit: u32, percent: u64) -> u32 {
    let part = u64::from(limit) * percent.clamp(50, 100) / 100;
    u32::try_from(part).unwrap_or(limit)
}
