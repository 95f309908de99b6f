//! The result of a transition: versions of records, each with the one event that reports it.
//!
//! The store writes rows and events from the same list, so that no record can change without its event and no event
//! can exist without its change (I10). The list is in the causal order of contract 3.9; a record that changes twice
//! in one transaction is in the list twice, and its row gets the last version.

use serde::Serialize;
use verify_core::catalog::EventType;

use crate::checkout::Checkout;
use crate::id::EndpointId;
use crate::order::Order;
use crate::order_number::OrderNumber;
use crate::partner::order_view::SharedOrder;
use crate::partner::share::OrderShare;
use crate::payment::Payment;
use crate::refund::Refund;
use crate::shipment::Shipment;
use crate::subscription::AnchoredSubscription;

/// One version of one record, and its event.
#[derive(Clone, Debug)]
pub struct Change {
    /// What happened.
    pub event_type: EventType,
    /// The record as it is after the change; the event's `data.object`.
    pub record: Record,
}

/// A record that events tell of.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Record {
    /// `checkout.*`
    Checkout(Box<Checkout>),
    /// `payment.*`
    Payment(Box<Payment>),
    /// `order.*`
    Order(Box<Order>),
    /// `order.shared`, `order.share_revoked`
    Share(Box<Sharing>),
    /// `refund.*`
    Refund(Box<Refund>),
    /// `shipment.*`
    Shipment(Box<Shipment>),
    /// `subscription.*`
    Subscription(Box<AnchoredSubscription>),
    /// `webhook.test`
    WebhookTest(WebhookTest),
}

/// A share that was made or taken back. The order is told with it and does not change (contract 3, rule 2).
#[derive(Clone, Debug)]
pub struct Sharing {
    /// The share as it is now.
    pub share: OrderShare,
    /// The order as it is.
    pub order: Order,
    /// What of it the partner is told.
    pub shown: SharedOrderView,
}

/// What the partner's copy of a share's event shows of the order.
#[derive(Clone, Debug)]
pub enum SharedOrderView {
    /// The order as it is.
    Present,
    /// What the partner saw last: the order changed between the end of the connection and this event.
    Last(Box<SharedOrder>),
    /// Nothing can be shown, so there is no copy.
    Nothing,
}

impl Serialize for Sharing {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.order.serialize(serializer)
    }
}

/// The test of a webhook endpoint (contract 3.10); it exists nowhere but in its event.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "object", rename = "webhook_test")]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(transform = crate::schema::members!("message": Text(200)))
)]
pub struct WebhookTest {
    /// The endpoint that is tested.
    pub endpoint_id: EndpointId,
    /// A text of the caller's choice, at most 200 characters.
    pub message: Option<String>,
    /// The key that asked.
    pub requested_by: String,
}

/// Declares what makes a change of a record's new version: the function, the record, its kind.
macro_rules! versions {
    ($($name:ident, $record:ty, $kind:ident;)+) => {
        impl Change {$(
            /// A new version of the record.
            #[must_use]
            pub fn $name(event_type: EventType, record: &$record) -> Self {
                Self { event_type, record: Record::$kind(Box::new(record.clone())) }
            }
        )+}
    };
}

versions! {
    checkout, Checkout, Checkout;
    payment, Payment, Payment;
    order, Order, Order;
    refund, Refund, Refund;
    subscription, AnchoredSubscription, Subscription;
    shipment, Shipment, Shipment;
}

impl Change {
    /// A new version of a share.
    #[must_use]
    pub fn share(event_type: EventType, sharing: Sharing) -> Self {
        Self { event_type, record: Record::Share(Box::new(sharing)) }
    }
}

impl Record {
    /// The canonical version, where the record has one.
    #[must_use]
    pub fn resource_version(&self) -> Option<i64> {
        match self {
            Self::Checkout(record) => Some(record.resource_version),
            Self::Payment(record) => Some(record.resource_version),
            Self::Order(record) => Some(record.resource_version),
            Self::Share(sharing) => Some(sharing.order.resource_version),
            Self::Refund(record) => Some(record.resource_version),
            Self::Shipment(record) => Some(record.resource_version),
            Self::Subscription(ongoing) => Some(ongoing.record.resource_version),
            Self::WebhookTest(_) => None,
        }
    }

    /// The record's own identifier, by which `GET /events?resource=` finds its events.
    #[must_use]
    pub fn resource_id(&self) -> &str {
        match self {
            Self::Checkout(record) => record.id.as_str(),
            Self::Payment(record) => record.id.as_str(),
            Self::Order(record) => record.order_number.as_str(),
            Self::Share(sharing) => sharing.order.order_number.as_str(),
            Self::Refund(record) => record.id.as_str(),
            Self::Shipment(record) => record.id.as_str(),
            Self::Subscription(ongoing) => ongoing.record.id.as_str(),
            Self::WebhookTest(record) => record.endpoint_id.as_str(),
        }
    }

    /// The order whose partners get a copy, when the order is shared: for an order's own events and those of its
    /// parcels.
    #[must_use]
    pub fn heard_by_partners_of(&self) -> Option<&OrderNumber> {
        match self {
            Self::Order(order) => Some(&order.order_number),
            Self::Shipment(shipment) => Some(&shipment.order_number),
            Self::Share(sharing) => Some(&sharing.order.order_number),
            Self::Checkout(_)
            | Self::Payment(_)
            | Self::Refund(_)
            | Self::Subscription(_)
            | Self::WebhookTest(_) => None,
        }
    }

    /// `links.resource` (contract 3.10); a checkout is not readable through the Merchant API and has none.
    #[must_use]
    pub fn link(&self) -> Option<String> {
        let collection = match self {
            Self::Checkout(_) => return None,
            Self::Payment(_) => "payments",
            Self::Order(_) | Self::Share(_) => "orders",
            Self::Refund(_) => "refunds",
            Self::Shipment(_) => "shipments",
            Self::Subscription(_) => "subscriptions",
            Self::WebhookTest(_) => "webhook-endpoints",
        };
        Some(format!("/v1/merchant/{collection}/{}", self.resource_id()))
    }
}
