//! The merchant API: `/v1/merchant` (contract 4.1). One file per resource.
//!
//! A file declares its operations, each a row of the contract's table, and the handlers that read their parameters
//! and call the use cases.

mod deliveries;
mod endpoints;
mod events;
mod external_references;
mod fulfillment;
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

use super::routes::Routes;

/// The routes of the merchant API.
pub fn routes() -> Routes {
    Routes::new()
        .merge(deliveries::routes())
        .merge(endpoints::routes())
        .merge(events::routes())
        .merge(external_references::routes())
        .merge(fulfillment::routes())
        .merge(integration_health::routes())
        .merge(order_shares::routes())
        .merge(orders::routes())
        .merge(partner_connections::routes())
        .merge(payments::routes())
        .merge(recoveries::routes())
        .merge(refunds::routes())
        .merge(shipments::routes())
        .merge(subscriptions::routes())
        .merge(sync::routes())
        .below("/v1/merchant")
}
