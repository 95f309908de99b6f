//! Hands deliveries off from a transaction to the dispatcher of the same instance, without a second transaction in
//! between (contract 15.9).
//!
//! A dispatcher registers a [`DispatchHandle`]. Jobs lease rows to it: new ones as they write them (`commit`), and
//! due ones wherever there may be capacity now ([`claim`]). What a job leased travels with the job. After the commit,
//! and only then, the writer passes it to the dispatcher. When a job is undone or a commit fails, its deliveries are
//! dropped, and their slots with them.
//!
//! When the instance dies in between, the leases run out, or the next start takes them back. An instance without a
//! dispatcher, such as a command, has no dispatch handle: the deliveries that it writes stay in the outbox until an
//! instance claims them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use authority_domain::event::NewEvent;
use authority_domain::id::{DeliveryId, EndpointId, MerchantId};
use authority_domain::time::Timestamp;

use crate::StoreError;
use crate::ports::{HeldBy, Lease, LeasedDelivery, NewDelivery, Subscriber, Trigger, Tx};
use crate::slots::{Slot, Slots, Want};

/// Deliveries per claim: bounds the transaction and the bodies in memory.
const CLAIM_MAX: usize = 256;

/// Deliveries of one endpoint per claim over all endpoints: each endpoint is looked at. An endpoint with more to send
/// continues as its outcomes are written.
const CLAIM_EACH_OF_ALL: usize = 16;

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
    pub(crate) fn begin(self) {
        let dispatch = Arc::clone(&self.dispatch);
        (dispatch.begin)(self);
    }
}

/// Takes a delivery after its commit.
pub type BeginAttempts = Box<dyn Fn(HandedOff) + Send + Sync>;

/// Gives back the deliveries that are queued for an endpoint.
pub type Recall = Box<dyn Fn(&EndpointId) + Send + Sync>;

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

    /// A lease with no limits set; the caller fills them in.
    fn lease(&self, now: Timestamp) -> Lease {
        Lease {
            token: (self.new_token)(),
            now,
            until: now.plus_ms(self.lease_ms),
            limit: 0,
            max_in_flight: self.max_in_flight,
            wants: BTreeMap::new(),
            each: 0,
            per_merchant: 0,
            merchants: BTreeMap::new(),
            among: None,
        }
    }

    /// Takes a slot for a leased delivery; without a slot, returns the delivery's id.
    fn handed_off(
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

/// Whose due deliveries a claim looks for.
#[derive(Clone, Copy, Debug)]
pub enum Among<'e> {
    /// Everybody's.
    All,
    /// Those of these endpoints, which have some, as far as the transaction holds the turns of their merchants.
    Due(&'e [(EndpointId, MerchantId)]),
    /// Those of these endpoints, each with how much this instance wants of it.
    These(&'e BTreeMap<EndpointId, Want>),
}

/// Leases due deliveries to this instance, as far as slots and capacity allow, to be sent after the commit. Does
/// nothing on an instance without a dispatcher. Returns true when it took the maximum of one claim, so that there may
/// be more.
///
/// # Errors
/// What the store reports.
pub async fn claim(tx: &mut dyn Tx, among: Among<'_>, now: Timestamp) -> Result<bool, StoreError> {
    let Some(dispatch) = tx.dispatch() else { return Ok(false) };
    let Some(free) = dispatch.slots.free() else {
        dispatch.slots.note_short();
        return Ok(false);
    };
    let limit = free.slots.min(CLAIM_MAX);
    let (wants, among_ids, each) = match among {
        Among::All => (free.endpoints, None, CLAIM_EACH_OF_ALL),
        Among::Due(due) => {
            let held = due.iter().filter(|(_, merchant)| tx.holds(merchant));
            let ids: Vec<EndpointId> = held.map(|(id, _)| id.clone()).collect();
            if ids.is_empty() {
                return Ok(false);
            }
            (free.endpoints, Some(ids), CLAIM_EACH_OF_ALL)
        }
        Among::These(wants) => (wants.clone(), Some(wants.keys().cloned().collect()), CLAIM_MAX),
    };
    let lease = Lease {
        limit: whole(limit),
        each: whole(each),
        per_merchant: whole(free.each),
        merchants: free.less.iter().map(|(id, room)| (id.clone(), whole(*room))).collect(),
        wants,
        among: among_ids,
        ..dispatch.lease(now)
    };
    let leased = tx.delivery_lease_due(&lease).await?;
    let may_be_more = leased.len() == CLAIM_MAX;
    let cut_short = leased.len() == limit;
    let mut claimed: BTreeMap<EndpointId, i64> = BTreeMap::new();
    let (mut too_many, mut refused) = (Vec::new(), BTreeSet::new());
    for delivery in leased {
        let endpoint = delivery.endpoint_id.clone();
        match dispatch.handed_off(delivery, &lease) {
            Ok(handed_off) => {
                *claimed.entry(endpoint).or_default() += 1;
                tx.hand_off(handed_off);
            }
            // Its pool is full, or the slots have just been closed.
            Err(id) => {
                dispatch.slots.leave_behind(&endpoint);
                too_many.push(id);
                refused.insert(endpoint);
            }
        }
    }
    if !too_many.is_empty() {
        tx.delivery_lease_release(&lease.token, &too_many).await?;
    }
    let not_held = |endpoint: &EndpointId| match among {
        Among::Due(due) => due.iter().any(|(id, merchant)| id == endpoint && !tx.holds(merchant)),
        Among::All | Among::These(_) => false,
    };
    let passed_over = |endpoint: &EndpointId| {
        refused.contains(endpoint)
            || lease.wants.get(endpoint).is_some_and(|want| want.most <= 0)
            || not_held(endpoint)
    };
    let caught_up = note_what_is_left(&dispatch.slots, among, &claimed, cut_short, passed_over);
    tx.not_left_behind(&caught_up);
    Ok(may_be_more && too_many.is_empty())
}

/// Claims, in the job's own transaction, the deliveries that the job made or hastened without checking capacity.
/// First come those that go as the probe of an endpoint that is held back. Without a dispatcher the wait of the hold
/// ends, and the first instance to claim may send the probe.
pub(crate) async fn claim_asked_for(tx: &mut dyn Tx) -> Result<(), StoreError> {
    for (id, endpoint, now) in tx.take_probes() {
        let Some(dispatch) = tx.dispatch() else {
            tx.endpoint_probe_now(&endpoint).await?;
            continue;
        };
        let lease = dispatch.lease(now);
        let Some(delivery) = tx.delivery_lease_probe(&lease, &id).await? else { continue };
        match dispatch.handed_off(delivery, &lease) {
            Ok(handed_off) => tx.hand_off(handed_off),
            Err(id) => {
                tx.delivery_lease_release(&lease.token, std::slice::from_ref(&id)).await?;
                tx.endpoint_probe_now(&endpoint).await?;
            }
        }
    }
    let Some((endpoints, now)) = tx.take_unasked() else { return Ok(()) };
    let Some(dispatch) = tx.dispatch() else { return Ok(()) };
    let want = |id: EndpointId| {
        let want = dispatch.slots.want(&id);
        (id, want)
    };
    let wants: BTreeMap<EndpointId, Want> = endpoints.into_iter().map(want).collect();
    claim(tx, Among::These(&wants), now).await?;
    Ok(())
}

/// Records which endpoints may have more due deliveries. An endpoint with claimed deliveries may have more, unless it
/// had capacity left. If slots ended the claim, the rest is unknown. So are endpoints that were passed over, because
/// it was not their turn or their pool was full. Returns those that have no more.
fn note_what_is_left(
    slots: &Slots,
    among: Among<'_>,
    claimed: &BTreeMap<EndpointId, i64>,
    cut_short: bool,
    passed_over: impl Fn(&EndpointId) -> bool,
) -> BTreeSet<EndpointId> {
    let mut caught_up = BTreeSet::new();
    for endpoint in claimed.keys() {
        slots.leave_behind(endpoint);
    }
    match among {
        _ if cut_short => slots.note_short(),
        Among::All | Among::Due(_) => slots.looked_everywhere(passed_over),
        Among::These(wants) => {
            for (endpoint, want) in wants {
                if claimed.get(endpoint).copied().unwrap_or(0) < want.most {
                    slots.caught_up(endpoint);
                    caught_up.insert(endpoint.clone());
                }
            }
        }
    }
    caught_up
}

fn whole(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
