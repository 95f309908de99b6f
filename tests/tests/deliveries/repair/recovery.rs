//! Recovery brings what was missed, once, through restarts and without a flood (contract 15.2).

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tests::{
    Answer, Authority, Database, Gate, Merchant, Receiver, eventually, has, on_both_databases, retries, rows,
    text, texts,
};

use super::{ONCE, Switched, at, ended, missing};

/// More than a recovery has due at a time.
const MISSED: usize = 150;

async fn a_recovery_brings_what_was_missed(database: Database) {
    let authority = Authority::on(database, &[ONCE]).await;
    let switched = Switched::down().await;
    let merchant = Merchant::create(&authority, "recovers").await;
    let endpoint = merchant.endpoint(&switched.receiver.url("/hook"), &["*"]).await;
    merchant.paid_orders(5).await;
    authority.nothing_pending().await;
    assert_eq!(missing(&merchant, &endpoint).await.len(), 30);
    switched.goes_up();
    let path = at(&endpoint, "recover");
    let since = text(&merchant.events().await[6], "created_at");
    let dry_run = json!({ "since": since, "types": ["order.*", "payment.created"], "dry_run": true });
    let counted = merchant.api.post(&path, &dry_run).await.expect(200);
    let expected = json!({ "object": "endpoint_recovery", "dry_run": true, "endpoint_id": endpoint.id,
                           "livemode": false, "matched": 12, "complete": true });
    assert_eq!(counted, expected);
    assert_eq!(missing(&merchant, &endpoint).await.len(), 30, "a dry run sends nothing");

    let asked = json!({ "since": since, "types": ["order.*", "payment.created"] });
    let made = merchant.api.post_as("once", &path, &asked).await;
    let location = made.header("location").unwrap().to_owned();
    let made = made.expect(202);
    assert!(location.ends_with(&format!("/v1/merchant/endpoint-recoveries/{}", text(&made, "id"))));
    assert!(text(&made, "id").starts_with("rcv_"));
    let done = ended(&merchant, &made).await;
    let expected = json!({
        "object": "endpoint_recovery", "id": made["id"], "endpoint_id": endpoint.id, "status": "completed",
        "since": since, "until": null, "types": ["order.*", "payment.created"], "matched": 12, "enqueued": 12,
        "remaining": 0, "livemode": false, "created_at": made["created_at"], "updated_at": done["updated_at"],
        "finished_at": done["updated_at"],
    });
    assert_eq!(done, expected);
    authority.nothing_pending().await;
    assert_eq!(missing(&merchant, &endpoint).await.len(), 18);
    let again = merchant.api.post_as("once", &path, &asked).await;
    assert_eq!((again.status, again.header("idempotent-replayed")), (202, Some("true")));
    assert_eq!(again.expect(202)["id"], made["id"]);
    // Everything that is left; then there is nothing.
    let rest = merchant.api.post(&path, &json!({ "since": "2020-01-01T00:00:00Z" })).await.expect(202);
    assert_eq!(ended(&merchant, &rest).await["enqueued"], 18);
    authority.nothing_pending().await;
    assert_eq!(missing(&merchant, &endpoint).await, []);
    let none = merchant.api.post(&path, &json!({ "since": "2020-01-01T00:00:00Z" })).await.expect(202);
    let none = ended(&merchant, &none).await;
    has(&none, json!({ "status": "completed", "matched": 0, "enqueued": 0 }));
    let nothing_yet = merchant.api.post(&path, &json!({ "since": "2100-01-01T00:00:00Z" })).await.expect(202);
    assert_eq!(nothing_yet["status"], "completed");
    // Each event arrived once after the receiver was up again.
    let mut accepted = BTreeMap::new();
    for arrival in switched.receiver.arrivals().all.iter().filter(|arrival| arrival.status == 200) {
        *accepted.entry(arrival.event_id.clone()).or_insert(0) += 1;
    }
    assert_eq!((accepted.len(), accepted.values().max()), (30, Some(&1)));
}

/// Many events that were missed, and a receiver that holds every request until its gate is open.
async fn held_back(authority: &Authority, slug: &str) -> (Merchant, tests::Endpoint, Receiver, Gate) {
    let gate = Gate::closed();
    let held = gate.clone();
    let receiver = Receiver::start(move |arrival| match arrival.path.as_str() {
        "/down" => Answer::status(500),
        _ => Answer::status(200).held_by(&held),
    })
    .await;
    let merchant = Merchant::create(authority, slug).await;
    let endpoint = merchant.endpoint(&receiver.url("/down"), &["checkout.created"]).await;
    merchant.checkouts(MISSED).await;
    authority.nothing_pending().await;
    let moved = json!({ "url": receiver.url("/hook") });
    let path = endpoint.path("");
    merchant.api.patch(&path, &moved).await.expect(200);
    (merchant, endpoint, receiver, gate)
}

async fn waiting(merchant: &Merchant, path: &str) -> Vec<Value> {
    merchant.api.list(&format!("{path}?status=pending&limit=100")).await
}

async fn a_recovery_survives_a_kill_and_does_not_flood(database: Database) {
    let mut authority = Authority::on(database, &[ONCE]).await;
    let (merchant, endpoint, receiver, gate) = held_back(&authority, "survives").await;
    let asked = json!({ "since": "2020-01-01T00:00:00Z" });
    let made = merchant.api.post(&at(&endpoint, "recover"), &asked).await.expect(202);
    assert_eq!((&made["matched"], &made["status"]), (&json!(MISSED), &json!("running")));
    let deliveries = at(&endpoint, "deliveries");
    let path = format!("/endpoint-recoveries/{}", text(&made, "id"));
    // The receiver holds what it gets: no more are made than may be due at a time.
    eventually("the first of them", async || {
        (merchant.api.get(&path).await.expect(200)["enqueued"] == 64).then_some(())
    })
    .await;
    let fresh = text(&merchant.checkout().await, "id");
    assert_eq!(waiting(&merchant, &deliveries).await.len(), 65, "and the fresh one");
    authority.kill().await;
    authority.restart().await;
    let now = merchant.api.get(&path).await.expect(200);
    assert_eq!((&now["enqueued"], &now["remaining"]), (&json!(64), &json!(MISSED - 64)));
    gate.open();
    let done = ended(&merchant, &made).await;
    assert_eq!((&done["status"], &done["enqueued"]), (&json!("completed"), &json!(MISSED)));
    authority.nothing_pending().await;
    assert_eq!(missing(&merchant, &endpoint).await, []);
    let all = merchant.api.list(&format!("{deliveries}?status=succeeded&limit=100")).await;
    let recovered: Vec<_> = all.iter().filter(|row| row["trigger"] == "recovery").collect();
    let mut events = texts(recovered.iter().copied(), "event_id");
    events.sort();
    events.dedup();
    assert_eq!((recovered.len(), events.len()), (MISSED, MISSED), "one delivery of each event");
    let body = |arrival: &&tests::Arrival| String::from_utf8_lossy(&arrival.body).contains(&fresh);
    assert!(receiver.arrivals().at("/hook").any(|arrival| body(&arrival)));
    authority.is_sound().await;
}

async fn a_recovery_takes_the_place_of_what_waits(database: Database) {
    let authority = Authority::on(database, &[retries("0,86400")]).await;
    let switched = Switched::down().await;
    let merchant = Merchant::create(&authority, "waits").await;
    let endpoint = merchant.endpoint(&switched.receiver.url("/hook"), &["*"]).await;
    merchant.checkout().await;
    let deliveries = at(&endpoint, "deliveries");
    eventually("its first attempt", async || {
        let page = merchant.api.get(&deliveries).await.expect(200);
        (page["data"][0]["attempt_count"] == 1).then_some(())
    })
    .await;
    assert_eq!(missing(&merchant, &endpoint).await, [(1, "pending".to_owned())]);
    switched.goes_up();
    let asked = json!({ "since": "2020-01-01T00:00:00Z" });
    let made = merchant.api.post(&at(&endpoint, "recover"), &asked).await.expect(202);
    assert_eq!(ended(&merchant, &made).await["enqueued"], 1);
    authority.nothing_pending().await;
    let page = merchant.api.get(&deliveries).await.expect(200);
    let told: Vec<_> = rows(&page)
        .iter()
        .map(|row| (text(row, "trigger"), text(row, "status"), row["failure_reason"].clone()))
        .collect();
    let expected = [
        ("recovery".to_owned(), "succeeded".to_owned(), Value::Null),
        ("event".to_owned(), "cancelled".to_owned(), Value::Null),
    ];
    assert_eq!(told, expected);
}

on_both_databases!(
    a_recovery_brings_what_was_missed,
    a_recovery_survives_a_kill_and_does_not_flood,
    a_recovery_takes_the_place_of_what_waits
);
