//! Rows 8 and 21, and the explicit confirmation: what the operator does with an order that exists.

use http::Method;
use serde_json::{Value, json};
use tests::{Call, Database, Merchant, has, on_both_databases, text};

use crate::orders::{Shop, made, state, transition};

fn patch(shop: &Shop, order: &str, body: &Value) -> Call {
    shop.call(Method::PATCH, &shop.orders(&format!("/{order}"))).json(body)
}

async fn edits_are_merged_and_told_once(database: Database) {
    let mut shop = Shop::open(database).await;
    shop.take_in(json!({ "order_number": "A", "customer": { "name": "Ada" }, "metadata": { "k": "1" } }))
        .await;
    shop.new_events().await;
    let body = json!({
        "customer": { "email": "ada@example.com" },
        "shipping_address": { "line1": "1 Main St", "country": "GB" },
        "metadata": { "k": null, "l": "2" },
    });
    let reply = patch(&shop, "A", &body).header("if-match", "1").send().await;
    let order = reply.expect(200);
    assert_eq!(shop.new_events().await, ["order.updated 2"]);
    assert_eq!(reply.header("etag"), Some("\"2\""));
    has(&order["customer"], json!({ "name": "Ada", "email": "ada@example.com" }));
    assert_eq!(
        (&order["metadata"], &order["shipping_address"]["line1"]),
        (&json!({ "l": "2" }), &json!("1 Main St"))
    );
    assert_eq!(shop.merchant.order("A").await, order);

    assert_eq!(patch(&shop, "A", &body).send().await.expect(200), order, "the same again");
    assert_eq!(patch(&shop, "A", &json!({})).send().await.expect(200), order);
    assert_eq!(shop.new_events().await, [""; 0]);
    let facts = json!({ "current_version": 2, "supplied_version": 1 });
    let stale = patch(&shop, "A", &json!({ "metadata": { "l": null } })).header("if-match", "1");
    shop.refuses(stale, 409, "resource_version_conflict", facts).await;
    for member in ["line_items", "amounts", "currency", "status", "payment_status"] {
        let facts = json!({ "errors": [[format!("/{member}"), "field_not_writable"]] });
        let call = patch(&shop, "A", &json!({ member: null }));
        shop.refuses(call, 422, "field_not_writable", facts).await;
    }
    let call = patch(&shop, "A", &json!({ "billing_address": { "line1": "x" } }));
    let facts = json!({ "errors": [["/billing_address/country", "required"]] });
    shop.refuses(call, 422, "validation_failed", facts).await;
    let call = patch(&shop, "B", &json!({}));
    shop.refuses(call, 404, "not_found", json!({})).await;
}

async fn an_order_is_confirmed_without_money(database: Database) {
    let mut shop = Shop::open(database).await;
    shop.take_in(json!({ "order_number": "COD" })).await;
    shop.new_events().await;
    let confirm = |body: &Value| shop.post(&shop.orders("/COD/confirm"), body);
    let order = confirm(&json!({ "reason": "cash on delivery" })).send().await.expect(200);
    let noted = shop.merchant.operator.get("/audit-log?resource_id=COD&limit=1").await.expect(200);
    assert_eq!(noted["data"][0]["reason"], "cash on delivery");
    assert_eq!((state(&order), order["confirmed_at"].is_string()), (("confirmed", "unpaid"), true));
    let again = shop.call(Method::POST, &shop.orders("/COD/confirm")).send().await;
    assert_eq!(again.expect(200), order);
    let call = confirm(&json!({ "because": "x" }));
    assert_eq!(shop.new_events().await, ["order.confirmed 2"]);
    shop.refuses(call, 422, "unknown_field", json!({})).await;
    // The money comes at the door.
    let body = crate::orders::attempt("COD", 5300, "door");
    let payment = shop.post(&shop.merchant.platform_path("payments"), &body).send().await.expect(201);
    shop.merchant.report(&payment, "succeeded").await;
    let told = ["payment.created 1", "order.updated 3", "payment.succeeded 2", "order.updated 4"];
    assert_eq!(shop.new_events().await, told);
    assert_eq!(state(&shop.merchant.order("COD").await), ("confirmed", "paid"));
}

async fn open_payments_end_with_their_order(database: Database) {
    let mut shop = Shop::open(database).await;
    let payments =
        json!([made(2000, "succeeded", "a"), made(1000, "authorized", "b"), made(2000, "pending", "c")]);
    shop.take_in(json!({ "order_number": "A", "payments": payments })).await;
    shop.new_events().await;
    let cancel = shop.post(&shop.orders("/A/cancel"), &json!({ "reason": "customer_request" }));
    let order = cancel.clone().send().await.expect(200);
    let row_8 = ["payment.cancelled 3", "payment.cancelled 3", "order.cancelled 3"];
    assert_eq!(shop.new_events().await, row_8);
    assert_eq!(state(&order), ("cancelled", "partially_paid"), "captured money stays");
    assert_eq!(
        (&order["cancel_reason"], order["cancelled_at"].is_string()),
        (&json!("customer_request"), true)
    );
    assert_eq!(order["payment_summary"]["authorized"], 0);
    assert_eq!(cancel.send().await.expect(200), order, "once more: nothing happens");

    let call = shop.post(&shop.orders("/A/confirm"), &json!({}));
    shop.refuses(call, 409, "invalid_state_transition", transition("cancelled", "confirmed")).await;
    let call = shop.post(&shop.merchant.platform_path("payments"), &crate::orders::attempt("A", 1, "d"));
    shop.refuses(call, 409, "invalid_state_transition", transition("cancelled", "pending")).await;
    let ship = shop.merchant.api.call(Method::POST, "/orders/A/shipments").json(&json!({ "carrier": "dhl" }));
    shop.refuses(ship, 409, "order_not_fulfillable", json!({ "current_status": "cancelled" })).await;
}

async fn only_what_is_not_shipped_can_be_cancelled(database: Database) {
    let mut shop = Shop::open(database).await;
    shop.take_in(json!({ "order_number": "A", "payments": [made(5300, "succeeded", "a")] })).await;
    shop.take_in(json!({ "order_number": "B", "payments": [made(5300, "succeeded", "b")] })).await;
    let line = shop.merchant.order("A").await["line_items"][0]["id"].clone();
    let part = json!({ "carrier": "dhl", "line_items": [{ "line_item_id": line, "quantity": 1 }] });
    shop.merchant.api.post("/orders/A/shipments", &part).await.expect(201);
    shop.new_events().await;
    let call = shop.post(&shop.orders("/A/cancel"), &json!({}));
    shop.refuses(call, 409, "invalid_state_transition", transition("confirmed", "cancelled")).await;
    let call = shop.post(&shop.orders("/B/cancel"), &json!({ "reason": "boredom" }));
    let facts = json!({ "errors": [["/reason", "invalid_value"]] });
    shop.refuses(call, 422, "validation_failed", facts).await;
    let order = shop.call(Method::POST, &shop.orders("/B/cancel")).send().await.expect(200);
    assert_eq!((&order["cancel_reason"], state(&order)), (&json!("other"), ("cancelled", "paid")));
    assert_eq!(shop.new_events().await, ["order.cancelled 3"]);
}

/// The same number of another merchant or mode is another order; an operator key needs the scope.
async fn orders_are_found_by_tenant(database: Database) {
    let shop = Shop::open(database).await;
    let order = shop.take_in(json!({ "order_number": "A" })).await;
    let other = Merchant::create(&shop.authority, "other").await;
    for path in [other.platform_path("orders/A"), format!("/merchants/{}/live/orders/A", shop.merchant.id)] {
        shop.call(Method::GET, &path).send().await.refused(404, "not_found");
        shop.merchant.operator.patch(&path, &json!({})).await.refused(404, "not_found");
        shop.post(&format!("{path}/cancel"), &json!({})).send().await.refused(404, "not_found");
    }
    assert_eq!(shop.merchant.order(&text(&order, "order_number")).await, order);
}

on_both_databases!(
    edits_are_merged_and_told_once,
    an_order_is_confirmed_without_money,
    open_payments_end_with_their_order,
    only_what_is_not_shipped_can_be_cancelled,
    orders_are_found_by_tenant,
);
