//! Trying a delivery now (contract 15.3).

use std::collections::BTreeSet;
use std::sync::Mutex;

use serde_json::{Value, json};
use tests::{
    Answer, Authority, Database, Gate, Merchant, Receiver, eventually, has, on_both_databases, retries, text,
    texts,
};

use super::{Switched, at};

async fn newest(merchant: &Merchant, path: &str) -> Value {
    merchant.api.get(path).await.expect(200)["data"][0].clone()
}

async fn what_waits_is_tried_now_and_what_ended_once_more(database: Database) {
    let authority = Authority::on(database, &[retries("0,86400")]).await;
    let switched = Switched::down().await;
    let merchant = Merchant::create(&authority, "retries").await;
    let endpoint = merchant.endpoint(&switched.receiver.url("/hook"), &["*"]).await;
    merchant.checkout().await;
    let list = at(&endpoint, "deliveries");
    let waiting = eventually("its first attempt", async || {
        Some(newest(&merchant, &list).await).filter(|delivery| delivery["attempt_count"] == 1)
    })
    .await;
    let retry = |delivery: &Value| format!("/deliveries/{}/retry", text(delivery, "id"));
    // It waits for tomorrow; now it is tried, fails for the last time, and is given up.
    let hastened = merchant.api.post(&retry(&waiting), &json!({})).await.expect(202);
    assert_eq!((&hastened["id"], &hastened["status"]), (&waiting["id"], &json!("pending")));
    assert!(text(&hastened, "next_attempt_at") < text(&waiting, "next_attempt_at"));
    let failed = eventually("its end", async || {
        Some(newest(&merchant, &list).await).filter(|delivery| delivery["status"] == "failed")
    })
    .await;
    assert_eq!(failed["attempt_count"], 2);
    // What has failed is sent once more, by a delivery of its own.
    switched.goes_up();
    let again = merchant.api.post_as("again", &retry(&failed), &json!({})).await.expect(202);
    has(&again, json!({ "trigger": "replay", "status": "pending", "event_id": failed["event_id"] }));
    assert_ne!(again["id"], failed["id"]);
    let repeated = merchant.api.post_as("again", &retry(&failed), &json!({})).await.expect(202);
    assert_eq!(repeated["id"], again["id"], "one key, one delivery");
    authority.nothing_pending().await;
    let arrived = newest(&merchant, &list).await;
    assert_eq!((&arrived["id"], &arrived["status"]), (&again["id"], &json!("succeeded")));
    let problem =
        merchant.api.post(&retry(&arrived), &json!({})).await.refused(409, "invalid_state_transition");
    assert_eq!(problem["current_status"], "succeeded");

    // Never a 202 that sends nothing.
    let path = endpoint.path("");
    merchant.api.patch(&path, &json!({ "status": "disabled" })).await.expect(200);
    merchant.api.post(&retry(&failed), &json!({})).await.refused(409, "endpoint_disabled");
    merchant.api.post(&retry(&failed), &json!({ "now": true })).await.refused(422, "unknown_field");
    let stranger = Merchant::create(&authority, "stranger").await;
    stranger.api.post(&retry(&failed), &json!({})).await.refused(404, "not_found");
    merchant.api.post("/deliveries/dlv_1/retry", &json!({})).await.refused(404, "not_found");
    merchant.api.delete(&path).await.expect(200);
    merchant.api.post(&retry(&failed), &json!({})).await.refused(404, "not_found");
}

/// Whoever asks while an attempt is in flight gets another one when that fails: after the last attempt of the schedule
/// too, and also where the receiver has just asked for rest.
async fn what_is_in_flight_is_tried_again_when_it_fails(database: Database) {
    let authority = Authority::on(database, &[retries("0")]).await;
    let gate = Gate::closed();
    let held = gate.clone();
    let first = Mutex::<BTreeSet<String>>::default();
    let receiver = Receiver::start(move |arrival| {
        let is_first = first.lock().unwrap().insert(arrival.path.clone());
        match arrival.path.as_str() {
            _ if !is_first => Answer::status(200),
            "/tired" => Answer::status(503).with("retry-after", "3600").held_by(&held),
            "/gone" => Answer::status(410).held_by(&held),
            _ => Answer::status(500).held_by(&held),
        }
    })
    .await;
    let merchant = Merchant::create(&authority, "in-flight").await;
    let mut endpoints = Vec::new();
    for path in ["/broken", "/tired", "/gone"] {
        endpoints.push(merchant.endpoint(&receiver.url(path), &["checkout.created"]).await);
    }
    merchant.checkout().await;
    receiver.until("the first attempts", |arrivals| arrivals.all.len() == 3).await;
    for endpoint in &endpoints {
        let delivery = newest(&merchant, &at(endpoint, "deliveries")).await;
        assert_eq!((&delivery["status"], &delivery["attempt_count"]), (&json!("pending"), &json!(0)));
        let path = format!("/deliveries/{}/retry", text(&delivery, "id"));
        let asked = merchant.api.post(&path, &json!({})).await.expect(202);
        assert_eq!(asked["id"], delivery["id"]);
    }
    gate.open();
    authority.nothing_pending().await;
    let ends = [("succeeded", 2, json!(null)), ("succeeded", 2, json!(null)), ("failed", 1, json!("gone"))];
    for (endpoint, (status, attempts, reason)) in endpoints.iter().zip(ends) {
        let delivery = newest(&merchant, &at(endpoint, "deliveries")).await;
        has(&delivery, json!({ "status": status, "attempt_count": attempts, "failure_reason": reason }));
    }
    // What is tried once more has not failed.
    let failed = merchant.alerts("deliveries_failed").await;
    assert_eq!(texts(&failed, "endpoint_id"), [endpoints[2].id.as_str()]);
}

on_both_databases!(
    what_waits_is_tried_now_and_what_ended_once_more,
    what_is_in_flight_is_tried_again_when_it_fails,
);
