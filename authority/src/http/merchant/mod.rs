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

use axum::extract::Path;
use axum::extract::rejection::PathRejection;

use super::list_query::{FEED_ROWS, ROWS, list_request, list_request_within, words};
use super::routes::Routes;

/// A path segment; one that does not decode means that the record does not exist.
pub(super) type Segment = Result<Path<String>, PathRejection>;

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

pub(super) fn parsed<T>(segment: Segment, parse: fn(&str) -> Option<T>) -> Option<T> {
    segment.ok().and_then(|Path(text)| parse(&text))
}
