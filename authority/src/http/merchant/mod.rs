//! The merchant API: `/v1/merchant` (contract 4.1). One file per resource.
//!
//! Each handler is its row of the table: the scopes it needs, the parameters it takes, the use case it calls.

mod endpoints;
mod events;
mod fulfillment;
mod orders;
mod payments;
mod shipments;

use authority_domain::scope::Scope;
use axum::Router;
use axum::extract::Path;
use axum::extract::rejection::PathRejection;

use super::entry::{Operation, Roots};
use super::list_query::{FEED_ROWS, ROWS, list_request, words};

/// A path segment; one that does not decode is a record that does not exist.
type Segment = Result<Path<String>, PathRejection>;

/// The routes of the merchant API.
pub fn routes() -> Router<Roots> {
    let api = Router::new()
        .merge(endpoints::routes())
        .merge(events::routes())
        .merge(fulfillment::routes())
        .merge(orders::routes())
        .merge(payments::routes())
        .merge(shipments::routes());
    Router::new().nest("/v1/merchant", api)
}

fn operation(name: &'static str, scopes: &'static [Scope]) -> Operation {
    Operation { name, scopes, policy: None }
}

fn parsed<T>(segment: Segment, parse: fn(&str) -> Option<T>) -> Option<T> {
    segment.ok().and_then(|Path(text)| parse(&text))
}

/// The parameters that all lists share; to be called after the list's own filters were read.
fn list_request(mut query: Query, rows: u16) -> Result<ListRequest, Refusal> {
    let limit = query.limit(rows)?;
    let cursor = query.cursor();
    Ok(ListRequest { limit, cursor, filter: query.finish()?.as_str().to_owned() })
}

/// The same for a list under another record, to which its cursors are bound as well.
fn list_request_within(mut query: Query, rows: u16, parent: &str) -> Result<ListRequest, Refusal> {
    let limit = query.limit(rows)?;
    let cursor = query.cursor();
    Ok(ListRequest { limit, cursor, filter: query.finish()?.within(parent) })
}

fn words<E: TextEnum>(query: &mut Query, name: &'static str) -> Result<Vec<String>, Refusal> {
    Ok(query.list::<E>(name)?.iter().map(|value| value.as_str().to_owned()).collect())
}
