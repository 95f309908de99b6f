//! Merchants: listed, read, changed, suspended, closed (contract 2.16, 4.2 row 5, 6.2).

use http::Method;
use serde_json::{Value, json};
use tests::{Authority, Merchant, checkout_body, payment_body, shipments, text, wrong_members};

use super::listed;

#[tokio::test]
async fn a_merchant_is_listed_read_and_changed() {
    let authority = Authority::start(&[]).await;
    let operator = authority.operator();
    let mut made = Vec::new();
    for slug in ["one", "two", "three"] {
        made.push(Merchant::create(&authority, slug).await.id);
    }
    let [one, two, three] = [&made[0], &made[1], &made[2]];
    assert_eq!(listed(&operator, "/merchants", "id").await, [three, two, one].map(Clone::clone));
    assert_eq!(listed(&operator, "/merchants?slug=two", "id").await, vec![two.clone()]);
    assert_eq!(listed(&operator, "/merchants?slug=four", "id").await, Vec::<String>::new());
    operator.get("/merchants?status=gone").await.refused(400, "invalid_parameter");

    let path = format!("/merchants/{two}");
    let reply = operator.get(&path).await;
    let before = reply.expect(200);
    assert_eq!(reply.header("etag"), Some("\"1\""));
    let settings = json!({
        "confirm_on": "paid", "require_if_match": false, "require_idempotency_key": false,
        "order_number_prefix": "ORD-", "pending_order_ttl_hours": null, "sandbox_auto_advance": false,
    });
    assert_eq!(before["settings"], settings);

    let change = json!({ "name": "Two GmbH", "settings": { "confirm_on": "authorized", "sandbox_auto_advance": true } });
    let reply = operator.patch(&path, &change).await;
    let after = reply.expect(200);
    assert_eq!(reply.header("etag"), Some("\"2\""));
    let mut expected = before.clone();
    expected["name"] = json!("Two GmbH");
    expected["settings"]["confirm_on"] = json!("authorized");
    expected["settings"]["sandbox_auto_advance"] = json!(true);
    expected["resource_version"] = json!(2);
    expected["updated_at"] = after["updated_at"].clone();
    assert_eq!(after, expected, "what is not named stays");
    assert_eq!(operator.get(&path).await.expect(200), after);
    // The same once more changes nothing.
    assert_eq!(operator.patch(&path, &change).await.expect(200), after);

    let call =
        |version: &str| operator.call(Method::PATCH, &path).header("if-match", version).json(&json!({}));
    let conflict = call("1").send().await.refused(409, "resource_version_conflict");
    assert_eq!((&conflict["current_version"], &conflict["supplied_version"]), (&json!(2), &json!(1)));
    assert_eq!(call("2").send().await.expect(200), after);
    for (body, code, errors) in [
        (json!({ "slug": "zwei" }), "field_not_writable", json!([["/slug", "field_not_writable"]])),
        (
            json!({ "default_currency": "EUR" }),
            "field_not_writable",
            json!([["/default_currency", "field_not_writable"]]),
        ),
        (json!({ "colour": "red" }), "unknown_field", json!([["/colour", "unknown_field"]])),
        (json!({ "name": null }), "validation_failed", json!([["/name", "required"]])),
        (json!({ "status": "asleep" }), "validation_failed", json!([["/status", "invalid_value"]])),
        (
            json!({ "settings": { "order_number_prefix": "-", "confirm_on": 1 } }),
            "validation_failed",
            json!([
                ["/settings/confirm_on", "wrong_type"],
                ["/settings/order_number_prefix", "invalid_value"]
            ]),
        ),
    ] {
        assert_eq!(wrong_members(&operator.patch(&path, &body).await.refused(422, code)), errors);
    }
    assert_eq!(operator.get(&path).await.expect(200), after, "a refusal has no effect");
    for path in ["/merchants/mer_01k3zqa7000000000000000000", "/merchants/x"] {
        operator.get(path).await.refused(404, "not_found");
        operator.patch(path, &json!({})).await.refused(404, "not_found");
    }
}

/// Row 5 of the order of checks: a suspended merchant reads, a closed one does nothing, and closing is for ever.
#[tokio::test]
async fn a_merchant_is_suspended_and_closed() {
    let (authority, merchant) = Merchant::alone("late-payer").await;
    let order = merchant.paid_order().await;
    let (operator, path) = (authority.operator(), format!("/merchants/{}", merchant.id));
    let set = async |status: &str| operator.patch(&path, &json!({ "status": status })).await;
    let ship = async || merchant.api.post(&shipments(&order), &json!({ "carrier": "dhl" })).await;

    assert_eq!(set("suspended").await.expect(200)["status"], "suspended");
    ship().await.refused(403, "merchant_suspended");
    assert_eq!(text(&merchant.order(&order).await, "order_number"), order);
    // Before the scope and everything behind it.
    let narrow = authority.merchant(&merchant.issue_key("test", &["orders:read"]).await);
    narrow
        .call(Method::POST, "/webhook-endpoints")
        .bytes("{")
        .send()
        .await
        .refused(403, "merchant_suspended");
    // What the platform tells goes on.
    operator.post(&merchant.platform_path("checkouts"), &checkout_body()).await.expect(201);
    assert_eq!(
        listed(&operator, "/merchants?status=suspended,closed", "id").await,
        vec![merchant.id.clone()]
    );

    set("active").await.expect(200);
    ship().await.expect(201);
    let open = merchant.checkout().await;
    let events = merchant.events().await.len();
    set("closed").await.expect(200);
    merchant.api.get("/orders").await.refused(403, "merchant_closed");
    ship().await.refused(403, "merchant_closed");
    // It gets nothing new.
    let key = json!({ "name": "n", "mode": "test", "scopes": ["orders:read"] });
    let keys = listed(&operator, &format!("/merchants/{}/api-keys", merchant.id), "id").await;
    let (checkouts, orders) = (merchant.platform_path("checkouts"), merchant.platform_path("orders"));
    let subscription = json!({ "customer": {}, "currency": "USD", "interval": "month",
        "items": [{ "name": "Coffee", "quantity": 1, "unit_amount": 900 }] });
    for (path, body) in [
        (format!("/merchants/{}/api-keys", merchant.id), key),
        (format!("/api-keys/{}/rotate", keys[0]), json!({})),
        (checkouts, checkout_body()),
        (orders, checkout_body()),
        (merchant.platform_path("subscriptions"), subscription),
        (merchant.platform_path("payments"), payment_body(&open, "automatic", "start:closed")),
    ] {
        operator.post(&path, &body).await.refused(409, "merchant_closed");
    }
    // What is wrong with a body is told first.
    operator
        .post(&merchant.platform_path("orders"), &json!({ "currency": 1 }))
        .await
        .refused(422, "validation_failed");
    for status in ["active", "suspended"] {
        set(status).await.refused_with(
            409,
            "invalid_state_transition",
            &json!({ "current_status": "closed", "requested_status": status }),
        );
    }
    assert_eq!(set("closed").await.expect(200)["resource_version"], 4, "nothing changes");
    let stored = operator.get(&path).await.expect(200);
    assert_eq!((&stored["status"], &stored["resource_version"]), (&json!("closed"), &Value::from(4)));
    assert!(events > 0);
}

/// A setting holds from the merchant's next request on.
#[tokio::test]
async fn settings_hold_at_once() {
    let (authority, merchant) = Merchant::alone("strict").await;
    let order = merchant.paid_order().await;
    let path = format!("/merchants/{}", merchant.id);
    let strict = json!({ "settings": { "require_if_match": true, "require_idempotency_key": true } });
    authority.operator().patch(&path, &strict).await.expect(200);
    let body = json!({ "carrier": "dhl" });
    merchant.api.post(&shipments(&order), &body).await.refused(400, "idempotency_key_required");
    merchant.api.post_as("k", &shipments(&order), &body).await.refused(428, "precondition_required");
    let loose = json!({ "settings": { "require_if_match": false, "require_idempotency_key": false } });
    authority.operator().patch(&path, &loose).await.expect(200);
    merchant.ship(&order, &body).await;
}
