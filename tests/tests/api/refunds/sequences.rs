//! Every step of a refund and the events that tell of it: contract 3.9 rows 14 to 18.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tests::{Database, Merchant, on_both_databases, report_body, text};

use crate::refunds::{ask, payment_of, refunds, report, reported};
use crate::sequences::from;

on_both_databases!(every_step_is_told_in_its_sequence);

/// What order and payment show of their refunds.
async fn money(merchant: &Merchant, order: &str) -> Value {
    let (order, payment) = (merchant.order(order).await, payment_of(merchant, order).await);
    let summary = &order["payment_summary"];
    json!({
        "order": [order["payment_status"], summary["refunded"], summary["refund_pending"], summary["refundable"]],
        "payment": [payment["status"], payment["amount_refunded"], payment["amount_refund_pending"],
                    payment["resource_version"]],
    })
}

/// Rows 14 to 18, and that the records read as the events said.
async fn every_step_is_told_in_its_sequence(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "rows-14-to-18").await;
    let order = merchant.paid_order().await;
    let line = merchant.order(&order).await["line_items"][0]["id"].clone();
    let body = json!({
        "amount": 2400, "currency": "USD", "reason": "damaged", "note": "torn", "metadata": { "return": "9" },
        "line_items": [{ "line_item_id": line, "quantity": 1, "amount": 2400 }],
    });
    let asked = merchant.api.post(&refunds(&order), &body).await;
    let part = asked.expect(201);
    let path = format!("/refunds/{}", text(&part, "id"));
    assert_eq!(asked.header("location"), Some(&*format!("/v1/merchant{path}")));
    assert_eq!(asked.header("etag"), Some("\"1\""));
    assert_eq!(part["status"], "requested");
    assert_eq!(part["requested_by"]["type"], "api_key");
    for member in ["amount", "currency", "reason", "note", "metadata", "line_items"] {
        assert_eq!(part[member], body[member], "{member}");
    }
    assert_eq!(merchant.events_after(6).await, from(7, &[("refund.requested", 1), ("order.updated", 3)]));
    let payment = payment_of(&merchant, &order).await;
    assert_eq!((&part["payment_id"], &part["order_number"]), (&payment["id"], &json!(order)));
    let reserved = json!({ "order": ["paid", 0, 2400, 2900], "payment": ["succeeded", 0, 2400, 2] });
    assert_eq!(money(&merchant, &order).await, reserved);

    report(&merchant, &part, "processing").await;
    assert_eq!(merchant.events_after(8).await, from(9, &[("refund.processing", 2)]));
    assert_eq!(money(&merchant, &order).await, reserved);
    let done = report(&merchant, &part, "completed").await;
    let row_16 = [("refund.completed", 3), ("payment.partially_refunded", 3), ("order.updated", 4)];
    assert_eq!(merchant.events_after(9).await, from(10, &row_16));
    let returned = json!({ "order": ["partially_refunded", 2400, 0, 2900], "payment": ["partially_refunded", 2400, 0, 3] });
    assert_eq!(money(&merchant, &order).await, returned);
    assert_eq!(merchant.api.get(&path).await.expect(200), done);

    let lost = ask(&merchant, &order, json!({})).await;
    assert_eq!((&lost["amount"], &lost["reason"]), (&json!(2900), &json!("requested_by_customer")));
    assert_eq!(merchant.events_after(12).await, from(13, &[("refund.requested", 1), ("order.updated", 5)]));
    let failure = json!({ "code": "insufficient_funds", "message": "The account is empty." });
    let mut failed = report_body("failed", "failed-1");
    failed["failure"] = failure.clone();
    failed["processor_reference"] = json!("re_1");
    let failed = reported(&merchant, &lost, &failed).await.expect(200)["refund"].clone();
    assert_eq!((&failed["failure"], &failed["processor_reference"]), (&failure, &json!("re_1")));
    assert_eq!(merchant.events_after(14).await, from(15, &[("refund.failed", 2), ("order.updated", 6)]));
    assert_eq!(money(&merchant, &order).await, returned);

    let rest = ask(&merchant, &order, json!({ "amount": 2900 })).await;
    report(&merchant, &rest, "completed").await;
    let row_17 = [
        ("refund.requested", 1),
        ("order.updated", 7),
        ("refund.completed", 2),
        ("payment.refunded", 4),
        ("order.updated", 8),
    ];
    assert_eq!(merchant.events_after(16).await, from(17, &row_17));
    let all = json!({ "order": ["refunded", 5300, 0, 0], "payment": ["refunded", 5300, 0, 4] });
    assert_eq!(money(&merchant, &order).await, all);
    links_lead_to_the_records(&merchant).await;
}

/// Every link of an event leads to the record, at its last version as the last event about it shows it.
async fn links_lead_to_the_records(merchant: &Merchant) {
    let mut latest = BTreeMap::new();
    for event in merchant.events().await {
        if let Some(link) = event["links"]["resource"].as_str() {
            let path = link.strip_prefix("/v1/merchant").unwrap().to_owned();
            latest.insert(path, event["data"]["object"].clone());
        }
    }
    for (path, object) in &latest {
        assert_eq!(&merchant.api.get(path).await.expect(200), object, "{path}");
    }
    assert_eq!(latest.keys().filter(|path| path.starts_with("/refunds/")).count(), 3);
}
