//! Clients that hang up at any moment: what they asked for happens once or not at all, and nobody else's work is
//! touched (contract 12 T10).
//!
//! Database work that ran inside the future of a request would be cut off half way when its client goes: a connection
//! would stay inside an open transaction, and later writes that were answered would never be seen.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use http::Method;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use tests::{Api, Merchant, checkout_body, sequences, text};

const SEED: u64 = 7;
const WRITES: usize = 300;
const CLIENTS: usize = 16;

/// Asks again and again, with less and less haste, until it is answered. Whoever hangs up closes the connection.
async fn impatient(merchant: &Merchant, api: &Api, write: usize) -> (String, usize) {
    let mut dice = StdRng::seed_from_u64(SEED + write as u64);
    let path = merchant.platform_path("checkouts");
    for hangups in 0.. {
        let call = api
            .call(Method::POST, &path)
            .json(&checkout_body())
            .header("idempotency-key", &format!("write-{write}"));
        let patience = Duration::from_micros(dice.random_range(0..2_000_u64 << hangups));
        if let Ok(reply) = tokio::time::timeout(patience, call.send()).await {
            return (text(&reply.expect(201), "id"), hangups);
        }
    }
    unreachable!("patience doubles")
}

#[tokio::test]
async fn a_client_that_hangs_up_takes_nothing_with_it() {
    let (authority, merchant) = Merchant::alone("impatient").await;
    let patient = Merchant::create(&authority, "patient").await;
    let hurried = stream::iter(0..WRITES)
        .map(|write| impatient(&merchant, &merchant.operator, write))
        .buffer_unordered(CLIENTS)
        .collect::<Vec<_>>();
    let steady = stream::iter(0..WRITES / 4)
        .map(async |_| text(&patient.checkout().await, "id"))
        .buffer_unordered(2)
        .collect::<BTreeSet<_>>();
    let (hurried, steady) = tokio::join!(hurried, steady);
    let hangups: usize = hurried.iter().map(|(_, hangups)| hangups).sum();
    assert!(hangups > WRITES, "only {hangups} hang-ups");
    println!("{WRITES} writes, {hangups} hang-ups");

    let hurried: BTreeSet<_> = hurried.into_iter().map(|(id, _)| id).collect();
    for (merchant, answered, count) in [(merchant, hurried, WRITES), (patient, steady, WRITES / 4)] {
        let events = merchant.events().await;
        assert_eq!(sequences(&events), (1..=count as u64).collect::<Vec<_>>());
        let made: BTreeSet<_> = events.iter().map(|event| text(&event["data"]["object"], "id")).collect();
        assert_eq!(made, answered);
    }
}
