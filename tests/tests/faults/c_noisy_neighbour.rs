//! Fault C: 1,500 deliveries wait for a receiver that takes its time over every request. The peer's other tenants
//! waited for it too: 37.8 s instead of 36 ms.
//!
//! What is asserted here is the mechanism, which does not depend on the machine: the slow receiver never holds more
//! than its cap, and while it does, everything of everybody else arrives. The figure of contract 15.4 comes from
//! `cargo xtask prove`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tests::{Answer, Authority, Database, Gate, Merchant, Receiver, eventually, on_both_databases};

on_both_databases!(others_are_delivered_while_a_slow_receiver_holds_its_cap_and_no_more);

/// Requests that an endpoint may have in flight before any has succeeded (contract 18.4-8).
const CAP: usize = 8;
/// Events of the other merchant.
const EVENTS: usize = 60;

async fn others_are_delivered_while_a_slow_receiver_holds_its_cap_and_no_more(database: Database) {
    // One merchant may hold a quarter of them, which is as much as the slow receiver gets at first.
    let variables = [("AUTHORITY_DELIVERY_CONCURRENCY", "32"), ("AUTHORITY_DELIVERY_TIMEOUT_MS", "50000")];
    let authority = Authority::on(database, &variables).await;
    let gate = Gate::closed();
    let (held, slow) = (gate.clone(), Arc::<AtomicUsize>::default());
    let slow_so_far = Arc::clone(&slow);
    // For each arrival of the others: how many requests the slow receiver held at that moment.
    let receiver = Receiver::start(move |arrival| {
        if arrival.path == "/later" {
            return Answer::status(429).with("retry-after", "3600");
        }
        if arrival.path == "/slow" {
            slow_so_far.fetch_add(1, Ordering::SeqCst);
            return Answer::status(200).held_by(&held);
        }
        Answer::status(200).with("x-held", &slow_so_far.load(Ordering::SeqCst).to_string())
    })
    .await;
    let (noisy, quiet) =
        (Merchant::create(&authority, "noisy").await, Merchant::create(&authority, "quiet").await);
    // While its backlog is made the receiver has asked for patience: however long that takes, no request is in flight.
    let endpoint = noisy.endpoint(&receiver.url("/later"), &["*"]).await;
    noisy.checkout().await;
    eventually("a held endpoint", async || {
        (noisy.endpoint_now(&endpoint).await["health"]["consecutive_failures"] == 1).then_some(())
    })
    .await;
    let sandbox = authority.sandbox(&noisy.key);
    sandbox.post("/seed", &json!({ "orders": 250, "seed": 1 })).await.expect(201);
    let waiting = authority.operator().get("/outbox").await.expect(200);
    assert!(waiting["pending"].as_u64().unwrap() >= 1_500, "{waiting}");
    let slow_now = json!({ "url": receiver.url("/slow") });
    let path = endpoint.path("");
    noisy.api.patch(&path, &slow_now).await.expect(200);
    receiver.until("as many as it may hold", |arrivals| arrivals.at("/slow").count() == CAP).await;

    quiet.endpoint(&receiver.url("/quiet"), &["checkout.created"]).await;
    for n in 1..=EVENTS {
        quiet.checkout().await;
        // Each arrives while the slow receiver still holds what it held: none has waited for a slot of it.
        receiver.until("the quiet merchant's event", |arrivals| arrivals.accepted("/quiet") == n).await;
    }
    let arrivals = receiver.arrivals();
    assert_eq!((arrivals.at("/slow").count(), arrivals.at("/quiet").count()), (CAP, EVENTS));
    assert_eq!(slow.load(Ordering::SeqCst), CAP);
    let quiet_events: Vec<_> = quiet.events().await.iter().map(|event| event["id"].clone()).collect();
    let arrived: Vec<_> = arrivals.at("/quiet").map(|arrival| json!(arrival.event_id)).collect();
    assert_eq!(arrived, quiet_events, "in the order of their making");
    // It goes on being so when the slow receiver's requests end one after the other.
    gate.open();
    // All but the first, which its receiver wants in an hour.
    let all = waiting["pending"].as_u64().unwrap() as usize - 1;
    receiver.until("everything", |arrivals| arrivals.accepted("/slow") == all).await;
    assert_eq!(receiver.arrivals().at("/slow").count(), all, "each of them once");
}
