//! Where the console's pages are.

use authority_domain::{MerchantId, Mode, Tenant};

use crate::app::live::Watched;
use crate::pages::Site;
use crate::pages::links::Links;
pub(super) use crate::pages::links::{encoded, mode};
use crate::pages::view::Cell;

/// The console.
pub(super) static CONSOLE: Site = Site { name: "Console", links: LINKS, search: true, api: "operator" };

/// Its pages.
pub(super) const LINKS: Links = Links {
    root: "/console",
    rooms: &[
        ("evt", "events"),
        ("dlv", "deliveries"),
        ("we", "endpoints"),
        ("mer", "merchants"),
        ("pay", "records"),
        ("rfd", "records"),
        ("shp", "records"),
        ("sub", "records"),
        ("chk", "records"),
    ],
    otherwise: Some("/search?q="),
};

/// The page of an order.
pub(super) fn order(tenant: &Tenant, number: &str) -> String {
    let (merchant, mode) = (encoded(tenant.merchant_id.as_str()), mode(tenant.livemode));
    format!("{}/orders/{merchant}/{mode}/{}", LINKS.root, encoded(number))
}

/// The page of a record below `room`, such as `events`.
pub(super) fn record(room: &str, id: &str) -> String {
    LINKS.record(room, id)
}

/// The page of a record, found by its id alone: that of its kind, or the search.
pub(super) fn anything(id: &str) -> String {
    LINKS.anything(id).unwrap_or_default()
}

/// The stream of changes to everything, or to what is an owner's.
pub(super) fn live(owner: Option<&Tenant>) -> String {
    let root = LINKS.root;
    owner.map_or(format!("{root}/live"), |owner| {
        format!("{root}/live?of={}&mode={}", encoded(owner.merchant_id.as_str()), mode(owner.livemode))
    })
}

/// What such a stream is about.
pub(super) fn watched(of: &str, mode: &str) -> Option<Watched> {
    if of.is_empty() {
        return Some(Watched::Platform);
    }
    let operator = Tenant::operator();
    if of == operator.merchant_id.as_str() {
        return Some(Watched::Merchant(operator));
    }
    let (merchant_id, mode) = (MerchantId::parse(of)?, Mode::parse(mode)?);
    Some(Watched::MerchantForOperator(Tenant { merchant_id, livemode: mode == Mode::Live }))
}

/// An id that leads to its record.
pub(super) fn id(id: impl ToString) -> Cell {
    LINKS.id(id)
}
