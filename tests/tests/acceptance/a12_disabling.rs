//! A12, continued: an endpoint that fails for five days is disabled, and only then (contract 7.5).

use serde_json::{Value, json};
use tests::authority::Database;
use tests::eventually::eventually;
use tests::merchant::{Endpoint, Merchant, text};
use tests::on_every_database;
use tests::receiver::{Answer, Receiver};
use tests::service::InProcess;

on_every_database!(a12_five_days_of_failures_disable);

const DAY_MS: i64 = 86_400_000;

/// 120 hours without a success since the first failure, at least 10 failures, at least 3 different events: each of the
/// three is needed (contract 7.5).
async fn a12_five_days_of_failures_disable(database: Database) {
    let day = "86400";
    let schedule = format!("0,{}", [day; 7].join(","));
    let service = InProcess::start(database, &[("AUTHORITY_RETRY_SCHEDULE", &schedule)]).await;
    let receiver = Receiver::start(|arrival| {
        // One that succeeds once, with the third attempt of an event.
        let recovers = arrival.path == "/recovers" && arrival.nth == 3;
        Answer::status(if recovers { 200 } else { 500 })
    })
    .await;
    let merchant = Merchant::create(&service, "failing").await;
    let failing = merchant.endpoint(&receiver.url("/failing"), &["checkout.created"]).await;
    let two_events =
        merchant.endpoint(&receiver.url("/two-events"), &["checkout.completed", "webhook.test"]).await;
    let recovers = merchant.endpoint(&receiver.url("/recovers"), &["checkout.created"]).await;
    let start = service.clock.shown();
    for _ in 0..2 {
        merchant.paid_order().await;
    }
    merchant.checkout().await;
    let state = async |endpoint: &Endpoint| {
        let now = merchant.endpoint_now(endpoint).await;
        (text(&now, "status"), text(&now["health"], "state"))
    };
    let is = |status: &str, state: &str| (status.to_owned(), state.to_owned());
    service.play_until(start + DAY_MS - 1).await;
    assert_eq!(state(&failing).await, is("enabled", "unknown"), "three failures");
    service.play_until(start + 4 * DAY_MS).await;
    assert_eq!(state(&failing).await, is("enabled", "failing"), "fifteen failures, four days");
    let alerts = merchant.api.get("/integration-health").await.expect(200)["alerts"].clone();
    let critical = |alert: &&Value| alert["code"] == "endpoint_failing" && alert["endpoint_id"] == failing.id;
    assert_eq!(alerts.as_array().unwrap().iter().find(critical).unwrap()["severity"], "critical");
    // The fifth day.
    service.clock.turn_to(start + 5 * DAY_MS);
    let disabled = eventually("disabled", async || {
        let now = merchant.endpoint_now(&failing).await;
        (now["status"] == "disabled").then_some(now)
    })
    .await;
    assert_eq!(disabled["disabled_reason"], "failing");
    let alerts = merchant.api.get("/integration-health").await.expect(200)["alerts"].clone();
    let given_up =
        |alert: &&Value| alert["code"] == "endpoint_disabled" && alert["endpoint_id"] == failing.id;
    let alert = alerts.as_array().unwrap().iter().find(given_up).unwrap();
    assert_eq!(alert["severity"], "critical");
    assert_eq!(alert["message"], "No attempt has succeeded for 120 hours; the endpoint is disabled.");
    service.play_until(start + 6 * DAY_MS).await;
    let fates = merchant.fates(&failing).await;
    assert!(fates.iter().all(|fate| fate.starts_with("cancelled endpoint_disabled")), "{fates:?}");
    let attempts = receiver.arrivals().at("/failing").count();
    assert!((15..=18).contains(&attempts), "{attempts} attempts of three events in five days");
    assert_eq!(state(&two_events).await, is("enabled", "failing"), "two events are not three");
    let (status, _) = state(&recovers).await;
    assert_eq!(status, "enabled", "there was a success");
    // Enabled, it has no past.
    let path = format!("/webhook-endpoints/{}", failing.id);
    let enable = json!({ "status": "enabled" });
    let enabled = merchant.api.call(http::Method::PATCH, &path).json(&enable).send().await.expect(200);
    assert_eq!(enabled["health"]["consecutive_failures"], 0);
    service.stop().await;
}
