//! Leases: contract 7.4, 12 T4.

use std::collections::BTreeSet;

use authority_domain::Timestamp;
use authority_store::tx::SettledAs;

use super::shop::cause;
use super::{Database, Shop, at, done, noon, settlement};

/// Commits one event at `now`; every subscribed endpoint gets a delivery that is due then.
async fn event(shop: &Shop, now: Timestamp) {
    shop.open_checkout_at(now).await;
}

/// The sequences of the events that were leased, in the order they came.
async fn leased(shop: &Shop, token: &str, now: Timestamp, limit: i64, per_endpoint: i64) -> Vec<i64> {
    let deliveries = shop.lease(token, now, limit, per_endpoint).await;
    let sequence = |body: &str| serde_json::from_str::<serde_json::Value>(body).unwrap()["sequence"].as_i64();
    deliveries.iter().map(|delivery| sequence(&delivery.body).unwrap()).collect()
}

pub(crate) async fn the_cap_of_an_endpoint_counts_what_is_in_flight(shop: Shop, _: &dyn Database) {
    shop.endpoint(&["*"]).await;
    for _ in 0..7 {
        event(&shop, noon()).await;
    }
    assert_eq!(leased(&shop, "a", noon(), 2, 3).await, [1, 2], "the limit of the lease");
    assert_eq!(leased(&shop, "b", noon(), 9, 3).await, [3], "two of three are in flight");
    assert_eq!(leased(&shop, "c", at(1), 9, 3).await, Vec::<i64>::new());
    let first = shop.lease("d", at(61), 9, 3).await;
    assert_eq!(first.len(), 3, "the leases have run out");
    let done = settlement(&first[0], "d", SettledAs::Succeeded);
    let again = settlement(&first[1], "d", SettledAs::Retry { at: at(300), put_off: false });
    assert_eq!(shop.settle(vec![done, again]).await, 2);
    assert_eq!(leased(&shop, "e", at(62), 9, 3).await, [4, 5], "two places are free again");
    // A second endpoint has a cap of its own.
    shop.endpoint(&["*"]).await;
    event(&shop, noon()).await;
    assert_eq!(leased(&shop, "f", at(63), 9, 3).await, [8]);
}

/// A job takes the time before it waits for its turn: deliveries that became due earlier may be committed after
/// others were leased. They must not push what is in flight out of the count.
pub(crate) async fn the_cap_holds_when_older_deliveries_come_later(shop: Shop, _: &dyn Database) {
    shop.endpoint(&["*"]).await;
    for _ in 0..3 {
        event(&shop, at(1)).await;
    }
    assert_eq!(leased(&shop, "a", at(1), 9, 3).await, [1, 2, 3]);
    for _ in 0..3 {
        event(&shop, noon()).await;
    }
    assert_eq!(leased(&shop, "b", at(2), 9, 3).await, Vec::<i64>::new());
    assert_eq!(leased(&shop, "c", at(2), 9, 4).await, [4]);
}

pub(crate) async fn a_disabled_endpoint_is_left_out(shop: Shop, database: &dyn Database) {
    let disabled = shop.endpoint(&["*"]).await;
    let enabled = shop.endpoint(&["*"]).await;
    event(&shop, noon()).await;
    let switch = async |status: &str| {
        database.set_endpoint(&disabled, &format!("status = '{status}'")).await;
    };
    switch("disabled").await;
    let taken = shop.lease("a", noon(), 9, 9).await;
    assert_eq!(taken.iter().map(|delivery| &delivery.endpoint_id).collect::<Vec<_>>(), [&enabled]);
    switch("enabled").await;
    assert_eq!(shop.lease("b", noon(), 9, 9).await.len(), 1);
}

pub(crate) async fn deliveries_go_by_time_then_sequence(shop: Shop, _: &dyn Database) {
    shop.endpoint(&["*"]).await;
    for due in [at(5), at(3), at(9), at(3), at(700)] {
        event(&shop, due).await;
    }
    // A retry waits with the others, at its own time.
    let first = shop.lease("a", at(4), 1, 9).await;
    let retry = settlement(&first[0], "a", SettledAs::Retry { at: at(7), put_off: false });
    assert_eq!(shop.settle(vec![retry]).await, 1);
    assert_eq!(leased(&shop, "b", at(3).plus_ms(-1), 9, 9).await, Vec::<i64>::new(), "nothing is due yet");
    assert_eq!(leased(&shop, "c", at(9), 9, 9).await, [4, 1, 2, 3]);
    // Across endpoints as well: the oldest of all, whoever waits for it.
    let other = Shop::new(&shop.store, "other").await;
    let theirs = other.endpoint(&["*"]).await;
    event(&other, at(50)).await;
    event(&shop, at(40)).await;
    event(&other, at(30)).await;
    let due = shop.lease("d", at(60), 2, 9).await;
    let endpoints: Vec<bool> = due.iter().map(|delivery| delivery.endpoint_id == theirs).collect();
    assert_eq!(endpoints, [true, false]);
    assert_eq!(shop.lease("e", at(60), 2, 9).await.len(), 1);
}

/// What is left of an endpoint's cap goes to its oldest deliveries by time, not to those of the lowest sequence.
pub(crate) async fn the_rest_of_a_cap_goes_by_time(shop: Shop, _: &dyn Database) {
    shop.endpoint(&["*"]).await;
    for due in [at(0), at(8), at(6), at(7)] {
        event(&shop, due).await;
    }
    assert_eq!(leased(&shop, "a", at(0), 9, 3).await, [1]);
    assert_eq!(leased(&shop, "b", at(9), 9, 3).await, [3, 4]);
}

pub(crate) async fn two_leases_never_share_a_delivery(shop: Shop, _: &dyn Database) {
    for _ in 0..4 {
        shop.endpoint(&["*"]).await;
    }
    for _ in 0..40 {
        event(&shop, noon()).await;
    }
    let leasers: Vec<_> = (0..8)
        .map(|n| {
            let shop = shop.clone();
            tokio::spawn(async move {
                let mut taken = Vec::new();
                for round in 0..10 {
                    let deliveries = shop.lease(&format!("{n}-{round}"), noon(), 3, 1000).await;
                    taken.extend(deliveries.into_iter().map(|delivery| delivery.id));
                }
                taken
            })
        })
        .collect();
    let mut taken = Vec::new();
    for leaser in leasers {
        taken.extend(leaser.await.unwrap());
    }
    assert_eq!(taken.len(), 160, "4 endpoints × 40 events, all of them");
    assert_eq!(taken.iter().collect::<BTreeSet<_>>().len(), 160, "each of them once");
}

pub(crate) async fn an_expired_lease_is_anothers(shop: Shop, database: &dyn Database) {
    shop.endpoint(&["*"]).await;
    event(&shop, noon()).await;
    let first = shop.lease("first", noon(), 9, 9).await;
    assert!(shop.lease("early", at(60), 9, 9).await.is_empty(), "it lasts to its end");
    let second = shop.lease("second", at(60).plus_ms(1), 9, 9).await;
    assert_eq!((first[0].id.clone(), second[0].attempt_count), (second[0].id.clone(), 0));
    // The first holder comes back too late: nothing of it is written.
    assert_eq!(shop.settle(vec![settlement(&first[0], "first", SettledAs::Succeeded)]).await, 0);
    assert_eq!(database.count("attempts").await, 0);
    let pending = "SELECT COUNT(*) FROM deliveries WHERE status = 'pending' AND lease_token = 'second'";
    assert_eq!(database.number(pending).await, 1);
    assert_eq!(shop.settle(vec![settlement(&second[0], "second", SettledAs::Succeeded)]).await, 1);
    assert_eq!(database.count("attempts").await, 1);
    assert!(shop.lease("later", at(999), 9, 9).await.is_empty(), "what has ended is not leased");
}

pub(crate) async fn leases_that_are_taken_back_can_be_taken_at_once(shop: Shop, _: &dyn Database) {
    shop.endpoint(&["*"]).await;
    for _ in 0..4 {
        event(&shop, noon()).await;
    }
    assert_eq!(leased(&shop, "a", noon(), 2, 9).await, [1, 2]);
    assert_eq!(leased(&shop, "b", noon(), 2, 9).await, [3, 4]);
    assert_eq!(done!(shop, |tx| tx.delivery_lease_release_all()), 4);
    assert_eq!(leased(&shop, "c", noon(), 9, 9).await, [1, 2, 3, 4]);
}

pub(crate) async fn a_leased_delivery_has_all_an_attempt_needs(shop: Shop, database: &dyn Database) {
    let other = shop.endpoint(&["order.shipped"]).await;
    let endpoint = shop.endpoint(&["*"]).await;
    // The newest secret, one that is about to run out, one that has, and another endpoint's.
    for (id, version, expires_at) in [(&endpoint, 2, "NULL"), (&endpoint, 3, "NULL"), (&other, 2, "NULL")] {
        let sql = format!(
            "INSERT INTO endpoint_secrets (shard, endpoint_id, version, sealed, expires_at) \
             SELECT shard, '{id}', {version}, sealed, {expires_at} FROM endpoint_secrets WHERE endpoint_id = '{id}' AND version = 1"
        );
        database.execute(&sql).await.unwrap();
    }
    for (version, expires_at) in [(1, at(2)), (2, at(2).plus_ms(1))] {
        let sql = format!(
            "UPDATE endpoint_secrets SET expires_at = {} WHERE endpoint_id = '{endpoint}' AND version = {version}",
            expires_at.as_ms()
        );
        database.execute(&sql).await.unwrap();
    }
    let committed = shop.open_checkout().await;
    let taken = shop.lease("a", at(2), 9, 9).await;
    assert_eq!(taken.len(), 1);
    let delivery = &taken[0];
    assert_eq!((&delivery.id, &delivery.event_id), (&committed.deliveries[0].id, &committed.events[0].id));
    assert_eq!(delivery.body, committed.events[0].body);
    assert_eq!(delivery.endpoint_id, endpoint);
    assert_eq!(delivery.url, "https://shop.example.com/hooks");
    assert_eq!((delivery.trigger.as_str(), delivery.livemode, delivery.attempt_count), ("event", true, 0));
    assert_eq!(delivery.api_version, "2026-09-01");
    let versions: Vec<i64> = delivery.secrets.iter().map(|secret| secret.version).collect();
    assert_eq!(versions, [3, 2], "newest first, none that has run out");
    assert_eq!(delivery.secrets[0].sealed, [1, 2, 3]);
    assert_eq!(delivery.cause, cause());
}
