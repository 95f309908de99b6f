//! What the dispatcher's look for due deliveries takes in the store, on both databases in turns and without a service.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use authority_domain::time::Timestamp;
use authority_store::tx::{Lease, Tx};
use authority_store::{Access, Store, StoreError, StoreUrl};
use bench_kit::figures::median;
use tests::authority::Authority;
use tests::clock::now_ms;

use crate::fill::{DUE_AFTER_MS, WAITING};
use crate::side::Side;

/// Claims on each database.
const CLAIMS: usize = 100;
/// Deliveries that a claim takes.
const TAKEN: usize = 256;

/// Medians in µs of a claim and of a look that finds nothing due, on the larger database and on the smaller one.
pub(crate) struct Claims {
    pub(crate) claim: [f64; 2],
    pub(crate) nothing_due: [f64; 2],
}

pub(crate) async fn measure(sides: &[Side; 2]) -> Claims {
    let stores = [store(&sides[0].authority).await, store(&sides[1].authority).await];
    let (mut claims, mut looks) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    let (now, later) = (now_ms(), now_ms() + 2 * DUE_AFTER_MS);
    for round in 0..=CLAIMS {
        for (place, (side, store)) in sides.iter().zip(&stores).enumerate() {
            let expected = TAKEN.min(usize::try_from(WAITING.min(side.shop.merchants)).unwrap());
            let took = claim(store, later, expected).await;
            let looked = claim(store, now, 0).await;
            if round > 0 {
                claims[place].push(took.as_secs_f64() * 1e6);
                looks[place].push(looked.as_secs_f64() * 1e6);
            }
        }
    }
    for store in stores {
        store.close().await;
    }
    Claims { claim: claims.map(median), nothing_due: looks.map(median) }
}

async fn store(authority: &Authority) -> Store {
    let url = StoreUrl::parse(authority.database_url()).unwrap();
    Store::open(&url, Access::Shared).await.unwrap()
}

/// What one claim takes inside its transaction, which is undone: the next one finds the same.
async fn claim(store: &Store, at: i64, expected: usize) -> Duration {
    let now = Timestamp::from_ms(at);
    let most = i64::try_from(TAKEN).unwrap();
    let lease = Lease {
        token: "0".repeat(32),
        now,
        until: now.plus_ms(60_000),
        limit: most,
        max_in_flight: 128,
        wants: BTreeMap::new(),
        each: 16,
        per_merchant: most,
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
