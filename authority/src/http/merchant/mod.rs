//! The merchant API: `/v1/merchant` (contract 4.1). One file per resource.
//!
//! A file declares its operations, each a row of the contract's table, and the handlers that read their parameters
//! and call the use cases.

mod deliveries;
mod endpoints;
mod events;
mod integration_health;
mod order_shares;
mod orders;
mod partner_connections;
mod payments;
mod recoveries;
mod refunds;
mod shipments;
mod subscriptions;
mod sync;

use super::routes;
use crate::app::Caller;

/// Routes of the merchant API.
type Routes = routes::Routes<Caller>;

/// The routes of the merchant API. The OpenAPI document numbers the refusals in this order.
pub fn routes() -> Routes {
    Routes::new()
        .merge(deliveries::routes())
        .merge(endpoints::routes())
        .merge(events::routes())
        .merge(orders::routes())
        .merge(integration_health::routes())
        .merge(order_shares::routes())
        .merge(partner_connections::routes())
        .merge(payments::routes())
        .merge(recoveries::routes())
        .merge(refunds::routes())
        .merge(shipments::routes())
        .merge(subscriptions::routes())
        .merge(sync::routes())
        .below("/v1/merchant")
}
