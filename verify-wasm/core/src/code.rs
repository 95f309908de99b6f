//! The fifteen answers of a failed verification (contract 10.2).
//!
//! The order of the variants is the precedence: when several conditions hold, the earliest is the answer.
//! A code is all that a failure reveals; no expected digest, no length of a secret goes with it.

use core::fmt;

macro_rules! verification_codes {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal => $status:literal),* $(,)?) => {
        /// Why a delivery was not accepted. Ordered by precedence: the smaller code wins.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum VerificationCode {
            $($(#[doc = $doc])* $variant,)*
        }

        impl VerificationCode {
            /// Every code in the order of precedence.
            pub const ALL: [Self; 15] = [$(Self::$variant),*];

            /// The code as it is written to logs, answers and JavaScript.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The HTTP status a receiver answers with (contract 11.1).
            #[must_use]
            pub const fn http_status(self) -> u16 {
                match self { $(Self::$variant => $status,)* }
            }

            /// What the code means, for people.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc),*).trim_ascii(),)* }
            }

            /// The code of this exact name.
            #[must_use]
            #[expect(clippy::should_implement_trait, reason = "an unknown name is no error here: `None`")]
            pub fn from_str(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

verification_codes! {
    /// The body is absent or has no bytes.
    MissingBody = "missing_body" => 400,
    /// No secret is configured, or a configured one is unusable (contract 10.5).
    InvalidSecret = "invalid_secret" => 503,
    /// `Service-Timestamp` (or `webhook-timestamp`) is absent or not exactly ten ASCII digits.
    InvalidTimestamp = "invalid_timestamp" => 400,
    /// The timestamp is further from `now` than the tolerance, in either direction.
    StaleTimestamp = "stale_timestamp" => 401,
    /// `Service-Signature` (or `webhook-signature`) is absent or blank.
    MissingSignature = "missing_signature" => 401,
    /// No `v1=` (or `v1,`) candidate equals an expected digest, or the header is too long.
    InvalidSignature = "invalid_signature" => 401,
    /// The body is not one JSON text under the rules of contract 10.4.
    InvalidJson = "invalid_json" => 400,
    /// The root is no object, a name repeats in an interpreted object, or an optional member has a wrong type.
    InvalidPayload = "invalid_payload" => 400,
    /// The member `id` is absent or breaks its rule (contract 10.3, as for the members below).
    InvalidEventId = "invalid_event_id" => 400,
    /// The member `type` is absent or breaks its rule.
    InvalidEventType = "invalid_event_type" => 400,
    /// The member `api_version` is absent or no real date.
    InvalidApiVersion = "invalid_api_version" => 400,
    /// The member `created_at` is absent or no real time in the one accepted form.
    InvalidCreatedAt = "invalid_created_at" => 400,
    /// The member `merchant` is absent or breaks its rule.
    InvalidMerchant = "invalid_merchant" => 400,
    /// The member `data` is absent or holds no object `object`.
    InvalidData = "invalid_data" => 400,
    /// `Service-Event-Id` (or `webhook-id`) is absent or differs from the body's `id`.
    EventIdMismatch = "event_id_mismatch" => 400,
}

impl fmt::Display for VerificationCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl core::error::Error for VerificationCode {}
