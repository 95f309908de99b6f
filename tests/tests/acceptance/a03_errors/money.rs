//! Refunds that cannot be, endpoints in the wrong state, history that is gone (contract 4.8 to 4.10, 8.6).

use http::Method;
use serde_json::{Value, json};
use tests::{Call, Merchant, Shop};

use super::get;

/// An order of 30.00 USD with these payments, as an import brings it.
async fn imported(merchant: &Merchant, payments: &[(&str, i64)]) -> String {
    let line = json!({ "name": "Book", "quantity": 1, "unit_amount": 3000 });
    let payment = |(n, (status, amount)): (usize, &(&str, i64))| {
        json!({
            "amount": amount, "status": status, "method": { "type": "card" },
            "processor": { "name": "acme-pay" }, "processor_event_id": format!("{}:{n}", payments.len()),
        })
    };
    let payments: Vec<Value> = payments.iter().enumerate().map(payment).collect();
    let body = json!({ "currency": "USD", "line_items": [line], "source": "import", "payments": payments });
    let made = merchant.operator.post(&merchant.platform_path("orders"), &body).await.expect(201);
    made["order_number"].as_str().unwrap().to_owned()
}

/// What the money forbids.
pub(super) async fn refunds(shop: &mut Shop) {
    let payee = Merchant::create(&shop.authority, "payee").await;
    let refund = |order: &str, body: &Value| -> Call {
        payee.api.call(Method::POST, &format!("/orders/{order}/refunds")).json(body)
    };
    let unpaid = imported(&payee, &[]).await;
    shop.refuses(refund(&unpaid, &json!({})), 409, "order_not_refundable", json!({})).await;
    let once = imported(&payee, &[("succeeded", 3000)]).await;
    let call = refund(&once, &json!({ "amount": 3001 }));
    shop.refuses(call, 422, "refund_amount_exceeded", json!({ "refundable": 3000 })).await;
    let call = refund(&once, &json!({ "amount": 1, "currency": "EUR" }));
    shop.refuses(call, 422, "currency_mismatch", json!({})).await;
    let twice = imported(&payee, &[("succeeded", 1000), ("succeeded", 2000)]).await;
    shop.refuses(refund(&twice, &json!({ "amount": 1 })), 422, "payment_required", json!({})).await;
    let payments = payee.order(&twice).await["payment_ids"].clone();
    let named = json!({ "amount": 1, "payment_id": payments[1] });
    refund(&twice, &named).send().await.expect(201);
}

/// What an endpoint's state forbids.
pub(super) async fn endpoints(shop: &mut Shop) {
    let quiet = Merchant::create(&shop.authority, "quiet").await;
    let endpoint = quiet.endpoint("https://hooks.example.com/", &["refund.*"]).await;
    quiet.paid_order().await;
    let event = quiet.events().await[0]["id"].as_str().unwrap().to_owned();
    let replay = |body: &Value| quiet.api.call(Method::POST, &format!("/events/{event}/replay")).json(body);
    shop.refuses(replay(&json!({})), 409, "no_eligible_endpoint", json!({})).await;
    let absent = json!({ "endpoint_ids": [shop.disabled.id] });
    let facts = json!({ "errors": [["/endpoint_ids/0", "unknown_reference"]] });
    shop.refuses(replay(&absent), 422, "validation_failed", facts).await;
    let path = endpoint.path("");
    let rotate = || quiet.api.call(Method::POST, &format!("{path}/rotate-secret"));
    rotate().send().await.expect(200);
    shop.refuses(rotate(), 409, "rotation_in_progress", json!({})).await;
    let off = quiet.api.call(Method::PATCH, &path).json(&json!({ "status": "disabled" }));
    off.send().await.expect(200);
    let named = json!({ "endpoint_ids": [endpoint.id] });
    shop.refuses(replay(&named), 409, "endpoint_disabled", json!({})).await;
}

/// A cursor that points behind what is still there.
pub(super) async fn forgotten_history(shop: &mut Shop) {
    let keeper = Merchant::create(&shop.authority, "keeper").await;
    keeper.checkouts(4).await;
    let page = keeper.api.get("/events?limit=1").await.expect(200);
    let cursor = page["next_cursor"].as_str().unwrap();
    shop.authority.forget_events(&keeper.id, 2).await;
    // The position after 1 is followed by 2, which is gone.
    let call = get(&keeper.api, &format!("/events?cursor={cursor}"));
    shop.refuses(call, 410, "cursor_expired", json!({ "oldest_retained_sequence": 3 })).await;
    let oldest = keeper.api.get("/events").await.expect(200);
    assert_eq!(oldest["data"][0]["sequence"], 3);
}
