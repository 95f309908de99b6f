//! An endpoint is held back while its receiver says "not now", and gets what it wishes (contract 7.4, 15.7, 15.8), by a
//! clock in the test's hands.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};

use authority_domain::Timestamp;
use serde_json::{Value, json};
use tests::{
    Answer, Database, Endpoint, Gate, InProcess, Merchant, Receiver, ServiceUrls as _, eventually,
    on_both_databases, retries,
};

on_both_databases!(
    an_overloaded_receiver_is_probed_one_at_a_time,
    retry_after_is_honoured_to_the_second,
    what_somebody_asks_for_is_the_probe_now,
    a_test_without_a_place_waits_for_a_place_alone,
    a_receiver_gets_what_it_wishes
);

pub(crate) const HOUR_MS: i64 = 60 * 60 * 1000;

/// Waits until the health of the endpoint is as wanted.
pub(crate) async fn fares(
    merchant: &Merchant,
    endpoint: &Endpoint,
    what: &str,
    wanted: impl Fn(&Value) -> bool,
) -> Value {
    eventually(what, async || {
        let now = merchant.endpoint_now(endpoint).await;
        wanted(&now).then_some(now)
    })
    .await
}

/// Until when it is held back, and why.
fn hold(endpoint: &Value) -> (Value, Value) {
    (endpoint["held_until"].clone(), endpoint["held_reason"].clone())
}

pub(crate) fn failures(endpoint: &Value) -> i64 {
    endpoint["health"]["consecutive_failures"].as_i64().unwrap()
}

/// The poll sees what is due within a second. When another endpoint has got an event that came later, and nothing more
/// has arrived here, nothing more was due here.
async fn others_are_served(merchant: &Merchant, receiver: &Receiver) {
    let before = receiver.arrivals().accepted("/other");
    merchant.checkout().await;
    receiver.until("the other endpoint's", |arrivals| arrivals.accepted("/other") > before).await;
}

async fn an_overloaded_receiver_is_probed_one_at_a_time(database: Database) {
    let service = InProcess::start(database, &[retries("0,0,0,0,0,0")]).await;
    let (status, gate) = (Arc::new(AtomicU16::new(503)), Gate::closed());
    let (says, held) = (Arc::clone(&status), gate.clone());
    let receiver = Receiver::start(move |arrival| match arrival.path.as_str() {
        "/hook" if says.load(Ordering::SeqCst) == 200 => Answer::status(200).held_by(&held),
        "/hook" => Answer::status(says.load(Ordering::SeqCst)),
        _ => Answer::status(200),
    })
    .await;
    let merchant = Merchant::create(&service, "acme").await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["checkout.created"]).await;
    merchant.checkout().await;
    fares(&merchant, &endpoint, "the first failure", |now| failures(now) == 1).await;
    // From here on there are others to compare with, and more that waits.
    merchant.endpoint(&receiver.url("/other"), &["*"]).await;
    merchant.checkouts(4).await;
    let at = |receiver: &Receiver| receiver.arrivals().at("/hook").count();
    // Held for 1 s, 2 s, 4 s: one probe each.
    for (probes, held_ms) in [(2, 1_000), (3, 2_000), (4, 4_000)] {
        service.clock.turn(held_ms - 1);
        others_are_served(&merchant, &receiver).await;
        assert_eq!(at(&receiver), probes - 1, "held for {held_ms} ms");
        service.clock.turn(1);
        receiver.until("the probe", |arrivals| arrivals.at("/hook").count() >= probes).await;
        let probes = i64::try_from(probes).unwrap();
        fares(&merchant, &endpoint, "its failure", |now| failures(now) == probes).await;
    }
    // The next one is held by the receiver: nothing comes beside it.
    status.store(200, Ordering::SeqCst);
    service.clock.turn(8_000);
    receiver.until("the last probe", |arrivals| arrivals.at("/hook").count() >= 5).await;
    others_are_served(&merchant, &receiver).await;
    assert_eq!(at(&receiver), 5);
    // Its success lets everything through.
    gate.open();
    service.nothing_pending().await;
    assert_eq!(receiver.arrivals().accepted("/hook"), 9);
    let now = merchant.endpoint_now(&endpoint).await;
    assert_eq!((&now["health"]["state"], failures(&now)), (&json!("healthy"), 0));
    service.stop().await;
}

async fn retry_after_is_honoured_to_the_second(database: Database) {
    let (service, merchant) = Merchant::inside(database, &[retries("0,0,0")], "acme").await;
    let receiver = Receiver::start(|arrival| match (arrival.path.as_str(), arrival.number) {
        ("/hook", 1) => Answer::status(503).with("retry-after", "3600"),
        _ => Answer::status(200),
    })
    .await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["checkout.created"]).await;
    assert_eq!(hold(&merchant.endpoint_now(&endpoint).await).1, Value::Null);
    merchant.checkout().await;
    let refused = fares(&merchant, &endpoint, "the refusal", |now| failures(now) == 1).await;
    let until = Timestamp::from_ms(service.clock.shown() + HOUR_MS).to_string();
    assert_eq!(hold(&refused), (json!(until), json!("unavailable")));
    merchant.checkout().await;
    merchant.endpoint(&receiver.url("/other"), &["*"]).await;
    service.clock.turn(HOUR_MS - 1);
    assert_eq!(hold(&merchant.endpoint_now(&endpoint).await), (json!(until), json!("unavailable")));
    others_are_served(&merchant, &receiver).await;
    assert_eq!(receiver.arrivals().at("/hook").count(), 1, "neither the retry nor what is new");
    // What is held back makes nobody unready, however long it waits.
    assert_eq!(service.probe("/readyz").await.status, 200);
    service.clock.turn(1);
    assert_eq!(hold(&merchant.endpoint_now(&endpoint).await), (Value::Null, Value::Null));
    service.nothing_pending().await;
    assert_eq!(receiver.arrivals().at("/hook").count(), 4);
    service.stop().await;
}

/// Whoever asks for an attempt while the receiver has an hour to rest gets it at once, and what it finds out counts:
/// the clock stands still (contract 18.4-6).
async fn what_somebody_asks_for_is_the_probe_now(database: Database) {
    let service = InProcess::start(database, &[retries("0,0,0")]).await;
    let asked_to_wait = Mutex::<BTreeSet<String>>::default();
    let receiver = Receiver::start(move |arrival| {
        let first = asked_to_wait.lock().unwrap().insert(arrival.path.clone());
        if first { Answer::status(503).with("retry-after", "3600") } else { Answer::status(200) }
    })
    .await;
    let merchant = Merchant::create(&service, "acme").await;
    for asked in ["retry", "test", "recover"] {
        let path = format!("/{asked}");
        let endpoint = merchant.endpoint(&receiver.url(&path), &["checkout.created"]).await;
        merchant.checkout().await;
        let refused = fares(&merchant, &endpoint, "the refusal", |now| failures(now) == 1).await;
        assert_eq!(hold(&refused).1, "unavailable");
        let of_endpoint = format!("/webhook-endpoints/{}/{asked}", endpoint.id);
        let delivery = &merchant.deliveries(&endpoint).await[0]["id"];
        match asked {
            "retry" => {
                let path = format!("/deliveries/{}/retry", delivery.as_str().unwrap());
                service.operator().post(&path, &json!({})).await.expect(202)
            }
            "test" => merchant.api.post(&of_endpoint, &json!({})).await.expect(202),
            _ => {
                let since = json!({ "since": "2020-01-01T00:00:00Z" });
                merchant.api.post(&of_endpoint, &since).await.expect(202)
            }
        };
        receiver.until("the probe", |arrivals| arrivals.at(&path).count() >= 2).await;
        // What is asked for may lift the hold before its outcome is written; only the outcome ends the failures.
        let lifted = fares(&merchant, &endpoint, "the success", |now| failures(now) == 0).await;
        assert_eq!(hold(&lifted), (Value::Null, Value::Null), "{asked}");
    }
    service.stop().await;
}

/// A test that finds no place goes when there is one, however long its endpoint is held back: the clock stands still.
async fn a_test_without_a_place_waits_for_a_place_alone(database: Database) {
    // A merchant has one quick place and one slow one.
    let variables = [
        retries("0,0,0"),
        ("AUTHORITY_DELIVERY_CONCURRENCY", "1"),
        ("AUTHORITY_DELIVERY_TIMEOUT_MS", "50000"),
    ];
    let (service, merchant) = Merchant::inside(database, &variables, "acme").await;
    let receiver = Receiver::start(|arrival| match arrival.number {
        1 => Answer::status(503).with("retry-after", "3600"),
        _ => Answer::status(200),
    })
    .await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["checkout.created"]).await;
    merchant.checkout().await;
    let refused = fares(&merchant, &endpoint, "the refusal", |now| failures(now) == 1).await;
    assert_eq!(hold(&refused).1, "unavailable");
    // Two receivers that do not answer have both, or one has the only slow one and the other waits for it.
    let (slow, gate) = Receiver::gated(200).await;
    for path in ["/one", "/two"] {
        let slow = merchant.endpoint(&slow.url(path), &["order.created"]).await;
        merchant.test(&slow).await;
    }
    slow.until("the first of them", |arrivals| !arrivals.all.is_empty()).await;
    merchant.test(&endpoint).await;
    assert_eq!(receiver.arrivals().all.len(), 1);
    gate.open();
    receiver.until("the test", |arrivals| arrivals.all.len() >= 2).await;
    fares(&merchant, &endpoint, "the success", |now| failures(now) == 0).await;
    service.stop().await;
}

async fn a_receiver_gets_what_it_wishes(database: Database) {
    let (service, merchant) = Merchant::inside(database, &[retries("0,0,0")], "acme").await;
    let receiver = Receiver::start(|arrival| match (arrival.path.as_str(), arrival.nth) {
        ("/abort", _) => Answer::status(500).with("service-delivery", "abort"),
        ("/disable", _) => Answer::status(404).with("service-delivery", "disable"),
        ("/success", _) => Answer::status(200).with("service-delivery", "disable"),
        _ => Answer::status(200),
    })
    .await;
    let mut endpoints = Vec::new();
    for path in ["/abort", "/disable", "/success"] {
        endpoints.push(merchant.endpoint(&receiver.url(path), &["checkout.created"]).await);
    }
    merchant.checkout().await;
    service.nothing_pending().await;
    let table = [
        ("/abort", "enabled", Value::Null, "failed", json!("rejected")),
        ("/disable", "disabled", json!("merchant"), "cancelled", json!("endpoint_disabled")),
        ("/success", "enabled", Value::Null, "succeeded", Value::Null),
    ];
    for ((path, status, reason, ended, failure), endpoint) in table.into_iter().zip(&endpoints) {
        assert_eq!(receiver.arrivals().at(path).count(), 1, "{path}");
        let now = merchant.endpoint_now(endpoint).await;
        assert_eq!((&now["status"], &now["disabled_reason"]), (&json!(status), &reason), "{path}");
        let deliveries = endpoint.path("/deliveries");
        let delivery = &merchant.api.get(&deliveries).await.expect(200)["data"][0];
        assert_eq!((&delivery["status"], &delivery["failure_reason"]), (&json!(ended), &failure), "{path}");
    }
    assert_eq!(merchant.alerts("endpoint_disabled").await[0]["severity"], "warning");
    service.stop().await;
}
