//! An endpoint is held back while its receiver says "not now", is given up when it keeps failing, and gets what it
//! wishes (contract 7.4, 7.5, 15.6, 15.7, 15.8), by a clock in the test's hands.

#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};

use authority::app::merchant::operator_keys::operator_key_create;
use authority::dice::SystemDice;
use authority::service::Service;
use authority_domain::merchant::scope::OperatorScope;
use authority_domain::time::Timestamp;
use serde_json::{Value, json};
use tests::authority::Database;
use tests::clock::HandClock;
use tests::eventually::eventually;
use tests::http::Api;
use tests::merchant::{Endpoint, Merchant, ServiceUrls};
use tests::on_both_databases;
use tests::receiver::{Answer, Gate, Receiver};
use tests::service::{InProcess, new_database, serve};
use tokio::sync::watch;

on_both_databases!(
    an_overloaded_receiver_is_probed_one_at_a_time,
    retry_after_is_honoured_to_the_second,
    what_somebody_asks_for_is_the_probe_now,
    five_days_of_failures_disable,
    time_alone_disables,
    a_receiver_gets_what_it_wishes
);

const HOUR_MS: i64 = 60 * 60 * 1000;

/// Waits until the health of the endpoint is as wanted.
async fn fares(
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

fn failures(endpoint: &Value) -> i64 {
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
    let service = InProcess::start(database, &[("AUTHORITY_RETRY_SCHEDULE", "0,0,0,0,0,0")]).await;
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
    for _ in 0..4 {
        merchant.checkout().await;
    }
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
    let service = InProcess::start(database, &[("AUTHORITY_RETRY_SCHEDULE", "0,0,0")]).await;
    let receiver = Receiver::start(|arrival| match (arrival.path.as_str(), arrival.number) {
        ("/hook", 1) => Answer::status(503).with("retry-after", "3600"),
        _ => Answer::status(200),
    })
    .await;
    let merchant = Merchant::create(&service, "acme").await;
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
    let service = InProcess::start(database, &[("AUTHORITY_RETRY_SCHEDULE", "0,0,0")]).await;
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

async fn five_days_of_failures_disable(database: Database) {
    // Four attempts of three events: 12 failures, the last of them after five days.
    let schedule = [("AUTHORITY_RETRY_SCHEDULE", "0,3600,3600,424800")];
    let service = InProcess::start(database, &schedule).await;
    let receiver = Receiver::start(|_| Answer::status(500)).await;
    let merchant = Merchant::create(&service, "acme").await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["checkout.created"]).await;
    for _ in 0..3 {
        merchant.checkout().await;
    }
    for (count, state) in [(3, "unknown"), (6, "degraded"), (9, "degraded")] {
        let now = fares(&merchant, &endpoint, "a round", |now| failures(now) == count).await;
        assert_eq!((&now["status"], &now["health"]["state"]), (&json!("enabled"), &json!(state)));
        service.clock.turn(HOUR_MS);
    }
    // A later event waits with them; the clock stands at the third hour.
    service.clock.turn(117 * HOUR_MS - 1);
    merchant.checkout().await;
    let now = fares(&merchant, &endpoint, "a day later", |now| failures(now) == 10).await;
    assert_eq!((&now["status"], &now["health"]["state"]), (&json!("enabled"), &json!("failing")));
    service.clock.turn(1);
    let now = fares(&merchant, &endpoint, "the end", |now| now["status"] == "disabled").await;
    assert_eq!(now["disabled_reason"], "failing");
    service.nothing_pending().await;
    let path = format!("/webhook-endpoints/{}/deliveries?status=cancelled", endpoint.id);
    let cancelled = merchant.api.get(&path).await.expect(200);
    let cancelled = cancelled["data"].as_array().unwrap();
    assert!(!cancelled.is_empty(), "the event of the last hour waited for another attempt");
    assert!(cancelled.iter().all(|one| one["failure_reason"] == "endpoint_disabled"), "{cancelled:?}");
    let health = merchant.api.get("/integration-health").await.expect(200);
    let alert =
        health["alerts"].as_array().unwrap().iter().find(|alert| alert["code"] == "endpoint_disabled");
    let alert = alert.unwrap();
    assert_eq!((&alert["severity"], &alert["endpoint_id"]), (&json!("critical"), &json!(endpoint.id)));
    assert_eq!(alert["message"], "No attempt has succeeded for 120 hours; the endpoint is disabled.");
    // Enabled, it has no past.
    let path = format!("/webhook-endpoints/{}", endpoint.id);
    let enabled =
        merchant.api.call(http::Method::PATCH, &path).json(&json!({ "status": "enabled" })).send().await;
    assert_eq!(failures(&enabled.expect(200)), 0);
    merchant.checkout().await;
    let now = fares(&merchant, &endpoint, "a new failure", |now| failures(now) == 1).await;
    assert_eq!((&now["status"], &now["health"]["state"]), (&json!("enabled"), &json!("unknown")));
    service.stop().await;
}

/// A service that is started again on the same database.
struct Run {
    service: Service,
    operator_key: String,
}

impl Run {
    async fn start(url: &str, clock: &Arc<HandClock>) -> Self {
        let variables = [("AUTHORITY_RETRY_SCHEDULE", "0,0,0,0")];
        let service = serve(url, Arc::clone(clock), Arc::default(), &variables).await;
        let (store, scopes) = (&service.app.store, OperatorScope::ALL.to_vec());
        let issued =
            operator_key_create(store, &**clock, &SystemDice, "tests".to_owned(), scopes).await.unwrap();
        Self { service, operator_key: issued.key.to_string() }
    }

    /// The same merchant, asked here.
    fn asked_by(&self, merchant: &Merchant) -> Merchant {
        Merchant { api: self.merchant(&merchant.key), operator: self.operator(), ..merchant.clone() }
    }
}

impl ServiceUrls for Run {
    fn operator(&self) -> Api {
        let address = watch::Sender::new(Some(format!("http://{}", self.service.operator_address)));
        Api::new(address.subscribe(), "/v1/operator", &self.operator_key)
    }

    fn merchant(&self, key: &str) -> Api {
        let address = watch::Sender::new(Some(format!("http://{}", self.service.merchant_address)));
        Api::new(address.subscribe(), "/v1/merchant", key)
    }
}

/// Every delivery has used up its attempts long before the five days are over, and nothing new comes: no attempt will
/// ever find the endpoint out.
async fn time_alone_disables(database: Database) {
    let folder = tempfile::tempdir().unwrap();
    let (url, clock) = (new_database(database, &folder).await, HandClock::standing());
    let run = Run::start(&url, &clock).await;
    let receiver = Receiver::start(|_| Answer::status(500)).await;
    let merchant = Merchant::create(&run, "acme").await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["checkout.created"]).await;
    for _ in 0..3 {
        merchant.checkout().await;
    }
    fares(&merchant, &endpoint, "four attempts each", |now| failures(now) == 12).await;
    run.service.stop().await;
    clock.turn(120 * HOUR_MS - 1);
    let run = Run::start(&url, &clock).await;
    let merchant = run.asked_by(&merchant);
    let now = fares(&merchant, &endpoint, "a day", |now| now["health"]["state"] == "failing").await;
    assert_eq!(now["status"], "enabled");
    run.service.stop().await;
    clock.turn(1);
    let run = Run::start(&url, &clock).await;
    let merchant = run.asked_by(&merchant);
    let now = fares(&merchant, &endpoint, "five days", |now| now["status"] == "disabled").await;
    assert_eq!((&now["disabled_reason"], failures(&now)), (&json!("failing"), 12));
    let health = merchant.api.get("/integration-health").await.expect(200);
    let alerts: Vec<_> = health["alerts"].as_array().unwrap().iter().map(|alert| &alert["code"]).collect();
    assert_eq!(alerts, ["endpoint_disabled"], "nothing is said twice");
    assert_eq!(receiver.arrivals().all.len(), 12);
    run.service.stop().await;
}

async fn a_receiver_gets_what_it_wishes(database: Database) {
    let service = InProcess::start(database, &[("AUTHORITY_RETRY_SCHEDULE", "0,0,0")]).await;
    let receiver = Receiver::start(|arrival| match (arrival.path.as_str(), arrival.nth) {
        ("/abort", _) => Answer::status(500).with("service-delivery", "abort"),
        ("/disable", _) => Answer::status(404).with("service-delivery", "disable"),
        ("/success", _) => Answer::status(200).with("service-delivery", "disable"),
        _ => Answer::status(200),
    })
    .await;
    let merchant = Merchant::create(&service, "acme").await;
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
        let deliveries = format!("/webhook-endpoints/{}/deliveries", endpoint.id);
        let delivery = &merchant.api.get(&deliveries).await.expect(200)["data"][0];
        assert_eq!((&delivery["status"], &delivery["failure_reason"]), (&json!(ended), &failure), "{path}");
    }
    let health = merchant.api.get("/integration-health").await.expect(200);
    let disabled =
        health["alerts"].as_array().unwrap().iter().find(|alert| alert["code"] == "endpoint_disabled");
    assert_eq!(disabled.unwrap()["severity"], "warning");
    service.stop().await;
}
