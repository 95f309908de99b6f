//! Copies for partners: which partners get events of a commit's changes, and what each copy contains (contract 3.10).
//!
//! Called by [`crate::commit`] in the transaction that makes the events. The row of a merchant's stream, which is
//! read anyway, shows that the merchant has no shares; such a merchant costs nothing more. For the others, one
//! statement reads the shares of the changed orders. Each partner's stream gets its sequence numbers after the
//! owner's, in the order of merchants (contract 8.3), and the copies are buffered with all other rows.
//!
//! Nobody can share an order or end a connection in between, because the transaction holds the turns of the owner and
//! of all its partners.
//! So there is no copy without a share that is active at the commit, and no active share without its copy.

use std::collections::BTreeMap;

use authority_domain::event::NewEvent;
use authority_domain::event::cause::Cause;
use authority_domain::event::change::Record;
use authority_domain::event::partner_copy::{PartnerCopy, is_told_to_partners};
use authority_domain::partner::share::OrderShare;
use authority_domain::{Change, EventId, OrderNumber, Refusal, ShareId, Shipment, Tenant, Timestamp};
use rand_core::Rng;

use crate::error::Result;
use crate::hand_off::Subscriber;
use crate::sql::Tx;
use crate::sql::event::StreamPosition;

/// A partner's part in a commit.
pub(crate) struct Hearing<'c> {
    /// The partner, in the owner's mode.
    pub(crate) partner: Tenant,
    /// The changes that it gets, each with the share.
    told: Vec<(&'c Change, OrderShare)>,
    place: StreamPosition,
}

/// The partners that get `changes` of `owner`, who has this many active shares. Each has reserved its sequence
/// numbers.
pub(crate) async fn hearings<'c>(
    tx: &mut Tx,
    owner: &Tenant,
    changes: &'c [Change],
    active_shares: i64,
    now: Timestamp,
) -> Result<Vec<Hearing<'c>>> {
    let mut told: BTreeMap<Tenant, Vec<(&Change, OrderShare)>> = BTreeMap::new();
    let shares = shares_of(tx, owner, changes, active_shares).await?;
    for change in changes.iter().filter(|change| is_told_to_partners(change)) {
        let of_change: Vec<&OrderShare> = match &change.record {
            Record::Share(sharing) => vec![&sharing.share],
            record => {
                let order = record.heard_by_partners_of();
                shares.iter().filter(|share| Some(&share.order_number) == order).collect()
            }
        };
        for share in of_change {
            let partner = Tenant { merchant_id: share.partner.id.clone(), livemode: owner.livemode };
            told.entry(partner).or_default().push((change, share.clone()));
        }
    }
    tx.streams_foresee(&told.keys().collect::<Vec<_>>(), now).await?;
    let mut hearings = Vec::with_capacity(told.len());
    for (partner, told) in told {
        let count = i64::try_from(told.len()).unwrap_or(i64::MAX);
        let place = tx.stream_advance(&partner, count, now).await?;
        hearings.push(Hearing { partner, told, place });
    }
    Ok(hearings)
}

/// The active shares of the changed orders.
async fn shares_of(
    tx: &mut Tx,
    owner: &Tenant,
    changes: &[Change],
    active_shares: i64,
) -> Result<Vec<OrderShare>> {
    let shared = |change: &&Change| {
        active_shares > 0 && is_told_to_partners(change) && !matches!(change.record, Record::Share(_))
    };
    let mut orders: Vec<&OrderNumber> =
        changes.iter().filter(shared).filter_map(|change| change.record.heard_by_partners_of()).collect();
    orders.sort_unstable();
    orders.dedup();
    if orders.is_empty() { Ok(Vec::new()) } else { tx.shares_of_orders(owner, &orders).await }
}

impl Hearing<'_> {
    /// The sequences of the copies, each with its share.
    fn places(&self) -> impl Iterator<Item = (i64, &(&Change, OrderShare))> {
        let count = i64::try_from(self.told.len()).unwrap_or(i64::MAX);
        (self.place.last_sequence - count + 1..).zip(&self.told)
    }

    /// The sequence number of the partner's first event about this share.
    pub(crate) fn place_of(&self, share: &ShareId) -> Option<i64> {
        self.places().find(|(_, (_, told))| told.id == *share).map(|(sequence, _)| sequence)
    }

    /// The copies, in the order of the changes.
    pub(crate) async fn copies(
        &self,
        tx: &mut Tx,
        parcels: &mut Parcels<'_>,
        (cause, now): (&Cause, Timestamp),
        dice: &mut (dyn Rng + Send),
    ) -> Result<Vec<NewEvent>, Refusal> {
        let mut events = Vec::with_capacity(self.told.len());
        for (sequence, (change, share)) in self.places() {
            let shipments = parcels.of(tx, &share.order_number).await?;
            let Some(copy) = PartnerCopy::of(change, share, shipments) else { continue };
            let id = EventId::generate(now, dice);
            let event = NewEvent::render_copy(copy, id, sequence, self.place.created_at)?;
            events.push(event.caused_by(cause));
        }
        Ok(events)
    }

    /// The subscribers of the copies.
    pub(crate) fn take_subscribers(&mut self) -> Vec<Subscriber> {
        std::mem::take(&mut self.place.subscribers)
    }
}

/// The parcels of the owner's orders in a commit, each order's read once.
pub(crate) struct Parcels<'c> {
    owner: &'c Tenant,
    read: BTreeMap<OrderNumber, Vec<Shipment>>,
}

impl<'c> Parcels<'c> {
    pub(crate) fn of_owner(owner: &'c Tenant) -> Self {
        Self { owner, read: BTreeMap::new() }
    }

    async fn of(&mut self, tx: &mut Tx, order: &OrderNumber) -> Result<&[Shipment]> {
        if !self.read.contains_key(order) {
            let parcels = tx.shipments_of_order(self.owner, order).await?;
            self.read.insert(order.clone(), parcels);
        }
        Ok(self.read.get(order).map_or(&[], Vec::as_slice))
    }
}
