//! A9: eight writers make a thousand changes each, some of their requests are undone after they had taken their place
//! in the stream, and a reader that pages all the while sees 1..n in order, nothing missing, nothing twice (contract
//! 8.1). What a kill does to this is in the campaign.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::{Api, Database, Merchant, checkout_body, on_every_database, rows};

on_every_database!(a09_a_reader_misses_nothing_of_eight_writers);

const WRITERS: usize = 8;
const CHANGES_EACH: usize = 1_000;
/// One request in so many is undone.
const UNDONE_EVERY: usize = 100;

/// A checkout whose event would be too large: refused when the event is written, after the counter was taken.
fn too_large() -> Value {
    let metadata: serde_json::Map<_, _> =
        (0..50).map(|n| (format!("key-{n}"), Value::from("\u{fffd}".repeat(80)))).collect();
    let line = json!({ "name": "T-shirt", "quantity": 1, "unit_amount": 1, "metadata": metadata });
    json!({ "currency": "USD", "line_items": vec![line; 17] })
}

async fn a09_a_reader_misses_nothing_of_eight_writers(database: Database) {
    let (_authority, merchant) = Merchant::on_with(database, &[("AUTHORITY_LOG", "warn")], "busy").await;
    let done = Arc::new(AtomicBool::new(false));
    let reader = tokio::spawn(read_all_the_while(merchant.api.clone(), Arc::clone(&done)));

    let checkouts = merchant.platform_path("checkouts");
    let large = too_large();
    join_all((0..WRITERS).map(async |writer| {
        for change in 0..CHANGES_EACH {
            if (writer + change) % UNDONE_EVERY == 0 {
                merchant.operator.post(&checkouts, &large).await.refused(413, "payload_too_large");
            }
            merchant.operator.post(&checkouts, &checkout_body()).await.expect(201);
        }
    }))
    .await;
    done.store(true, Ordering::Relaxed);
    let seen = reader.await.unwrap();
    assert_eq!(seen, Vec::from_iter(1..=(WRITERS * CHANGES_EACH) as u64));
}

/// The sequences that a reader sees that only ever goes forward, until it is at the end after `done`.
async fn read_all_the_while(api: Api, done: Arc<AtomicBool>) -> Vec<u64> {
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let last_round = done.load(Ordering::Relaxed);
        loop {
            let page = api.get(&format!("/events?limit=100&cursor={cursor}")).await.expect(200);
            let events = rows(&page);
            seen.extend(events.iter().map(|event| event["sequence"].as_u64().unwrap()));
            page["resume_cursor"].as_str().unwrap().clone_into(&mut cursor);
            if page["next_cursor"].is_null() {
                break;
            }
        }
        if last_round {
            return seen;
        }
    }
}
