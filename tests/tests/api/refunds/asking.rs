//! What cannot be asked for, and which payment is meant (contract 4.4, 4.8).

use http::Method;
use serde_json::{Value, json};
use tests::{Merchant, Reply, payment_body, report_body, text};

use crate::refunds::{ask, refunds, report};

#[tokio::test]
async fn what_is_refused_has_no_effect() {
    let (authority, merchant) = Merchant::alone("refusals").await;
    let order = merchant.paid_order().await;
    let payment = merchant.payment(&merchant.checkout().await, "automatic").await;
    let pending = text(&merchant.report(&payment, "pending").await["payment"], "order_number");
    let path = refunds(&order);
    let known = merchant.events().await.len();
    let errors = |reply: &Reply| {
        let pair = |error: &Value| (text(error, "pointer"), text(error, "code"));
        reply.json()["errors"].as_array().into_iter().flatten().map(pair).collect::<Vec<_>>()
    };
    let table = [
        (&path, json!({ "amount": 5301 }), 422, "refund_amount_exceeded", vec![]),
        (&path, json!({ "currency": "EUR" }), 422, "currency_mismatch", vec![]),
        (
            &path,
            json!({ "amount": 0, "reason": 7 }),
            422,
            "validation_failed",
            vec![("/amount", "out_of_range"), ("/reason", "wrong_type")],
        ),
        (
            &path,
            json!({ "status": "completed" }),
            422,
            "field_not_writable",
            vec![("/status", "field_not_writable")],
        ),
        (&path, json!({ "sum": 1 }), 422, "unknown_field", vec![("/sum", "unknown_field")]),
        (
            &path,
            json!({ "payment_id": payment["id"] }),
            422,
            "validation_failed",
            vec![("/payment_id", "unknown_reference")],
        ),
        (&refunds(&pending), json!({ "amount": 1 }), 409, "order_not_refundable", vec![]),
        (&refunds("ORD-1"), json!({}), 404, "not_found", vec![]),
    ];
    for (path, body, status, code, members) in table {
        let reply = merchant.api.post(path, &body).await;
        reply.refused(status, code);
        let expected: Vec<_> =
            members.into_iter().map(|(pointer, code)| (pointer.to_owned(), code.to_owned())).collect();
        assert_eq!(errors(&reply), expected, "{body}");
    }
    merchant.api.call(Method::POST, &path).send().await.refused(400, "body_required");
    let stale =
        merchant.api.call(Method::POST, &path).json(&json!({})).header("if-match", "\"1\"").send().await;
    let problem = stale.refused(409, "resource_version_conflict");
    assert_eq!((&problem["current_version"], &problem["supplied_version"]), (&json!(2), &json!(1)));
    let exceeded = merchant.api.post(&path, &json!({ "amount": 5301 })).await;
    assert_eq!(exceeded.json()["refundable"], 5300);
    let reader = authority.merchant(&merchant.issue_key("test", &["refunds:read", "orders:write"]).await);
    let problem = reader.post(&path, &json!({})).await.refused(403, "insufficient_scope");
    assert_eq!(problem["required_scopes"], json!(["refunds:write"]));
    assert_eq!(merchant.events().await.len(), known, "nothing had an effect");

    let current =
        merchant.api.call(Method::POST, &path).json(&json!({ "amount": 1 })).header("if-match", "\"2\"");
    current.send().await.expect(201);
    let strict = json!({ "require_if_match": true });
    let strict = Merchant::with_settings(&authority, "strict", strict).await;
    let path = refunds(&strict.paid_order().await);
    strict.api.post(&path, &json!({})).await.refused(428, "precondition_required");
}

/// An order that was paid by two payments: which of them is meant has to be said.
#[tokio::test]
async fn several_payments_have_to_be_told_apart() {
    let (_authority, merchant) = Merchant::alone("two-payments").await;
    let checkout = merchant.checkout().await;
    let first = merchant.payment(&checkout, "automatic").await;
    let mut part = report_body("succeeded", "part");
    part["amount_captured"] = json!(3000);
    let path = format!("/payments/{}/reports", text(&first, "id"));
    let order = merchant.operator.post(&path, &part).await.expect(200)["payment"]["order_number"].clone();
    let mut start = payment_body(&checkout, "automatic", "rest");
    start.as_object_mut().unwrap().remove("checkout_id");
    start["order_number"] = order.clone();
    start["amount"] = json!(2300);
    let second = merchant.operator.post(&merchant.platform_path("payments"), &start).await.expect(201);
    merchant.report(&second, "succeeded").await;
    let order = order.as_str().unwrap().to_owned();
    assert_eq!(merchant.order(&order).await["payment_status"], "paid");

    let which = merchant.api.post(&refunds(&order), &json!({ "amount": 100 })).await;
    let problem = which.refused(422, "payment_required");
    assert_eq!(problem["payment_ids"], json!([first["id"], second["id"]]));
    let too_much = json!({ "payment_id": second["id"], "amount": 2301 });
    let problem = merchant.api.post(&refunds(&order), &too_much).await.refused(422, "refund_amount_exceeded");
    assert_eq!(problem["refundable"], 2300);
    let whole = ask(&merchant, &order, json!({ "payment_id": second["id"] })).await;
    assert_eq!((&whole["payment_id"], &whole["amount"]), (&second["id"], &json!(2300)));
    // Now only one has something left.
    let rest = ask(&merchant, &order, json!({})).await;
    assert_eq!((&rest["payment_id"], &rest["amount"]), (&first["id"], &json!(3000)));
    for refund in [&whole, &rest] {
        report(&merchant, refund, "completed").await;
    }
    let order = merchant.order(&order).await;
    assert_eq!(
        (&order["payment_status"], &order["payment_summary"]["refunded"]),
        (&json!("refunded"), &json!(5300))
    );
}

/// What was captured for an order that was cancelled afterwards is not returned by itself, and can be asked back.
#[tokio::test]
async fn a_cancelled_order_is_refundable() {
    let (_authority, merchant) = Merchant::alone("cancelled").await;
    let order = merchant.paid_order().await;
    let cancel = merchant.platform_path(&format!("orders/{order}/cancel"));
    merchant.operator.post(&cancel, &json!({ "reason": "out_of_stock" })).await.expect(200);
    let state = async || {
        let order = merchant.order(&order).await;
        json!([order["status"], order["payment_status"], order["payment_summary"]["refundable"]])
    };
    assert_eq!(state().await, json!(["cancelled", "paid", 5300]));
    let refund = ask(&merchant, &order, json!({ "reason": "product_unavailable" })).await;
    assert_eq!(refund["amount"], 5300);
    assert_eq!(state().await, json!(["cancelled", "paid", 0]));
    report(&merchant, &refund, "completed").await;
    assert_eq!(state().await, json!(["cancelled", "refunded", 0]));
}
