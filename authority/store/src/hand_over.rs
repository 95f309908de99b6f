//! From a transaction to the dispatcher of the same instance, without a second transaction in between (contract 15.9).
//!
//! A dispatcher puts up a [`Desk`]. Jobs lease rows to it: fresh ones as they write them (`commit`), and due ones
//! wherever there may be room now ([`claim`]). What they leased travels with the job; after the commit, and only then, the
//! writer passes it to the desk. A job that is undone, or a commit that fails, drops it, and with it the slots.
//!
//! When the instance dies in between, the leases run out, or the next start takes them back. An instance without a
//! dispatcher, a command for instance, has no desk: whatever it writes waits to be claimed.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use authority_domain::event::NewEvent;
use authority_domain::id::EndpointId;
use authority_domain::time::Timestamp;

use crate::StoreError;
use crate::ports::{HeldBy, Lease, LeasedDelivery, NewDelivery, Subscriber, Tx};
use crate::slots::{Slot, Slots};

/// Deliveries per claim: bounds the transaction and the bodies in memory.
const CLAIM_MAX: usize = 256;

/// A delivery that this instance is to send.
#[derive(Debug)]
pub struct HandedOver {
    /// What to send.
    pub delivery: LeasedDelivery,
    /// What the row is held by.
    pub token: String,
    /// Until when.
    pub until: Timestamp,
    /// The slot it was leased for.
    pub slot: Slot,
    /// Whose slot.
    desk: Arc<Desk>,
}

impl HandedOver {
    /// The transaction was committed.
    pub(crate) fn begin(self) {
        let desk = Arc::clone(&self.desk);
        (desk.begin)(self);
    }
}

/// Takes what was committed.
pub type Begin = Box<dyn Fn(HandedOver) + Send + Sync>;

/// What a dispatcher tells the writer of its own instance.
pub struct Desk {
    /// What may be sent at a time.
    pub slots: Arc<Slots>,
    /// Holds the rows that are written leased; 128 random bits, this dispatcher's own. A delivery has it once at most,
    /// as its first lease.
    pub token: String,
    /// How long a lease lasts, in milliseconds.
    pub lease_ms: i64,
    /// Requests in flight to one endpoint (contract 7.4).
    pub per_endpoint: i64,
    /// Makes the token of a claim: 128 random bits.
    pub new_token: Box<dyn Fn() -> String + Send + Sync>,
    /// Called after the commit, on the writer's task: it must not wait.
    pub begin: Begin,
}

impl Desk {
    /// What a row is written with that is leased as it is made at `now`.
    pub(crate) fn hold(&self, now: Timestamp) -> HeldBy {
        HeldBy { token: self.token.clone(), until: now.plus_ms(self.lease_ms) }
    }

    /// Takes a fresh delivery of `event`, when its endpoint has room and this instance a slot. One that is not taken closes
    /// the endpoint to those after it: first attempts begin in the order of events.
    pub(crate) fn take(
        self: &Arc<Self>,
        delivery: &NewDelivery,
        to: &mut Subscriber,
        event: &NewEvent,
        now: Timestamp,
    ) -> Option<HandedOver> {
        let reach = to.reach.as_mut().filter(|reach| reach.room > 0)?;
        let Some(slot) = self.slots.take(&to.owner.merchant_id, &to.endpoint_id) else {
            reach.room = 0;
            return None;
        };
        reach.room -= 1;
        let HeldBy { token, until } = self.hold(now);
        let delivery = LeasedDelivery {
            id: delivery.id.clone(),
            event_id: delivery.event_id.clone(),
            endpoint_id: delivery.endpoint_id.clone(),
            merchant_id: to.owner.merchant_id.clone(),
            trigger: delivery.trigger.as_str().to_owned(),
            livemode: to.owner.livemode,
            attempt_count: 0,
            created_at: now,
            url: reach.url.clone(),
            api_version: reach.api_version.clone(),
            body: event.body.clone(),
            secrets: reach.secrets.clone(),
        };
        Some(HandedOver { delivery, token, until, slot, desk: Arc::clone(self) })
    }
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").field("slots", &self.slots).finish_non_exhaustive()
    }
}

/// Where the desk of an instance stands, when there is one.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeskPlace(Arc<Mutex<Option<Arc<Desk>>>>);

impl DeskPlace {
    pub(crate) fn desk(&self) -> Option<Arc<Desk>> {
        self.place().clone()
    }

    pub(crate) fn put_up(&self, desk: Arc<Desk>) -> OpenDesk {
        *self.place() = Some(Arc::clone(&desk));
        OpenDesk { desk, place: self.clone() }
    }

    fn place(&self) -> MutexGuard<'_, Option<Arc<Desk>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps a desk open. Dropped, it is closed: nothing more is leased for it. What was leased before is still passed on.
#[derive(Debug)]
pub struct OpenDesk {
    desk: Arc<Desk>,
    place: DeskPlace,
}

impl Drop for OpenDesk {
    fn drop(&mut self) {
        self.desk.slots.close();
        let mut place = self.place.place();
        if place.as_ref().is_some_and(|desk| Arc::ptr_eq(desk, &self.desk)) {
            *place = None;
        }
    }
}

/// Whose due deliveries a claim looks for.
#[derive(Clone, Copy, Debug)]
pub enum Among<'e> {
    /// Everybody's.
    All,
    /// Those of these endpoints, each with the number of places that have just become free there.
    These(&'e BTreeMap<EndpointId, usize>),
}

/// Leases due deliveries to this instance, as many as there are slots and room for, to be sent after the commit. Nothing
/// happens where nobody dispatches. True when it took as many as it may at once, so that there may be more.
///
/// # Errors
/// What the store reports.
pub async fn claim(tx: &mut dyn Tx, among: Among<'_>, now: Timestamp) -> Result<bool, StoreError> {
    let Some(desk) = tx.desk() else { return Ok(false) };
    let Some(free) = desk.slots.free() else {
        desk.slots.note_short();
        return Ok(false);
    };
    let token = (desk.new_token)();
    let until = now.plus_ms(desk.lease_ms);
    let limit = free.slots.min(CLAIM_MAX);
    let lease = Lease {
        token: token.clone(),
        now,
        until,
        limit: whole(limit),
        per_endpoint: desk.per_endpoint,
        per_merchant: whole(free.each),
        merchants: free.less.iter().map(|(id, room)| (id.clone(), whole(*room))).collect(),
        among: match among {
            Among::All => None,
            Among::These(endpoints) => Some(endpoints.keys().cloned().collect()),
        },
    };
    let leased = tx.delivery_lease_due(&lease).await?;
    let may_be_more = leased.len() == CLAIM_MAX;
    let cut_short = leased.len() == limit || desk.slots.used_up(&free, &leased);
    let mut claimed: BTreeMap<EndpointId, usize> = BTreeMap::new();
    let mut too_many = Vec::new();
    for delivery in leased {
        match desk.slots.take(&delivery.merchant_id, &delivery.endpoint_id) {
            Some(slot) => {
                *claimed.entry(delivery.endpoint_id.clone()).or_default() += 1;
                let (token, desk) = (token.clone(), Arc::clone(&desk));
                tx.hand_over(HandedOver { delivery, token, until, slot, desk });
            }
            // They were closed a moment ago.
            None => too_many.push(delivery.id),
        }
    }
    if !too_many.is_empty() {
        tx.delivery_lease_release(&token, &too_many).await?;
    }
    note_what_is_left(&desk.slots, among, &claimed, cut_short);
    Ok(may_be_more)
}

/// Claims what the job made or hastened without asking whether there is room, in its own transaction.
pub(crate) async fn claim_unasked(tx: &mut dyn Tx) -> Result<(), StoreError> {
    let Some((endpoints, now)) = tx.take_unasked() else { return Ok(()) };
    claim(tx, Among::These(&endpoints), now).await?;
    Ok(())
}

/// Where something was due there may be more, unless there was room for it. Where slots ended the claim, nobody knows.
fn note_what_is_left(
    slots: &Slots,
    among: Among<'_>,
    claimed: &BTreeMap<EndpointId, usize>,
    cut_short: bool,
) {
    for endpoint in claimed.keys() {
        slots.leave_behind(endpoint);
    }
    match among {
        _ if cut_short => slots.note_short(),
        Among::All => slots.looked_everywhere(),
        Among::These(endpoints) => {
            for (endpoint, room) in endpoints {
                if claimed.get(endpoint).copied().unwrap_or(0) < *room {
                    slots.caught_up(endpoint);
                }
            }
        }
    }
}

fn whole(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
