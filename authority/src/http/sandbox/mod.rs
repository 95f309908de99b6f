//! The sandbox: `/v1/sandbox`, beside the merchant API (contract 6.3). Only for test keys; any scope suffices.
//!
//! A merchant's developer plays the platform, the processor and the carrier here. Checks, idempotency, rates and
//! errors are those of the merchant API; the rules are those of the operator API, whose functions the use cases
//! call.

mod advance;
mod checkouts;
mod clock;
mod orders;
mod seed;

use super::routes;
use crate::app::Caller;

/// Routes of the sandbox.
type Routes = routes::Routes<Caller>;

/// The routes of the sandbox.
pub fn routes() -> Routes {
    Routes::new()
        .merge(advance::routes())
        .merge(checkouts::routes())
        .merge(clock::routes())
        .merge(orders::routes())
        .merge(seed::routes())
        .below("/v1/sandbox")
}
