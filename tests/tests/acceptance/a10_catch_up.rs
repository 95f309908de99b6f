//! A10: catching up by cursor, exactly as the brief says (contract 4.5, 8.4 to 8.6).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::join_all;
use futures_util::{StreamExt as _, stream};
use http::Method;
use serde_json::{Value, json};
use tests::{Api, Authority, Database, Merchant, on_every_database, rows, sequences, text};

on_every_database!(
    a10_a_consumer_catches_up,
    a10_a_consumer_that_dies_before_it_saves_processes_each_event_once,
    a10_resume_cursor_is_on_every_page_and_repeats_nothing,
    a10_a_filter_leaves_gaps_and_binds_its_cursors,
    a10_a_copy_of_the_orders_is_complete_while_they_change
);

/// Opens so many checkouts: one event each.
async fn make_events(merchant: &Merchant, count: usize) {
    stream::iter(0..count).for_each_concurrent(16, async |_| drop(merchant.checkout().await)).await;
}

/// A consumer: what it has processed, and the cursor it has saved.
#[derive(Default)]
struct Consumer {
    processed: Vec<u64>,
    claimed: BTreeSet<String>,
    saved: Option<String>,
    pages: Vec<usize>,
}

impl Consumer {
    /// The loop of the brief. `crash_after` pages it stops before it saves the cursor.
    async fn catch_up(&mut self, api: &Api, crash_after: usize) {
        self.pages.clear();
        loop {
            let cursor = self.saved.as_deref().unwrap_or_default();
            let page = api.get(&format!("/events?limit=100&cursor={cursor}")).await.expect(200);
            let events = rows(&page);
            self.pages.push(events.len());
            for event in events {
                if self.claimed.insert(text(event, "id")) {
                    self.processed.push(event["sequence"].as_u64().unwrap());
                }
            }
            if self.pages.len() == crash_after {
                return;
            }
            let Some(next) = page["next_cursor"].as_str() else { return };
            self.saved = Some(next.to_owned());
        }
    }
}

async fn a10_a_consumer_catches_up(database: Database) {
    let authority = Authority::on(database, &[]).await;
    for (count, pages) in [
        (0, vec![0]),
        (1, vec![1]),
        (99, vec![99]),
        (100, vec![100]),
        (101, vec![100, 1]),
        (250, vec![100, 100, 50]),
    ] {
        let merchant = Merchant::create(&authority, &format!("missed-{count}")).await;
        make_events(&merchant, count).await;
        let mut consumer = Consumer::default();
        consumer.catch_up(&merchant.api, usize::MAX).await;
        assert_eq!(consumer.pages, pages);
        assert_eq!(consumer.processed, (1..=count as u64).collect::<Vec<_>>());

        // Later, from the cursor that was saved: at most one page again, and what is new exactly once.
        make_events(&merchant, 3).await;
        consumer.catch_up(&merchant.api, usize::MAX).await;
        assert_eq!(consumer.processed, (1..=count as u64 + 3).collect::<Vec<_>>());
        assert!(consumer.pages.len() <= 2, "{:?}", consumer.pages);
    }
}

async fn a10_a_consumer_that_dies_before_it_saves_processes_each_event_once(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "crashing").await;
    make_events(&merchant, 250).await;
    let mut consumer = Consumer::default();
    for (crash_after, pages) in
        [(1, vec![100]), (1, vec![100]), (2, vec![100, 100]), (usize::MAX, vec![100, 50])]
    {
        consumer.catch_up(&merchant.api, crash_after).await;
        assert_eq!(consumer.pages, pages);
    }
    assert_eq!(consumer.processed, (1..=250).collect::<Vec<_>>());
}

async fn a10_resume_cursor_is_on_every_page_and_repeats_nothing(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "resuming").await;
    let read = async |cursor: &str, limit: u32| {
        let page = merchant.api.get(&format!("/events?cursor={cursor}&limit={limit}")).await.expect(200);
        let sequences = sequences(rows(&page));
        (sequences, text(&page, "resume_cursor"), page.get("next_cursor").cloned())
    };
    let (sequences, at_start, next) = read("", 100).await;
    assert_eq!((sequences, next), (vec![], None));
    make_events(&merchant, 3).await;
    let (sequences, after_2, next) = read(&at_start, 2).await;
    assert_eq!((sequences, next), (vec![1, 2], Some(json!(after_2))));
    let (sequences, after_3, next) = read(&after_2, 2).await;
    assert_eq!((sequences, next), (vec![3], None));
    let (sequences, still, _) = read(&after_3, 2).await;
    assert_eq!((sequences, &still), (vec![], &after_3));
    make_events(&merchant, 2).await;
    assert_eq!(read(&after_3, 100).await.0, [4, 5]);
    // A cursor is a position: it can be used again, and it outlives the page size.
    assert_eq!(read(&after_2, 1).await.0, [3]);
    assert_eq!(read(&after_2, 100).await.0, [3, 4, 5]);
}

async fn a10_a_filter_leaves_gaps_and_binds_its_cursors(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "filtered").await;
    merchant.paid_orders(3).await;
    let mut sequences = Vec::new();
    let mut cursor = String::new();
    loop {
        let path = format!("/events?type=order.confirmed,checkout.created&limit=2&cursor={cursor}");
        let page = merchant.api.get(&path).await.expect(200);
        let events = rows(&page);
        sequences.extend(events.iter().map(|event| event["sequence"].as_u64().unwrap()));
        let Some(next) = page["next_cursor"].as_str() else { break };
        next.clone_into(&mut cursor);
    }
    assert_eq!(sequences, [1, 6, 7, 12, 13, 18]);
    // The same filter written otherwise is the same filter; another one is not.
    let same = format!("/events?cursor={cursor}&type=checkout.created,order.confirmed,checkout.created");
    assert_eq!(merchant.api.get(&same).await.expect(200)["data"].as_array().unwrap().len(), 2);
    for other in ["", "&type=order.confirmed", "&type=order.*", "&resource=ORD-100001"] {
        let reply = merchant.api.get(&format!("/events?cursor={cursor}{other}")).await;
        assert_eq!(reply.refused(400, "invalid_cursor")["param"], "cursor");
    }
    for (filter, expected) in [
        ("type=order.*", vec![4, 6, 10, 12, 16, 18]),
        ("resource=ORD-100002", vec![10, 12]),
        ("created_to=2020-01-01T00:00:00Z", vec![]),
    ] {
        let page = merchant.api.get(&format!("/events?{filter}")).await.expect(200);
        let found: Vec<_> = rows(&page).iter().map(|event| event["sequence"].clone()).collect();
        assert_eq!(found, expected, "{filter}");
    }
}

/// A copy of the orders, kept by the loop of the brief over the feed of changes.
#[derive(Default)]
struct Copy {
    orders: BTreeMap<String, Value>,
    saved: Option<String>,
    rows: usize,
}

impl Copy {
    /// Up to the end of the feed; `dies` after its first page, before it saves the cursor.
    async fn catch_up(&mut self, api: &Api, limit: usize, dies: bool) {
        loop {
            let cursor = self.saved.as_deref().unwrap_or_default();
            let page = api.get(&format!("/sync/orders?limit={limit}&cursor={cursor}")).await.expect(200);
            for row in rows(&page) {
                self.rows += 1;
                let order = &row["order"];
                assert_eq!(row["resource_version"], order["resource_version"]);
                let copied = self.orders.entry(text(row, "order_number")).or_insert(Value::Null);
                // A page that is read again says nothing new, and nothing old.
                assert!(copied["resource_version"].as_u64() <= order["resource_version"].as_u64());
                copied.clone_from(order);
            }
            let Some(next) = page["next_cursor"].as_str().filter(|_| !dies) else { return };
            self.saved = Some(next.to_owned());
        }
    }
}

async fn a10_a_copy_of_the_orders_is_complete_while_they_change(database: Database) {
    const WRITERS: usize = 4;
    const CHANGES_EACH: usize = 30;
    let (_authority, merchant) = Merchant::on_with(database, &[("AUTHORITY_LOG", "warn")], "copied").await;
    let first = merchant.paid_order().await;
    let done = AtomicBool::new(false);
    let writer = async |writer: usize| {
        let mut known = vec![first.clone()];
        for change in 0..CHANGES_EACH {
            if change % 6 == 0 {
                known.push(merchant.paid_order().await);
            }
            // The same orders again and again, so that some change behind the reader and some before it.
            let order = &known[(change * 7 + writer) % known.len()];
            let path = format!("/orders/{order}/external-references/w{writer}");
            let body = json!({ "id": format!("{order}:{change}") });
            merchant.api.call(Method::PUT, &path).json(&body).send().await.expect(200);
        }
    };
    let reader = async {
        let mut copy = Copy::default();
        for round in 0.. {
            let last_round = done.load(Ordering::Relaxed);
            copy.catch_up(&merchant.api, round % 5 + 1, round % 3 == 0 && !last_round).await;
            if last_round {
                break;
            }
        }
        copy
    };
    let writers = async {
        join_all((0..WRITERS).map(writer)).await;
        done.store(true, Ordering::Relaxed);
    };
    let (copy, ()) = tokio::join!(reader, writers);
    let orders = merchant.api.list("/orders?limit=100").await;
    let orders: BTreeMap<_, _> =
        orders.into_iter().map(|order| (text(&order, "order_number"), order)).collect();
    assert_eq!(copy.orders, orders);
    assert_eq!(orders.len(), 1 + WRITERS * CHANGES_EACH / 6);
    assert!(copy.rows >= orders.len());
}
