//! Deliveries that the committing instance sends itself: two instances keep the cap of an endpoint together, and one
//! merchant's slow receivers leave slots to another (contract 7.4, 15.4, 15.9). A kill in between is fault D.

use futures_util::future::join_all;
use tests::{Authority, Database, Merchant, Receiver, on_both_databases};

on_both_databases!(
    a_merchant_with_slow_receivers_leaves_slots_to_others,
    what_waits_behind_the_cap_goes_on_as_places_become_free,
);

async fn a_merchant_with_slow_receivers_leaves_slots_to_others(database: Database) {
    let variables = [("AUTHORITY_DELIVERY_CONCURRENCY", "8"), ("AUTHORITY_DELIVERY_TIMEOUT_MS", "50000")];
    let authority = Authority::on(database, &variables).await;
    let (slow, gate) = Receiver::gated(200).await;
    let quick = Receiver::accepting().await;
    let big = Merchant::create(&authority, "big").await;
    for n in 0..6 {
        big.endpoint(&slow.url(&format!("/{n}")), &["*"]).await;
    }
    let small = Merchant::create(&authority, "small").await;
    small.endpoint(&quick.url("/small"), &["*"]).await;
    big.checkouts(3).await;
    // A quarter of the 16 slow places, and one request that finds out of each endpoint what it is.
    let (share, trials) = (4, 6);
    slow.until("its share is in use", |arrivals| arrivals.all.len() >= share).await;
    small.checkouts(5).await;
    quick.until("the other merchant's events", |arrivals| arrivals.accepted("/small") == 5).await;
    assert!(slow.arrivals().all.len() <= share + trials, "not all 18");
    gate.open();
    slow.until("everything of the first", |arrivals| {
        (0..6).map(|n| arrivals.accepted(&format!("/{n}"))).sum::<usize>() == 18
    })
    .await;
    authority.nothing_pending().await;
}

/// Thirty events at once to an endpoint that may have two requests: each of them arrives once.
async fn what_waits_behind_the_cap_goes_on_as_places_become_free(database: Database) {
    let (authority, merchant) =
        Merchant::on_with(database, &[("AUTHORITY_DELIVERY_CONCURRENCY_PER_ENDPOINT", "2")], "queue").await;
    let receiver = Receiver::accepting().await;
    merchant.endpoint(&receiver.url("/hook"), &["*"]).await;
    join_all((0..30).map(|_| merchant.checkout())).await;
    let arrivals = receiver.until("all of them", |arrivals| arrivals.accepted("/hook") == 30).await;
    assert_eq!(arrivals.all.len(), 30, "none of them twice");
    authority.nothing_pending().await;
}

#[tokio::test]
async fn two_instances_keep_the_cap_of_an_endpoint_together() {
    let database = postgres_cluster::database().await;
    let variables = [
        ("AUTHORITY_DATABASE_URL", database.as_str()),
        ("AUTHORITY_DELIVERY_CONCURRENCY_PER_ENDPOINT", "3"),
        ("AUTHORITY_DELIVERY_TIMEOUT_MS", "50000"),
    ];
    let (first, second) = (Authority::start(&variables).await, Authority::start(&variables).await);
    let (slow, gate) = Receiver::gated(200).await;
    let quick = Receiver::accepting().await;
    let here = Merchant::create(&first, "slow").await;
    here.endpoint(&slow.url("/slow"), &["*"]).await;
    let aside = Merchant::create(&first, "aside").await;
    aside.endpoint(&quick.url("/aside"), &["*"]).await;
    let through = |merchant: &Merchant| Merchant {
        api: second.merchant(&merchant.key),
        operator: second.operator(),
        ..merchant.clone()
    };
    let (there, aside_there) = (through(&here), through(&aside));
    join_all((0..12).map(|n| if n % 2 == 0 { here.checkout() } else { there.checkout() })).await;
    slow.until("the cap", |arrivals| arrivals.all.len() == 3).await;
    // Both instances go on sending meanwhile.
    for n in 1..=4 {
        aside.checkout().await;
        aside_there.checkout().await;
        quick.until("others", |arrivals| arrivals.accepted("/aside") == 2 * n).await;
    }
    assert_eq!(slow.arrivals().all.len(), 3);
    gate.open();
    slow.until("all of them", |arrivals| arrivals.accepted("/slow") == 12).await;
    assert_eq!(slow.arrivals().all.len(), 12, "none of them twice");
    first.nothing_pending().await;
}
