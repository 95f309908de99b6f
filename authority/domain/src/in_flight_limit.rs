//! How many requests one endpoint gets at a time (contract 18.4-8).
//!
//! A receiver is served as fast as it can take deliveries, and nobody has told us how fast that is. So every instance
//! finds out, as TCP finds the room of a path: it begins with [`FIRST_LIMIT`] requests in flight, adds one for each
//! success while deliveries wait for a place, and halves at once when the receiver shows that it is too much.
//!
//! - **Growth.** One more for each success doubles the limit in one round trip: a receiver that takes 100 ms has 128
//!   requests half a second later. It grows only while it is what bounds: all places in use, and deliveries waiting.
//! - **Too much.** 429, 502, 503, 504, a timeout, a refused connection: half of what was in flight. Requests that began
//!   before the halving belong to the same sign. The number in flight at which the receiver refused is remembered, and
//!   the limit stays below it until it is time to try again: after [`FIRST_PROBE_MS`], twice as long each time it is
//!   refused again, up to [`LONGEST_PROBE_MS`]. From there it grows by one in a round trip.
//! - **Latency.** A queue at the receiver shows as latency that rises with the number of requests. The mean of a round
//!   is compared with the lowest of late: above 1.5 times of that the limit grows no more; above twice it shrinks. Rises
//!   below [`UNNOTICED_MS`] are noise, this machine's own as often as the receiver's.
//!
//! Chosen among AIMD, Vegas and a gradient by simulation (`tests/in_flight_limit.rs`): additive growth alone took 12 s to
//! reach what a receiver of 100 ms could take; Vegas alone never saw a receiver that refuses without getting slower.
//!
//! The limit is one instance's, in memory; it begins anew with the process. What all instances together may have is the
//! store's rule, and so is what a hold leaves of it ([`crate::endpoint_hold`]).

/// The limit of an endpoint that nothing is known of, and the most that a hold gives back step by step.
pub const FIRST_LIMIT: u32 = 8;

/// The most that an endpoint may be allowed (contract 18.4-8).
pub const LARGEST_MAX_IN_FLIGHT: u32 = 256;

/// What an endpoint is allowed unless something else is set (contract 18.4-8).
pub const DEFAULT_MAX_IN_FLIGHT: u32 = 128;

/// After a refusal, so long until the limit may reach again what was refused: 10 s, in milliseconds.
pub const FIRST_PROBE_MS: u64 = 10_000;

/// The longest such wait: 10 min, in milliseconds.
pub const LONGEST_PROBE_MS: u64 = 600_000;

/// Latency that rose by less than this says nothing, in milliseconds.
pub const UNNOTICED_MS: u64 = 25;

/// The lowest latency counts for one to two of these, in milliseconds.
const LOWEST_FOR_MS: u64 = 60_000;

/// What an endpoint may have in flight, by what its attempts have shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InFlightLimit {
    limit: u32,
    max: u32,
    /// What is known of the number that was too much.
    refused: Option<Refused>,
    /// The wait before the next try beyond it, in milliseconds.
    probe_ms: u64,
    /// A limit was found: from now on it grows by one in a round trip.
    found: bool,
    /// When the limit was halved last. What began before is part of the same sign.
    halved_at: Option<u64>,
    /// Held back lately: places are given back one success at a time.
    recovering: bool,
    round: Round,
    lowest: Lowest,
}

/// The smallest number in flight at which a request was refused, and when it may be tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Refused {
    at: u32,
    again_at: u64,
}

/// As many successes as the limit allows at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Round {
    successes: u32,
    sum_ms: u64,
}

/// The lowest mean latency of a round, of this stretch of time and the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Lowest {
    since: u64,
    now_ms: Option<u64>,
    before_ms: Option<u64>,
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
            refused: None,
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

    /// The receiver has acknowledged. `waiting`: a delivery waits for a place at this endpoint.
    pub fn succeeded(&mut self, request: &Request, waiting: bool) {
        if self.recovering {
            let whole = FIRST_LIMIT.min(self.ceiling(request.ended_at));
            self.limit = (self.limit * 2).min(whole);
            self.recovering = self.limit < whole;
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
        // Below what was refused it is known that there is room: as quick as at the beginning.
        if !self.found || self.refused.is_some_and(|refused| self.limit < refused.at - 1) || round_over {
            self.limit += 1;
        }
    }

    /// The receiver has refused, or did not answer: it was too much.
    pub fn refused(&mut self, request: &Request) {
        let same_sign = self.halved_at.is_some_and(|at| request.began_at < at);
        let at = request.in_flight_then.max(2);
        let at = if same_sign { self.refused.map_or(at, |refused| refused.at.min(at)) } else { at };
        if !same_sign {
            let again = self.refused.is_some_and(|refused| at <= refused.at.saturating_add(refused.at / 4));
            self.probe_ms = if again { (self.probe_ms * 2).min(LONGEST_PROBE_MS) } else { FIRST_PROBE_MS };
            self.limit = (self.limit.min(request.in_flight) / 2).max(1);
            self.halved_at = Some(request.ended_at);
            self.found = true;
            self.round = Round::default();
        }
        self.refused = Some(Refused { at, again_at: request.ended_at + self.probe_ms });
        self.limit = self.limit.min(at - 1);
    }

    /// What the limit may grow to at `now`.
    fn ceiling(&self, now: u64) -> u32 {
        match self.refused {
            Some(refused) if now < refused.again_at => self.max.min(refused.at - 1),
            _ => self.max,
        }
    }
}

/// How the latency of a round compares with the lowest.
enum Slower {
    No,
    Some,
    /// The limit shrinks to such a part, in percent.
    Much(u64),
}

impl Lowest {
    fn compare(&mut self, mean_ms: u64, now: u64) -> Slower {
        if now.saturating_sub(self.since) >= LOWEST_FOR_MS {
            self.before_ms = self.now_ms.take();
            self.since = now;
        }
        self.now_ms = Some(self.now_ms.map_or(mean_ms, |lowest| lowest.min(mean_ms)));
        let lowest_ms = self.now_ms.min(self.before_ms.or(self.now_ms)).unwrap_or(mean_ms);
        let unnoticed_ms = lowest_ms + UNNOTICED_MS;
        if mean_ms > (2 * lowest_ms).max(unnoticed_ms) {
            Slower::Much(150 * lowest_ms.max(UNNOTICED_MS) / mean_ms.max(1))
        } else if mean_ms > (lowest_ms + lowest_ms / 2).max(unnoticed_ms) {
            Slower::Some
        } else {
            Slower::No
        }
    }
}

fn part_of(limit: u32, percent: u64) -> u32 {
    let part = u64::from(limit) * percent.clamp(50, 100) / 100;
    u32::try_from(part).unwrap_or(limit)
}
