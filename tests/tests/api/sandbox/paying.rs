//! Checkouts and orders: opened, taken in, paid, ended (contract 3.9 rows 1 to 8).

use http::Method;
use serde_json::{Value, json};
use tests::{Authority, checkout_body, text};

use crate::sandbox::playground::{PAID, Playground};

#[tokio::test]
async fn every_outcome_of_a_payment() {
    let authority = Authority::start(&[]).await;
    let table = [
        ("succeeded", "succeeded", PAID),
        (
            "authorized",
            "authorized",
            "checkout.created payment.created checkout.completed order.created payment.authorized order.updated",
        ),
        (
            "pending",
            "pending",
            "checkout.created payment.created checkout.completed order.created payment.pending",
        ),
        ("failed", "failed", "checkout.created payment.created payment.failed checkout.payment_failed"),
    ];
    for (outcome, status, events) in table {
        let playground = Playground::open(&authority, outcome).await;
        let payment = playground.pay(json!({ "outcome": outcome })).await;
        assert_eq!(payment["status"], status);
        assert_eq!(payment["processor"]["name"], "sandbox");
        assert_eq!(payment["method"], json!({ "type": "card", "brand": "visa", "last4": "4242" }));
        assert_eq!(payment["livemode"], false);
        assert_eq!(payment["capture_method"], if outcome == "authorized" { "manual" } else { "automatic" });
        assert_eq!(playground.events_after(0).await, events);
        let failure = if outcome == "failed" { json!("card_declined") } else { Value::Null };
        assert_eq!(payment["failure"]["code"], failure);
    }
}

#[tokio::test]
async fn a_declined_checkout_is_paid_at_the_second_try_and_ends_are_ends() {
    let (_authority, playground) = Playground::alone("declined").await;
    let checkout = playground.play("/checkouts", checkout_body(), 201).await;
    let path = |verb: &str| format!("/checkouts/{}/{verb}", text(&checkout, "id"));
    let declined = json!({ "outcome": "failed", "failure_code": "insufficient_funds",
                           "method": { "type": "wallet", "brand": "acme" } });
    let payment = playground.play(&path("pay"), declined, 201).await;
    assert_eq!(payment["failure"], json!({ "code": "insufficient_funds", "message": null }));
    assert_eq!(payment["method"]["type"], "wallet");
    playground.play(&path("pay"), json!({ "outcome": "succeeded" }), 201).await;
    for (verb, body) in
        [("pay", json!({ "outcome": "succeeded" })), ("cancel", json!({})), ("expire", json!({}))]
    {
        playground.sandbox.post(&path(verb), &body).await.refused(409, "invalid_state_transition");
    }
    for (verb, status) in [("cancel", "cancelled"), ("expire", "expired")] {
        let known = playground.merchant.events().await.len();
        let checkout = playground.play("/checkouts", checkout_body(), 201).await;
        let path = format!("/checkouts/{}/{verb}", text(&checkout, "id"));
        let ended = playground.sandbox.call(Method::POST, &path).send().await.expect(200);
        assert_eq!(ended["status"], status);
        assert_eq!(playground.events_after(known).await, format!("checkout.created checkout.{status}"));
    }
}

#[tokio::test]
async fn orders_are_taken_in_paid_and_cancelled() {
    let (_authority, playground) = Playground::alone("orders").await;
    let line = json!({ "name": "Mug", "quantity": 1, "unit_amount": 1250 });
    let body = |pay: Value| {
        let mut body = json!({ "currency": "USD", "line_items": [line], "source": "pos" });
        // No member of a body may be null unless that says something (contract 18.1-1).
        if !pay.is_null() {
            body["pay"] = pay;
        }
        body
    };

    let paid = playground.play("/orders", body(json!("paid")), 201).await;
    assert_eq!([&paid["status"], &paid["payment_status"]], ["confirmed", "paid"]);
    assert_eq!(
        playground.events_after(0).await,
        "order.created payment.created payment.succeeded order.confirmed"
    );
    let authorized = playground.play("/orders", body(json!("authorized")), 201).await;
    assert_eq!(authorized["payment_status"], "authorized");

    let known = playground.merchant.events().await.len();
    for none in [json!("none"), Value::Null] {
        let unpaid = playground.play("/orders", body(none), 201).await;
        assert_eq!(unpaid["payment_status"], "unpaid");
    }
    assert_eq!(playground.events_after(known).await, "order.created order.created");
    let unpaid = playground.play("/orders", body(json!("none")), 201).await;
    let number = text(&unpaid, "order_number");
    let payment =
        playground.play(&format!("/orders/{number}/pay"), json!({ "outcome": "succeeded" }), 201).await;
    assert_eq!((&payment["amount"], &payment["order_number"]), (&json!(1250), &json!(number)));
    assert_eq!(
        playground.events_after(known + 3).await,
        "payment.created order.updated payment.succeeded order.confirmed"
    );
    let again =
        playground.sandbox.post(&format!("/orders/{number}/pay"), &json!({ "outcome": "failed" })).await;
    let refused = again.refused(409, "invalid_state_transition");
    assert_eq!([&refused["current_status"], &refused["requested_status"]], ["paid", "pending"]);

    let reason = json!({ "reason": "out_of_stock" });
    let cancelled = playground.play(&format!("/orders/{number}/cancel"), reason, 200).await;
    assert_eq!([&cancelled["status"], &cancelled["cancel_reason"]], ["cancelled", "out_of_stock"]);

    let both = json!({ "currency": "USD", "line_items": [line], "pay": "paid", "payments": [] });
    let refused = playground.sandbox.post("/orders", &both).await.refused(422, "validation_failed");
    assert_eq!(refused["errors"][0]["pointer"], "/pay");
    let unknown = json!({ "currency": "USD", "line_items": [line], "pay": "later" });
    playground.sandbox.post("/orders", &unknown).await.refused(422, "validation_failed");
}

/// Processors' events are one name space: what a test key tells of takes nobody's away, and finds out about nobody's.
#[tokio::test]
async fn a_payment_told_with_a_test_key_takes_no_processors_event_away() {
    let authority = Authority::start(&[]).await;
    let (curious, other) =
        (Playground::open(&authority, "curious").await, Playground::open(&authority, "other").await);
    let line = json!({ "name": "Mug", "quantity": 1, "unit_amount": 1250 });
    let order = json!({ "currency": "USD", "line_items": [line], "payments": [{
        "amount": 1250, "method": { "type": "card" }, "processor": { "name": "acme-pay" },
        "processor_event_id": "evt-1" }] });
    let told = curious.play("/orders", order.clone(), 201).await;
    assert_eq!(told["payment_status"], "paid");
    let again = curious.sandbox.post("/orders", &order).await.refused(422, "validation_failed");
    assert_eq!(again["errors"][0]["pointer"], "/payments/0/processor_event_id");
    other.play("/orders", order.clone(), 201).await;

    let live = format!("/merchants/{}/live/orders", other.merchant.id);
    let real = other.merchant.operator.post(&live, &order).await.expect(201);
    assert_eq!([&real["livemode"], &real["payment_status"]], [&json!(true), &json!("paid")]);
    curious.sandbox.post("/orders", &order).await.refused(422, "validation_failed");
    let mut unknown = order;
    unknown["payments"][0]["processor_event_id"] = json!("evt-2");
    other.merchant.operator.post(&live, &unknown).await.expect(201);
    curious.play("/orders", unknown, 201).await;
}
