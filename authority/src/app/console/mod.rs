//! What only the operator's console needs of the use cases: sessions, search, and reads that gather one page.
//!
//! Everything that a page changes goes through the use cases of the API, with an operator key as the author.

mod authors;
pub mod dev_link;
pub mod explain;
pub mod overview;
pub mod search;
pub mod sessions;
pub mod stories;

pub use authority_store::tx::{FoundDelivery, FoundEndpoint, HourFigures, MatchedName};

use authority_domain::Tenant;

use super::endpoint::merchant::Holder;

/// The endpoints of a merchant as an operator manages them: the platform's own endpoint has the operator as its owner.
#[must_use]
pub fn endpoints_of(owner: &Tenant) -> Holder {
    if owner.is_operator() { Holder::operator() } else { Holder::merchant(owner.clone()) }
}
