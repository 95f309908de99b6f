//! The state of a dispatcher's slots: what is held of which endpoint, and what was left behind.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use authority_domain::EndpointId;
use authority_domain::endpoint::hold::Hold;
use tokio::sync::Notify;

use super::endpoint::{OfEndpoint, Pace};
use super::pools::{Capacity, Pool, Pools};
use super::want::{Free, Want};

/// An attempt that has taken this long is slow. Four such waits are still below the second that contract 18.4-1
/// allows.
pub const SLOW_AFTER: Duration = Duration::from_millis(250);

/// Endpoints that are remembered while nothing is sent to them, so that their limits need not be measured again.
const REMEMBERED_MAX: usize = 10_000;

/// The slots of one dispatcher.
pub struct Slots {
    state: Mutex<State>,
    /// Notified when due deliveries should be claimed.
    pub(super) wanted: Notify,
}

pub(super) struct State {
    /// No more slots are given out once this is false.
    pub(super) open: bool,
    pub(super) pools: Pools,
    pub(super) endpoints: HashMap<EndpointId, OfEndpoint>,
    /// A slot was refused for lack of capacity, so capacity that becomes free may be for another endpoint.
    pub(super) short: bool,
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

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // No code panics half way while it holds the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// How much of each known endpoint may be leased. Endpoints that need slow capacity take turns at what is left of
    /// that pool. Otherwise a claim would fill up with their deliveries, which are mostly older, and could not send
    /// any of them.
    fn wants(&mut self) -> BTreeMap<EndpointId, Want> {
        let mut slow: Vec<&EndpointId> = Vec::new();
        let mut wants = BTreeMap::new();
        // An endpoint without slots that was not left behind is treated like an unknown one.
        for (id, of) in self.endpoints.iter().filter(|(_, of)| of.own() > 0 || of.behind) {
            let want = of.want();
            // It is slow, or may turn out to be.
            if of.pace != Pace::Quick && want.most > 0 {
                slow.push(id);
            }
            wants.insert(id.clone(), want);
        }
        let places = self.pools.free_of(Pool::Slow);
        if slow.len() > places {
            self.short = true;
            slow.sort_unstable();
            let first = self.turn % slow.len();
            self.turn = first + places;
            let (before, from) = slow.split_at(first);
            for id in from.iter().chain(before).skip(places) {
                if let Some(want) = wants.get_mut(*id) {
                    want.most = 0;
                }
            }
        }
        let each = i64::try_from(places / slow.len().max(1)).unwrap_or(i64::MAX).max(1);
        for id in slow {
            if let Some(want) = wants.get_mut(id) {
                want.most = want.most.min(each);
            }
        }
        wants
    }

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
