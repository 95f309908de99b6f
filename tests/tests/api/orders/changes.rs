//! Rows 8 and 21, and the explicit confirmation: what the operator does with an order that exists.

use http::Method;
use serde_json::{Value, json};
use tests::authority::Database;
use tests::http::Call;
use tests::merchant::{Merchant, text};
use tests::on_both_databases;

use crate::orders::{Desk, made, state, transition};

fn patch(desk: &Desk, order: &str, body: &Value) -> Call {
    desk.call(Method::PATCH, &desk.orders(&format!("/{order}"))).json(body)
}

async fn edits_are_merged_and_told_once(database: Database) {
    let mut desk = Desk::open(database).await;
    desk.take_in(json!({ "order_number": "A", "customer": { "name": "Ada" }, "metadata": { "k": "1" } }))
        .await;
    desk.told().await;
    let body = json!({
        "customer": { "email": "ada@example.com" },
        "shipping_address": { "line1": "1 Main St", "country": "GB" },
        "metadata": { "k": null, "l": "2" },
    });
    let reply = patch(&desk, "A", &body).header("if-match", "1").send().await;
    let order = reply.expect(200);
    assert_eq!(desk.told().await, ["order.updated 2"]);
    assert_eq!(reply.header("etag"), Some("\"2\""));
    assert_eq!(
        (&order["customer"]["name"], &order["customer"]["email"]),
        (&json!("Ada"), &json!("ada@example.com"))
    );
    assert_eq!(
        (&order["metadata"], &order["shipping_address"]["line1"]),
        (&json!({ "l": "2" }), &json!("1 Main St"))
    );
    assert_eq!(desk.merchant.order("A").await, order);

    assert_eq!(patch(&desk, "A", &body).send().await.expect(200), order, "the same again");
    assert_eq!(patch(&desk, "A", &json!({})).send().await.expect(200), order);
    assert_eq!(desk.told().await, [""; 0]);
    let facts = json!({ "current_version": 2, "supplied_version": 1 });
    let stale = patch(&desk, "A", &json!({ "metadata": null })).header("if-match", "1");
    desk.refuses(stale, 409, "resource_version_conflict", facts).await;
    for member in ["line_items", "amounts", "currency", "status", "payment_status"] {
        let facts = json!({ "errors": [[format!("/{member}"), "field_not_writable"]] });
        let call = patch(&desk, "A", &json!({ member: null }));
        desk.refuses(call, 422, "field_not_writable", facts).await;
    }
    let call = patch(&desk, "A", &json!({ "billing_address": { "line1": "x" } }));
    let facts = json!({ "errors": [["/billing_address/country", "required"]] });
    desk.refuses(call, 422, "validation_failed", facts).await;
    let call = patch(&desk, "B", &json!({}));
    desk.refuses(call, 404, "not_found", json!({})).await;
}

async fn an_order_is_confirmed_without_money(database: Database) {
    let mut desk = Desk::open(database).await;
    desk.take_in(json!({ "order_number": "COD" })).await;
    desk.told().await;
    let confirm = |body: &Value| desk.post(&desk.orders("/COD/confirm"), body);
    let order = confirm(&json!({ "reason": "cash on delivery" })).send().await.expect(200);
    let noted = desk.merchant.operator.get("/audit-log?resource_id=COD&limit=1").await.expect(200);
    assert_eq!(noted["data"][0]["reason"], "cash on delivery");
    assert_eq!((state(&order), order["confirmed_at"].is_string()), (("confirmed", "unpaid"), true));
    let again = desk.call(Method::POST, &desk.orders("/COD/confirm")).send().await;
    assert_eq!(again.expect(200), order);
    let call = confirm(&json!({ "because": "x" }));
    assert_eq!(desk.told().await, ["order.confirmed 2"]);
    desk.refuses(call, 422, "unknown_field", json!({})).await;
    // The money comes at the door.
    let body = crate::orders::attempt("COD", 5300, "door");
    let payment = desk.post(&desk.merchant.platform_path("payments"), &body).send().await.expect(201);
    desk.merchant.report(&payment, "succeeded").await;
    let told = ["payment.created 1", "order.updated 3", "payment.succeeded 2", "order.updated 4"];
    assert_eq!(desk.told().await, told);
    assert_eq!(state(&desk.merchant.order("COD").await), ("confirmed", "paid"));
}

async fn open_payments_end_with_their_order(database: Database) {
    let mut desk = Desk::open(database).await;
    let payments =
        json!([made(2000, "succeeded", "a"), made(1000, "authorized", "b"), made(2000, "pending", "c")]);
    desk.take_in(json!({ "order_number": "A", "payments": payments })).await;
    desk.told().await;
    let cancel = desk.post(&desk.orders("/A/cancel"), &json!({ "reason": "customer_request" }));
    let order = cancel.clone().send().await.expect(200);
    let row_8 = ["payment.cancelled 3", "payment.cancelled 3", "order.cancelled 3"];
    assert_eq!(desk.told().await, row_8);
    assert_eq!(state(&order), ("cancelled", "partially_paid"), "captured money stays");
    assert_eq!(
        (&order["cancel_reason"], order["cancelled_at"].is_string()),
        (&json!("customer_request"), true)
    );
    assert_eq!(order["payment_summary"]["authorized"], 0);
    assert_eq!(cancel.send().await.expect(200), order, "once more: nothing happens");

    let call = desk.post(&desk.orders("/A/confirm"), &json!({}));
    desk.refuses(call, 409, "invalid_state_transition", transition("cancelled", "confirmed")).await;
    let call = desk.post(&desk.merchant.platform_path("payments"), &crate::orders::attempt("A", 1, "d"));
    desk.refuses(call, 409, "invalid_state_transition", transition("cancelled", "pending")).await;
    let ship = desk.merchant.api.call(Method::POST, "/orders/A/shipments").json(&json!({ "carrier": "dhl" }));
    desk.refuses(ship, 409, "order_not_fulfillable", json!({ "current_status": "cancelled" })).await;
}

async fn only_what_is_not_shipped_can_be_cancelled(database: Database) {
    let mut desk = Desk::open(database).await;
    desk.take_in(json!({ "order_number": "A", "payments": [made(5300, "succeeded", "a")] })).await;
    desk.take_in(json!({ "order_number": "B", "payments": [made(5300, "succeeded", "b")] })).await;
    let line = desk.merchant.order("A").await["line_items"][0]["id"].clone();
    let part = json!({ "carrier": "dhl", "line_items": [{ "line_item_id": line, "quantity": 1 }] });
    desk.merchant.api.post("/orders/A/shipments", &part).await.expect(201);
    desk.told().await;
    let call = desk.post(&desk.orders("/A/cancel"), &json!({}));
    desk.refuses(call, 409, "invalid_state_transition", transition("confirmed", "cancelled")).await;
    let call = desk.post(&desk.orders("/B/cancel"), &json!({ "reason": "boredom" }));
    let facts = json!({ "errors": [["/reason", "invalid_value"]] });
    desk.refuses(call, 422, "validation_failed", facts).await;
    let order = desk.call(Method::POST, &desk.orders("/B/cancel")).send().await.expect(200);
    assert_eq!((&order["cancel_reason"], state(&order)), (&json!("other"), ("cancelled", "paid")));
    assert_eq!(desk.told().await, ["order.cancelled 3"]);
}

/// The same number of another merchant or mode is another order; an operator key needs the scope.
async fn orders_are_found_by_tenant(database: Database) {
    let desk = Desk::open(database).await;
    let order = desk.take_in(json!({ "order_number": "A" })).await;
    let other = Merchant::create(&desk.authority, "other").await;
    for path in [other.platform_path("orders/A"), format!("/merchants/{}/live/orders/A", desk.merchant.id)] {
        desk.call(Method::GET, &path).send().await.refused(404, "not_found");
        desk.call(Method::PATCH, &path).json(&json!({})).send().await.refused(404, "not_found");
        desk.post(&format!("{path}/cancel"), &json!({})).send().await.refused(404, "not_found");
    }
    assert_eq!(desk.merchant.order(&text(&order, "order_number")).await, order);
}

on_both_databases!(
    edits_are_merged_and_told_once,
    an_order_is_confirmed_without_money,
    open_payments_end_with_their_order,
    only_what_is_not_shipped_can_be_cancelled,
    orders_are_found_by_tenant,
);
