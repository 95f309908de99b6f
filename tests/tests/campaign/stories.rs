//! What happens in a shop, at random: sales that go well and badly, parcels, refunds, cancellations, endpoints.

use http::Method;
use serde_json::json;
use tests::{checkout_body, payment_body, report_body, text};

use crate::client::{Client, Root};

/// Plays one story to its end.
pub(crate) async fn play(client: &mut Client) {
    match client.one_of(&["sale", "sale", "sale", "abandoned", "imported", "subscribed", "hooked"]) {
        "sale" => sale(client).await,
        "abandoned" => abandoned(client).await,
        "imported" => imported(client).await,
        "subscribed" => subscribed(client).await,
        _ => hooked(client).await,
    }
}

/// A checkout, attempts to pay it, and what becomes of the order.
async fn sale(client: &mut Client) {
    let Some(checkout) = client.platform("checkouts", checkout_body()).await else { return };
    let mut number = None;
    for _ in 0..3 {
        let capture = client.one_of(&["automatic", "manual"]);
        let start = payment_body(&checkout, capture, &client.fresh("start"));
        let Some(payment) = client.platform("payments", start).await else { return };
        let ways = [
            &["succeeded"][..],
            &["pending", "succeeded"],
            &["pending", "failed"],
            &["authorized", "succeeded"],
            &["authorized", "cancelled"],
            &["failed"],
        ];
        let way = client.one_of(&["0", "0", "0", "1", "2", "3", "4", "5"]).parse::<usize>().unwrap();
        for status in ways[way] {
            let path = format!("/payments/{}", text(&payment, "id"));
            let body = report_body(status, &client.fresh("report"));
            let Some(reported) = client.report(&path, body).await else { return };
            number = reported["payment"]["order_number"].as_str().map(str::to_owned);
        }
        if number.is_some() {
            break;
        }
    }
    if let Some(number) = number {
        after_sale(client, &number).await;
    }
}

/// Any of the things that merchants, carriers and platforms do with an order; what the state forbids is refused.
async fn after_sale(client: &mut Client, number: &str) {
    let order = format!("/orders/{number}");
    for _ in 0..4 {
        match client.one_of(&["fulfil", "note", "ship", "refund", "cancel", "edit", "stop"]) {
            "fulfil" => {
                let target = client.one_of(&["fulfilled", "unfulfilled", "shipped", "delivered"]);
                let body = json!({ "fulfillment_status": target });
                client.merchant_does(Method::PATCH, &format!("{order}/fulfillment"), body).await;
            }
            "note" => {
                let body = json!({ "note": client.fresh("note") });
                client.merchant_does(Method::PATCH, &format!("{order}/fulfillment"), body).await;
            }
            "ship" => ship(client, &order).await,
            "refund" => refund(client, &order).await,
            "cancel" if client.chance(20) => {
                let path = client.merchant.platform_path(&format!("orders/{number}/cancel"));
                client.write(Root::Operator, Method::POST, &path, json!({ "reason": "fraud" })).await;
            }
            "edit" => {
                let path = client.merchant.platform_path(&format!("orders/{number}"));
                let body = json!({ "metadata": { "edit": client.fresh("edit") } });
                client.write(Root::Operator, Method::PATCH, &path, body).await;
            }
            _ => return,
        }
    }
}

async fn ship(client: &mut Client, order: &str) {
    let parcel = json!({ "carrier": "dhl", "tracking_number": client.fresh("jd") });
    let Some(shipment) = client.merchant_does(Method::POST, &format!("{order}/shipments"), parcel).await
    else {
        return;
    };
    let path = format!("/shipments/{}", text(&shipment, "id"));
    for _ in 0..2 {
        let status = client.one_of(&["in_transit", "exception", "delivered", "returned", "cancelled"]);
        let mut body = json!({ "status": status });
        if status == "exception" {
            body["exception"] = json!({ "code": "held", "message": "Held at customs." });
        }
        if client.report(&path, body).await.is_none() {
            return;
        }
    }
}

async fn refund(client: &mut Client, order: &str) {
    let body = if client.chance(50) { json!({ "amount": 100 }) } else { json!({}) };
    let Some(refund) = client.merchant_does(Method::POST, &format!("{order}/refunds"), body).await else {
        return;
    };
    let path = format!("/refunds/{}", text(&refund, "id"));
    for status in ["processing", client.one_of(&["completed", "completed", "failed"])] {
        let body = report_body(status, &client.fresh("refund"));
        if client.report(&path, body).await.is_none() {
            return;
        }
    }
}

/// A checkout that nobody finishes.
async fn abandoned(client: &mut Client) {
    let Some(checkout) = client.platform("checkouts", checkout_body()).await else { return };
    if client.chance(50) {
        let start = payment_body(&checkout, "automatic", &client.fresh("start"));
        client.platform("payments", start).await;
    }
    let end = client.one_of(&["cancel", "expire"]);
    let path = format!("/checkouts/{}/{end}", text(&checkout, "id"));
    client.write(Root::Operator, Method::POST, &path, json!({})).await;
}

/// An order that was made elsewhere, paid or not.
async fn imported(client: &mut Client) {
    let line =
        json!({ "name": "Book", "quantity": 1, "unit_amount": 1900, "requires_shipping": client.chance(50) });
    let mut body = json!({ "currency": "USD", "line_items": [line], "source": "import" });
    if client.chance(70) {
        body["payments"] = json!([{
            "amount": 1900,
            "status": client.one_of(&["succeeded", "authorized", "pending"]),
            "method": { "type": "card" },
            "processor": { "name": "acme-pay" },
            "processor_event_id": client.fresh("imported"),
        }]);
    }
    let Some(order) = client.platform("orders", body).await else { return };
    let number = text(&order, "order_number");
    if order["status"] == "pending" && client.chance(50) {
        let path = client.merchant.platform_path(&format!("orders/{number}/confirm"));
        client.write(Root::Operator, Method::POST, &path, json!({})).await;
    }
    after_sale(client, &number).await;
}

/// A subscription, its periods and its end.
async fn subscribed(client: &mut Client) {
    let item = json!({ "name": "Coffee", "quantity": 1, "unit_amount": 900 });
    let mut body = json!({
        "customer": { "email": "ada@example.com" },
        "currency": "USD",
        "items": [item],
        "interval": "month",
        "status": client.one_of(&["incomplete", "trialing", "active"]),
    });
    if body["status"] == "trialing" {
        body["trial_end"] = json!("2099-01-01T00:00:00.000Z");
    }
    let Some(subscription) = client.platform("subscriptions", body).await else { return };
    let path = format!("/subscriptions/{}", text(&subscription, "id"));
    for status in ["active", client.one_of(&["past_due", "paused"]), "active", "cancelled"] {
        if client.report(&path, json!({ "status": status })).await.is_none() {
            return;
        }
    }
}

/// An endpoint's life.
async fn hooked(client: &mut Client) {
    let body = json!({ "url": "https://hooks.example.com/", "enabled_events": ["webhook.test"] });
    let Some(endpoint) = client.merchant_does(Method::POST, "/webhook-endpoints", body).await else { return };
    let path = format!("/webhook-endpoints/{}", text(&endpoint, "id"));
    let body = json!({ "description": client.fresh("hook") });
    client.merchant_does(Method::PATCH, &path, body).await;
    client.merchant_does(Method::POST, &format!("{path}/rotate-secret"), json!({})).await;
    client.merchant_does(Method::DELETE, &path, json!({})).await;
}
