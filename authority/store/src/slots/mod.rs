//! What one instance may send at a time, and to whom (contract 7.4, 15.4, 18.4).
//!
//! A delivery that this instance is to send has a [`Slot`], from the time its row is leased inside a transaction
//! until its outcome is written. First it is queued in the dispatcher, then its request is in flight, then it is
//! unsettled. A job that is undone and a commit that fails give their slots back by dropping them.
//!
//! Three numbers bound an endpoint (`endpoint`): requests in flight, by its adaptive limit and by what other
//! instances leave of its `max_in_flight`; queued deliveries, which let the next request begin when an answer has
//! come and not only when its outcome is committed; and unsettled outcomes.
//!
//! Two pools bound the instance (`pools`). An attempt counts against the quick one until it has taken [`SLOW_AFTER`],
//! and from then on against the slow one, which is larger. Attempts to an endpoint that was slow lately begin in the
//! slow pool. So do those to an unknown endpoint, except for one request, which is quick if the quick pool has
//! capacity. So slow receivers hold no quick capacity, however many they are. Capacity of the slow pool is reserved
//! when a delivery is leased. Quick deliveries wait in the queue, where merchants take turns. One merchant has at
//! most its share of each pool.
//!
//! The slots also record what was left behind: endpoints with due deliveries that nobody holds for lack of capacity.
//! Whoever frees capacity looks there, and nowhere else. This record is a hint like any other: the poll finds what it
//! missed.

mod endpoint;
mod pools;
mod slot;
mod want;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use authority_domain::endpoint::hold::Hold;
use authority_domain::{EndpointId, MerchantId};
use tokio::sync::Notify;

use crate::tx::Bounds;

use self::endpoint::{OfEndpoint, Pace};
pub use self::pools::Capacity;
use self::pools::Pools;
pub use self::slot::{AttemptEnd, Blocked, Moment, Slot};
pub use self::want::{Free, Want};

/// An attempt that has taken this long is slow. Four such waits are still below the second that contract 18.4-1
/// allows.
pub const SLOW_AFTER: Duration = Duration::from_millis(250);

/// Endpoints that are remembered while nothing is sent to them, so that their limits need not be measured again.
const REMEMBERED_MAX: usize = 10_000;

/// The slots of one dispatcher.
pub struct Slots {
    state: Mutex<State>,
    /// Notified when due deliveries should be claimed.
    wanted: Notify,
}

struct State {
    /// No more slots are given out once this is false.
    open: bool,
    pools: Pools,
    endpoints: HashMap<EndpointId, OfEndpoint>,
    /// A slot was refused for lack of capacity, so capacity that becomes free may be for another endpoint.
    short: bool,
    /// Where the rotation of the slow endpoints continues.
    turn: usize,
}

impl Slots {
    /// The slots of an instance with this capacity.
    #[must_use]
    pub fn new(capacity: Capacity) -> Arc<Self> {
        let state = State {
            open: true,
            pools: Pools::new(capacity),
            endpoints: HashMap::new(),
            short: false,
            turn: 0,
        };
        Arc::new(Self { state: Mutex::new(state), wanted: Notify::new() })
    }

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
        Some(Slot::new(Arc::clone(self), (merchant, endpoint), pool, bounds.capped, bytes))
    }

    /// Whether anything could be leased now.
    #[must_use]
    pub fn has_room(&self) -> bool {
        let state = self.state();
        state.open && state.pools.may_lease()
    }

    /// What could be leased now; `None` when nothing could.
    #[must_use]
    pub fn free(&self) -> Option<Free> {
        let mut state = self.state();
        if !state.open || !state.pools.may_lease() {
            return None;
        }
        let slots = state.pools.free();
        let (each, less) = state.pools.of_merchants();
        let endpoints = state.wants();
        Some(Free { slots, each, less, endpoints })
    }

    /// What this instance would lease of one endpoint.
    #[must_use]
    pub fn want(&self, endpoint: &EndpointId) -> Want {
        self.state().endpoints.get(endpoint).map_or(Want::default(), OfEndpoint::want)
    }

    /// What this instance would lease of an endpoint while `settled` outcomes of it are being written. `None` unless
    /// the freed capacity is for the endpoint's own next deliveries, that is, the endpoint was left behind and is not
    /// one of the slow ones that take turns.
    pub fn want_next(&self, endpoint: &EndpointId, settled: usize) -> Option<Want> {
        let mut state = self.state();
        let turns = state.pools.slow_is_short();
        let of = state.endpoints.get_mut(endpoint)?;
        of.together = settled;
        (of.behind && !(turns && of.pace == Pace::Slow)).then(|| of.want()).filter(|want| want.most > 0)
    }

    /// Notes that a due delivery to this endpoint was left without a holder.
    pub fn leave_behind(&self, endpoint: &EndpointId) {
        let mut state = self.state();
        if state.open {
            state.endpoints.entry(endpoint.clone()).or_insert_with(OfEndpoint::new).behind = true;
        }
    }

    /// Notes that due deliveries of these endpoints are committed and have no holder. Wakes the claimer, unless the
    /// outcome of a delivery that is already under way to the same endpoint will do so.
    pub fn committed_behind(&self, endpoints: &[EndpointId]) {
        let mut state = self.state();
        let mut nobody_comes = false;
        for endpoint in endpoints {
            match state.endpoints.get_mut(endpoint) {
                // Once more: a claim may have looked while the deliveries were not committed yet.
                Some(of) => {
                    of.behind = true;
                    nobody_comes |= of.own() == 0;
                }
                None => nobody_comes = true,
            }
        }
        if nobody_comes {
            self.wanted.notify_one();
        }
    }

    /// Notes that this endpoint has no more due deliveries: a claim with capacity for more found none.
    pub fn caught_up(&self, endpoint: &EndpointId) {
        if let Some(of) = self.state().endpoints.get_mut(endpoint) {
            of.behind = false;
        }
    }

    /// Notes that a claim looked at all endpoints except those that were passed over. Any other endpoint that is
    /// still behind has a delivery under way, or has to wait for the poll.
    pub fn looked_everywhere(&self, passed_over: impl Fn(&EndpointId) -> bool) {
        let mut state = self.state();
        for (id, of) in &mut state.endpoints {
            of.behind &= of.own() > 0 || passed_over(id);
        }
        state.forget_unused();
    }

    /// Whether a slot was refused since the last call.
    #[must_use]
    pub fn take_short(&self) -> bool {
        std::mem::take(&mut self.state().short)
    }

    /// Whether a slot was refused, without resetting the flag.
    #[must_use]
    pub fn is_short(&self) -> bool {
        self.state().short
    }

    /// Notes that a slot was, or may have been, refused.
    pub fn note_short(&self) {
        self.state().short = true;
    }

    /// Notes that `outcomes` outcomes of this endpoint were written, `refusals` of them refusals. `hold` is the
    /// endpoint's hold after them, `None` when they could not be written. Returns true when the endpoint's queued
    /// deliveries are to be given back, because nothing may be sent now.
    pub fn settled(
        &self,
        endpoint: &EndpointId,
        outcomes: usize,
        refusals: usize,
        hold: Option<&Hold>,
    ) -> bool {
        let mut state = self.state();
        state.endpoints.get_mut(endpoint).is_some_and(|of| of.settled(outcomes, refusals, hold))
    }

    /// Notes that the endpoint was changed: what is known may be about a different receiver.
    pub fn changed(&self, endpoint: &EndpointId) {
        if let Some(of) = self.state().endpoints.get_mut(endpoint) {
            of.changed();
        }
    }

    /// Waits until due deliveries should be claimed.
    pub async fn wanted(&self) {
        self.wanted.notified().await;
    }

    /// Closes the slots: no more are given out.
    pub fn close(&self) {
        self.state().open = false;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No code panics half way while it holds the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A count as SQL has it.
pub(crate) fn whole(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

impl State {
    fn forget_unused(&mut self) {
        if self.endpoints.len() > REMEMBERED_MAX {
            self.endpoints.retain(|_, of| of.own() > 0 || of.behind);
        }
    }
}

impl fmt::Debug for Slots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slots").finish_non_exhaustive()
    }
}
