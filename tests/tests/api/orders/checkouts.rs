//! Row 6, and what costs nothing: checkouts that end without a payment.

use http::Method;
use serde_json::{Value, json};
use tests::{Database, checkout_body, has, on_both_databases, text};

use crate::orders::{Shop, state, transition};

fn path(checkout: &Value, operation: &str) -> String {
    format!("/checkouts/{}{operation}", text(checkout, "id"))
}

async fn a_checkout_ends_with_its_attempt(database: Database) {
    let mut shop = Shop::open(database).await;
    for (operation, status) in [("/cancel", "cancelled"), ("/expire", "expired")] {
        let plain = shop.merchant.checkout().await;
        shop.new_events().await;
        let ended = shop.call(Method::POST, &path(&plain, operation)).send().await.expect(200);
        assert_eq!(shop.new_events().await, [format!("checkout.{status} 2")]);
        assert_eq!((&ended["status"], ended[format!("{status}_at")].is_string()), (&json!(status), true));
        let read = shop.merchant.operator.get(&path(&plain, "")).await;
        assert_eq!((read.expect(200), read.header("etag")), (ended.clone(), Some("\"2\"")));
        let again = shop.post(&path(&plain, operation), &json!({})).send().await.expect(200);
        assert_eq!(again, ended);

        let tried = shop.merchant.checkout().await;
        let payment = shop.merchant.payment(&tried, "automatic").await;
        shop.new_events().await;
        let ended = shop.post(&path(&tried, operation), &json!({})).send().await.expect(200);
        assert_eq!(
            shop.new_events().await,
            ["payment.cancelled 2".to_owned(), format!("checkout.{status} 2")]
        );
        assert_eq!((&ended["payment_id"], &ended["payment_attempts"]), (&payment["id"], &json!(1)));

        let others = [("/cancel", "cancelled"), ("/expire", "expired"), ("/complete", "completed")];
        for (other, requested) in others.into_iter().filter(|(other, _)| *other != operation) {
            let call = shop.post(&path(&tried, other), &json!({}));
            shop.refuses(call, 409, "invalid_state_transition", transition(status, requested)).await;
        }
        let body = tests::payment_body(&tried, "automatic", &format!("late-{status}"));
        let call = shop.post(&shop.merchant.platform_path("payments"), &body);
        shop.refuses(call, 409, "invalid_state_transition", transition(status, "completed")).await;
    }
}

async fn a_free_checkout_is_completed_by_the_operator(database: Database) {
    let mut shop = Shop::open(database).await;
    let mut body = checkout_body();
    body["discount"] = json!(5300);
    let free = shop.post(&shop.merchant.platform_path("checkouts"), &body).send().await.expect(201);
    let paid = shop.merchant.checkout().await;
    shop.new_events().await;
    let call = shop.post(&path(&paid, "/complete"), &json!({}));
    shop.refuses(call, 409, "invalid_state_transition", transition("open", "completed")).await;
    let completed = shop.post(&path(&free, "/complete"), &json!({})).send().await.expect(200);
    assert_eq!(shop.new_events().await, ["checkout.completed 2", "order.created 1", "order.confirmed 2"]);
    has(&completed, json!({ "status": "completed", "order_number": "ORD-100001" }));
    let order = shop.merchant.order("ORD-100001").await;
    assert_eq!((state(&order), &order["checkout_id"]), (("confirmed", "paid"), &free["id"]));
    let again = shop.post(&path(&free, "/complete"), &json!({})).send().await.expect(200);
    assert_eq!(again, completed);
    let call = shop.post(&path(&free, "/cancel"), &json!({}));
    shop.refuses(call, 409, "invalid_state_transition", transition("completed", "cancelled")).await;
}

async fn what_is_asked_of_a_checkout_is_checked(database: Database) {
    let mut shop = Shop::open(database).await;
    let checkout = shop.merchant.checkout().await;
    shop.new_events().await;
    let stale = shop.post(&path(&checkout, "/cancel"), &json!({})).header("if-match", "2");
    shop.refuses(stale, 409, "resource_version_conflict", json!({ "current_version": 1 })).await;
    let call = shop.post(&path(&checkout, "/cancel"), &json!({ "reason": "x" }));
    shop.refuses(call, 422, "unknown_field", json!({})).await;
    for id in ["chk_00000000000000000000000000", "chk_1"] {
        shop.call(Method::GET, &format!("/checkouts/{id}")).send().await.refused(404, "not_found");
        let call = shop.post(&format!("/checkouts/{id}/expire"), &json!({}));
        shop.refuses(call, 404, "not_found", json!({})).await;
    }
    let key = ("idempotency-key", "give-up");
    let cancel = || shop.post(&path(&checkout, "/cancel"), &json!({})).header(key.0, key.1);
    let first = cancel().send().await.expect(200);
    let again = cancel().send().await;
    assert_eq!((again.expect(200), again.header("idempotent-replayed")), (first, Some("true")));
}

on_both_databases!(
    a_checkout_ends_with_its_attempt,
    a_free_checkout_is_completed_by_the_operator,
    what_is_asked_of_a_checkout_is_checked,
);
