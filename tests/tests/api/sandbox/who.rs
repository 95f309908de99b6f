//! Who may, what is told first, and requests that are repeated (contract 4.2, 4.3, 6.3).

use http::Method;
use serde_json::json;
use tests::{Authority, checkout_body, shipments, text};

use crate::sandbox::playground::{PAID, Playground};

/// Contract 4.2 and 6.3: the merchant API's checks, a test key in the place of a scope.
#[tokio::test]
async fn who_may_and_what_is_told_first() {
    let (authority, playground) = Playground::alone("who").await;
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
    let parcel = stranger.merchant.ship(&number, &json!({ "carrier": "dhl" })).await;
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
    assert_eq!(playground.events_after(0).await, "");

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
    let (_authority, playground) = Playground::alone("repeated").await;
    let checkout = playground.play("/checkouts", checkout_body(), 201).await;
    let path = format!("/checkouts/{}/pay", text(&checkout, "id"));
    let pay = json!({ "outcome": "succeeded" });
    let asked = (0..50).map(|_| playground.sandbox.post_as("pay:1", &path, &pay));
    let answers = futures_util::future::join_all(asked).await;
    let first = answers[0].expect(201);
    assert!(answers.iter().all(|answer| answer.expect(201) == first));
    let replayed = answers.iter().filter(|answer| answer.header("idempotent-replayed") == Some("true"));
    assert_eq!(replayed.count(), 49);
    assert_eq!(playground.events_after(0).await, PAID);
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
