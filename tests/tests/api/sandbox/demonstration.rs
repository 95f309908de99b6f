//! What makes demonstrations: seeds, and refunds that move by themselves (contract 6.3).

use std::collections::BTreeSet;

use http::Method;
use serde_json::{Value, json};
use tests::{Authority, Merchant, eventually, ms, text};

use crate::sandbox::playground::Playground;

/// The setting `sandbox_auto_advance`: a second to `processing`, a second to the end, also across a restart.
#[tokio::test]
async fn refunds_move_by_themselves() {
    let mut authority = Authority::start(&[]).await;
    let settings = json!({ "sandbox_auto_advance": true });
    let merchant = Merchant::with_settings(&authority, "by-itself", settings).await;
    let sandbox = authority.sandbox(&merchant.key);
    let body = json!({ "currency": "USD", "pay": "paid",
                       "line_items": [{ "name": "Mug", "quantity": 4, "unit_amount": 1250 }] });
    let order = text(&sandbox.post("/orders", &body).await.expect(201), "order_number");
    let mut refunds = Vec::new();
    for amount in [1000, 1013] {
        let path = format!("/orders/{order}/refunds");
        refunds.push(merchant.api.post(&path, &json!({ "amount": amount })).await.expect(201));
    }
    authority.kill().await;
    authority.restart().await;
    let mut ended = Vec::new();
    for refund in &refunds {
        let path = format!("/refunds/{}", text(refund, "id"));
        let end = eventually("the end of the refund", async || {
            let refund = merchant.api.get(&path).await.expect(200);
            (refund["failed_at"] != Value::Null || refund["completed_at"] != Value::Null).then_some(refund)
        });
        ended.push(end.await);
    }
    assert_eq!([&ended[0]["status"], &ended[0]["failure"]], [&json!("completed"), &Value::Null]);
    assert_eq!([&ended[1]["status"], &ended[1]["failure"]["code"]], ["failed", "insufficient_funds"]);
    for refund in &ended {
        let at = |member: &str| ms(refund, member);
        let end = if refund["status"] == "failed" { "failed_at" } else { "completed_at" };
        assert!(at("processing_at") - at("created_at") >= 1000, "{refund}");
        assert!(at(end) - at("processing_at") >= 1000, "{refund}");
    }
    authority.is_sound().await;
}

/// What is left of a record when ids and times are taken out.
fn bare(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.iter().filter(|(name, value)| {
                let id = *name == "id" || name.ends_with("_id") || name.ends_with("_ids");
                !(id || (name.ends_with("_at") && value.is_string()))
            });
            Value::Object(kept.map(|(name, value)| (name.clone(), bare(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(bare).collect()),
        other => other.clone(),
    }
}

async fn everything(merchant: &Merchant) -> Vec<Value> {
    merchant
        .events()
        .await
        .iter()
        .map(|event| json!([event["type"], bare(&event["data"]["object"])]))
        .collect()
}

#[tokio::test]
async fn a_seed_makes_the_same_data_everywhere_and_a_broken_one_goes_on() {
    let mut authority = Authority::start(&[]).await;
    let (one, two) =
        (Playground::open(&authority, "seed-one").await, Playground::open(&authority, "seed-two").await);
    let other = Playground::open(&authority, "seed-other").await;
    let body = json!({ "orders": 150, "seed": 7 });
    let made = one.play("/seed", body.clone(), 201).await;
    let expected = json!({ "object": "sandbox_seed", "livemode": false, "seed": 7, "orders": 150,
                           "first_order_number": "ORD-100001", "last_order_number": "ORD-100150" });
    assert_eq!(made, expected);
    other.play("/seed", json!({ "orders": 150, "seed": 8 }), 201).await;

    // Broken off in the middle, and asked for again under the same key.
    let call = two.sandbox.call(Method::POST, "/seed").header("idempotency-key", "seed").json(&body);
    let broken = tokio::spawn(call.try_send());
    eventually("some orders", async || (two.merchant.events().await.len() > 60).then_some(())).await;
    // While it runs, no other one of this merchant does, under whatever key.
    for key in ["seed", "another"] {
        let refused = two.sandbox.post_as(key, "/seed", &body).await;
        refused.refused(429, "rate_limited");
        assert_eq!(refused.header("retry-after"), Some("1"));
    }
    authority.kill().await;
    let _ = broken.await;
    authority.restart().await;
    let again = two.sandbox.post_as("seed", "/seed", &body).await;
    assert_eq!(again.expect(201), expected);
    let known = everything(&one.merchant).await;
    assert_eq!(everything(&two.merchant).await, known);
    assert_ne!(everything(&other.merchant).await, known);
    let replayed = two.sandbox.post_as("seed", "/seed", &body).await;
    assert_eq!((replayed.expect(201), replayed.header("idempotent-replayed")), (expected, Some("true")));
    let reused = two.sandbox.post_as("seed", "/seed", &json!({ "orders": 1, "seed": 7 })).await;
    reused.refused(422, "idempotency_key_reused");
    assert_eq!(two.merchant.events().await.len(), known.len());

    let statuses: BTreeSet<String> =
        known.iter().map(|event| event[0].as_str().unwrap().to_owned()).collect();
    for event in
        ["order.delivered", "refund.completed", "payment.failed", "order.cancelled", "shipment.updated"]
    {
        assert!(statuses.contains(event), "{statuses:?}");
    }

    let command = ["sandbox", "seed", "--merchant", "seed-other", "--orders", "3", "--seed", "9"];
    let printed = authority.tells(&command).await;
    assert_eq!([&printed["orders"], &printed["last_order_number"]], [&json!(3), &json!("ORD-100153")]);
    authority.is_sound().await;
}
