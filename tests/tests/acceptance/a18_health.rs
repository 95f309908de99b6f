//! A18: what integration health says (contract 2.12): without endpoints, all good, one failing, a backlog, and an alert
//! that has closed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use serde_json::{Value, json};
use tests::{Answer, Database, Gate, InProcess, Merchant, Receiver, has, on_every_database, retries};

on_every_database!(a18_integration_health_reflects_what_is);

/// Code, severity and count of every open alert of an endpoint, in the order of the codes.
fn alerts(health: &Value, endpoint: &str) -> Vec<Value> {
    let all = health["alerts"].as_array().unwrap().iter();
    let mut told: Vec<Value> = all
        .filter(|alert| alert["endpoint_id"] == endpoint)
        .map(|alert| json!([alert["code"], alert["severity"], alert["count"]]))
        .collect();
    told.sort_by_key(Value::to_string);
    told
}

/// The members of `row` that `expected` has.
fn part(row: &Value, expected: &Value) -> Value {
    let members = expected.as_object().unwrap().keys();
    Value::Object(members.map(|name| (name.clone(), row[name].clone())).collect())
}

async fn a18_integration_health_reflects_what_is(database: Database) {
    let variables = [
        retries("0,60,60,60,60,60"),
        ("AUTHORITY_DELIVERY_CONCURRENCY", "1"),
        ("AUTHORITY_DELIVERY_TIMEOUT_MS", "50000"),
    ];
    let service = InProcess::start(database, &variables).await;
    let gate = Gate::closed();
    let held = gate.clone();
    let answer = Arc::new(AtomicU16::new(200));
    let now_answers = Arc::clone(&answer);
    let receiver = Receiver::start(move |arrival| {
        let status = if arrival.path == "/bad" { now_answers.load(Ordering::SeqCst) } else { 200 };
        let answer = Answer::status(status);
        if arrival.path == "/held" { answer.held_by(&held) } else { answer }
    })
    .await;
    let merchant = Merchant::create(&service, "observed").await;

    // No endpoints.
    let none = merchant.health().await;
    has(&none, json!({ "status": "healthy", "endpoints": [], "alerts": [] }));

    // All good.
    let good = merchant.endpoint(&receiver.url("/good"), &["*"]).await;
    let bad = merchant.endpoint(&receiver.url("/bad"), &["checkout.created"]).await;
    merchant.checkout().await;
    service.play_out().await;
    let all_good = merchant.health().await;
    assert_eq!((&all_good["status"], &all_good["alerts"]), (&json!("healthy"), &json!([])));
    let expected = json!({
        "state": "healthy", "status": "enabled", "consecutive_failures": 0, "pending_deliveries": 0,
        "attempts_24h": 1, "failed_attempts_24h": 0, "last_response_status": 200, "last_failure_at": null,
        "disabled_reason": null,
    });
    for (row, endpoint) in all_good["endpoints"].as_array().unwrap().iter().zip([&good, &bad]) {
        assert_eq!((&row["id"], part(row, &expected)), (&json!(endpoint.id), expected.clone()));
        assert!(row["last_success_at"].is_string() && row["latency_p95_ms"].is_u64());
    }
    has(&all_good["outbox"], json!({ "pending": 0, "latest_sequence": 1 }));

    // One failing, and a backlog behind it; the other is as well as before.
    answer.store(500, Ordering::SeqCst);
    let start = service.clock.shown();
    merchant.checkout().await;
    service.play_until(start + 4 * 60_000).await;
    let failing = merchant.health().await;
    assert_eq!(failing["status"], "degraded");
    assert_eq!(alerts(&failing, &bad.id), [json!(["endpoint_failing", "warning", 1])]);
    assert_eq!(alerts(&failing, &good.id), [] as [Value; 0]);
    let expected = json!({
        "state": "degraded", "consecutive_failures": 5, "pending_deliveries": 1, "attempts_24h": 6,
        "failed_attempts_24h": 5, "last_response_status": 500,
    });
    assert_eq!(part(&failing["endpoints"][1], &expected), expected);
    assert_eq!(failing["endpoints"][0]["state"], "healthy");
    let expected = json!({
        "pending": 1, "due_now": 0, "scheduled_retries": 1, "failed_24h": 0, "oldest_pending_age_seconds": 240,
    });
    assert_eq!(part(&failing["outbox"], &expected), expected);
    // The last attempt of all, in vain.
    service.play_out().await;
    let failed = merchant.health().await;
    let codes = alerts(&failed, &bad.id);
    assert_eq!(
        codes,
        [json!(["deliveries_failed", "warning", 1]), json!(["endpoint_failing", "warning", 2])]
    );
    assert_eq!((&failed["outbox"]["failed_24h"], &failed["outbox"]["pending"]), (&json!(1), &json!(0)));

    let told = failed["alerts"].to_string();
    assert!(told.contains("\"alt_") && !told.contains("127.0.0.1"), "an alert names no address: {told}");
    // Closed alerts: one success, and the event that was missing.
    answer.store(200, Ordering::SeqCst);
    let event = tests::text(&merchant.events().await[1], "id");
    merchant
        .api
        .post(&format!("/events/{event}/replay"), &json!({ "endpoint_ids": [bad.id] }))
        .await
        .expect(202);
    service.play_out().await;
    let closed = merchant.health().await;
    assert_eq!((&closed["status"], &closed["alerts"]), (&json!("healthy"), &json!([])));
    assert_eq!(closed["endpoints"][1]["state"], "healthy");

    // A backlog: one request holds the only slot, and what is behind it is due for more than five minutes.
    let held = merchant.endpoint(&receiver.url("/held"), &["refund.*"]).await;
    merchant.test(&held).await;
    receiver.until("the request that is held", |arrivals| arrivals.at("/held").count() == 1).await;
    merchant.checkout().await;
    service.clock.turn(5 * 60_000 + 1);
    let late = merchant.health().await;
    let late_alerts: Vec<_> = late["alerts"].as_array().unwrap().iter().map(|alert| &alert["code"]).collect();
    assert_eq!((&late["status"], late_alerts), (&json!("degraded"), vec![&json!("outbox_delayed")]));
    assert_eq!((&late["outbox"]["pending"], &late["outbox"]["due_now"]), (&json!(3), &json!(3)));
    gate.open();
    service.play_out().await;
    let caught_up = merchant.health().await;
    assert_eq!((&caught_up["status"], &caught_up["alerts"]), (&json!("healthy"), &json!([])));
    service.stop().await;
}
