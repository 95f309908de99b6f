//! The audit log: every write of an operator, and nothing else (contract 6.1).

use http::Method;
use serde_json::{Value, json};
use tests::{Api, Merchant, checkout_body, rows, text, texts};

use super::listed;

/// The entries, newest first.
async fn entries(operator: &Api, query: &str) -> Vec<Value> {
    let page = operator.get(&format!("/audit-log?{query}")).await.expect(200);
    rows(&page).to_vec()
}

/// What an entry says of the record, beside when and by whom.
fn told(entry: &Value) -> Value {
    let members =
        ["operation", "merchant_id", "livemode", "resource_id", "version_before", "version_after", "reason"];
    members.iter().map(|member| entry[member].clone()).collect()
}

#[tokio::test]
async fn every_write_leaves_one_entry() {
    let (authority, merchant) = Merchant::alone("audited").await;
    let operator = authority.operator();
    let id = &merchant.id;
    let renamed = operator.patch(&format!("/merchants/{id}"), &json!({ "name": "Other" })).await;
    let order = merchant.paid_order().await;
    let payment = merchant.order(&order).await["payment_ids"][0].as_str().unwrap().to_owned();
    let key = operator.get(&format!("/merchants/{id}/api-keys")).await.expect(200)["data"][0].clone();
    operator
        .post(&format!("/api-keys/{}/revoke", text(&key, "id")), &json!({ "reason": "end of test" }))
        .await
        .expect(200);

    let all = entries(&operator, "").await;
    let checkout = all[3]["resource_id"].clone();
    let expected = [
        json!(["api_keys.revoke", id, false, key["id"], null, null, "end of test"]),
        json!(["payments.report", id, false, payment, 1, 2, null]),
        json!(["payments.start", id, false, payment, null, 1, null]),
        json!(["checkouts.open", id, false, checkout, null, 1, null]),
        json!(["merchants.update", id, null, id, 1, 2, null]),
        json!(["api_keys.issue", id, false, key["id"], null, null, null]),
        json!(["merchants.create", id, null, id, null, 1, null]),
    ];
    assert_eq!(all.iter().take(7).map(told).collect::<Vec<_>>(), expected);
    let by = &all[0]["created_by"];
    assert!(all.iter().take(7).all(|entry| entry["created_by"] == *by && entry["object"] == "audit_entry"));
    assert_eq!(all[4]["request_id"].as_str(), renamed.header("service-request-id"));

    // The key itself was made by the command.
    let command = &all[7..];
    assert_eq!(command.len(), 1);
    assert_eq!(told(&command[0]), json!(["operator_keys.create", null, null, by, null, null, null]));
    assert_eq!(command[0]["created_by"], "cli");

    let ids = |entries: &[Value]| texts(entries, "id");
    assert_eq!(listed(&operator, "/audit-log", "id").await, ids(&all));
    assert_eq!(entries(&operator, "key_id=cli").await, command);
    assert_eq!(entries(&operator, &format!("key_id={}", text(&all[0], "created_by"))).await, all[..7]);
    assert_eq!(entries(&operator, &format!("resource_id={payment}")).await, all[1..3]);
    let (from, to) = (text(&all[5], "created_at"), text(&all[1], "created_at"));
    let between = entries(&operator, &format!("created_from={from}&created_to={to}")).await;
    let inside =
        |entry: &&Value| (from.as_str()..to.as_str()).contains(&entry["created_at"].as_str().unwrap());
    assert_eq!(between, all.iter().filter(inside).cloned().collect::<Vec<_>>());
    operator.get("/audit-log?key_id=svc_op_x").await.refused(400, "invalid_parameter");
}

/// What is refused, repeated, read, or done by a merchant leaves nothing.
#[tokio::test]
async fn nothing_else_leaves_an_entry() {
    let (authority, merchant) = Merchant::alone("quiet").await;
    let operator = authority.operator();
    let path = merchant.platform_path("checkouts");
    operator.post_as("once", &path, &checkout_body()).await.expect(201);
    let before = entries(&operator, "").await;
    assert_eq!(
        operator.post_as("once", &path, &checkout_body()).await.header("idempotent-replayed"),
        Some("true")
    );
    operator.post(&path, &json!({})).await.refused(422, "validation_failed");
    operator
        .post("/merchants", &json!({ "slug": "quiet", "name": "n", "default_currency": "USD" }))
        .await
        .refused(422, "validation_failed");
    operator.get("/merchants").await.expect(200);
    merchant.endpoint("http://127.0.0.1:9/", &["*"]).await;
    assert_eq!(entries(&operator, "").await, before);
    // Nobody writes it.
    for method in [Method::POST, Method::PATCH, Method::DELETE] {
        operator.call(method, "/audit-log").json(&json!({})).send().await.refused(405, "method_not_allowed");
    }
}
