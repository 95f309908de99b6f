//! Which record each event of the catalog tells of, and what it says: the one place (contract 3.10).

use authority_domain::event::change::WebhookTest;
use authority_domain::event::partner_copy::is_copied;
use authority_domain::partner::order_view::SharedOrder;
use authority_domain::subscription::Subscription;
use authority_domain::{Checkout, Order, Payment, Refund, Shipment};
use schemars::{Schema, SchemaGenerator};
use verify_core::EventType;

/// What `data.object` of an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A checkout; the one record that merchants cannot read, so its events have no link.
    Checkout,
    /// A payment.
    Payment,
    /// An order.
    Order,
    /// An order that is shared with a partner; `data.share` says how. The partner's copy has what the partner sees.
    SharedOrder,
    /// A refund.
    Refund,
    /// A shipment.
    Shipment,
    /// A subscription.
    Subscription,
    /// The test of an endpoint, which has no versions.
    WebhookTest,
}

impl Subject {
    /// Every subject, in the order in which the catalog names them.
    pub const ALL: [Self; 8] = [
        Self::WebhookTest,
        Self::Checkout,
        Self::Payment,
        Self::Order,
        Self::SharedOrder,
        Self::Refund,
        Self::Shipment,
        Self::Subscription,
    ];

    /// Its schema, by reference.
    pub(crate) fn schema(self, generator: &mut SchemaGenerator) -> Schema {
        match self {
            Self::Checkout => generator.subschema_for::<Checkout>(),
            Self::Payment => generator.subschema_for::<Payment>(),
            Self::Order => generator.subschema_for::<Order>(),
            Self::SharedOrder => generator.subschema_for::<SharedOrder>(),
            Self::Refund => generator.subschema_for::<Refund>(),
            Self::Shipment => generator.subschema_for::<Shipment>(),
            Self::Subscription => generator.subschema_for::<Subscription>(),
            Self::WebhookTest => generator.subschema_for::<WebhookTest>(),
        }
    }

    /// The name of its definition.
    #[must_use]
    pub fn definition(self) -> &'static str {
        match self {
            Self::Checkout => "Checkout",
            Self::Payment => "Payment",
            Self::Order => "Order",
            Self::SharedOrder => "SharedOrder",
            Self::Refund => "Refund",
            Self::Shipment => "Shipment",
            Self::Subscription => "Subscription",
            Self::WebhookTest => "WebhookTest",
        }
    }

    /// Whether its events have `resource_version` (contract 2.10).
    #[must_use]
    pub fn has_versions(self) -> bool {
        self != Self::WebhookTest
    }

    /// Whether its events have `links` (contract 3.10).
    #[must_use]
    pub fn has_links(self) -> bool {
        self != Self::Checkout
    }
}

/// What the event tells of.
#[must_use]
pub fn subject(event_type: EventType) -> Subject {
    use EventType as E;
    match event_type {
        E::WebhookTest => Subject::WebhookTest,
        E::CheckoutCreated
        | E::CheckoutCompleted
        | E::CheckoutExpired
        | E::CheckoutCancelled
        | E::CheckoutPaymentFailed => Subject::Checkout,
        E::PaymentCreated
        | E::PaymentPending
        | E::PaymentAuthorized
        | E::PaymentSucceeded
        | E::PaymentFailed
        | E::PaymentCancelled
        | E::PaymentRefunded
        | E::PaymentPartiallyRefunded => Subject::Payment,
        E::OrderCreated
        | E::OrderConfirmed
        | E::OrderUpdated
        | E::OrderCancelled
        | E::OrderFulfilled
        | E::OrderShipped
        | E::OrderDelivered => Subject::Order,
        E::OrderShared | E::OrderShareRevoked => Subject::SharedOrder,
        E::RefundRequested | E::RefundProcessing | E::RefundCompleted | E::RefundFailed => Subject::Refund,
        E::ShipmentCreated | E::ShipmentUpdated | E::ShipmentDelivered => Subject::Shipment,
        E::SubscriptionCreated | E::SubscriptionUpdated | E::SubscriptionCancelled => Subject::Subscription,
    }
}

/// The definition of what a partner's copy of the event shows; `None` where partners get no copy.
#[must_use]
pub fn seen_by_partner(event_type: EventType) -> Option<&'static str> {
    match subject(event_type) {
        _ if !is_copied(event_type) => None,
        Subject::Order | Subject::SharedOrder => Some("SharedOrder"),
        Subject::Shipment => Some("SharedShipment"),
        _ => None,
    }
}

/// What the event says, for people.
#[must_use]
pub fn meaning(event_type: EventType) -> &'static str {
    use EventType as E;
    match event_type {
        E::WebhookTest => "Somebody tests a webhook endpoint.",
        E::CheckoutCreated => "A checkout was opened.",
        E::CheckoutCompleted => "A checkout became an order.",
        E::CheckoutExpired => "A checkout ran out of time.",
        E::CheckoutCancelled => "A checkout was given up.",
        E::CheckoutPaymentFailed => "A payment of a checkout failed; the checkout stays open.",
        E::PaymentCreated => "A payment was asked for.",
        E::PaymentPending => "A payment by an asynchronous method was accepted; the money is on its way.",
        E::PaymentAuthorized => "Money was reserved.",
        E::PaymentSucceeded => "Money was captured.",
        E::PaymentFailed => "A payment was declined or broken off.",
        E::PaymentCancelled => "A payment was given up, or its authorization ran out.",
        E::PaymentRefunded => "All that a payment captured went back.",
        E::PaymentPartiallyRefunded => "A part of what a payment captured went back.",
        E::OrderCreated => "An order exists; it is not to be acted on before it is confirmed.",
        E::OrderConfirmed => "An order is to be fulfilled.",
        E::OrderUpdated => "An order changed without reaching a milestone.",
        E::OrderCancelled => "An order was cancelled.",
        E::OrderFulfilled => "All of an order is prepared.",
        E::OrderShipped => "All of an order that ships is with the carrier.",
        E::OrderDelivered => "All of an order that ships has arrived.",
        E::OrderShared => "An order was shared with a partner.",
        E::OrderShareRevoked => "An order is not shared with a partner any more.",
        E::RefundRequested => "A refund was asked for; the money is reserved.",
        E::RefundProcessing => "A refund is with the processor.",
        E::RefundCompleted => "The money of a refund went back.",
        E::RefundFailed => "A refund failed; the reserved money is released.",
        E::ShipmentCreated => "A parcel was handed to the carrier.",
        E::ShipmentUpdated => "A parcel moved on, or what is known of it changed.",
        E::ShipmentDelivered => "A parcel arrived.",
        E::SubscriptionCreated => "A subscription was made.",
        E::SubscriptionUpdated => "A subscription changed, or its next period began.",
        E::SubscriptionCancelled => "A subscription ended.",
    }
}
