//! A3: every code of contract 5.2 that today's operations can give: the status, the media type, the facts and headers
//! that belong to it, and that the refused request had no effect.

mod limits;
mod money;
mod partners;
mod state;
mod unreadable;
mod who;

use std::collections::BTreeSet;

use authority_domain::ErrorCode;
use http::Method;
use tests::{Api, Call, Database, Shop, on_every_database};

on_every_database!(a03_every_code_that_a_request_can_get);

/// Codes that no request can get today, and why.
const OUT_OF_REACH: [(&str, &[&str]); 3] = [
    (
        "writes wait for one another, so that a second request with a key sees the end of the first",
        &["idempotency_key_in_use"],
    ),
    ("a fault of the service or its disk, not of a request", &["internal_error", "service_unavailable"]),
    ("of the transport, and tested at the door", &["invalid_request", "not_implemented", "request_timeout"]),
];

async fn a03_every_code_that_a_request_can_get(database: Database) {
    let mut shop = Shop::open(database, &[]).await;
    unreadable::targets_and_headers(&mut shop).await;
    unreadable::bodies(&mut shop).await;
    who::credentials(&mut shop).await;
    who::absent(&mut shop).await;
    who::merchants(&mut shop).await;
    money::refunds(&mut shop).await;
    money::endpoints(&mut shop).await;
    money::forgotten_history(&mut shop).await;
    state::conflicts(&mut shop).await;
    state::copies(&mut shop).await;
    state::wrong_members(&mut shop).await;
    state::strict_merchants(&mut shop).await;
    state::reports(&mut shop).await;
    partners::conflicts(&mut shop).await;
    let mut provoked = shop.provoked().clone();
    provoked.extend(limits::too_often(database).await);

    let out_of_reach = OUT_OF_REACH.iter().flat_map(|(_, codes)| codes.iter().map(|code| (*code).to_owned()));
    let out_of_reach: BTreeSet<String> = out_of_reach.collect();
    assert!(provoked.is_disjoint(&out_of_reach), "within reach after all");
    let all: BTreeSet<String> = ErrorCode::ALL.iter().map(|code| code.as_str().to_owned()).collect();
    assert_eq!(&provoked | &out_of_reach, all);
}

fn get(api: &Api, path: &str) -> Call {
    api.call(Method::GET, path)
}
