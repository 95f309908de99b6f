//! The partners' own copies of the events of an order and its parcels (contract 3.10).
//!
//! While a share is active, its partner gets a copy of each of these events in the transaction that makes the event,
//! in its own stream and under an id of its own. The copy shows what the partner may see, and links to the partner
//! order. A copy is made even if nothing that the partner sees has changed, so that the partner also finds every
//! version of the order.

use serde::Serialize;
use verify_core::catalog::EventType;

use crate::event::change::{Change, Record, SharedOrderView};
use crate::partner::order_view::{SharedOrder, SharedShipment};
use crate::partner::share::OrderShare;
use crate::shipment::Shipment;

/// Whether partners get copies of events of this type. Not of `order.created`: a shared order already exists.
#[must_use]
pub fn is_copied(event_type: EventType) -> bool {
    use EventType as E;
    matches!(
        event_type,
        E::OrderShared
            | E::OrderConfirmed
            | E::OrderUpdated
            | E::OrderCancelled
            | E::OrderFulfilled
            | E::OrderShipped
            | E::OrderDelivered
            | E::ShipmentCreated
            | E::ShipmentUpdated
            | E::ShipmentDelivered
            | E::OrderShareRevoked
    )
}

/// Whether the partners of its order, if any, get a copy of this change. One exception: the end of a share of which
/// nothing can be shown any more.
#[must_use]
pub fn is_told_to_partners(change: &Change) -> bool {
    let shown = match &change.record {
        Record::Share(sharing) => !matches!(sharing.shown, SharedOrderView::Nothing),
        record => record.heard_by_partners_of().is_some(),
    };
    shown && is_copied(change.event_type)
}

/// What a copy has as `data.object`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum CopiedObject {
    /// Of an order's event.
    Order(Box<SharedOrder>),
    /// Of a parcel's event.
    Shipment(Box<SharedShipment>),
}

impl CopiedObject {
    /// The version of what is shown.
    #[must_use]
    pub fn resource_version(&self) -> i64 {
        match self {
            Self::Order(order) => order.resource_version,
            Self::Shipment(shipment) => shipment.resource_version,
        }
    }

    /// Leaves out the older half of the parcels. False when there was nothing to leave out.
    pub(crate) fn leave_out_older_half(&mut self) -> bool {
        let Self::Order(order) = self else { return false };
        let older = order.shipments.len().div_ceil(2);
        order.shipments.drain(..older);
        older > 0
    }
}

/// One event of an order, for one partner.
#[derive(Clone, Debug)]
pub struct PartnerCopy<'s> {
    /// What happened.
    pub event_type: EventType,
    /// The share through which the partner gets it.
    pub share: &'s OrderShare,
    /// What the partner is shown.
    pub object: CopiedObject,
}

impl<'s> PartnerCopy<'s> {
    /// The copy of `change` for the partner of `share`, when there is one. `shipments` are the order's parcels as they
    /// are after the change, oldest first.
    #[must_use]
    pub fn of(change: &Change, share: &'s OrderShare, shipments: &[Shipment]) -> Option<Self> {
        if !is_told_to_partners(change) {
            return None;
        }
        let present = |order| CopiedObject::Order(Box::new(SharedOrder::of(order, shipments, share)));
        let object = match &change.record {
            Record::Order(order) => present(order),
            Record::Shipment(shipment) => CopiedObject::Shipment(Box::new(SharedShipment::of(shipment))),
            Record::Share(sharing) => match &sharing.shown {
                SharedOrderView::Present => present(&sharing.order),
                SharedOrderView::Last(order) => CopiedObject::Order(order.clone()),
                SharedOrderView::Nothing => return None,
            },
            _ => return None,
        };
        Some(Self { event_type: change.event_type, share, object })
    }

    /// Whether the event is about the share itself and says how the order is shared.
    #[must_use]
    pub fn tells_share(&self) -> bool {
        matches!(self.event_type, EventType::OrderShared | EventType::OrderShareRevoked)
    }
}
