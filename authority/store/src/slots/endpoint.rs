//! The deliveries under way to one endpoint, and what its attempts have shown.

use authority_domain::Timestamp;
use authority_domain::endpoint::HealthState;
use authority_domain::endpoint::hold::{Hold, HoldReason, cap};
use authority_domain::endpoint::in_flight_limit::{
    DEFAULT_MAX_IN_FLIGHT, InFlightLimit, LARGEST_MAX_IN_FLIGHT,
};

use super::pools::Pool;
use super::want::{Bounds, Want, whole};

/// The most deliveries of one endpoint that are queued beyond its in-flight limit.
const QUEUED_MAX: usize = 512;

/// A slow endpoint may have one queued delivery for each this many requests of its in-flight limit.
const SLOW_LIMIT_PER_QUEUED: usize = 16;

/// Outcomes of one endpoint that are not written yet: at this number no further request begins. Two full batches of
/// the settler.
const UNSETTLED_MAX: usize = 512;

/// The slots and the state of one endpoint.
pub(super) struct OfEndpoint {
    pub(super) limit: InFlightLimit,
    pub(super) in_flight: usize,
    /// Leased and not begun.
    pub(super) queued: usize,
    /// Ended, and the outcome is not written yet.
    pub(super) unsettled: usize,
    /// It may have due deliveries that nobody holds.
    pub(super) behind: bool,
    pub(super) pace: Pace,
    /// What other instances leave of its `max_in_flight`.
    pub(super) ceiling: u32,
    /// How many outcomes were written together last: about as many deliveries are sent while a batch is written.
    pub(super) together: usize,
    /// Its hold according to the outcomes that have come, written or not.
    pub(super) hold: Hold,
    /// Refusals that are not written yet.
    refusals: usize,
}

/// How long its recent attempts took.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    Unknown,
    Quick,
    Slow,
}

impl OfEndpoint {
    pub(super) fn new() -> Self {
        Self {
            limit: InFlightLimit::new(DEFAULT_MAX_IN_FLIGHT),
            in_flight: 0,
            queued: 0,
            unsettled: 0,
            behind: false,
            pace: Pace::Unknown,
            ceiling: LARGEST_MAX_IN_FLIGHT,
            together: 0,
            hold: Hold::default(),
            refusals: 0,
        }
    }

    /// Deliveries that this instance holds.
    pub(super) fn own(&self) -> usize {
        self.in_flight + self.queued + self.unsettled
    }

    /// Takes over the bounds that the store has just read.
    pub(super) fn learn(&mut self, bounds: &Bounds) {
        self.limit.set_max(u32::try_from(bounds.max_in_flight).unwrap_or(LARGEST_MAX_IN_FLIGHT));
        self.ceiling = u32::try_from(bounds.ceiling.max(0)).unwrap_or(LARGEST_MAX_IN_FLIGHT);
        // Another instance may have lifted what this one last saw.
        if !bounds.capped && self.in_flight + self.unsettled == 0 {
            self.hold = Hold::default();
        }
    }

    /// What may be leased: as many as may be in flight, plus as many as are sent while a batch of outcomes is
    /// written.
    pub(super) fn want(&self) -> Want {
        let limit = self.limit.get() as usize;
        let ahead = match self.pace {
            Pace::Quick => (2 * self.together).min(QUEUED_MAX),
            // A queue that hardly moves is of no use.
            Pace::Slow => self.together.min(limit / SLOW_LIMIT_PER_QUEUED),
            Pace::Unknown => 0,
        };
        let held = whole(self.in_flight + self.queued);
        Want { most: whole(limit + ahead) - held, beyond: whole(ahead) - held }
    }

    /// The pools for its next delivery, the best one first. One request finds out whether an unknown endpoint is
    /// slow.
    pub(super) fn pools_of_next(&self) -> &'static [Pool] {
        match self.pace {
            Pace::Quick => &[Pool::Quick],
            Pace::Unknown if self.own() == 0 => &[Pool::Quick, Pool::Slow],
            Pace::Unknown | Pace::Slow => &[Pool::Slow],
        }
    }

    /// Whether one more request may begin. `capped`: the store applied the limit of the hold when the delivery was
    /// leased.
    pub(super) fn has_room(&self, capped: bool, now: Timestamp) -> bool {
        if self.unsettled >= UNSETTLED_MAX {
            return false;
        }
        let limit = self.limit.get().min(self.ceiling) as usize;
        self.in_flight < limit && (capped || cap(&self.hold, HealthState::Healthy, now).is_none())
    }

    /// Notes that the receiver answered "not now", or not at all.
    pub(super) fn note_refusal(
        &mut self,
        reason: HoldReason,
        (began, ended): (Timestamp, Timestamp),
        retry_after_ms: Option<u64>,
    ) {
        self.hold.lengthen(reason, began, ended, retry_after_ms);
        self.refusals += 1;
    }

    /// Notes that `outcomes` outcomes were written, `refusals` of them refusals, and left this hold. Returns true
    /// when the queued deliveries are to be given back.
    pub(super) fn settled(&mut self, outcomes: usize, refusals: usize, hold: Option<&Hold>) -> bool {
        self.refusals = self.refusals.saturating_sub(refusals);
        // Outcomes that have come and are not written yet may have lifted it since.
        let others = self.unsettled > outcomes;
        if let Some(hold) = hold.filter(|hold| self.refusals == 0 && (hold.step == 0 || !others)) {
            self.hold = hold.clone();
        }
        let lasts = self.hold.step > 0 && (self.in_flight == 0 || self.hold.asked);
        if lasts {
            self.limit.hold();
        }
        lasts && self.queued > 0
    }

    pub(super) fn changed(&mut self) {
        self.limit = InFlightLimit::new(DEFAULT_MAX_IN_FLIGHT);
        self.hold = Hold::default();
        self.pace = Pace::Unknown;
    }
}
