//! Retention: contract 12 T3, 15.13.

use authority_domain::{EventId, Tenant};
use authority_store::Store;
use authority_store::tx::{OldEvent, SettledAs};

use super::{Database, Shop, ask, at, done, noon, read, settlement};

/// The events of a stream up to a sequence.
async fn up_to(shop: &Shop, through: i64) -> (Tenant, Vec<EventId>) {
    let events = oldest(shop, 99).await.into_iter().filter(|event| event.sequence <= through);
    (shop.tenant.clone(), events.map(|event| event.id).collect())
}

async fn remove_all(shop: &Shop, streams: Vec<(Tenant, Vec<EventId>)>, before: i64) -> u64 {
    done!(shop, |tx| tx.retention_remove(&streams, at(before)))
}

/// Removes the events of a stream up to a sequence, if they are from before this second.
pub(crate) async fn remove(shop: &Shop, through: i64, before: i64) -> u64 {
    remove_all(shop, vec![up_to(shop, through).await], before).await
}

/// Whose events are past their retention, oldest first.
async fn due(store: &Store, after: Option<EventId>, before: i64, limit: i64) -> Vec<(EventId, Tenant)> {
    ask!(store.read, |tx| tx.retention_due(after.as_ref(), at(before), limit)).unwrap()
}

async fn oldest(shop: &Shop, limit: i64) -> Vec<OldEvent> {
    read!(shop, |tx| tx.retention_oldest(&shop.tenant, limit))
}

pub(crate) async fn a_stream_loses_its_oldest_events_with_all_that_is_theirs(
    shop: Shop,
    database: &dyn Database,
) {
    let stranger = Shop::new(&shop.store, "other").await;
    for s in [0, 10, 20, 30] {
        shop.open_checkout_at(at(s)).await;
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
    assert_eq!(shop.sequences().await, [1, 2, 3, 4]);
    let first = up_to(&shop, 2).await;
    assert_eq!(remove_all(&shop, vec![first.clone()], 11).await, 2);
    assert_eq!(remove_all(&shop, vec![first], 11).await, 0, "another instance did the same");
    assert_eq!(shop.sequences().await, [3, 4]);
    assert_eq!(stranger.sequences().await, [1]);
    for (table, left) in [("deliveries", 2), ("attempts", 2)] {
        assert_eq!(database.count(table).await, left, "{table}");
    }
    let range = read!(shop, |tx| tx.stream_range(&shop.tenant));
    assert_eq!((range.oldest, range.latest), (3, 4));
    // When it has ended all may go, and the stream goes on where it was.
    let last = shop.lease("b", at(100), 9, 9).await;
    shop.settle(vec![settlement(&last[0], "b", SettledAs::Succeeded)]).await;
    assert_eq!(remove(&shop, 4, 40).await, 2);
    assert_eq!(shop.open_checkout().await.events[0].sequence, 5);
}

/// Streams of one shard share a transaction; one that cannot go yet keeps no other.
pub(crate) async fn streams_lose_events_together(one: Shop, _: &dyn Database) {
    let live =
        Shop { tenant: Tenant { livemode: !one.tenant.livemode, ..one.tenant.clone() }, ..one.clone() };
    for (shop, s) in [(&one, 0), (&live, 1), (&one, 2), (&live, 3)] {
        shop.open_checkout_at(at(s)).await;
    }
    let all = due(&one.store, None, 9, 9).await;
    let whose: Vec<&Tenant> = all.iter().map(|(_, tenant)| tenant).collect();
    assert_eq!(whose, [&one.tenant, &live.tenant, &one.tenant, &live.tenant]);
    assert_eq!(due(&one.store, None, 9, 3).await, all[..3]);
    assert_eq!(due(&one.store, Some(all[0].0.clone()), 3, 9).await, all[1..3]);
    assert_eq!(due(&one.store, None, 0, 9).await, []);

    let both = async || vec![up_to(&one, 2).await, up_to(&live, 2).await];
    assert_eq!(remove_all(&one, both().await, 3).await, 2, "one of the other is too young");
    assert_eq!((one.sequences().await, live.sequences().await), (vec![], vec![1, 2]));
    one.open_checkout_at(at(4)).await;
    live.endpoint(&["*"]).await;
    live.open_checkout_at(at(5)).await;
    let both = vec![up_to(&one, 3).await, up_to(&live, 3).await];
    assert_eq!(remove_all(&one, both, 9).await, 1, "one of the other has a delivery that waits");
    assert_eq!((one.sequences().await, live.sequences().await), (vec![], vec![1, 2, 3]));
    assert_eq!(remove_all(&one, vec![up_to(&one, 9).await, up_to(&live, 2).await], 9).await, 2);
    assert_eq!(live.sequences().await, [3]);
}

pub(crate) async fn nothing_else_removes_an_event(shop: Shop, database: &dyn Database) {
    shop.open_checkouts(3).await;
    assert_eq!(remove(&shop, 1, 1).await, 1);
    // What a stream has not given up stays, whoever asks.
    for sql in ["DELETE FROM events", "DELETE FROM events WHERE sequence = 3", "UPDATE events SET body = ''"]
    {
        let refusal = database.execute(sql).await.unwrap_err();
        assert!(refusal.contains("events are immutable"), "{refusal}");
    }
    assert_eq!(shop.sequences().await, [2, 3]);
}

pub(crate) async fn an_event_that_was_sent_very_often_is_thinned_first(shop: Shop, database: &dyn Database) {
    let id = shop.endpoint(&["*"]).await;
    let event: EventId = shop.open_checkout().await.events[0].id.clone();
    let again: Vec<_> = (0..3).map(|_| shop.replay_of(&event, 1, &id, noon())).collect();
    done!(shop, |tx| tx.deliveries_insert(&shop.tenant, &again, noon()));
    // All but the last replay end.
    let taken = shop.lease("a", noon(), 3, 9).await;
    let ended = taken.iter().map(|delivery| settlement(delivery, "a", SettledAs::Succeeded)).collect();
    assert_eq!(shop.settle(ended).await, 3);
    let thin = async |limit: i64| -> u64 {
        done!(shop, [event], |tx| tx.retention_thin(&shop.tenant, &event, limit))
    };
    let replays = "deliveries WHERE triggered_by = 'replay'";
    let before = database.count(replays).await;
    assert_eq!(before, 3);
    assert_eq!(thin(1).await, 1);
    thin(9).await;
    assert_eq!(thin(9).await, 0);
    assert_eq!(
        database.count(replays).await,
        database.count("deliveries WHERE status = 'pending' AND triggered_by = 'replay'").await
    );
    assert_eq!(database.count("deliveries WHERE triggered_by = 'event'").await, 1);
}
