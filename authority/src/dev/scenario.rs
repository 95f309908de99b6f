//! One order from checkout to a partial refund: contract 3.9 rows 1, 2, 10, 13, 14, 15 and 16, then an endpoint test
//! (row 22).
//!
//! The platform opens a checkout and reports its payment. The merchant reads the order and ships it on the condition
//! that its version is still the one it has read. The platform reports what the carrier says: the parcel is delivered.
//! The merchant refunds one of the two shirts, the platform reports the refund's way, and the merchant tests its
//! endpoint. This produces 17 events.

use http::header::ETAG;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::client::{Api, CallError};
use super::demo::Demo;

/// The price of one shirt, in cents.
const SHIRT: u32 = 2_400;

/// The price of two shirts with shipping, in cents.
const TOTAL: u32 = 2 * SHIRT + 500;

/// Runs the scenario; returns the order's number.
///
/// # Errors
/// [`CallError`] of the first call that failed.
pub(crate) async fn play(demo: &Demo) -> Result<String, CallError> {
    let order_number = pay(&demo.operator, &demo.merchant_id).await?;
    let shipment_id = ship(&demo.merchant, &order_number).await?;
    deliver(&demo.operator, &shipment_id).await?;
    let refund_id = ask_for_refund(&demo.merchant, &order_number).await?;
    refund(&demo.operator, &refund_id).await?;
    let test = json!({ "message": "Hello from authority dev" });
    let _: IgnoredAny =
        demo.merchant.post(&format!("/webhook-endpoints/{}/test", demo.endpoint.id), &test, &[]).await?;
    Ok(order_number)
}

/// The steps of the platform.
async fn pay(operator: &Api, merchant_id: &str) -> Result<String, CallError> {
    let checkout = json!({
        "currency": "USD",
        "line_items": [{ "sku": "TSHIRT-M", "name": "T-shirt", "quantity": 2, "unit_amount": SHIRT }],
        "shipping": 500,
        "customer": { "reference": "c-77", "email": "ada@example.com", "name": "Ada" },
    });
    let path = format!("/merchants/{merchant_id}/test");
    let checkout = operator.post_for(&format!("{path}/checkouts"), &checkout, &[], "/id").await?;
    // A processor's event ids must stay unique for ever, so they contain the checkout's id.
    let payment = json!({
        "checkout_id": checkout,
        "amount": TOTAL,
        "currency": "USD",
        "method": { "type": "card", "brand": "visa", "last4": "4242" },
        "processor": { "name": "dev" },
        "processor_event_id": format!("{checkout}-created"),
    });
    let payment = operator.post_for(&format!("{path}/payments"), &payment, &[], "/id").await?;
    let report = json!({ "status": "succeeded", "processor_event_id": format!("{checkout}-succeeded") });
    operator.post_for(&format!("/payments/{payment}/reports"), &report, &[], "/payment/order_number").await
}

/// The merchant ships everything. Returns the shipment's id.
async fn ship(merchant: &Api, order_number: &str) -> Result<String, CallError> {
    let shipment = json!({ "carrier": "dhl", "tracking_number": format!("DEV-{order_number}") });
    add_to_order(merchant, order_number, "shipments", &shipment).await
}

/// The platform reports the carrier's event.
async fn deliver(operator: &Api, shipment_id: &str) -> Result<(), CallError> {
    let path = format!("/shipments/{shipment_id}/reports");
    let _: IgnoredAny = operator.post(&path, &json!({ "status": "delivered" }), &[]).await?;
    Ok(())
}

/// The merchant asks for the price of one shirt to be paid back. Returns the refund's id.
async fn ask_for_refund(merchant: &Api, order_number: &str) -> Result<String, CallError> {
    let refund = json!({ "amount": SHIRT, "note": "One of two arrived broken." });
    add_to_order(merchant, order_number, "refunds", &refund).await
}

/// The platform reports the processor's events: a refund that is requested is not yet paid.
async fn refund(operator: &Api, refund_id: &str) -> Result<(), CallError> {
    for status in ["processing", "completed"] {
        let report = json!({ "status": status, "processor_event_id": format!("{refund_id}-{status}") });
        let _: IgnoredAny = operator.post(&format!("/refunds/{refund_id}/reports"), &report, &[]).await?;
    }
    Ok(())
}

/// Adds a record to the order: only if the order is still as it was read, and only once whatever is retried. Returns
/// the record's id.
async fn add_to_order(
    merchant: &Api,
    order_number: &str,
    records: &str,
    body: &Value,
) -> Result<String, CallError> {
    let path = format!("/orders/{order_number}");
    let order = merchant.get(&path).await?;
    let version = order.headers.get(ETAG).and_then(|tag| tag.to_str().ok());
    let version = version.ok_or_else(|| CallError::Unexpected { call: format!("GET {path}") })?;
    let idempotency_key = format!("{records}:{order_number}");
    let headers = [("If-Match", version), ("Idempotency-Key", idempotency_key.as_str())];
    merchant.post_for(&format!("{path}/{records}"), body, &headers, "/id").await
}
