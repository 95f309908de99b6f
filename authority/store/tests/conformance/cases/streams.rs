//! Streams: contract 8.1 and I8.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use authority_domain::Refusal;
use authority_domain::list_filter::EventFilter;
use authority_store::commit::{Audience, Committed};
use authority_store::tx::StreamRange;
use rand::RngExt;
use serde_json::Value;

use super::{Counter, Database, Pending, Shop, ask, at, dice, hold, noon, read, release, submit};

const WRITERS: usize = 8;
const CHANGES: usize = 100;

/// Commits changes of one to three events with a clock that jitters; every third job refuses at its end, when its
/// events already have their places. The ids of the checkouts that were committed.
async fn write(shop: Shop) -> Vec<String> {
    let mut dice = dice();
    let mut committed = Vec::new();
    for _ in 0..CHANGES {
        let changes: Vec<_> = (0..dice.random_range(1..=3)).map(|_| shop.opened().1).collect();
        let ids: Vec<String> = changes.iter().map(|change| change.record.resource_id().to_owned()).collect();
        let refuses = dice.random_range(0..3) == 0;
        let now = noon().plus_ms(dice.random_range(0..1000));
        let written: Result<(), Refusal> = ask!(shop.store.write, [shop], |tx| async {
            shop.commit_in(tx, &changes, &Audience::Subscribers, now).await?;
            if refuses { Err(Refusal::not_found("reason to stay")) } else { Ok(()) }
        });
        assert_eq!(written.is_err(), refuses);
        if !refuses {
            committed.extend(ids);
        }
    }
    committed
}

/// Pages forward through the stream until the writers are done and nothing more comes.
async fn follow(shop: Shop, done: Arc<AtomicBool>) -> Vec<(i64, String)> {
    let mut seen: Vec<(i64, String)> = Vec::new();
    loop {
        let last_round = done.load(Ordering::SeqCst);
        let after = seen.last().map_or(0, |(sequence, _)| *sequence);
        let none = EventFilter::default();
        let page = ask!(shop.store.read, [shop], |tx| tx.events_page(&shop.tenant, &none, after, 7));
        let page = page.unwrap().rows;
        if page.is_empty() && last_round {
            return seen;
        }
        let first = page.first().map_or(after + 1, |(sequence, _)| *sequence);
        assert!(first == after + 1, "after {after} comes {first}");
        seen.extend(page);
        tokio::task::yield_now().await;
    }
}

pub(crate) async fn a_paging_reader_misses_nothing_and_sees_nothing_twice(shop: Shop, _: &dyn Database) {
    // Two streams at once: a number must not stray from one into the other.
    let shops = [shop.clone(), shop.in_test_mode()];
    let done = Arc::new(AtomicBool::new(false));
    let readers = shops.clone().map(|shop| tokio::spawn(follow(shop, Arc::clone(&done))));
    let writers: Vec<_> =
        (0..WRITERS).map(|writer| (writer % 2, tokio::spawn(write(shops[writer % 2].clone())))).collect();
    let mut committed = [BTreeSet::new(), BTreeSet::new()];
    for (stream, writer) in writers {
        committed[stream].extend(writer.await.unwrap());
    }
    done.store(true, Ordering::SeqCst);
    for (reader, committed) in readers.into_iter().zip(committed) {
        let seen = reader.await.unwrap();
        let sequences: Vec<i64> = seen.iter().map(|(sequence, _)| *sequence).collect();
        assert_eq!(sequences, Vec::from_iter(1..=i64::try_from(committed.len()).unwrap()));
        let bodies: Vec<Value> = seen.iter().map(|(_, body)| serde_json::from_str(body).unwrap()).collect();
        let told: BTreeSet<String> =
            bodies.iter().map(|body| body["data"]["object"]["id"].as_str().unwrap().to_owned()).collect();
        assert_eq!(told, committed);
        let times: Vec<&str> = bodies.iter().map(|body| body["created_at"].as_str().unwrap()).collect();
        assert!(times.is_sorted(), "created_at steps back");
        for (body, sequence) in bodies.iter().zip(sequences) {
            assert_eq!(body["sequence"], sequence, "the bytes and the row agree");
        }
    }
}

pub(crate) async fn created_at_never_steps_back(shop: Shop, database: &dyn Database) {
    for now in [at(10), at(0), at(-3600), at(11)] {
        shop.commit_at(vec![shop.opened().1, shop.opened().1], Audience::Subscribers, now).await.unwrap();
    }
    let expected = [10, 10, 10, 10, 10, 10, 11, 11].map(|s| at(s).to_string());
    let bodies = shop.events().await;
    let times: Vec<Value> = bodies
        .iter()
        .map(|(_, body)| serde_json::from_str::<Value>(body).unwrap()["created_at"].clone())
        .collect();
    assert_eq!(times, expected);
    let stored =
        database.count("(SELECT DISTINCT created_at FROM events WHERE sequence <= 6) AS times").await;
    assert_eq!(stored, 1);
}

pub(crate) async fn every_merchant_and_mode_has_its_own(acme: Shop, _: &dyn Database) {
    let other = Shop::new(&acme.store, "other").await;
    let range = async |shop: &Shop| -> StreamRange { read!(shop, |tx| tx.stream_range(&shop.tenant)) };
    assert_eq!(range(&acme).await, StreamRange { oldest: 1, latest: 0 });
    for (shop, events) in [(&acme, 3), (&other, 2), (&acme.in_test_mode(), 1)] {
        shop.open_checkouts(events).await;
        assert_eq!(range(shop).await, StreamRange { oldest: 1, latest: events });
        let sequences: Vec<i64> = shop.sequences().await;
        assert_eq!(sequences, Vec::from_iter(1..=events));
    }
    assert_eq!(range(&acme).await.latest, 3);
    assert_eq!(range(&other.in_test_mode()).await.latest, 0);
}

/// Opens a checkout and says beforehand whose stream it is about.
fn opening(shop: &Shop) -> Pending<Result<Committed, Refusal>> {
    let (inside, change) = (shop.clone(), shop.opened().1);
    let (store, ahead) = (shop.store.clone(), shop.ahead());
    submit(async move {
        ask!(store.write_ahead(ahead), |tx| inside.commit_in(tx, &[change], &Audience::Subscribers, noon()))
    })
}

/// Jobs that wait together have their streams read by one statement. Each finds its own: counter, endpoints and room.
pub(crate) async fn streams_that_are_read_together_are_each_their_own(live: Shop, _: &dyn Database) {
    let counter = Counter::registered(&live.store, 64, 8);
    let (test, other, quiet) =
        (live.in_test_mode(), Shop::new(&live.store, "other").await, Shop::new(&live.store, "quiet").await);
    let (new, lonely) = (Shop::new(&live.store, "new").await, Shop::new(&live.store, "lonely").await);
    let wanted = [
        (&live, vec![live.endpoint(&["*"]).await]),
        (&test, vec![test.endpoint(&["*"]).await]),
        (&other, vec![other.endpoint(&["*"]).await, other.endpoint(&["checkout.*"]).await]),
        (&quiet, vec![]),
        (&new, vec![new.endpoint(&["*"]).await, new.endpoint(&["*"]).await]),
        (&lonely, vec![]),
    ];
    for (shop, _) in &wanted[..4] {
        shop.open_checkout().await;
    }
    counter.given();
    let held = hold(&live.store).await;
    let openings: Vec<_> = wanted
        .iter()
        .flat_map(|(shop, endpoints)| [(opening(shop), endpoints), (opening(shop), endpoints)])
        .collect();
    release(held).await;
    let mut deliveries = 0;
    for (n, (opening, endpoints)) in openings.into_iter().enumerate() {
        let committed = opening.await.unwrap();
        // The last two streams begin here; the others have an event each.
        let sequence = if n < 8 { 2 + n % 2 } else { 1 + n % 2 };
        assert_eq!(committed.events[0].sequence, i64::try_from(sequence).unwrap());
        let told: Vec<_> = committed.deliveries.iter().map(|delivery| delivery.endpoint_id.clone()).collect();
        assert_eq!(told, *endpoints);
        deliveries += told.len();
    }
    assert_eq!(counter.given().len(), deliveries, "there is room for all of them");
}
