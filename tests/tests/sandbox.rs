//! The sandbox through HTTP: who may, the order of checks, and every row of contract 6.3 with exactly the events of
//! contract 3.9.

#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use http::Method;
use serde_json::{Value, json};
use tests::authority::Authority;
use tests::http::Api;
use tests::merchant::{Merchant, checkout_body, text};
use tests::shop::shipments;

struct Playground {
    merchant: Merchant,
    sandbox: Api,
}

impl Playground {
    async fn open(authority: &Authority, slug: &str) -> Self {
        let merchant = Merchant::create(authority, slug).await;
        // Any scope suffices.
        let sandbox = authority.sandbox(&merchant.issue_key("test", &["partners:read"]).await);
        Self { merchant, sandbox }
    }

    async fn play(&self, path: &str, body: Value, status: u16) -> Value {
        self.sandbox.post(path, &body).await.expect(status)
    }

    async fn pay(&self, body: Value) -> Value {
        let checkout = self.play("/checkouts", checkout_body(), 201).await;
        self.play(&format!("/checkouts/{}/pay", text(&checkout, "id")), body, 201).await
    }

    /// The names of the events behind the first `known`.
    async fn told(&self, known: usize) -> String {
        let told = self.merchant.told_after(known).await;
        told.into_iter().map(|event| event.event_type).collect::<Vec<_>>().join(" ")
    }
}

const PAID: &str =
    "checkout.created payment.created checkout.completed order.created payment.succeeded order.confirmed";

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
        assert_eq!(playground.told(0).await, events);
        let failure = if outcome == "failed" { json!("card_declined") } else { Value::Null };
        assert_eq!(payment["failure"]["code"], failure);
    }
}

#[tokio::test]
async fn a_declined_checkout_is_paid_at_the_second_try_and_ends_are_ends() {
    let authority = Authority::start(&[]).await;
    let playground = Playground::open(&authority, "declined").await;
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
        assert_eq!(playground.told(known).await, format!("checkout.created checkout.{status}"));
    }
}

#[tokio::test]
async fn orders_are_taken_in_paid_and_cancelled() {
    let authority = Authority::start(&[]).await;
    let playground = Playground::open(&authority, "orders").await;
    let line = json!({ "name": "Mug", "quantity": 1, "unit_amount": 1250 });
    let body = |pay: Value| json!({ "currency": "USD", "line_items": [line], "source": "pos", "pay": pay });

    let paid = playground.play("/orders", body(json!("paid")), 201).await;
    assert_eq!([&paid["status"], &paid["payment_status"]], ["confirmed", "paid"]);
    assert_eq!(playground.told(0).await, "order.created payment.created payment.succeeded order.confirmed");
    let authorized = playground.play("/orders", body(json!("authorized")), 201).await;
    assert_eq!(authorized["payment_status"], "authorized");

    let known = playground.merchant.events().await.len();
    for none in [json!("none"), Value::Null] {
        let unpaid = playground.play("/orders", body(none), 201).await;
        assert_eq!(unpaid["payment_status"], "unpaid");
    }
    assert_eq!(playground.told(known).await, "order.created order.created");
    let unpaid = playground.play("/orders", body(json!("none")), 201).await;
    let number = text(&unpaid, "order_number");
    let payment =
        playground.play(&format!("/orders/{number}/pay"), json!({ "outcome": "succeeded" }), 201).await;
    assert_eq!((&payment["amount"], &payment["order_number"]), (&json!(1250), &json!(number)));
    assert_eq!(
        playground.told(known + 3).await,
        "payment.created order.updated payment.succeeded order.confirmed"
    );
    let again =
        playground.sandbox.post(&format!("/orders/{number}/pay"), &json!({ "outcome": "failed" })).await;
    again.refused(409, "invalid_state_transition");

    let reason = json!({ "reason": "out_of_stock" });
    let cancelled = playground.play(&format!("/orders/{number}/cancel"), reason, 200).await;
    assert_eq!([&cancelled["status"], &cancelled["cancel_reason"]], ["cancelled", "out_of_stock"]);

    let both = json!({ "currency": "USD", "line_items": [line], "pay": "paid", "payments": [] });
    let refused = playground.sandbox.post("/orders", &both).await.refused(422, "validation_failed");
    assert_eq!(refused["errors"][0]["pointer"], "/pay");
    let unknown = json!({ "currency": "USD", "line_items": [line], "pay": "later" });
    playground.sandbox.post("/orders", &unknown).await.refused(422, "validation_failed");
}

#[tokio::test]
async fn payments_and_parcels_move_on() {
    let authority = Authority::start(&[]).await;
    let playground = Playground::open(&authority, "advance").await;
    let payment = playground.pay(json!({ "outcome": "authorized" })).await;
    let path = format!("/payments/{}/advance", text(&payment, "id"));
    let part = json!({ "to": "succeeded", "amount_captured": 5000 });
    let captured = playground.play(&path, part.clone(), 200).await;
    assert_eq!([&captured["object"], &captured["applied"]], [&json!("report_result"), &json!(true)]);
    assert_eq!(captured["payment"]["amount_captured"], 5000);
    assert_eq!(playground.play(&path, part, 200).await["applied"], false);
    let conflict = playground.sandbox.post(&path, &json!({ "to": "failed" })).await;
    conflict.refused(409, "processor_conflict");
    assert_eq!(playground.told(6).await, "payment.succeeded order.updated");

    let payment = playground.pay(json!({ "outcome": "succeeded" })).await;
    let number = text(&payment, "order_number");
    let parcel =
        playground.merchant.api.post(&shipments(&number), &json!({ "carrier": "dhl" })).await.expect(201);
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
        playground.told(known).await,
        "shipment.updated shipment.updated shipment.delivered order.delivered"
    );
}

/// Contract 4.2 and 6.3: the merchant API's checks, a test key in the place of a scope.
#[tokio::test]
async fn who_may_and_what_is_told_first() {
    let authority = Authority::start(&[]).await;
    let playground = Playground::open(&authority, "who").await;
    let live = authority.sandbox(&playground.merchant.issue_key("live", &["orders:read"]).await);
    live.post("/checkouts", &checkout_body()).await.refused(403, "test_mode_only");
    let odd = live.call(Method::POST, "/checkouts").header("service-version", "2020-01-01");
    odd.send().await.refused(403, "test_mode_only");
    playground
        .sandbox
        .with_key(None)
        .post("/checkouts", &checkout_body())
        .await
        .refused(401, "missing_credential");
    playground.sandbox.get("/checkouts").await.refused(405, "method_not_allowed");
    playground.sandbox.post("/nowhere", &json!({})).await.refused(404, "route_not_found");
    playground.sandbox.post("/checkouts?a=b", &checkout_body()).await.refused(400, "unknown_parameter");
    playground.sandbox.post("/checkouts", &json!({})).await.refused(422, "validation_failed");
    let pay = json!({ "outcome": "succeeded" });
    playground.sandbox.post("/checkouts/chk_1/pay", &pay).await.refused(404, "not_found");

    let stranger = Playground::open(&authority, "stranger").await;
    let checkout = stranger.play("/checkouts", checkout_body(), 201).await;
    let payment = stranger.pay(pay.clone()).await;
    let number = text(&payment, "order_number");
    let parcel =
        stranger.merchant.api.post(&shipments(&number), &json!({ "carrier": "dhl" })).await.expect(201);
    for (path, body) in [
        (format!("/checkouts/{}/pay", text(&checkout, "id")), pay.clone()),
        (format!("/checkouts/{}/cancel", text(&checkout, "id")), json!({})),
        (format!("/orders/{number}/pay"), pay.clone()),
        (format!("/orders/{number}/cancel"), json!({})),
        (format!("/payments/{}/advance", text(&payment, "id")), json!({ "to": "failed" })),
        (format!("/shipments/{}/advance", text(&parcel, "id")), json!({ "to": "delivered" })),
    ] {
        playground.sandbox.post(&path, &body).await.refused(404, "not_found");
    }
    assert_eq!(playground.told(0).await, "");

    let checkout = playground.play("/checkouts", checkout_body(), 201).await;
    let path = format!("/checkouts/{}/pay", text(&checkout, "id"));
    let stale = playground.sandbox.call(Method::POST, &path).header("if-match", "2").json(&pay);
    stale.send().await.refused(409, "resource_version_conflict");
    for (wrong, pointer) in [
        (json!({}), "/outcome"),
        (json!({ "outcome": "lost" }), "/outcome"),
        (json!({ "outcome": "succeeded", "failure_code": "x" }), "/failure_code"),
    ] {
        let refused = playground.sandbox.post(&path, &wrong).await.refused(422, "validation_failed");
        assert_eq!(refused["errors"][0]["pointer"], pointer);
    }
}

/// One key, one payment, also when it is asked for fifty times at once.
#[tokio::test]
async fn a_repeated_request_is_answered_again() {
    let authority = Authority::start(&[]).await;
    let playground = Playground::open(&authority, "repeated").await;
    let checkout = playground.play("/checkouts", checkout_body(), 201).await;
    let path = format!("/checkouts/{}/pay", text(&checkout, "id"));
    let pay = json!({ "outcome": "succeeded" });
    let asked = (0..50).map(|_| playground.sandbox.post_as("pay:1", &path, &pay));
    let answers = futures_util::future::join_all(asked).await;
    let first = answers[0].expect(201);
    assert!(answers.iter().all(|answer| answer.expect(201) == first));
    let replayed = answers.iter().filter(|answer| answer.header("idempotent-replayed") == Some("true"));
    assert_eq!(replayed.count(), 49);
    assert_eq!(playground.told(0).await, PAID);
    // The keys are the merchant's own, on both roots.
    let elsewhere = playground.merchant.api.post_as("pay:1", &shipments("ORD-100001"), &json!({})).await;
    elsewhere.refused(422, "idempotency_key_reused");
}

#[tokio::test]
async fn switched_off_it_is_not_there() {
    let authority = Authority::start(&[("AUTHORITY_SANDBOX", "off")]).await;
    let playground = Playground::open(&authority, "off").await;
    playground.sandbox.post("/checkouts", &checkout_body()).await.refused(404, "route_not_found");
    playground.sandbox.with_key(None).get("/checkouts").await.refused(404, "route_not_found");
}
