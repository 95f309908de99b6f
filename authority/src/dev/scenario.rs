//! One order from checkout to shipment: contract 3.9 rows 1, 2 and 10, then an endpoint test (row 22).
//!
//! The platform opens a checkout and reports its payment. The merchant reads the order, ships it on the condition that
//! its version is still the one it has read, and tests its endpoint. This produces nine events.

use http::header::ETAG;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;

use super::client::{Api, CallError};
use super::demo::Demo;

/// The price of two shirts with shipping, in cents.
const TOTAL: u32 = 2 * 2_400 + 500;

#[derive(Deserialize)]
struct CreatedRecord {
    id: String,
}

#[derive(Deserialize)]
struct ReportedRecord {
    payment: ReportedPayment,
}

#[derive(Deserialize)]
struct ReportedPayment {
    order_number: String,
}

/// Runs the scenario; returns the order's number.
///
/// # Errors
/// [`CallError`] of the first call that failed.
pub(crate) async fn play(demo: &Demo) -> Result<String, CallError> {
    let order_number = pay(&demo.operator, &demo.merchant_id).await?;
    ship(&demo.merchant, &order_number).await?;
    let test = json!({ "message": "Hello from authority dev" });
    let _: IgnoredAny =
        demo.merchant.post(&format!("/webhook-endpoints/{}/test", demo.endpoint.id), &test, &[]).await?;
    Ok(order_number)
}

/// The steps of the platform.
async fn pay(operator: &Api, merchant_id: &str) -> Result<String, CallError> {
    let checkout = json!({
        "currency": "USD",
        "line_items": [{ "sku": "TSHIRT-M", "name": "T-shirt", "quantity": 2, "unit_amount": 2_400 }],
        "shipping": 500,
        "customer": { "reference": "c-77", "email": "ada@example.com", "name": "Ada" },
    });
    let checkout: CreatedRecord =
        operator.post(&format!("/merchants/{merchant_id}/test/checkouts"), &checkout, &[]).await?;
    // A processor's event ids must stay unique for ever, so they contain the checkout's id.
    let payment = json!({
        "checkout_id": checkout.id,
        "amount": TOTAL,
        "currency": "USD",
        "method": { "type": "card", "brand": "visa", "last4": "4242" },
        "processor": { "name": "dev" },
        "processor_event_id": format!("{}-created", checkout.id),
    });
    let payment: CreatedRecord =
        operator.post(&format!("/merchants/{merchant_id}/test/payments"), &payment, &[]).await?;
    let report = json!({ "status": "succeeded", "processor_event_id": format!("{}-succeeded", checkout.id) });
    let reported: ReportedRecord =
        operator.post(&format!("/payments/{}/reports", payment.id), &report, &[]).await?;
    Ok(reported.payment.order_number)
}

/// The steps of the merchant: only the version that was read is changed, and a retry ships nothing twice.
async fn ship(merchant: &Api, order_number: &str) -> Result<(), CallError> {
    let path = format!("/orders/{order_number}");
    let order = merchant.get(&path).await?;
    let version = order.headers.get(ETAG).and_then(|tag| tag.to_str().ok());
    let version = version.ok_or_else(|| CallError::Unexpected { call: format!("GET {path}") })?;
    let idempotency_key = format!("ship:{order_number}");
    let shipment = json!({ "carrier": "dhl", "tracking_number": format!("DEV-{order_number}") });
    let _: IgnoredAny = merchant
        .post(
            &format!("{path}/shipments"),
            &shipment,
            &[("If-Match", version), ("Idempotency-Key", &idempotency_key)],
        )
        .await?;
    Ok(())
}
