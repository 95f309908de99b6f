//! A receiver that is gone while it is asked for something else (contract 7.3, 7.5). What each answer means is A12.

use serde_json::{Value, json};
use tests::{Answer, Authority, Database, Gate, Merchant, Receiver, on_both_databases, retries};

use crate::holding_back::{failures, fares};

on_both_databases!(
    what_a_former_url_answers_disables_nothing,
    what_is_in_flight_at_a_disabling_is_not_tried_again
);

/// 410 ends everything for the endpoint: what is in flight and fails, and what comes later. What waits is in A12.
#[tokio::test]
async fn gone_is_final() {
    let mut authority = Authority::start(&[retries("0,1,86400")]).await;
    let gate = Gate::closed();
    let held = gate.clone();
    // The first event is gone after a while, the second is in flight until the end.
    let receiver =
        Receiver::start(move |arrival| match (arrival.path.as_str(), arrival.number, arrival.nth) {
            ("/other", ..) => Answer::status(200),
            (_, 1, _) => Answer::status(500),
            (_, _, 2) => Answer::status(410),
            _ => Answer::status(500).held_by(&held),
        })
        .await;
    let merchant = Merchant::create(&authority, "moved-away").await;
    let endpoint = merchant.endpoint(&receiver.url("/gone"), &["*"]).await;
    for number in 1..=2 {
        merchant.checkout().await;
        receiver.until("one more", |arrivals| arrivals.all.len() >= number).await;
    }
    receiver.until("the retry", |arrivals| arrivals.all.len() == 3).await;
    let disabled = tests::eventually("disabled", async || {
        let now = merchant.endpoint_now(&endpoint).await;
        (now["status"] == "disabled").then_some(now)
    })
    .await;
    assert_eq!((&disabled["disabled_reason"], &disabled["resource_version"]), (&json!("gone"), &json!(2)));
    assert!(disabled["disabled_at"].is_string());
    gate.open();
    authority.nothing_pending().await;

    merchant.endpoint(&receiver.url("/other"), &["*"]).await;
    merchant.checkout().await;
    let path = endpoint.path("/test");
    merchant.api.post(&path, &json!({})).await.refused(409, "endpoint_disabled");
    authority.nothing_pending().await;
    authority.terminate().await;
    let arrivals = receiver.arrivals();
    assert_eq!((arrivals.at("/gone").count(), arrivals.at("/other").count()), (3, 1));
}

/// The attempt began before the URL was corrected: who has gone from there says nothing of the present receiver.
async fn what_a_former_url_answers_disables_nothing(database: Database) {
    let (_authority, merchant) = Merchant::on_with(database, &[retries("0,86400")], "corrected").await;
    let gate = Gate::closed();
    let held = gate.clone();
    let receiver = Receiver::start(move |arrival| match arrival.path.as_str() {
        "/gone" => Answer::status(410).held_by(&held),
        "/disable" => Answer::status(404).with("service-delivery", "disable").held_by(&held),
        _ => Answer::status(200),
    })
    .await;
    let mut endpoints = Vec::new();
    for path in ["/gone", "/disable"] {
        endpoints.push(merchant.endpoint(&receiver.url(path), &["checkout.created"]).await);
    }
    merchant.checkout().await;
    receiver.until("both requests", |arrivals| arrivals.all.len() == 2).await;
    for endpoint in &endpoints {
        merchant.change(endpoint, &json!({ "url": receiver.url("/new") })).await;
    }
    gate.open();
    for endpoint in &endpoints {
        let now = fares(&merchant, endpoint, "the answer", |now| failures(now) == 1).await;
        assert_eq!((&now["status"], &now["disabled_reason"]), (&json!("enabled"), &Value::Null));
    }
    assert_eq!(merchant.alerts("endpoint_disabled").await, Vec::<Value>::new());
    merchant.checkout().await;
    receiver.until("the next event", |arrivals| arrivals.at("/new").count() == 2).await;
}

/// The endpoint is enabled again before the receiver answers; nothing from before is sent then.
async fn what_is_in_flight_at_a_disabling_is_not_tried_again(database: Database) {
    let (authority, merchant) = Merchant::on_with(database, &[retries("0,1,1")], "switched").await;
    let gate = Gate::closed();
    let held = gate.clone();
    let receiver = Receiver::start(move |arrival| match arrival.number {
        1 => Answer::status(500).held_by(&held),
        _ => Answer::status(200),
    })
    .await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["checkout.created"]).await;
    merchant.checkout().await;
    receiver.until("the request", |arrivals| arrivals.all.len() == 1).await;
    for status in ["disabled", "enabled"] {
        merchant.change(&endpoint, &json!({ "status": status })).await;
    }
    gate.open();
    authority.nothing_pending().await;
    assert_eq!(merchant.fates(&endpoint).await, ["cancelled endpoint_disabled 1"]);
    merchant.checkout().await;
    authority.nothing_pending().await;
    assert_eq!(receiver.arrivals().all.len(), 2);
}
