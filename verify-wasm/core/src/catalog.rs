//! The event catalog: the names this contract version issues.
//!
//! The authority emits only these; a receiver accepts any well-formed name (contract 10.3), because a newer
//! authority may know more. So the verifier never consults this list, and `parse` answering `None` means
//! "not ours to emit", not "invalid".

/// The API version every event and delivery carries, a date (`YYYY-MM-DD`).
pub const API_VERSION: &str = "2026-09-01";

/// The version of the SDK contract (contract 17), semantic versioning.
pub const CONTRACT_VERSION: &str = "0.2.0";

macro_rules! event_types {
    ($($variant:ident = $name:literal),* $(,)?) => {
        /// An event name of the catalog.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum EventType {
            $(#[doc = concat!("`", $name, "`")] $variant,)*
        }

        impl EventType {
            /// Every name, in the order of the catalog.
            pub const ALL: [Self; 33] = [$(Self::$variant),*];

            /// The name as it stands in the event's `type`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The catalog entry of this exact name; `None` for a name the catalog does not hold.
            #[must_use]
            pub fn parse(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

event_types! {
    WebhookTest = "webhook.test",
    CheckoutCreated = "checkout.created",
    CheckoutCompleted = "checkout.completed",
    CheckoutExpired = "checkout.expired",
    CheckoutCancelled = "checkout.cancelled",
    CheckoutPaymentFailed = "checkout.payment_failed",
    PaymentCreated = "payment.created",
    PaymentPending = "payment.pending",
    PaymentAuthorized = "payment.authorized",
    PaymentSucceeded = "payment.succeeded",
    PaymentFailed = "payment.failed",
    PaymentCancelled = "payment.cancelled",
    PaymentRefunded = "payment.refunded",
    PaymentPartiallyRefunded = "payment.partially_refunded",
    OrderCreated = "order.created",
    OrderConfirmed = "order.confirmed",
    OrderUpdated = "order.updated",
    OrderCancelled = "order.cancelled",
    OrderFulfilled = "order.fulfilled",
    OrderShipped = "order.shipped",
    OrderDelivered = "order.delivered",
    OrderShared = "order.shared",
    OrderShareRevoked = "order.share_revoked",
    RefundRequested = "refund.requested",
    RefundProcessing = "refund.processing",
    RefundCompleted = "refund.completed",
    RefundFailed = "refund.failed",
    ShipmentCreated = "shipment.created",
    ShipmentUpdated = "shipment.updated",
    ShipmentDelivered = "shipment.delivered",
    SubscriptionCreated = "subscription.created",
    SubscriptionUpdated = "subscription.updated",
    SubscriptionCancelled = "subscription.cancelled",
}

impl EventType {
    /// The part of the name before the dot, as endpoint filters write it (`"<category>.*"`, contract 2.8).
    #[must_use]
    pub fn category(self) -> &'static str {
        let name = self.as_str();
        name.split_once('.').map_or(name, |(category, _)| category)
    }
}

impl core::fmt::Display for EventType {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.as_str())
    }
}
