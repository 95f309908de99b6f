//! Catching up by cursor, exactly as the brief says, and what a cursor is not (contract 4.5, 8.4 to 8.6; acceptance
//! A10, A11).

#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use futures_util::{StreamExt as _, stream};
use http::Method;
use serde_json::{Value, json};
use tests::authority::Authority;
use tests::http::Api;
use tests::merchant::{Merchant, SCOPES, checkout_body, text};
use tests::receiver::Receiver;

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
            let events = page["data"].as_array().unwrap();
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

#[tokio::test]
async fn a_consumer_catches_up() {
    let authority = Authority::start(&[]).await;
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

#[tokio::test]
async fn a_consumer_that_dies_before_it_saves_processes_each_event_once() {
    let authority = Authority::start(&[]).await;
    let merchant = Merchant::create(&authority, "crashing").await;
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

#[tokio::test]
async fn resume_cursor_is_on_every_page_and_repeats_nothing() {
    let authority = Authority::start(&[]).await;
    let merchant = Merchant::create(&authority, "resuming").await;
    let read = async |cursor: &str, limit: u32| {
        let page = merchant.api.get(&format!("/events?cursor={cursor}&limit={limit}")).await.expect(200);
        let sequences: Vec<_> = page["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|event| event["sequence"].as_u64().unwrap())
            .collect();
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

#[tokio::test]
async fn a_filter_leaves_gaps_and_binds_its_cursors() {
    let authority = Authority::start(&[]).await;
    let merchant = Merchant::create(&authority, "filtered").await;
    for _ in 0..3 {
        merchant.paid_order().await;
    }
    let mut sequences = Vec::new();
    let mut cursor = String::new();
    loop {
        let path = format!("/events?type=order.confirmed,checkout.created&limit=2&cursor={cursor}");
        let page = merchant.api.get(&path).await.expect(200);
        let events = page["data"].as_array().unwrap();
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
        let found: Vec<_> =
            page["data"].as_array().unwrap().iter().map(|event| event["sequence"].clone()).collect();
        assert_eq!(found, expected, "{filter}");
    }
}

/// Cursors of other lists, merchants and modes, altered and made-up ones.
#[tokio::test]
async fn only_the_lists_own_cursor_is_taken() {
    let authority = Authority::start(&[]).await;
    let receiver = Receiver::accepting().await;
    let merchant = Merchant::create(&authority, "genuine").await;
    let other = Merchant::create(&authority, "other").await;
    let live = authority.merchant(&merchant.issue_key("live", &SCOPES).await);
    for merchant in [&merchant, &other] {
        for _ in 0..2 {
            merchant.endpoint(&receiver.url("/hook"), &["webhook.test"]).await;
            merchant.paid_order().await;
        }
    }
    for _ in 0..2 {
        let path = format!("/merchants/{}/live/checkouts", merchant.id);
        merchant.operator.call(Method::POST, &path).json(&checkout_body()).send().await.expect(201);
    }
    let cursor_of = async |api: &Api, list: &str| {
        text(&api.get(&format!("{list}?limit=1")).await.expect(200), "next_cursor")
    };
    let lists = ["/events", "/orders", "/webhook-endpoints"];
    let mut cursors: Vec<(&str, String)> = Vec::new();
    for list in lists {
        cursors.push((list, cursor_of(&merchant.api, list).await));
    }
    let genuine = cursors[0].1.clone();
    assert_eq!(genuine.len(), 47);
    for (list, cursor) in &cursors {
        for asked in lists {
            let reply = merchant.api.get(&format!("{asked}?cursor={cursor}")).await;
            if asked == *list {
                assert_eq!(reply.status, 200, "{}", reply.text());
            } else {
                reply.refused(400, "invalid_cursor");
            }
        }
    }
    let mut bad = vec![
        cursor_of(&other.api, "/events").await,
        cursor_of(&live, "/events").await,
        "x".to_owned(),
        "0".to_owned(),
        "A".repeat(47),
        format!("{genuine}="),
        format!("{genuine}A"),
        format!("{genuine}%20"),
        "A".repeat(256),
        "A".repeat(257),
        "A".repeat(8_000),
    ];
    bad.extend((0..genuine.len()).skip(1).map(|length| genuine[..length].to_owned()));
    bad.extend((0..genuine.len()).map(|at| altered(&genuine, at)));
    for cursor in bad {
        let reply = merchant.api.get(&format!("/events?cursor={cursor}")).await;
        assert_eq!(reply.refused(400, "invalid_cursor")["param"], "cursor", "{cursor}");
    }
    // 10 KB do not even fit into the request target, which is looked at first.
    let reply = merchant.api.get(&format!("/events?cursor={}", "A".repeat(10 * 1024))).await;
    reply.refused(414, "uri_too_long");
    let from_the_start = merchant.api.get("/events?cursor=&limit=1").await.expect(200);
    assert_eq!(from_the_start["data"][0]["sequence"], Value::from(1));
}

/// The next character of the alphabet at one place: the smallest change there is.
fn altered(cursor: &str, at: usize) -> String {
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let place = alphabet.find(&cursor[at..=at]).unwrap();
    let next = &alphabet[(place + 1) % 64..][..1];
    format!("{}{next}{}", &cursor[..at], &cursor[at + 1..])
}
