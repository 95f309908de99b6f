//! The feed of changed orders: contract 4.11 and 8.5.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use authority_domain::order::external_references::{NewReference, SystemName};
use authority_domain::sync::order_feed::StoredChange;
use authority_domain::transitions::external_references::set;
use authority_domain::{OrderNumber, Refusal};
use authority_store::commit::Audience;
use rand::RngExt;

use super::{Database, Shop, ask, at, dice, noon, read};

const WRITERS: usize = 6;
const CHANGES: usize = 60;

async fn page(shop: &Shop, after: i64, limit: i64) -> Vec<StoredChange> {
    read!(shop, |tx| tx.orders_changed(&shop.tenant, after, limit))
}

/// Gives the order another version, in a job that may refuse when its event already has its place.
async fn touch(shop: &Shop, number: OrderNumber, id: String, refuses: bool) {
    let written: Result<(), Refusal> = ask!(shop.store.write, [shop], |tx| async {
        let order = tx.order_get(&shop.tenant, &number).await?.unwrap();
        let new = NewReference { id, url: None };
        let changes = set(&order, &SystemName::parse("erp").unwrap(), new, noon())?;
        shop.commit_in(tx, &changes, &Audience::Subscribers, noon()).await?;
        if refuses { Err(Refusal::not_found("reason to stay")) } else { Ok(()) }
    });
    assert_eq!(written.is_err(), refuses);
}

/// Changes orders that are there, again and again the same ones, and now and then makes another.
async fn write(shop: Shop, writer: usize, shared: Vec<OrderNumber>) {
    let mut dice = dice();
    let mut known = shared;
    for change in 0..CHANGES {
        match dice.random_range(0..10) {
            0 => known.push(shop.sell().await.order.order_number),
            // An event that changes no order, between those that do.
            1 => drop(shop.open_checkout().await),
            roll => {
                let number = known[dice.random_range(0..known.len())].clone();
                touch(&shop, number, format!("{writer}-{change}"), roll == 2).await;
            }
        }
    }
}

/// Follows the feed in pages of every size until the writers are done and nothing more comes; what it knows of each
/// order then.
async fn follow(shop: Shop, done: Arc<AtomicBool>) -> BTreeMap<String, StoredChange> {
    let mut dice = dice();
    let (mut known, mut after) = (BTreeMap::<String, StoredChange>::new(), 0);
    loop {
        let last_round = done.load(Ordering::SeqCst);
        let rows = page(&shop, after, dice.random_range(1..=7)).await;
        if rows.is_empty() && last_round {
            return known;
        }
        for row in rows {
            assert!(row.sequence > after, "{} after {after}", row.sequence);
            after = row.sequence;
            let earlier = known.insert(row.order_number.to_string(), row.clone());
            assert!(earlier.is_none_or(|earlier| earlier.resource_version < row.resource_version), "{row:?}");
        }
        tokio::task::yield_now().await;
    }
}

pub(crate) async fn a_reader_ends_with_every_order_as_it_is(shop: Shop, _: &dyn Database) {
    // Two streams at once: nothing must stray from one into the other.
    let shops = [shop.clone(), shop.in_test_mode()];
    let mut shared = Vec::new();
    for shop in &shops {
        shared.push([shop.sell().await.order.order_number, shop.sell().await.order.order_number].to_vec());
    }
    let done = Arc::new(AtomicBool::new(false));
    let readers = shops.clone().map(|shop| tokio::spawn(follow(shop, Arc::clone(&done))));
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| tokio::spawn(write(shops[writer % 2].clone(), writer, shared[writer % 2].clone())))
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    done.store(true, Ordering::SeqCst);
    for (reader, shop) in readers.into_iter().zip(shops) {
        let known: Vec<StoredChange> = reader.await.unwrap().into_values().collect();
        let mut stored = page(&shop, 0, 10_000).await;
        stored.sort_by(|a, b| a.order_number.cmp(&b.order_number));
        assert_eq!(known, stored);
        assert!(stored.iter().any(|row| row.resource_version > 5), "orders were changed often");
        // The place of each is that of the event that says the same.
        let events: BTreeMap<i64, String> = shop.events().await.into_iter().collect();
        for row in stored {
            let event: serde_json::Value = serde_json::from_str(&events[&row.sequence]).unwrap();
            let body: serde_json::Value = serde_json::from_str(&row.body).unwrap();
            assert_eq!(
                (&event["data"]["object"], &event["resource_version"]),
                (&body, &row.resource_version.into())
            );
        }
    }
}

pub(crate) async fn orders_come_by_their_last_change(shop: Shop, database: &dyn Database) {
    let other = Shop::new(&shop.store, "other").await;
    for stranger in [&other, &shop.in_test_mode()] {
        stranger.sell().await;
    }
    let (first, second) = (shop.sell().await.order.order_number, shop.sell().await.order.order_number);
    let places = async |after, limit| -> Vec<(i64, OrderNumber, i64)> {
        let rows = page(&shop, after, limit).await;
        rows.into_iter().map(|row| (row.sequence, row.order_number, row.resource_version)).collect()
    };
    assert_eq!(places(0, 9).await, [(6, first.clone(), 2), (12, second.clone(), 2)]);
    shop.open_checkout().await;
    touch(&shop, first.clone(), "SO-1".to_owned(), false).await;
    assert_eq!(places(0, 9).await, [(12, second.clone(), 2), (14, first.clone(), 3)]);
    assert_eq!(places(0, 1).await, [(12, second, 2)]);
    assert_eq!(places(12, 9).await, [(14, first.clone(), 3)]);
    assert_eq!(places(14, 9).await, []);
    let row = page(&shop, 12, 1).await.remove(0);
    assert_eq!(row.changed_at, at(0));
    let shown: serde_json::Value = serde_json::from_str(&row.to_json().unwrap()).unwrap();
    assert_eq!(shown["order"], serde_json::from_str::<serde_json::Value>(&row.body).unwrap());
    assert_eq!(shown["order"]["order_number"], first.as_str());
    // Two orders at one place could be torn apart by the end of a page.
    let torn = "UPDATE orders SET last_sequence = 14";
    assert!(database.execute(torn).await.unwrap_err().to_lowercase().contains("unique"));
}
