//! Where pages are. Ids come from the service's own store or from a path that was parsed; they are encoded all the
//! same.

use authority_domain::tenant::Tenant;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::ROOT;

/// What stands unencoded in a segment or in a value of a query.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A segment of a path, or a value of a query.
pub(super) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, PLAIN).to_string()
}

/// `live` or `test`.
pub(super) fn mode(livemode: bool) -> &'static str {
    if livemode { "live" } else { "test" }
}

/// The page of an order.
pub(super) fn order(tenant: &Tenant, number: &str) -> String {
    let (merchant, mode) = (encoded(tenant.merchant_id.as_str()), mode(tenant.livemode));
    format!("{ROOT}/orders/{merchant}/{mode}/{}", encoded(number))
}

/// The page of a record below `room`, such as `events`.
pub(super) fn record(room: &str, id: &str) -> String {
    format!("{ROOT}/{room}/{}", encoded(id))
}

/// The page of a record, found by its id alone: that of its kind, or the search.
pub(super) fn anything(id: &str) -> String {
    let room = match id.split_once('_').map(|(prefix, _)| prefix) {
        Some("evt") => "events",
        Some("dlv") => "deliveries",
        Some("we") => "endpoints",
        Some("mer") => "merchants",
        Some("pay" | "rfd" | "shp" | "sub" | "chk") => "records",
        _ => return format!("{ROOT}/search?q={}", encoded(id)),
    };
    record(room, id)
}
