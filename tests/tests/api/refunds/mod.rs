//! Refunds through HTTP: asked for by merchants and the platform, reported by processors, listed for both (contract
//! 3.6, 3.9 rows 14 to 18, 4.3, 4.4, 4.5, 4.8, 6.2, invariant I2).

mod asking;
mod lists;
mod once;
mod platform;
mod sequences;

use serde_json::{Value, json};
use tests::http::{Api, Reply};
use tests::merchant::{Merchant, report_body, text};

fn refunds(order: &str) -> String {
    format!("/orders/{order}/refunds")
}

/// An order of this total, paid at once.
async fn paid(merchant: &Merchant, total: i64) -> String {
    let line = json!({ "name": "T-shirt", "quantity": 1, "unit_amount": total });
    let body = json!({ "currency": "USD", "line_items": [line] });
    let checkout = merchant.operator.post(&merchant.platform_path("checkouts"), &body).await.expect(201);
    let payment = merchant.payment(&checkout, "automatic").await;
    text(&merchant.report(&payment, "succeeded").await["payment"], "order_number")
}

async fn payment_of(merchant: &Merchant, order: &str) -> Value {
    let id = merchant.order(order).await["payment_ids"][0].as_str().unwrap().to_owned();
    merchant.api.get(&format!("/payments/{id}")).await.expect(200)
}

async fn ask(merchant: &Merchant, order: &str, body: Value) -> Value {
    merchant.api.post(&refunds(order), &body).await.expect(201)
}

async fn reported(merchant: &Merchant, refund: &Value, body: &Value) -> Reply {
    merchant.operator.post(&format!("/refunds/{}/reports", text(refund, "id")), body).await
}

/// Reports a status; returns the refund as it is then.
async fn report(merchant: &Merchant, refund: &Value, status: &str) -> Value {
    let body = report_body(status, &format!("{status}:{}", text(refund, "id")));
    let result = reported(merchant, refund, &body).await.expect(200);
    assert_eq!((&result["object"], &result["applied"]), (&json!("report_result"), &json!(true)));
    result["refund"].clone()
}

async fn ids(api: &Api, path: &str) -> Vec<String> {
    let page = api.get(path).await.expect(200);
    page["data"].as_array().unwrap().iter().map(|record| text(record, "id")).collect()
}

fn is_replay(reply: &Reply) -> bool {
    reply.header("idempotent-replayed") == Some("true")
}
