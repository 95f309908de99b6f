//! A6: a refund is asked for by the merchant, completed by the platform alone, and never exceeds what was captured
//! (contract 3.6, 4.8, I2).

use std::collections::BTreeMap;

use futures_util::future::join_all;
use serde_json::json;
use tests::{Database, Merchant, on_every_database, report_body, text};

on_every_database!(a06_only_the_platform_completes_a_refund, a06_a_hundred_at_once_never_refund_too_much);

async fn a06_only_the_platform_completes_a_refund(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "refunds").await;
    let order = merchant.paid_order().await;
    let asked = merchant.api.post(&format!("/orders/{order}/refunds"), &json!({ "amount": 300 })).await;
    let refund = asked.expect(201);
    assert_eq!((&refund["status"], &refund["amount"]), (&json!("requested"), &json!(300)));
    let path = format!("/refunds/{}", text(&refund, "id"));
    assert_eq!(asked.header("location"), Some(&*format!("/v1/merchant{path}")));

    let state = async || {
        let order = merchant.order(&order).await;
        let payment = format!("/payments/{}", order["payment_ids"][0].as_str().unwrap());
        let payment = merchant.api.get(&payment).await.expect(200);
        let summary = &order["payment_summary"];
        json!([
            order["payment_status"],
            summary["refunded"],
            summary["refund_pending"],
            summary["refundable"],
            payment["status"],
            payment["amount_refunded"],
            payment["amount_refund_pending"],
            payment["resource_version"],
        ])
    };
    assert_eq!(state().await, json!(["paid", 0, 300, 5000, "succeeded", 0, 300, 2]));
    let reports = format!("{path}/reports");
    let report = async |status: &str| merchant.operator.post(&reports, &report_body(status, status)).await;
    // The merchant has no way to say so.
    merchant.api.post(&reports, &report_body("completed", "m")).await.refused(404, "route_not_found");
    report("processing").await.expect(200);
    assert_eq!(state().await, json!(["paid", 0, 300, 5000, "succeeded", 0, 300, 2]));
    report("completed").await.expect(200);
    assert_eq!(state().await, json!(["partially_refunded", 300, 0, 5000, "partially_refunded", 300, 0, 3]));
    assert_eq!(merchant.api.get(&path).await.expect(200)["status"], "completed");
    let told = merchant.types_after(6).await;
    let expected = [
        "refund.requested",
        "order.updated",
        "refund.processing",
        "refund.completed",
        "payment.partially_refunded",
        "order.updated",
    ];
    assert_eq!(told, expected);
}

/// How often each status and code was answered to a hundred requests at once, by the merchant and by the platform.
async fn a_hundred_at_once(merchant: &Merchant, total: i64, amount: i64) -> BTreeMap<(u16, String), usize> {
    let order = merchant.paid_order_of(total).await;
    let mine = format!("/orders/{order}/refunds");
    let platforms = merchant.platform_path(&format!("orders/{order}/refunds"));
    let body = json!({ "amount": amount });
    let replies = join_all((0..100).map(|n| {
        let (api, path) = if n % 2 == 0 { (&merchant.api, &mine) } else { (&merchant.operator, &platforms) };
        api.post(path, &body)
    }))
    .await;
    let mut answers = BTreeMap::new();
    for reply in replies {
        let code = if reply.status == 201 { "created".into() } else { text(&reply.json(), "code") };
        if code == "refund_amount_exceeded" {
            assert_eq!(reply.refused(422, &code)["refundable"], total % amount);
        }
        *answers.entry((reply.status, code)).or_default() += 1;
    }
    let order = merchant.order(&order).await;
    let summary = &order["payment_summary"];
    let left = summary["refundable"].as_i64().unwrap();
    assert_eq!((left, summary["refund_pending"].as_i64()), (total % amount, Some(total - left)));
    answers
}

async fn a06_a_hundred_at_once_never_refund_too_much(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "rush").await;
    let counted = |answers: &[(u16, &str, usize)]| {
        let entry = |(status, code, count): &(u16, &str, usize)| ((*status, (*code).to_owned()), *count);
        answers.iter().map(entry).collect::<BTreeMap<_, _>>()
    };
    let ones = a_hundred_at_once(&merchant, 50, 1).await;
    assert_eq!(ones, counted(&[(201, "created", 50), (409, "order_not_refundable", 50)]));
    let twos = a_hundred_at_once(&merchant, 51, 2).await;
    assert_eq!(twos, counted(&[(201, "created", 25), (422, "refund_amount_exceeded", 75)]));
}
