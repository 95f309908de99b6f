//! Row 7: orders from elsewhere.

use serde_json::{Value, json};
use tests::{Database, Merchant, on_both_databases, report_body, text};

use crate::orders::{Shop, made, order_body, state};

async fn a_paid_order_is_taken_in_with_its_payment(database: Database) {
    let mut shop = Shop::open(database).await;
    let order =
        shop.take_in(json!({ "source": "pos", "payments": [made(5300, "succeeded", "sale-1")] })).await;
    let row_7 = ["order.created 1", "payment.created 1", "payment.succeeded 2", "order.confirmed 2"];
    assert_eq!(shop.new_events().await, row_7);
    assert_eq!(order["order_number"], "ORD-100001");
    assert_eq!((state(&order), &order["source"]), (("confirmed", "paid"), &json!("pos")));
    assert_eq!(shop.merchant.order("ORD-100001").await, order);
    let read = shop.merchant.operator.get(&shop.orders("/ORD-100001")).await;
    assert_eq!((read.expect(200), read.header("etag")), (order.clone(), Some("\"2\"")));
    let events = shop.merchant.events().await;
    for event in &events {
        assert_eq!(event["data"]["object"]["order_number"], "ORD-100001", "{event}");
    }
    // The processor's event is used up, as a start and as a report.
    let payment = &events[1]["data"]["object"];
    let path = format!("/payments/{}/reports", text(payment, "id"));
    let again = shop.post(&path, &report_body("succeeded", "sale-1")).send().await.expect(200);
    assert_eq!(again["applied"], false);
    let contradiction = shop.post(&path, &report_body("failed", "sale-1")).send().await;
    contradiction.refused(409, "processor_conflict");
    let start = json!({
        "order_number": "ORD-100001", "amount": 5300, "currency": "USD", "method": { "type": "cash" },
        "processor": { "name": "till" }, "processor_event_id": "sale-1",
    });
    let again = shop.post(&shop.merchant.platform_path("payments"), &start).send().await.expect(200);
    assert_eq!(again["id"], payment["id"]);
    assert_eq!(shop.new_events().await, [""; 0]);
}

async fn payments_that_are_under_way_come_along(database: Database) {
    let mut shop = Shop::open(database).await;
    let table = [
        ("created", &["payment.created 1"][..], ("pending", "pending")),
        ("pending", &["payment.created 1", "payment.pending 2"], ("pending", "pending")),
        ("authorized", &["payment.created 1", "payment.authorized 2"], ("pending", "authorized")),
    ];
    for (status, told, becomes) in table {
        let order = shop.take_in(json!({ "payments": [made(5300, status, status)] })).await;
        let mut expected = vec!["order.created 1"];
        expected.extend(told);
        expected.push("order.updated 2");
        assert_eq!(shop.new_events().await, expected, "{status}");
        assert_eq!(state(&order), becomes);
        // Later as in rows 3 and 4.
        let path = format!("/payments/{}/reports", order["payment_ids"][0].as_str().unwrap());
        let id = format!("{status}-captured");
        shop.post(&path, &report_body("succeeded", &id)).send().await.expect(200);
        let captured = shop.new_events().await;
        assert!(
            captured[0].starts_with("payment.succeeded ") && captured[1] == "order.confirmed 3",
            "{captured:?}"
        );
    }
}

async fn a_free_order_confirms_and_an_unpaid_one_waits(database: Database) {
    let mut shop = Shop::open(database).await;
    let order = shop.take_in(json!({ "discount": 5300 })).await;
    assert_eq!(shop.new_events().await, ["order.created 1", "order.confirmed 2"]);
    assert_eq!(state(&order), ("confirmed", "paid"));
    let order = shop.take_in(json!({})).await;
    assert_eq!(shop.new_events().await, ["order.created 1"]);
    assert_eq!((state(&order), &order["payment_summary"]["due"]), (("pending", "unpaid"), &json!(5300)));
}

/// A number of the operator's own, for ever; generated ones step over it.
async fn numbers_are_used_once(database: Database) {
    let mut shop = Shop::with_settings(database, json!({ "order_number_prefix": "W-" })).await;
    let taken = json!({ "order_number": "W-100002" });
    shop.take_in(taken.clone()).await;
    assert_eq!(shop.take_in(json!({})).await["order_number"], "W-100001");
    assert_eq!(shop.take_in(json!({})).await["order_number"], "W-100003");
    shop.post(&shop.orders("/W-100002/cancel"), &json!({})).send().await.expect(200);
    shop.new_events().await;
    let facts = json!({ "errors": [["/order_number", "duplicate"]] });
    let call = shop.post(&shop.orders(""), &order_body(taken.clone()));
    shop.refuses(call, 422, "validation_failed", facts).await;
    // The other mode and another merchant count for themselves.
    let live = format!("/merchants/{}/live/orders", shop.merchant.id);
    shop.post(&live, &order_body(taken.clone())).send().await.expect(201);
    let other = Merchant::create(&shop.authority, "other").await;
    shop.post(&other.platform_path("orders"), &order_body(taken)).send().await.expect(201);
}

async fn an_order_is_taken_in_once(database: Database) {
    let mut shop = Shop::open(database).await;
    let body = order_body(json!({ "payments": [made(5300, "succeeded", "sale-1")] }));
    let keyed = |body: &Value| shop.post(&shop.orders(""), body).header("idempotency-key", "order-1");
    let first = keyed(&body).send().await;
    let again = keyed(&body).send().await;
    assert_eq!((again.expect(201), again.header("idempotent-replayed")), (first.expect(201), Some("true")));
    let other = keyed(&order_body(json!({})));
    assert_eq!(shop.new_events().await.len(), 4);
    shop.refuses(other, 422, "idempotency_key_reused", json!({})).await;
    // Without the key, the processor's event says that it was told before.
    let facts = json!({ "errors": [["/payments/0/processor_event_id", "duplicate"]] });
    let call = shop.post(&shop.orders(""), &body);
    shop.refuses(call, 422, "validation_failed", facts).await;
    let twice = json!({ "payments": [made(1, "succeeded", "sale-2"), made(1, "succeeded", "sale-2")] });
    let facts = json!({ "errors": [["/payments/1/processor_event_id", "duplicate"]] });
    let call = shop.post(&shop.orders(""), &order_body(twice));
    shop.refuses(call, 422, "validation_failed", facts).await;
    assert_eq!(shop.take_in(json!({})).await["order_number"], "ORD-100002", "a refusal uses no number up");
}

async fn what_does_not_fit_is_refused(database: Database) {
    let mut shop = Shop::open(database).await;
    let mut euro = made(5300, "succeeded", "x");
    euro["currency"] = json!("EUR");
    let table = [
        (json!({ "payments": [euro] }), "currency_mismatch", json!({})),
        (
            json!({ "payments": [made(5301, "pending", "x")] }),
            "validation_failed",
            json!({ "errors": [["/payments/0/amount", "out_of_range"]] }),
        ),
        (
            json!({ "amounts": { "total": 5299 } }),
            "validation_failed",
            json!({ "errors": [["/amounts/total", "inconsistent"]] }),
        ),
        (
            json!({ "order_number": "a b" }),
            "validation_failed",
            json!({ "errors": [["/order_number", "invalid_value"]] }),
        ),
        (json!({ "status": "confirmed" }), "field_not_writable", json!({})),
        (json!({ "colour": "red" }), "unknown_field", json!({})),
    ];
    for (more, code, facts) in table {
        let call = shop.post(&shop.orders(""), &order_body(more));
        shop.refuses(call, 422, code, facts).await;
    }
    let nobody = shop.post("/merchants/mer_00000000000000000000000000/test/orders", &order_body(json!({})));
    shop.refuses(nobody, 404, "not_found", json!({})).await;
}

on_both_databases!(
    a_paid_order_is_taken_in_with_its_payment,
    payments_that_are_under_way_come_along,
    a_free_order_confirms_and_an_unpaid_one_waits,
    numbers_are_used_once,
    an_order_is_taken_in_once,
    what_does_not_fit_is_refused,
);
