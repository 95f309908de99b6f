//! The merchant API: `/v1/merchant` (contract 4.1). One file per resource.
//!
//! Each handler is its row of the table: the scopes it needs, the parameters it takes, the use case it calls.

mod deliveries;
mod endpoints;
mod events;
mod external_references;
mod fulfillment;
mod integration_health;
mod orders;
mod payments;
mod recoveries;
mod refunds;
mod shipments;
mod subscriptions;
mod sync;

use authority_domain::scope::Scope;
use axum::Router;
use axum::extract::Path;
use axum::extract::rejection::PathRejection;

use super::entry::{Operation, Roots};
use super::list_query::{FEED_ROWS, ROWS, list_request, list_request_within, words};

/// A path segment; one that does not decode is a record that does not exist.
pub(super) type Segment = Result<Path<String>, PathRejection>;

/// The routes of the merchant API.
pub fn routes() -> Router<Roots> {
    let api = Router::new()
        .merge(deliveries::routes())
        .merge(endpoints::routes())
        .merge(events::routes())
        .merge(external_references::routes())
        .merge(fulfillment::routes())
        .merge(integration_health::routes())
        .merge(orders::routes())
        .merge(payments::routes())
        .merge(recoveries::routes())
        .merge(refunds::routes())
        .merge(shipments::routes())
        .merge(subscriptions::routes())
        .merge(sync::routes());
    Router::new().nest("/v1/merchant", api)
}

fn operation(name: &'static str, scopes: &'static [Scope]) -> Operation {
    Operation { name, scopes, policy: None }
}

pub(super) fn parsed<T>(segment: Segment, parse: fn(&str) -> Option<T>) -> Option<T> {
    segment.ok().and_then(|Path(text)| parse(&text))
}
