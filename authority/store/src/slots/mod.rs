//! What one instance may send at a time, and to whom (contract 7.4, 15.4, 18.4).
//!
//! A delivery that this instance is to send has a [`Slot`], from the moment its row is leased inside a transaction until
//! its outcome is written. It waits in the dispatcher's queue, then its request is in flight, then it is unsettled. A job
//! that is undone and a commit that fails give their slots back by dropping them.
//!
//! Three numbers bound an endpoint (`endpoint`): requests in flight, by its adaptive limit and by what other instances
//! leave of its `max_in_flight`; deliveries that wait in the queue, so that the next one leaves when an answer has come
//! and not when its outcome is committed; and unsettled outcomes.
//!
//! Two pools bound the instance (`pools`). An attempt counts against the quick one until it has taken [`SLOW_AFTER`],
//! and from then on against the slow one, which is larger. An endpoint that was slow lately begins there, and so does
//! one of which nothing is known, but for one request, which is quick where the quick pool has room. So receivers that
//! take their time hold no quick places, however many they are. Places of the slow pool are reserved when a delivery is
//! leased; quick deliveries wait in the queue, where merchants take turns. One merchant has at most its share of each pool.
//!
//! The slots also remember what was left behind: endpoints with due deliveries that nobody holds because there was no
//! room. Whoever makes room looks there, and nowhere else. That is a hint like any other: the poll finds what it missed.

mod endpoint;
mod pools;
mod slot;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use authority_domain::endpoint::hold::Hold;
use authority_domain::endpoint::in_flight_limit::FIRST_LIMIT;
use authority_domain::id::{EndpointId, MerchantId};
use tokio::sync::Notify;

use crate::ports::Bounds;

use self::endpoint::OfEndpoint;
pub use self::pools::Capacity;
use self::pools::{Pool, Pools};
pub use self::slot::{AttemptEnd, Blocked, Moment, Slot};

/// An attempt that has taken so long is slow. Four such waits are still below the second that contract 18.4-1 allows.
pub const SLOW_AFTER: Duration = Duration::from_millis(250);

/// Endpoints that are remembered while nothing is sent to them: what they can take need not be found out again.
const REMEMBERED_MAX: usize = 10_000;

/// The slots of one dispatcher.
pub struct Slots {
    state: Mutex<State>,
    /// Somebody should look for due deliveries.
    wanted: Notify,
}

struct State {
    /// No more are given out once it is closed.
    open: bool,
    pools: Pools,
    endpoints: HashMap<EndpointId, OfEndpoint>,
    /// Somebody had to be refused: what becomes free may be another endpoint's.
    short: bool,
    /// Where the slow endpoints' turns go on.
    turn: usize,
}

/// How much more of an endpoint's deliveries this instance would lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Want {
    /// So many, as far as this instance is concerned.
    pub most: i64,
    /// So many beyond what other instances leave of the endpoint's `max_in_flight`; negative when this instance holds
    /// that many already.
    pub beyond: i64,
}

impl Default for Want {
    /// An endpoint that this instance knows nothing of.
    fn default() -> Self {
        Self { most: i64::from(FIRST_LIMIT), beyond: 0 }
    }
}

/// What a claim may lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Free {
    /// Deliveries in all.
    pub slots: usize,
    /// What each merchant may have of them.
    pub each: usize,
    /// The merchants that may have less, because they hold some.
    pub less: BTreeMap<MerchantId, usize>,
    /// What each endpoint that is known may have.
    pub endpoints: BTreeMap<EndpointId, Want>,
}

impl Slots {
    /// The slots of an instance with such a capacity.
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

    /// Takes a slot for a delivery of so many bytes to `endpoint` of `merchant`, which the store has found to be bounded
    /// so; `None` when there is none for it.
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
        if of.want().most <= 0 || of.has_nothing_left() {
            return None;
        }
        // What nobody knows may turn out to be slow: it is leased only where there is a place for that.
        let no_place_if_slow = of.is_unknown() && !pools.has_slow_place(merchant);
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

    /// What it would lease of an endpoint of which so many outcomes are just being written: `None` unless its places are
    /// for its own next deliveries, that is, it was left behind and is not one of the slow ones that take turns.
    pub fn want_next(&self, endpoint: &EndpointId, settled: usize) -> Option<Want> {
        let mut state = self.state();
        let turns = state.pools.slow_is_short();
        let of = state.endpoints.get_mut(endpoint)?;
        of.settle_together(settled);
        (of.behind && !(turns && of.is_slow())).then(|| of.want()).filter(|want| want.most > 0)
    }

    /// A due delivery to this endpoint was left without a holder.
    pub fn leave_behind(&self, endpoint: &EndpointId) {
        let mut state = self.state();
        if state.open {
            state.endpoints.entry(endpoint.clone()).or_insert_with(OfEndpoint::new).behind = true;
        }
    }

    /// Due deliveries of these endpoints are committed and have no holder: wakes whoever leases, unless the outcome of
    /// something that is under way to the same endpoint will do so.
    pub fn committed_behind(&self, endpoints: &[EndpointId]) {
        let state = self.state();
        let nobody_comes =
            |endpoint: &EndpointId| state.endpoints.get(endpoint).is_none_or(|of| of.behind && of.own() == 0);
        if endpoints.iter().any(nobody_comes) {
            self.wanted.notify_one();
        }
    }

    /// This endpoint has nothing more that is due, as far as somebody could see who had room for more.
    pub fn caught_up(&self, endpoint: &EndpointId) {
        if let Some(of) = self.state().endpoints.get_mut(endpoint) {
            of.behind = false;
        }
    }

    /// Everybody was asked but those that were passed over: what else is behind now has something under way, or has to wait
    /// for the poll.
    pub fn looked_everywhere(&self, passed_over: impl Fn(&EndpointId) -> bool) {
        let mut state = self.state();
        for (id, of) in &mut state.endpoints {
            of.behind &= of.own() > 0 || passed_over(id);
        }
        state.forget_unused();
    }

    /// Whether somebody was refused a slot since the last call.
    #[must_use]
    pub fn take_short(&self) -> bool {
        std::mem::take(&mut self.state().short)
    }

    /// Whether somebody was refused a slot, without forgetting it.
    #[must_use]
    pub fn is_short(&self) -> bool {
        self.state().short
    }

    /// Somebody was, or may have been.
    pub fn note_short(&self) {
        self.state().short = true;
    }

    /// So many outcomes of this endpoint were written, `refusals` among them; `hold` is what they left of it, `None` when
    /// they could not be written. True when what waits in the queue is to be given back, because nothing may be sent now.
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

    /// The endpoint was changed: what is known of its receiver may be of another one.
    pub fn changed(&self, endpoint: &EndpointId) {
        if let Some(of) = self.state().endpoints.get_mut(endpoint) {
            of.changed();
        }
    }

    /// Waits until somebody should look for due deliveries.
    pub async fn wanted(&self) {
        self.wanted.notified().await;
    }

    /// Gives out no more.
    pub fn close(&self) {
        self.state().open = false;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing in here panics half way.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// What each known endpoint may lease. Those that need a slow place take turns at what is left of that pool. Otherwise a
    /// claim would be filled with their deliveries, which are mostly older, and could not send any of them.
    fn wants(&mut self) -> BTreeMap<EndpointId, Want> {
        let mut slow: Vec<&EndpointId> = Vec::new();
        let mut wants = BTreeMap::new();
        // What holds nothing and left nothing behind gets what an unknown endpoint gets.
        for (id, of) in self.endpoints.iter().filter(|(_, of)| of.own() > 0 || of.behind) {
            let want = of.want();
            if of.needs_a_slow_place() && want.most > 0 {
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
