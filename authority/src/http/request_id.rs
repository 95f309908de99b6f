//! The id of a request: `req_…`, in `Service-Request-Id`, in every problem body and in the log (contract 5.1, 5.4).
//!
//! Always generated here and never taken from the client, so that it identifies one request of this service.

use authority_domain::RequestId;

use crate::clock::Clock;
use crate::dice::Dice;

/// The header that carries it.
pub const SERVICE_REQUEST_ID: http::HeaderName = http::HeaderName::from_static("service-request-id");

/// A new id from the time and 80 random bits; in the extensions of the request while it is handled.
pub fn generate(clock: &dyn Clock, dice: &dyn Dice) -> RequestId {
    let mut random = [0; 10];
    dice.fill(&mut random);
    let now_ms = u64::try_from(clock.now_ms()).unwrap_or_default();
    let id = verify_core::id::encode(RequestId::PREFIX, verify_core::id::uuid_v7(now_ms, random));
    RequestId::from_store(id)
}
