//! What processors, carriers and the platform would report (contract 3.5 to 3.8).

use serde_json::{Value, json};
use tests::text;

use crate::sandbox::playground::Playground;

#[tokio::test]
async fn payments_and_parcels_move_on() {
    let (_authority, playground) = Playground::alone("advance").await;
    let payment = playground.pay(json!({ "outcome": "authorized" })).await;
    let path = format!("/payments/{}/advance", text(&payment, "id"));
    let part = json!({ "to": "succeeded", "amount_captured": 5000 });
    let captured = playground.play(&path, part.clone(), 200).await;
    assert_eq!([&captured["object"], &captured["applied"]], [&json!("report_result"), &json!(true)]);
    assert_eq!(captured["payment"]["amount_captured"], 5000);
    assert_eq!(playground.play(&path, part, 200).await["applied"], false);
    let conflict = playground.sandbox.post(&path, &json!({ "to": "failed" })).await;
    conflict.refused(409, "processor_conflict");
    assert_eq!(playground.events_after(6).await, "payment.succeeded order.updated");

    let payment = playground.pay(json!({ "outcome": "succeeded" })).await;
    let number = text(&payment, "order_number");
    let parcel = playground.merchant.ship(&number, &json!({ "carrier": "dhl" })).await;
    let known = playground.merchant.events().await.len();
    let path = format!("/shipments/{}/advance", text(&parcel, "id"));
    let held = json!({ "to": "exception", "exception": { "code": "customs" } });
    for body in [json!({ "to": "in_transit" }), held, json!({ "to": "delivered" })] {
        let moved = playground.play(&path, body, 200).await;
        assert_eq!(moved["applied"], true);
    }
    let back = playground.sandbox.post(&path, &json!({ "to": "in_transit" })).await;
    back.refused(409, "invalid_state_transition");
    assert_eq!(
        playground.events_after(known).await,
        "shipment.updated shipment.updated shipment.delivered order.delivered"
    );
}

#[tokio::test]
async fn refunds_move_on() {
    let (_authority, playground) = Playground::alone("refunds").await;
    let payment = playground.pay(json!({ "outcome": "succeeded" })).await;
    let number = text(&payment, "order_number");
    let ask = async |amount: u64| {
        let body = json!({ "amount": amount });
        playground.merchant.refund(&number, &body).await
    };
    let path = |refund: &Value| format!("/refunds/{}/advance", text(refund, "id"));
    let part = ask(300).await;
    for to in ["processing", "completed"] {
        let moved = playground.play(&path(&part), json!({ "to": to }), 200).await;
        assert_eq!([&moved["applied"], &moved["refund"]["status"]], [&json!(true), &json!(to)]);
    }
    let failed = ask(5000).await;
    let told = json!({ "to": "failed", "failure_code": "expired_card" });
    let moved = playground.play(&path(&failed), told, 200).await;
    assert_eq!(moved["refund"]["failure"]["code"], "expired_card");
    playground
        .sandbox
        .post(&path(&failed), &json!({ "to": "completed" }))
        .await
        .refused(409, "processor_conflict");
    let rest = ask(5000).await;
    playground.play(&path(&rest), json!({ "to": "completed" }), 200).await;
    let expected = "refund.requested order.updated refund.processing refund.completed payment.partially_refunded \
                    order.updated refund.requested order.updated refund.failed order.updated refund.requested \
                    order.updated refund.completed payment.refunded order.updated";
    let told = playground.events_after(6).await;
    assert_eq!(told.replace("refund.processing order.updated ", "refund.processing "), expected);
}

#[tokio::test]
async fn subscriptions_move_on() {
    let (authority, playground) = Playground::alone("subscriptions").await;
    let item = json!({ "name": "Coffee", "quantity": 1, "unit_amount": 1500 });
    let body =
        json!({ "currency": "USD", "interval": "month", "items": [item], "customer": { "name": "Ada" } });
    let made = playground.play("/subscriptions", body, 201).await;
    let path = format!("/subscriptions/{}/advance", text(&made, "id"));
    let moved = playground.play(&path, json!({ "to": "past_due" }), 200).await;
    assert_eq!([&moved["applied"], &moved["subscription"]["status"]], [&json!(true), &json!("past_due")]);
    assert_eq!(playground.play(&path, json!({ "to": "past_due" }), 200).await["applied"], false);
    let renewed = playground.play(&path, json!({ "renew": true }), 200).await;
    let number = text(&renewed["subscription"], "latest_order_number");
    let order = playground.merchant.order(&number).await;
    assert_eq!((&order["source"], &order["subscription_id"]), (&json!("subscription"), &made["id"]));
    playground.play(&format!("/orders/{number}/pay"), json!({ "outcome": "succeeded" }), 201).await;
    playground.play(&path, json!({ "to": "cancelled" }), 200).await;
    playground.sandbox.post(&path, &json!({ "to": "active" })).await.refused(409, "invalid_state_transition");
    let stranger = Playground::open(&authority, "others").await;
    stranger.sandbox.post(&path, &json!({ "to": "active" })).await.refused(404, "not_found");
    let told = playground.events_after(0).await;
    assert!(
        told.starts_with("subscription.created subscription.updated subscription.updated order.created"),
        "{told}"
    );
    assert!(told.ends_with("order.confirmed subscription.cancelled"), "{told}");
}
