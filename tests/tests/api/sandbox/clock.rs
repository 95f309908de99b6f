//! The clock of test merchants: what time does to records happens when a developer lets it pass, to the records that
//! exist, and to nothing of live mode.

use http::Method;
use serde_json::{Value, json};
use tests::{Authority, Merchant, checkout_body, eventually, has, ms, text};

use crate::sandbox::playground::Playground;

const HOUR_S: i64 = 3_600;
const DAY_S: i64 = 24 * HOUR_S;

async fn advance(playground: &Playground, seconds: i64) -> Value {
    playground.play("/clock", json!({ "advance_seconds": seconds }), 200).await
}

#[tokio::test]
async fn an_open_checkout_expires_and_one_made_afterwards_does_not() {
    let (authority, playground) = Playground::alone("expiry").await;
    let none = playground.sandbox.get("/clock").await.expect(200);
    let unmoved = json!({
        "object": "sandbox_clock", "livemode": false, "advanced_seconds": 0, "last_advanced_at": null,
    });
    assert_eq!(none, unmoved);
    let open = async || text(&playground.play("/checkouts", checkout_body(), 201).await, "id");
    let status = async |id: &str| {
        text(&playground.merchant.operator.get(&format!("/checkouts/{id}")).await.expect(200), "status")
    };
    let old = open().await;
    // A checkout is open for a day.
    advance(&playground, DAY_S / 2).await;
    let middle = open().await;
    assert_eq!(status(&old).await, "open");
    let moved = advance(&playground, DAY_S / 2).await;
    assert_eq!(moved["advanced_seconds"], DAY_S);
    assert_eq!(playground.sandbox.get("/clock").await.expect(200), moved);
    let new = open().await;
    assert_eq!(
        [&status(&old).await, &status(&middle).await, &status(&new).await],
        ["expired", "open", "open"]
    );
    playground
        .sandbox
        .post(&format!("/checkouts/{old}/pay"), &json!({ "outcome": "succeeded" }))
        .await
        .refused(409, "invalid_state_transition");
    authority.is_sound().await;
}

#[tokio::test]
async fn orders_that_were_pending_for_too_long_are_cancelled() {
    let authority = Authority::start(&[]).await;
    let settings = json!({ "pending_order_ttl_hours": 2 });
    let merchant = Merchant::with_settings(&authority, "pending", settings).await;
    let sandbox = authority.sandbox(&merchant.key);
    let other = Playground::open(&authority, "other").await;
    let pending = async |sandbox: &tests::Api| {
        let body = json!({ "currency": "USD", "line_items": [{ "name": "Mug", "quantity": 1, "unit_amount": 900 }] });
        text(&sandbox.post("/orders", &body).await.expect(201), "order_number")
    };
    let (order, theirs) = (pending(&sandbox).await, pending(&other.sandbox).await);
    let body = json!({ "advance_seconds": 2 * HOUR_S });
    sandbox.post("/clock", &body).await.expect(200);
    let cancelled = merchant.order(&order).await;
    assert_eq!([&cancelled["status"], &cancelled["cancel_reason"]], [&json!("cancelled"), &json!("expired")]);
    assert_eq!(other.merchant.order(&theirs).await["status"], "pending");
    // The same request again is the same advance.
    let call = || sandbox.call(Method::POST, "/clock").header("idempotency-key", "once").json(&body);
    let first = call().send().await.expect(200);
    assert_eq!(call().send().await.expect(200), first);
    assert_eq!(sandbox.get("/clock").await.expect(200)["advanced_seconds"], 4 * HOUR_S);
}

#[tokio::test]
async fn subscriptions_renew_and_end_and_trials_become_periods() {
    let (authority, playground) = Playground::alone("renewals").await;
    let open = async |more: Value| {
        let item = json!({ "name": "Coffee", "quantity": 1, "unit_amount": 1500 });
        let mut body = json!({
            "currency": "USD", "interval": "week", "items": [item], "customer": { "name": "Ada" },
        });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        text(&playground.play("/subscriptions", body, 201).await, "id")
    };
    let read =
        async |id: &str| playground.merchant.api.get(&format!("/subscriptions/{id}")).await.expect(200);
    let going = open(json!({})).await;
    let trial = open(json!({ "trial_days": 3 })).await;
    let before = read(&going).await;
    let trial_end = read(&trial).await["trial_end"].clone();
    let known = playground.merchant.events().await.len();
    advance(&playground, 8 * DAY_S).await;
    let (renewed, begun) = (read(&going).await, read(&trial).await);
    assert_eq!(renewed["current_period_start"], before["current_period_end"]);
    assert_eq!([&begun["status"], &begun["current_period_start"]], [&json!("active"), &trial_end]);
    let order = playground.merchant.order(&text(&renewed, "latest_order_number")).await;
    assert_eq!((&order["source"], &order["subscription_id"]), (&json!("subscription"), &renewed["id"]));
    let told = "subscription.updated order.created";
    assert_eq!(playground.events_after(known).await, format!("{told} {told}"));
    // Two weeks at once are two periods. The first one that begins now is counted from its own start.
    advance(&playground, 14 * DAY_S).await;
    let versions = |subscription: &Value| subscription["resource_version"].as_i64().unwrap();
    let (twice, after) = (read(&going).await, read(&trial).await);
    assert_eq!([versions(&twice) - versions(&renewed), versions(&after) - versions(&begun)], [2, 2]);
    let ends = json!({ "cancel_at_period_end": true });
    playground.merchant.operator.post(&format!("/subscriptions/{going}/reports"), &ends).await.expect(200);
    advance(&playground, 7 * DAY_S).await;
    let ended = read(&going).await;
    has(&ended, json!({ "status": "cancelled", "latest_order_number": twice["latest_order_number"] }));
    authority.is_sound().await;
}

/// A pause ends by the clock that periods end by, whether the report that ends it renews or the next round does.
#[tokio::test]
async fn periods_that_passed_in_a_pause_make_no_orders() {
    let (authority, playground) = Playground::alone("pause").await;
    let pause = async || {
        let item = json!({ "name": "Coffee", "quantity": 1, "unit_amount": 1500 });
        let body = json!({
            "currency": "USD", "interval": "month", "items": [item], "customer": { "name": "Ada" },
        });
        let id = text(&playground.play("/subscriptions", body, 201).await, "id");
        playground.play(&format!("/subscriptions/{id}/advance"), json!({ "to": "paused" }), 200).await;
        id
    };
    let (apart, together) = (pause().await, pause().await);
    let begins = async |id: &str, resumed: &Value| {
        let now = playground.merchant.api.get(&format!("/subscriptions/{id}")).await.expect(200);
        let passed = ms(&now, "current_period_start") - ms(&resumed["subscription"], "updated_at");
        assert_eq!(passed, 100 * DAY_S * 1_000);
    };
    advance(&playground, 100 * DAY_S).await;
    let known = playground.merchant.events().await.len();
    let path = format!("/subscriptions/{together}/reports");
    let report = json!({ "status": "active", "renew": true });
    let resumed = playground.merchant.operator.post(&path, &report).await.expect(200);
    begins(&together, &resumed).await;
    let path = format!("/subscriptions/{apart}/advance");
    let resumed = playground.play(&path, json!({ "to": "active" }), 200).await;
    advance(&playground, 1).await;
    begins(&apart, &resumed).await;
    let renewed = "subscription.updated order.created";
    assert_eq!(playground.events_after(known).await, format!("{renewed} subscription.updated {renewed}"));
    authority.is_sound().await;
}

#[tokio::test]
async fn what_an_advance_left_undone_is_done_at_the_next_start() {
    let (mut authority, playground) = Playground::alone("killed").await;
    let checkout = text(&playground.play("/checkouts", checkout_body(), 201).await, "id");
    authority.kill().await;
    // As if the service had been killed between the advance and what it makes due.
    authority.advance_clock(&playground.merchant.id, DAY_S).await;
    authority.restart().await;
    let merchant = playground.merchant.at(&authority);
    let path = format!("/checkouts/{checkout}");
    eventually("the checkout has expired", async || {
        (merchant.operator.get(&path).await.expect(200)["status"] == "expired").then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_clock_is_for_test_keys_and_goes_forward() {
    let (authority, playground) = Playground::alone("clocks").await;
    for (body, code) in [
        (json!({}), "required"),
        (json!({ "advance_seconds": 0 }), "out_of_range"),
        (json!({ "advance_seconds": -60 }), "out_of_range"),
        (json!({ "advance_seconds": 366 * DAY_S + 1 }), "out_of_range"),
        (json!({ "advance_seconds": "60" }), "wrong_type"),
    ] {
        let refused = playground.sandbox.post("/clock", &body).await.refused(422, "validation_failed");
        has(&refused["errors"][0], json!({ "pointer": "/advance_seconds", "code": code }));
    }
    let live = playground.merchant.issue_key("live", &["orders:read"]).await;
    let refused = authority.sandbox(&live).post("/clock", &json!({ "advance_seconds": 60 })).await;
    refused.refused(403, "test_mode_only");
    assert_eq!(playground.sandbox.get("/clock").await.expect(200)["advanced_seconds"], 0);
}
