//! Retention: contract 12 T3, 15.13.

use authority_domain::id::{DeliveryId, EventId};
use authority_store::StoreError;
use authority_store::commit::Audience;
use authority_store::shards::Shard;
use authority_store::tx::{NewDelivery, OldEvent, SettledAs, Trigger};

use super::fixtures::{at, dice, noon, settlement};
use super::shop::Shop;
use super::{Database, job};

async fn remove(shop: &Shop, through: i64, before: i64) -> u64 {
    let (store, tenant) = (&shop.store, shop.tenant.clone());
    let removed: Result<u64, StoreError> =
        job!(store.write, tx => tx.retention_remove(&tenant, through, at(before)));
    removed.unwrap()
}

async fn oldest(shop: &Shop, limit: i64) -> Vec<OldEvent> {
    let (store, tenant) = (&shop.store, shop.tenant.clone());
    let oldest: Result<_, StoreError> = job!(store.read, tx => tx.retention_oldest(&tenant, limit));
    oldest.unwrap()
}

async fn sequences(shop: &Shop) -> Vec<i64> {
    shop.events().await.into_iter().map(|(sequence, _)| sequence).collect()
}

pub(crate) async fn a_stream_loses_its_oldest_events_with_all_that_is_theirs(database: &dyn Database) {
    let shop = Shop::open(database).await;
    let stranger = Shop::new(&shop.store, "other").await;
    for s in [0, 10, 20, 30] {
        shop.commit_at(vec![shop.opened().1], Audience::Subscribers, at(s)).await.unwrap();
        if s == 0 {
            shop.endpoint(&["*"]).await;
        }
    }
    stranger.open_checkout().await;
    let taken = shop.lease("a", at(40), 9, 9).await;
    shop.settle(vec![
        settlement(&taken[0], "a", SettledAs::Succeeded),
        settlement(&taken[1], "a", SettledAs::Retry { at: at(100), put_off: false }),
        settlement(&taken[2], "a", SettledAs::Failed { reason: "rejected" }),
    ])
    .await;
    let told: Vec<_> =
        oldest(&shop, 9).await.iter().map(|event| (event.sequence, event.rows, event.pending)).collect();
    assert_eq!(told, [(1, 0, false), (2, 2, false), (3, 2, true), (4, 2, false)]);
    assert_eq!(oldest(&shop, 2).await.len(), 2);
    // Nothing goes that is not old enough, or of which a delivery is pending, and nothing before it alone.
    assert_eq!((remove(&shop, 2, 10).await, remove(&shop, 4, 40).await), (0, 0));
    assert_eq!(sequences(&shop).await, [1, 2, 3, 4]);
    assert_eq!(remove(&shop, 2, 11).await, 2);
    assert_eq!(remove(&shop, 2, 11).await, 0, "another instance did the same");
    assert_eq!(sequences(&shop).await, [3, 4]);
    assert_eq!(sequences(&stranger).await, [1]);
    for (table, left) in [("deliveries", 2), ("attempts", 2)] {
        assert_eq!(database.number(&format!("SELECT COUNT(*) FROM {table}")).await, left, "{table}");
    }
    let (store, tenant) = (&shop.store, shop.tenant.clone());
    let range: Result<_, StoreError> = job!(store.read, tx => tx.stream_range(&tenant));
    let range = range.unwrap();
    assert_eq!((range.oldest, range.latest), (3, 4));
    // When it has ended all may go, and the stream goes on where it was.
    let last = shop.lease("b", at(100), 9, 9).await;
    shop.settle(vec![settlement(&last[0], "b", SettledAs::Succeeded)]).await;
    assert_eq!(remove(&shop, 4, 40).await, 2);
    assert_eq!(shop.open_checkout().await.events[0].sequence, 5);
    let streams: Result<Vec<_>, StoreError> = job!(store.read, tx => tx.retention_streams(None, 1));
    let first = streams.unwrap().remove(0);
    let after = first.clone();
    let rest: Result<Vec<_>, StoreError> = job!(store.read, tx => tx.retention_streams(Some(&after), 9));
    let mut found = [first, rest.unwrap().remove(0)].map(|tenant| tenant.merchant_id);
    let mut expected = [shop.tenant.merchant_id.clone(), stranger.tenant.merchant_id.clone()];
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

pub(crate) async fn nothing_else_removes_an_event(database: &dyn Database) {
    let shop = Shop::open(database).await;
    for _ in 0..3 {
        shop.open_checkout().await;
    }
    assert_eq!(remove(&shop, 1, 1).await, 1);
    // What a stream has not given up stays, whoever asks.
    for sql in ["DELETE FROM events", "DELETE FROM events WHERE sequence = 3", "UPDATE events SET body = ''"]
    {
        let refusal = database.execute(sql).await.unwrap_err();
        assert!(refusal.contains("events are immutable"), "{refusal}");
    }
    assert_eq!(sequences(&shop).await, [2, 3]);
}

pub(crate) async fn an_event_that_was_sent_very_often_is_thinned_first(database: &dyn Database) {
    let shop = Shop::open(database).await;
    let id = shop.endpoint(&["*"]).await;
    let event: EventId = shop.open_checkout().await.events[0].id.clone();
    let again: Vec<NewDelivery> = (0..3)
        .map(|_| NewDelivery {
            id: DeliveryId::generate(noon(), &mut dice()),
            event_shard: Shard::of(&shop.tenant.merchant_id),
            event_id: event.clone(),
            event_type: "checkout.created",
            sequence: 1,
            endpoint_id: id.clone(),
            trigger: Trigger::Replay,
        })
        .collect();
    let (store, tenant) = (&shop.store, shop.tenant.clone());
    let made: Result<(), StoreError> = job!(store.write, tx => tx.deliveries_insert(&tenant, &again, noon()));
    made.unwrap();
    // All but the last replay end.
    let taken = shop.lease("a", noon(), 3, 9).await;
    let ended = taken.iter().map(|delivery| settlement(delivery, "a", SettledAs::Succeeded)).collect();
    assert_eq!(shop.settle(ended).await, 3);
    let thin = async |limit: i64| -> u64 {
        let (tenant, event) = (shop.tenant.clone(), event.clone());
        let thinned: Result<u64, StoreError> =
            job!(store.write, tx => tx.retention_thin(&tenant, &event, limit));
        thinned.unwrap()
    };
    let replays = "SELECT COUNT(*) FROM deliveries WHERE triggered_by = 'replay'";
    let before = database.number(replays).await;
    assert_eq!(before, 3);
    assert_eq!(thin(1).await, 1);
    thin(9).await;
    assert_eq!(thin(9).await, 0);
    assert_eq!(
        database.number(replays).await,
        database
            .number("SELECT COUNT(*) FROM deliveries WHERE status = 'pending' AND triggered_by = 'replay'")
            .await
    );
    assert_eq!(database.number("SELECT COUNT(*) FROM deliveries WHERE triggered_by = 'event'").await, 1);
}
