//! The id of a request: `req_…`, in `Service-Request-Id`, in every problem body and in the log (contract 5.1, 5.4).
//!
//! Always generated here and never taken from the client, so that it identifies one request of this service.

use crate::clock::Clock;
use crate::dice::Dice;

/// The header that carries it.
pub const SERVICE_REQUEST_ID: http::HeaderName = http::HeaderName::from_static("service-request-id");

/// The id of one request; in the extensions of the request while it is handled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId(String);

impl RequestId {
    /// A new id from the time and 80 random bits.
    pub fn generate(clock: &dyn Clock, dice: &dyn Dice) -> Self {
        let mut random = [0; 10];
        dice.fill(&mut random);
        let now_ms = u64::try_from(clock.now_ms()).unwrap_or_default();
        Self(verify_core::id::encode("req", verify_core::id::uuid_v7(now_ms, random)))
    }

    /// The text form.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for RequestId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
