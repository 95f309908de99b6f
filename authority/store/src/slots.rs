//! What one instance may send at a time, and to whom (contract 7.4, 15.4).
//!
//! A dispatcher has so many slots. Every delivery that it is about to send holds one, from the moment the row is leased
//! inside a transaction until the attempt has ended; a job that is undone and a commit that fails give theirs back by
//! dropping them. Slots are taken by the store's writer only, one job after the other, so that what a job found free is
//! still free when it takes it.
//!
//! One merchant has at most a quarter of them ([`Slots::share`]), however many endpoints it has: with the caps of its
//! endpoints alone, thirty-two of eight, a single merchant with slow receivers could hold them all. A quarter leaves the
//! others most of the slots even while two merchants are slow, and is still a multiple of what one endpoint may have.
//!
//! They also remember what was left behind: endpoints with due deliveries that nobody holds because there was no room.
//! Whoever makes room looks there, and nowhere else. That is a hint like any other: the poll finds whatever it missed.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use authority_domain::id::{EndpointId, MerchantId};
use tokio::sync::Notify;

use crate::ports::LeasedDelivery;

/// The part of the slots that one merchant may hold.
const SHARES: usize = 4;

/// The slots of one dispatcher.
pub struct Slots {
    state: Mutex<State>,
    share: usize,
    /// Somebody should look for due deliveries.
    wanted: Notify,
}

struct State {
    /// No more are given out once it is closed.
    open: bool,
    free: usize,
    /// How many each merchant holds; none that holds none.
    merchants: HashMap<MerchantId, usize>,
    endpoints: HashMap<EndpointId, OfEndpoint>,
    /// Somebody had to be refused: what becomes free may be another endpoint's.
    short: bool,
}

#[derive(Default)]
struct OfEndpoint {
    /// Deliveries that were taken and whose outcome is not written yet.
    unsettled: usize,
    /// It may have due deliveries that nobody holds.
    behind: bool,
}

/// What is free at this moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Free {
    /// Slots.
    pub slots: usize,
    /// What each merchant may have of them.
    pub each: usize,
    /// The merchants that may have less, because they hold some.
    pub less: BTreeMap<MerchantId, usize>,
}

/// A slot, for one delivery. Dropped once the outcome is written, or when there will be none.
pub struct Slot {
    slots: Arc<Slots>,
    merchant: MerchantId,
    endpoint: EndpointId,
    /// The request may still be under way.
    in_flight: bool,
}

impl Slots {
    /// `all` slots for deliveries to endpoints that may have `per_endpoint` requests in flight each.
    #[must_use]
    pub fn new(all: usize, per_endpoint: usize) -> Arc<Self> {
        let state = State {
            open: true,
            free: all,
            merchants: HashMap::new(),
            endpoints: HashMap::new(),
            short: false,
        };
        Arc::new(Self {
            state: Mutex::new(state),
            share: (all / SHARES).max(per_endpoint).clamp(1, all.max(1)),
            wanted: Notify::new(),
        })
    }

    /// How many one merchant may hold: a quarter of all, and never less than what one endpoint may have.
    #[must_use]
    pub fn share(&self) -> usize {
        self.share
    }

    /// Takes a slot for a delivery to `endpoint` of `merchant`; `None` when there is none for it.
    pub fn take(self: &Arc<Self>, merchant: &MerchantId, endpoint: &EndpointId) -> Option<Slot> {
        let mut state = self.state();
        let held = state.merchants.get(merchant).copied().unwrap_or(0);
        if !state.open {
            return None;
        }
        if state.free == 0 || held >= self.share {
            state.short = true;
            return None;
        }
        state.free -= 1;
        state.merchants.insert(merchant.clone(), held + 1);
        state.endpoints.entry(endpoint.clone()).or_default().unsettled += 1;
        drop(state);
        Some(Slot {
            slots: Arc::clone(self),
            merchant: merchant.clone(),
            endpoint: endpoint.clone(),
            in_flight: true,
        })
    }

    /// What could be taken now; `None` when nothing could.
    #[must_use]
    pub fn free(&self) -> Option<Free> {
        let state = self.state();
        if !state.open || state.free == 0 {
            return None;
        }
        let less = state.merchants.iter().map(|(id, held)| (id.clone(), self.share.saturating_sub(*held)));
        Some(Free { slots: state.free, each: self.share, less: less.collect() })
    }

    /// A due delivery to this endpoint was left without a holder.
    pub fn leave_behind(&self, endpoint: &EndpointId) {
        let mut state = self.state();
        if state.open {
            state.endpoints.entry(endpoint.clone()).or_default().behind = true;
        }
    }

    /// Due deliveries of these endpoints are committed and have no holder: wakes whoever leases, unless the outcome of
    /// something that is under way to the same endpoint will do so.
    pub fn committed_behind(&self, endpoints: &[EndpointId]) {
        let state = self.state();
        let nobody_comes = |endpoint: &EndpointId| {
            state.endpoints.get(endpoint).is_none_or(|endpoint| endpoint.behind && endpoint.unsettled == 0)
        };
        if endpoints.iter().any(nobody_comes) {
            self.wanted.notify_one();
        }
    }

    /// Keeps those of these endpoints that were left behind.
    pub fn retain_behind<V>(&self, endpoints: &mut BTreeMap<EndpointId, V>) {
        let state = self.state();
        endpoints.retain(|endpoint, _| state.endpoints.get(endpoint).is_some_and(|of| of.behind));
    }

    /// This endpoint has nothing more that is due, as far as somebody could see who had room for more.
    pub fn caught_up(&self, endpoint: &EndpointId) {
        let mut state = self.state();
        if let Some(of_endpoint) = state.endpoints.get_mut(endpoint) {
            of_endpoint.behind = false;
        }
        state.tidy(endpoint);
    }

    /// Everybody was asked: what is behind now has something under way, or has to wait for the poll.
    pub fn looked_everywhere(&self) {
        self.state().endpoints.retain(|_, endpoint| endpoint.unsettled > 0);
    }

    /// Whether somebody was refused a slot since the last call.
    #[must_use]
    pub fn take_short(&self) -> bool {
        std::mem::take(&mut self.state().short)
    }

    /// Somebody was, or may have been.
    pub fn note_short(&self) {
        self.state().short = true;
    }

    /// Whether a claim of `leased`, made when so much was free, may have passed over deliveries of a merchant that has no
    /// more slots.
    pub(crate) fn used_up(&self, free: &Free, leased: &[LeasedDelivery]) -> bool {
        let mut left: HashMap<&MerchantId, usize> = free.less.iter().map(|(id, left)| (id, *left)).collect();
        for delivery in leased {
            let left = left.entry(&delivery.merchant_id).or_insert(free.each);
            *left = left.saturating_sub(1);
        }
        left.values().any(|left| *left == 0)
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
    fn give_back(&mut self, merchant: &MerchantId) {
        self.free += 1;
        if let Some(held) = self.merchants.get_mut(merchant) {
            *held -= 1;
            if *held == 0 {
                self.merchants.remove(merchant);
            }
        }
    }

    fn tidy(&mut self, endpoint: &EndpointId) {
        if self.endpoints.get(endpoint).is_some_and(|of| of.unsettled == 0 && !of.behind) {
            self.endpoints.remove(endpoint);
        }
    }
}

impl Slot {
    /// The attempt has ended: its slot may be another's. Its endpoint still counts it until the outcome is written.
    pub fn attempt_ended(&mut self) {
        if std::mem::take(&mut self.in_flight) {
            self.slots.state().give_back(&self.merchant);
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut state = self.slots.state();
        if self.in_flight {
            state.give_back(&self.merchant);
        }
        let mut wanted = self.in_flight && state.short;
        if let Some(endpoint) = state.endpoints.get_mut(&self.endpoint) {
            endpoint.unsettled -= 1;
            wanted |= endpoint.behind && endpoint.unsettled == 0;
        }
        state.tidy(&self.endpoint);
        drop(state);
        if wanted {
            self.slots.wanted.notify_one();
        }
    }
}

impl fmt::Debug for Slots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slots").field("share", &self.share).finish_non_exhaustive()
    }
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}
