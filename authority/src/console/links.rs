//! Where the console's pages are.

use authority_domain::tenant::Tenant;

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

/// An id that leads to its record.
pub(super) fn id(id: impl ToString) -> Cell {
    LINKS.id(id)
}
