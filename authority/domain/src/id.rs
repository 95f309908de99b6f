//! Identifiers as types, so that an endpoint's id cannot be passed where an event's is meant (contract 1.1).
//!
//! Generation takes the time and the dice; the text form is made by `verify-core`.

use std::fmt;

use rand_core::Rng;
use serde::{Deserialize, Serialize};

use crate::refusal::{Refusal, Result};
use crate::time::Timestamp;

/// A name in a path, or the refusal of a malformed one, which is given in its turn (contract 4.2 row 13).
pub type Named<T> = Result<T>;

macro_rules! ids {
    ($($(#[doc = $doc:literal])* $name:ident = $prefix:literal, $record:literal;)*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// The letters before the underscore.
            pub const PREFIX: &'static str = $prefix;

            /// A new id made from the time and 80 random bits (UUIDv7).
            pub fn generate(now: Timestamp, dice: &mut dyn Rng) -> Self {
                Self(generate($prefix, now, dice))
            }

            /// The lowest id of this moment: ids that were made before it are lower.
            #[must_use]
            pub fn lowest_at(at: Timestamp) -> Self {
                Self(encode($prefix, at, [0; 10]))
            }

            /// Accepts the issued form only; `None` for anything else, so that a malformed path segment is simply
            /// a record that does not exist.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                verify_core::id::is_issued($prefix, text).then(|| Self(text.to_owned()))
            }

            /// The refusal of a request about a record that is not there.
            #[must_use]
            pub fn missing() -> Refusal {
                Refusal::not_found($record)
            }

            /// Reads an id in a path. A malformed one names no record.
            ///
            /// # Errors
            /// `not_found`.
            pub fn named(text: &str) -> Named<Self> {
                Self::parse(text).ok_or_else(Self::missing)
            }

            /// Takes back an id that this service wrote into its own store.
            #[must_use]
            pub fn from_store(text: String) -> Self {
                Self(text)
            }

            /// The text form.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        #[cfg(feature = "schema")]
        crate::schema::inline_schema!($name, crate::schema::issued_id($prefix));
    )*};
}

fn generate(prefix: &str, now: Timestamp, dice: &mut dyn Rng) -> String {
    let mut random = [0; 10];
    dice.fill_bytes(&mut random);
    encode(prefix, now, random)
}

fn encode(prefix: &str, at: Timestamp, random: [u8; 10]) -> String {
    let ms = u64::try_from(at.as_ms()).unwrap_or(0);
    verify_core::id::encode(prefix, verify_core::id::uuid_v7(ms, random))
}

ids! {
    /// A merchant.
    MerchantId = "mer", "merchant";
    /// An event in one merchant's stream.
    EventId = "evt", "event";
    /// A checkout.
    CheckoutId = "chk", "checkout";
    /// A payment.
    PaymentId = "pay", "payment";
    /// A refund.
    RefundId = "rfd", "refund";
    /// A subscription.
    SubscriptionId = "sub", "subscription";
    /// A shipment.
    ShipmentId = "shp", "shipment";
    /// A line of an order or a checkout.
    LineItemId = "li", "line item";
    /// A webhook endpoint.
    EndpointId = "we", "webhook endpoint";
    /// A delivery: event × endpoint × trigger.
    DeliveryId = "dlv", "delivery";
    /// One attempt of a delivery.
    AttemptId = "att", "attempt";
    /// A checkpoint of a consumer.
    CheckpointId = "ckp", "checkpoint";
    /// A recovery of what an endpoint missed.
    RecoveryId = "rcv", "recovery";
    /// A connection of two merchants.
    ConnectionId = "pcn", "partner connection";
    /// A share: an order that one merchant shows another.
    ShareId = "osh", "order share";
    /// The record of an API key (not the key).
    KeyId = "key", "API key";
    /// A session of the merchant portal, from its link on.
    PortalSessionId = "pts", "portal session";
    /// An alert.
    AlertId = "alt", "open alert";
    /// An audit entry.
    AuditId = "aud", "audit entry";
    /// A request, as `Service-Request-Id` names it.
    RequestId = "req", "request";
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed;
    impl rand_core::TryRng for Fixed {
        type Error = std::convert::Infallible;
        fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
            Ok(7)
        }
        fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
            Ok(7)
        }
        fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
            bytes.fill(7);
            Ok(())
        }
    }

    #[test]
    fn the_lowest_id_of_a_moment_is_between_those_before_and_those_after() {
        let lowest = EventId::lowest_at(Timestamp::from_ms(1_000));
        let [before, then] = [999, 1_000].map(|ms| EventId::generate(Timestamp::from_ms(ms), &mut Fixed));
        assert!(before < lowest && lowest < then);
    }

    #[test]
    fn a_generated_id_parses_as_its_own_kind_only() {
        let id = EventId::generate(Timestamp::from_ms(1_788_264_000_000), &mut Fixed);
        assert_eq!(EventId::parse(id.as_str()), Some(id.clone()));
        assert_eq!(MerchantId::parse(id.as_str()), None);
        assert_eq!(EventId::parse("evt_1"), None);
        assert_eq!(verify_core::id::timestamp_ms(id.as_str()), Some(1_788_264_000_000));
    }
}
