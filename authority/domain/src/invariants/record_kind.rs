//! The kinds of records that events tell of.

use verify_core::catalog::EventType;

use crate::text_enum::text_enum;

text_enum! {
    /// The records that events tell of, named as the category of their events.
    RecordKind {
        /// `checkout.*`
        Checkout = "checkout",
        /// `payment.*`
        Payment = "payment",
        /// `order.*`
        Order = "order",
        /// `refund.*`
        Refund = "refund",
        /// `shipment.*`
        Shipment = "shipment",
        /// `subscription.*`
        Subscription = "subscription",
    }
}

impl RecordKind {
    /// The event that makes the record.
    #[must_use]
    pub fn creation(self) -> EventType {
        match self {
            Self::Checkout => EventType::CheckoutCreated,
            Self::Payment => EventType::PaymentCreated,
            Self::Order => EventType::OrderCreated,
            Self::Refund => EventType::RefundRequested,
            Self::Shipment => EventType::ShipmentCreated,
            Self::Subscription => EventType::SubscriptionCreated,
        }
    }

    /// Whether nothing leaves this status (contract 3.1, 3.4 to 3.8).
    #[must_use]
    pub fn is_terminal(self, status: &str) -> bool {
        match self {
            Self::Checkout => matches!(status, "completed" | "expired" | "cancelled"),
            Self::Payment => matches!(status, "failed" | "cancelled" | "refunded"),
            Self::Order => matches!(status, "completed" | "cancelled"),
            Self::Refund => matches!(status, "completed" | "failed"),
            Self::Shipment => matches!(status, "delivered" | "returned" | "cancelled"),
            Self::Subscription => status == "cancelled",
        }
    }
}
