//! A12, continued: an endpoint that fails for five days is disabled, and only then (contract 7.5).

use serde_json::json;
use tests::{
    Answer, Database, Endpoint, InProcess, Merchant, Receiver, eventually, on_every_database, retries, text,
};

on_every_database!(a12_five_days_of_failures_disable);

const DAY_MS: i64 = 86_400_000;

/// 120 hours without a success since the first failure, at least 10 failures, at least 3 different events: each of the
/// three is needed (contract 7.5).
async fn a12_five_days_of_failures_disable(database: Database) {
    let day = "86400";
    let schedule = format!("0,{}", [day; 7].join(","));
    let service = InProcess::start(database, &[retries(&schedule)]).await;
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
    merchant.paid_orders(2).await;
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
    let alert_of = async |code: &str| {
        let mut alerts = merchant.alerts(code).await.into_iter();
        alerts.find(|alert| alert["endpoint_id"] == failing.id).unwrap()
    };
    assert_eq!(alert_of("endpoint_failing").await["severity"], "critical");
    // The fifth day.
    service.clock.turn_to(start + 5 * DAY_MS);
    let disabled = eventually("disabled", async || {
        let now = merchant.endpoint_now(&failing).await;
        (now["status"] == "disabled").then_some(now)
    })
    .await;
    assert_eq!(disabled["disabled_reason"], "failing");
    let alert = alert_of("endpoint_disabled").await;
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
    let enabled = merchant.change(&failing, &json!({ "status": "enabled" })).await;
    assert_eq!(enabled["health"]["consecutive_failures"], 0);
    service.stop().await;
}
