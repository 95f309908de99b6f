//! One delivery's slot: queued, in flight, unsettled.

use std::fmt;
use std::sync::Arc;

use authority_domain::endpoint::hold::{HoldReason, hold_reason};
use authority_domain::endpoint::in_flight_limit::Request;
use authority_domain::{AttemptOutcome, EndpointId, MerchantId, Timestamp};

use super::endpoint::{OfEndpoint, Pace};
use super::pools::{Blocked, Pool};
use super::state::{SLOW_AFTER, Slots, State};
use super::want::Bounds;

/// The slot of one delivery. It is dropped once the outcome is written, or when there will be none.
pub struct Slot {
    slots: Arc<Slots>,
    merchant: MerchantId,
    endpoint: EndpointId,
    pool: Pool,
    capped: bool,
    bytes: usize,
    stage: Stage,
}

/// The stage that its delivery has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Queued,
    InFlight { began: Moment, in_flight_then: u32 },
    Unsettled,
}

/// A point in time, by both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The monotonic clock of this process, in milliseconds; it never goes back.
    pub monotonic_ms: u64,
    /// The wall clock, which is written and signed.
    pub wall: Timestamp,
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug)]
pub struct AttemptEnd {
    /// When.
    pub at: Moment,
    /// How.
    pub outcome: AttemptOutcome,
    /// The status, when a response came.
    pub status: Option<u16>,
    /// The wait that the receiver asks for, in milliseconds.
    pub retry_after_ms: Option<u64>,
}

impl Slots {
    /// Takes a slot for a delivery of `bytes` bytes to `endpoint` of `merchant`, with the bounds that the store has
    /// just read; `None` when no slot is available for it.
    pub fn take(
        self: &Arc<Self>,
        merchant: &MerchantId,
        endpoint: &EndpointId,
        bytes: usize,
        bounds: &Bounds,
    ) -> Option<Slot> {
        let mut state = self.state();
        if !state.open {
            return None;
        }
        let State { pools, endpoints, short, .. } = &mut *state;
        let of = endpoints.entry(endpoint.clone()).or_insert_with(OfEndpoint::new);
        of.learn(bounds);
        pools.set_share(merchant, bounds.share_percent);
        // Other instances may hold everything that its `max_in_flight` allows.
        if of.want().most <= 0 || of.ceiling == 0 {
            return None;
        }
        // An unknown endpoint may turn out to be slow: it is leased for only where the slow pool has capacity.
        let no_place_if_slow = of.pace == Pace::Unknown && !pools.has_slow_place(merchant);
        let choice = if no_place_if_slow { &[] } else { of.pools_of_next() };
        let Some(pool) = choice.iter().copied().find(|pool| pools.lease(merchant, *pool, bytes)) else {
            *short = true;
            return None;
        };
        of.queued += 1;
        drop(state);
        let (merchant, endpoint, capped) = (merchant.clone(), endpoint.clone(), bounds.capped);
        Some(Slot { slots: Arc::clone(self), merchant, endpoint, pool, capped, bytes, stage: Stage::Queued })
    }
}

impl Slot {
    /// Takes capacity for the request, which begins at `now`.
    ///
    /// # Errors
    /// What to wait for.
    pub fn begin(&mut self, now: Moment) -> Result<(), Blocked> {
        let mut state = self.slots.state();
        let State { pools, endpoints, .. } = &mut *state;
        let Some(of) = endpoints.get_mut(&self.endpoint) else { return Err(Blocked::Endpoint) };
        if !of.has_room(self.capped, now.wall) {
            return Err(Blocked::Endpoint);
        }
        if self.pool == Pool::Quick && of.pace == Pace::Slow {
            pools.begin_slow(&self.merchant)?;
            self.pool = Pool::Slow;
        } else if self.pool == Pool::Quick {
            pools.begin_quick(&self.merchant)?;
        }
        of.queued -= 1;
        of.in_flight += 1;
        let in_flight_then = u32::try_from(of.in_flight).unwrap_or(u32::MAX);
        self.stage = Stage::InFlight { began: now, in_flight_then };
        Ok(())
    }

    /// Marks the request as slow, when it has taken [`SLOW_AFTER`].
    pub fn turn_slow(&mut self) {
        let mut state = self.slots.state();
        if let Some(of) = state.endpoints.get_mut(&self.endpoint) {
            of.pace = Pace::Slow;
        }
        if self.pool == Pool::Quick {
            state.pools.turn_slow(&self.merchant);
            self.pool = Pool::Slow;
            if state.short {
                self.slots.wanted.notify_one();
            }
        }
    }

    /// Notes that the attempt has ended: its capacity is free for the next one. Its endpoint still counts it until
    /// the outcome is written.
    pub fn ended(&mut self, ended: &AttemptEnd) {
        let Stage::InFlight { began, in_flight_then } = self.stage else { return };
        self.stage = Stage::Unsettled;
        let mut state = self.slots.state();
        state.pools.give_back(&self.merchant, self.pool, true);
        state.pools.drop_body(std::mem::take(&mut self.bytes));
        if state.short {
            self.slots.wanted.notify_one();
        }
        let Some(of) = state.endpoints.get_mut(&self.endpoint) else { return };
        let request = Request {
            began_at: began.monotonic_ms,
            ended_at: ended.at.monotonic_ms,
            in_flight_then,
            in_flight: u32::try_from(of.in_flight).unwrap_or(u32::MAX),
        };
        of.in_flight -= 1;
        of.unsettled += 1;
        if ended.outcome == AttemptOutcome::Success {
            of.limit.succeeded(&request, of.queued > 0 || of.behind);
            of.hold.lift(began.wall, ended.at.wall);
            let took_ms = request.ended_at.saturating_sub(request.began_at);
            if u128::from(took_ms) < SLOW_AFTER.as_millis() {
                of.pace = Pace::Quick;
            }
        } else if let Some(reason) = hold_reason(ended.outcome, ended.status) {
            of.limit.refused(&request, reason == HoldReason::RateLimited);
            of.note_refusal(reason, (began.wall, ended.at.wall), ended.retry_after_ms);
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut state = self.slots.state();
        let in_flight = matches!(self.stage, Stage::InFlight { .. });
        let held_a_place = self.stage != Stage::Unsettled;
        if held_a_place {
            let quick_in_flight = in_flight && self.pool == Pool::Quick;
            state.pools.give_back(&self.merchant, self.pool, quick_in_flight);
            state.pools.drop_body(self.bytes);
        }
        let mut wanted = held_a_place && state.short;
        if let Some(of) = state.endpoints.get_mut(&self.endpoint) {
            match self.stage {
                Stage::Queued => of.queued -= 1,
                Stage::InFlight { .. } => of.in_flight -= 1,
                Stage::Unsettled => of.unsettled -= 1,
            }
            wanted |= of.behind && of.own() == 0;
        }
        drop(state);
        if wanted {
            self.slots.wanted.notify_one();
        }
    }
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}
