//! A claim of due deliveries, measured in the store itself: the function that the dispatcher calls, undone each
//! time, so that every claim finds the same.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use authority_domain::Timestamp;
use authority_store::hand_off::Lease;
use authority_store::tx::Tx;
use authority_store::{Access, Store, StoreError, StoreUrl};

/// Opens the database of an authority that is not running.
pub async fn store(database_url: &str) -> Store {
    Store::open(&StoreUrl::parse(database_url).unwrap(), Access::Shared).await.unwrap()
}

/// What a claim at this time (Unix milliseconds) takes inside its transaction: of at most 256 deliveries, `each` of one
/// endpoint. It must find so many as are `expected`.
pub async fn claim(store: &Store, at_ms: i64, each: i64, expected: usize) -> Duration {
    let now = Timestamp::from_ms(at_ms);
    let lease = Lease {
        token: "0".repeat(32),
        now,
        until: now.plus_ms(60_000),
        limit: 256,
        max_in_flight: 128,
        wants: BTreeMap::new(),
        each,
        per_merchant: 256,
        merchants: BTreeMap::new(),
        among: None,
    };
    let (measured, took) = std::sync::mpsc::channel();
    let undone: Result<(), StoreError> = store
        .write(move |tx: &mut Tx| {
            Box::pin(async move {
                let begun = Instant::now();
                let leased = tx.delivery_lease_due(&lease).await?;
                measured.send((begun.elapsed(), leased.len())).unwrap();
                Err(StoreError::Broken("undone".to_owned()))
            })
        })
        .await;
    assert!(undone.is_err());
    let (took, leased) = took.recv().unwrap();
    assert_eq!(leased, expected, "deliveries that were due were not claimed");
    took
}
