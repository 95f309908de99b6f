//! Orders: ingested, read, changed, fulfilled (contract 3.1, 3.3, 4.1, 4.6, 4.13, 6.2).

pub mod changes;
pub mod external_references;
pub mod fulfillment;
pub mod ingest;
pub mod read;

use authority_domain::{Named, OrderNumber, Tenant};
use authority_store::tx::FirstRead;

/// What a request about an order reads first.
pub(in crate::app) fn first_read(tenant: Option<&Tenant>, number: &Named<OrderNumber>) -> Option<FirstRead> {
    Some(FirstRead::Order(tenant?.clone(), number.as_ref().ok()?.clone()))
}
