//! One event, one claim: however often and however simultaneously it is delivered, and whatever happens to the
//! runtime in between (contract 11.2).

use serde_json::Value;
use tests::delivery::{Delivery, NOW, SECRET, event};
use tests::eventually;
use tests::workerd::{State, Worker, Workerd};

use crate::{DUPLICATE, OK, PATH};

/// Waits until the dedup record of `event_id`, which is written behind the answer, is there.
async fn record_of(workerd: &mut Workerd, worker: &str, event_id: &str) -> String {
    let key = format!("evt:{event_id}");
    eventually(format!("a record {key}"), async || match workerd.record(worker, &key).await["value"].take() {
        Value::String(value) => Some(value),
        _ => None,
    })
    .await
}

#[tokio::test]
async fn of_two_simultaneous_deliveries_one_is_the_first() {
    let state = State::new();
    let workerd = Workerd::start(&state, &[Worker::at_the_vectors("twins")]).await;
    let url = workerd.url("twins", PATH);
    for n in 0..200 {
        let delivery = Delivery::of_event(&format!("evt_twin_{n:03}"));
        let (one, other) =
            tokio::join!(workerd.send(delivery.request(&url)), workerd.send(delivery.request(&url)));
        let mut outcomes = [one.outcome(), other.outcome()];
        outcomes.sort_unstable();
        assert_eq!(outcomes, [DUPLICATE, OK], "try {n}");
    }
    workerd.stop().await;
    let ids: Vec<_> = state.records("twins").await.into_iter().map(|record| record.id).collect();
    let expected: Vec<_> = (0..200).map(|n| format!("evt_twin_{n:03}")).collect();
    assert_eq!(ids, expected);
}

#[tokio::test]
async fn what_was_acknowledged_is_stored_and_stays_a_duplicate_after_a_restart() {
    let state = State::new();
    let workers = [Worker::at_the_vectors("restart")];
    let mut workerd = Workerd::start(&state, &workers).await;
    let deliveries: Vec<_> = (0..20).map(|n| Delivery::of_event(&format!("evt_restart_{n}"))).collect();
    for delivery in &deliveries {
        let reply = workerd.send(delivery.request(&workerd.url("restart", PATH))).await;
        assert_eq!(reply.outcome(), OK);
    }
    for n in 0..20 {
        record_of(&mut workerd, "restart", &format!("evt_restart_{n}")).await;
    }
    workerd.stop().await;

    let mut workerd = Workerd::start(&state, &workers).await;
    for (n, delivery) in deliveries.iter().enumerate() {
        // Half of them are known by their KV record, half by the object alone.
        if n % 2 == 0 {
            workerd.forget("restart", &format!("evt:evt_restart_{n}")).await;
        }
        let reply = workerd.send(delivery.request(&workerd.url("restart", PATH))).await;
        assert_eq!(reply.outcome(), DUPLICATE, "event {n}");
    }
    workerd.stop().await;
    assert_eq!(state.records("restart").await.len(), 20);
}

#[tokio::test]
async fn what_was_acknowledged_survives_the_death_of_the_runtime() {
    let state = State::new();
    // Without KV, so that nothing but the object can know.
    let workers = [Worker::at_the_vectors("crash").with("kvNamespaces", serde_json::json!({}))];
    for round in 0..5 {
        let workerd = Workerd::start(&state, &workers).await;
        let url = workerd.url("crash", PATH);
        for earlier in 0..round {
            let reply = workerd.send(Delivery::of_event(&format!("evt_crash_{earlier}")).request(&url)).await;
            assert_eq!(reply.outcome(), DUPLICATE, "event {earlier} after {round} deaths");
        }
        let reply = workerd.send(Delivery::of_event(&format!("evt_crash_{round}")).request(&url)).await;
        assert_eq!(reply.outcome(), OK);
        workerd.kill().await;
    }
    let workerd = Workerd::start(&state, &workers).await;
    workerd.stop().await;
    assert_eq!(state.records("crash").await.len(), 5);
}

#[tokio::test]
async fn a_claim_stores_the_whole_event() {
    let state = State::new();
    let workerd = Workerd::start(&state, &[Worker::at_the_vectors("record")]).await;
    let url = workerd.url("record", PATH);
    // Blanks, an escape and a character beyond ASCII: what is stored is what was signed, byte for byte.
    let live = " {\"id\":\"evt_live\",\"type\":\"order.conf\\u0069rmed\",\"api_version\":\"2026-09-01\",\
        \"created_at\":\"2026-08-31T23:59:59.999Z\",\"livemode\":true,\"sequence\":7,\
        \"merchant\":{\"id\":\"mer_7\",\"slug\":\"café\"},\"data\":{\"object\":{}}}\n";
    let unknown = event("evt_unknown", "loyalty.points_granted");
    for (body, id) in [(live, "evt_live"), (unknown.as_str(), "evt_unknown")] {
        let delivery = Delivery::signed(body.to_owned().into(), id, &[SECRET]);
        assert_eq!(workerd.send(delivery.request(&url)).await.outcome(), OK, "{id}");
        assert_eq!(workerd.send(delivery.request(&url)).await.outcome(), DUPLICATE, "{id}");
    }
    workerd.stop().await;

    let records = state.records("record").await;
    let [live_record, unknown_record] = records.as_slice() else { panic!("{records:?}") };
    assert_eq!(live_record.id, "evt_live");
    assert_eq!(live_record.event_type, "order.confirmed");
    assert_eq!(live_record.created_at, "2026-08-31T23:59:59.999Z");
    assert_eq!(live_record.merchant_id, "mer_7");
    assert_eq!(live_record.livemode, Some(true));
    assert_eq!(live_record.received_at, NOW * 1000);
    assert_eq!(
        (live_record.status.as_str(), live_record.attempts, live_record.last_error.as_deref()),
        ("received", 0, None)
    );
    assert_eq!(live_record.body, live.as_bytes());
    assert_eq!(unknown_record.event_type, "loyalty.points_granted");
    assert_eq!(unknown_record.livemode, None);
}

#[tokio::test]
async fn the_dedup_record_follows_a_claim_and_answers_for_it() {
    let state = State::new();
    let mut workerd = Workerd::start(&state, &[Worker::at_the_vectors("kv")]).await;
    let url = workerd.url("kv", PATH);
    let delivery = Delivery::of_event("evt_kv");

    let forged = delivery.clone().with("service-signature", &["v1=00"]);
    assert_eq!(workerd.send(forged.request(&url)).await.outcome(), (401, "invalid_signature"));
    assert_eq!(workerd.send(delivery.request(&url)).await.outcome(), OK);
    assert_eq!(record_of(&mut workerd, "kv", "evt_kv").await, (NOW * 1000).to_string());
    let keys = workerd.records("kv", "").await;
    let keys = keys.as_array().unwrap();
    assert_eq!(keys.len(), 1, "{keys:?}");
    // Kept for 90 days from the real now, which is after the time the deliveries are set in.
    assert!(keys[0]["expiration"].as_i64().unwrap() >= NOW + 90 * 24 * 60 * 60, "{keys:?}");
    assert_eq!(workerd.send(delivery.request(&url)).await.outcome(), DUPLICATE);
    workerd.stop().await;
}

#[tokio::test]
async fn the_path_and_how_long_claims_are_kept_are_as_the_variables_say() {
    let state = State::new();
    let worker = Worker::at_the_vectors("own")
        .with_variable("WEBHOOK_PATH", "/hooks/in")
        .with_variable("RETENTION_DAYS", "400");
    let mut workerd = Workerd::start(&state, &[worker]).await;
    let delivery = Delivery::of_event("evt_own");
    let elsewhere = workerd.send(delivery.request(&workerd.url("own", PATH))).await;
    assert_eq!(elsewhere.outcome(), (404, "not_found"));
    assert_eq!(workerd.send(delivery.request(&workerd.url("own", "/hooks/in?a=b"))).await.outcome(), OK);
    record_of(&mut workerd, "own", "evt_own").await;
    let keys = workerd.records("own", "evt:").await;
    assert!(keys[0]["expiration"].as_i64().unwrap() >= NOW + 400 * 24 * 60 * 60, "{keys}");
    workerd.stop().await;
}

#[tokio::test]
async fn a_dedup_record_alone_is_a_duplicate() {
    let state = State::new();
    // Two receivers that share the KV namespace and have an inbox each: only KV can tell the second one.
    let shared = serde_json::json!({ "DEDUP_RECORDS": "shared" });
    let workers =
        ["one", "two"].map(|name| Worker::at_the_vectors(name).with("kvNamespaces", shared.clone()));
    let mut workerd = Workerd::start(&state, &workers).await;
    let delivery = Delivery::of_event("evt_shared");
    assert_eq!(workerd.send(delivery.request(&workerd.url("one", PATH))).await.outcome(), OK);
    record_of(&mut workerd, "two", "evt_shared").await;
    assert_eq!(workerd.send(delivery.request(&workerd.url("two", PATH))).await.outcome(), DUPLICATE);
    workerd.forget("two", "evt:evt_shared").await;
    assert_eq!(workerd.send(delivery.request(&workerd.url("two", PATH))).await.outcome(), OK);
    workerd.stop().await;
}
