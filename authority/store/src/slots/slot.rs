//! One delivery's slot: queued, in flight, unsettled.

use std::fmt;
use std::sync::Arc;

use authority_domain::endpoint::hold::{HoldReason, hold_reason};
use authority_domain::endpoint::in_flight_limit::Request;
use authority_domain::{AttemptOutcome, EndpointId, MerchantId, Timestamp};

use super::endpoint::Pace;
use super::pools::Pool;
use super::{SLOW_AFTER, Slots, State};

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

/// Why a request cannot begin now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// Its endpoint has reached its limit: wait until one of its requests ends.
    Endpoint,
    /// Its merchant has used up its share: wait until one of its requests ends.
    Merchant,
    /// The pool is full: wait until any request ends.
    Pool,
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

impl Slot {
    pub(super) fn new(
        slots: Arc<Slots>,
        (merchant, endpoint): (&MerchantId, &EndpointId),
        pool: Pool,
        capped: bool,
        bytes: usize,
    ) -> Self {
        let (merchant, endpoint) = (merchant.clone(), endpoint.clone());
        Self { slots, merchant, endpoint, pool, capped, bytes, stage: Stage::Queued }
    }

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
