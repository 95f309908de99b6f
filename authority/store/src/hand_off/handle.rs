//! The dispatcher's handle, and a delivery on its way to it.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use authority_domain::delivery::Trigger;
use authority_domain::event::NewEvent;
use authority_domain::{DeliveryId, EndpointId, Timestamp};
use tokio::sync::watch;

use super::leased::{HeldBy, Lease, LeasedDelivery};
use super::subscriber::{NewDelivery, Subscriber};
use crate::slots::{Slot, Slots};

/// A delivery that this instance is to send.
#[derive(Debug)]
pub struct HandedOff {
    /// What to send.
    pub delivery: LeasedDelivery,
    /// The token of the lease that holds the row.
    pub token: String,
    /// When the lease ends.
    pub until: Timestamp,
    /// The slot it was leased for.
    pub slot: Slot,
    /// The dispatcher that the slot belongs to.
    dispatch: Arc<DispatchHandle>,
}

impl HandedOff {
    /// Passes the delivery to the dispatcher, after the commit.
    pub(super) fn begin(self) {
        let dispatch = Arc::clone(&self.dispatch);
        (dispatch.begin)(self);
    }
}

/// Gives back deliveries whose endpoints were changed in the transaction that leased them, after the commit.
pub(super) fn give_back(mut outdated: Vec<HandedOff>) {
    // One dispatcher leased them, or two where another one took over in between.
    while let Some(dispatch) = outdated.first().map(|first| Arc::clone(&first.dispatch)) {
        let is_its = |leased: &HandedOff| Arc::ptr_eq(&leased.dispatch, &dispatch);
        let (its, rest): (Vec<_>, Vec<_>) = outdated.into_iter().partition(is_its);
        (dispatch.give_back)(its);
        outdated = rest;
    }
}

/// Takes a delivery after its commit.
pub type BeginAttempts = Box<dyn Fn(HandedOff) + Send + Sync>;

/// Gives back the deliveries that are queued for an endpoint.
pub type Recall = Box<dyn Fn(&EndpointId) + Send + Sync>;

/// Gives back deliveries that it was about to be handed, so that they are leased anew.
pub type GiveBack = Box<dyn Fn(Vec<HandedOff>) + Send + Sync>;

/// What a dispatcher offers to the writer of its own instance.
pub struct DispatchHandle {
    /// The slots: what may be sent at a time.
    pub slots: Arc<Slots>,
    /// The token of rows that are written leased; 128 random bits, this dispatcher's own. All its tokens begin with
    /// the first 64. A delivery has this token at most once, as its first lease.
    pub token: String,
    /// How long a lease lasts, in milliseconds.
    pub lease_ms: i64,
    /// Requests in flight to an endpoint that has no setting (contract 18.4-8).
    pub max_in_flight: i64,
    /// Makes the token of a claim: 64 bits of the dispatcher, 64 random ones.
    pub new_token: Box<dyn Fn() -> String + Send + Sync>,
    /// Called after the commit, on the writer's task: it must not wait.
    pub begin: BeginAttempts,
    /// Likewise, when an endpoint was changed.
    pub recall: Recall,
    /// Likewise, with what was leased to it in the transaction of the change.
    pub give_back: GiveBack,
    /// Each job that may lease deliveries to this dispatcher and is not answered yet holds a receiver of it.
    pub jobs: watch::Sender<()>,
}

impl DispatchHandle {
    /// The lease of a row that is written leased at `now`.
    pub(crate) fn hold(&self, now: Timestamp) -> HeldBy {
        HeldBy { token: self.token.clone(), until: now.plus_ms(self.lease_ms) }
    }

    /// Takes a new delivery of `event`, if its endpoint has capacity and this instance a slot. If a delivery is not
    /// taken, the endpoint is closed to those after it, so that first attempts begin in the order of events. A test
    /// goes as the probe of an endpoint that is held back (contract 18.4-6).
    pub(crate) fn take(
        self: &Arc<Self>,
        delivery: &NewDelivery,
        to: &mut Subscriber,
        event: &NewEvent,
        now: Timestamp,
    ) -> Option<HandedOff> {
        let test = delivery.trigger == Trigger::Test;
        let reach = to.reach.as_mut().filter(|reach| reach.room > 0 || test && reach.probes)?;
        let (merchant, endpoint) = (&to.owner.merchant_id, &to.endpoint_id);
        let Some(slot) = self.slots.take(merchant, endpoint, event.body.len(), &reach.bounds) else {
            reach.room = 0;
            return None;
        };
        reach.room = reach.room.saturating_sub(1).max(0);
        reach.probes = false;
        let HeldBy { token, until } = self.hold(now);
        let delivery = LeasedDelivery {
            id: delivery.id.clone(),
            event_id: delivery.event_id.clone(),
            endpoint_id: delivery.endpoint_id.clone(),
            merchant_id: to.owner.merchant_id.clone(),
            trigger: delivery.trigger.as_str().to_owned(),
            livemode: to.owner.livemode,
            attempt_count: 0,
            put_off_count: 0,
            created_at: now,
            url: reach.url.clone(),
            api_version: reach.api_version.clone(),
            signature_profile: reach.signature_profile,
            options: reach.options.clone(),
            body: event.body.clone(),
            secrets: reach.secrets.clone(),
            bounds: reach.bounds,
            cause: event.cause.clone(),
        };
        Some(HandedOff { delivery, token, until, slot, dispatch: Arc::clone(self) })
    }

    /// A lease without limits, for callers that set them or want none.
    pub(crate) fn lease(&self, now: Timestamp) -> Lease {
        let lease = Lease::unlimited((self.new_token)(), now, now.plus_ms(self.lease_ms));
        Lease { max_in_flight: self.max_in_flight, ..lease }
    }

    /// Takes a slot for a leased delivery; without a slot, returns the delivery's id.
    pub(crate) fn handed_off(
        self: &Arc<Self>,
        delivery: LeasedDelivery,
        lease: &Lease,
    ) -> Result<HandedOff, DeliveryId> {
        let (merchant, endpoint) = (&delivery.merchant_id, &delivery.endpoint_id);
        match self.slots.take(merchant, endpoint, delivery.body.len(), &delivery.bounds) {
            Some(slot) => {
                let (token, until, dispatch) = (lease.token.clone(), lease.until, Arc::clone(self));
                Ok(HandedOff { delivery, token, until, slot, dispatch })
            }
            None => Err(delivery.id),
        }
    }
}

impl fmt::Debug for DispatchHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DispatchHandle").field("slots", &self.slots).finish_non_exhaustive()
    }
}

/// The dispatch handle of an instance, when there is one.
#[derive(Clone, Debug, Default)]
pub(crate) struct CurrentDispatchHandle(Arc<Mutex<Option<Arc<DispatchHandle>>>>);

impl CurrentDispatchHandle {
    pub(crate) fn get(&self) -> Option<Arc<DispatchHandle>> {
        self.lock().clone()
    }

    pub(crate) fn register(&self, dispatch: Arc<DispatchHandle>) -> DispatchRegistration {
        *self.lock() = Some(Arc::clone(&dispatch));
        DispatchRegistration { dispatch, current: self.clone() }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<DispatchHandle>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps a dispatch handle registered. Dropping it closes the handle: nothing more is leased for it. What was leased
/// before is still passed on.
#[derive(Debug)]
pub struct DispatchRegistration {
    dispatch: Arc<DispatchHandle>,
    current: CurrentDispatchHandle,
}

impl Drop for DispatchRegistration {
    fn drop(&mut self) {
        self.dispatch.slots.close();
        let mut current = self.current.lock();
        if current.as_ref().is_some_and(|dispatch| Arc::ptr_eq(dispatch, &self.dispatch)) {
            *current = None;
        }
    }
}
