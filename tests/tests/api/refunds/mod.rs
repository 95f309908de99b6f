//! Refunds through HTTP: asked for by merchants and the platform, reported by processors, listed for both (contract
//! 3.6, 3.9 rows 14 to 18, 4.3, 4.4, 4.5, 4.8, 6.2, invariant I2).

mod asking;
mod lists;
mod once;
mod platform;
mod sequences;

use serde_json::{Value, json};
use tests::{Api, Merchant, Reply, report_body, rows, text, texts};

fn refunds(order: &str) -> String {
    format!("/orders/{order}/refunds")
}

async fn payment_of(merchant: &Merchant, order: &str) -> Value {
    let id = merchant.order(order).await["payment_ids"][0].as_str().unwrap().to_owned();
    merchant.api.get(&format!("/payments/{id}")).await.expect(200)
}

async fn ask(merchant: &Merchant, order: &str, body: Value) -> Value {
    merchant.refund(order, &body).await
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
    texts(rows(&page), "id")
}
