//! The shortest legal path to an event of every type (contract 3.9).
//!
//! Every path begins with a checkout, a subscription or an endpoint of its own, so that existing records stay
//! untouched. A payment attempt that stays `pending` creates an order, whatever the merchant's settings are.

use http::Method;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use verify_core::catalog::EventType;

use super::calls::Calls;
use super::changes::{Changes, Unchangeable};
use crate::dev::client::CallError;

/// Why the event could not be produced.
#[derive(Debug, thiserror::Error)]
pub(in crate::cli) enum Unproduced {
    /// A call failed or got an unexpected answer.
    #[error(transparent)]
    Call(#[from] CallError),
    /// There is no enabled endpoint to send a test event to.
    #[error("webhook.test: there is no enabled webhook endpoint; make one first")]
    NoEndpoint,
    /// A change does not fit the body of a call.
    #[error(transparent)]
    Change(#[from] Unchangeable),
    /// Every step succeeded, but the event is not in the history.
    #[error("{0}: the event is not in the history")]
    Missing(&'static str),
}

/// One event to be, with the calls that make it.
pub(super) struct Stage<'c> {
    calls: &'c Calls,
    /// What the caller wants otherwise in the bodies of the writes.
    changes: Changes,
}

#[derive(Deserialize)]
struct CreatedRecord {
    id: String,
}

#[derive(Deserialize)]
struct Paid {
    id: String,
    #[serde(default)]
    order_number: Option<String>,
}

#[derive(Deserialize)]
struct Page<T> {
    data: Vec<T>,
}

#[derive(Deserialize)]
struct Tested {
    event_id: String,
}

/// One shirt, 24.00.
fn basket() -> Value {
    let line = json!({ "sku": "TSHIRT-M", "name": "T-shirt", "quantity": 1, "unit_amount": 2_400 });
    json!({ "currency": "USD", "line_items": [line] })
}

impl<'c> Stage<'c> {
    pub(super) fn new(calls: &'c Calls, changes: Changes) -> Self {
        Self { calls, changes }
    }

    /// Produces the event and returns its id.
    pub(super) async fn produce(&self, event: EventType) -> Result<String, Unproduced> {
        if event == EventType::WebhookTest {
            return self.test().await;
        }
        let subject = match event.category() {
            "checkout" => self.checkout(event).await?,
            "payment" => self.payment(event).await?,
            "refund" => self.refund(event).await?,
            "shipment" => self.shipment(event).await?,
            "subscription" => self.subscription(event).await?,
            _ => self.order(event).await?,
        };
        let path = format!("/events?type={}&resource={subject}&limit=100", event.as_str());
        let mut found: Page<CreatedRecord> = self.calls.read(&path).await?;
        found.data.pop().map(|event| event.id).ok_or(Unproduced::Missing(event.as_str()))
    }

    async fn test(&self) -> Result<String, Unproduced> {
        let mut found: Page<CreatedRecord> =
            self.calls.read("/webhook-endpoints?status=enabled&limit=1").await?;
        let endpoint = found.data.pop().ok_or(Unproduced::NoEndpoint)?;
        let path = format!("/webhook-endpoints/{}/test", endpoint.id);
        let tested: Tested = self.calls.write(&path, &json!({})).await?;
        Ok(tested.event_id)
    }

    async fn checkout(&self, event: EventType) -> Result<String, Unproduced> {
        let checkout = self.open().await?;
        let path = |verb: &str| format!("/checkouts/{}/{verb}", checkout.id);
        match event {
            EventType::CheckoutCompleted => self.play(&path("pay"), self.payment_body("succeeded")?).await?,
            EventType::CheckoutPaymentFailed => self.play(&path("pay"), self.payment_body("failed")?).await?,
            EventType::CheckoutExpired => self.play(&path("expire"), json!({})).await?,
            EventType::CheckoutCancelled => self.play(&path("cancel"), json!({})).await?,
            _ => {}
        }
        Ok(checkout.id)
    }

    async fn payment(&self, event: EventType) -> Result<String, Unproduced> {
        let outcome = match event {
            EventType::PaymentPending | EventType::PaymentCancelled => "pending",
            EventType::PaymentAuthorized => "authorized",
            EventType::PaymentFailed => "failed",
            _ => "succeeded",
        };
        let payment = self.pay(outcome).await?;
        match event {
            EventType::PaymentCancelled => self.advance("payments", &payment.id, "cancelled").await?,
            EventType::PaymentRefunded => {
                self.refunded(&payment, &json!({}), &["completed"]).await?;
            }
            EventType::PaymentPartiallyRefunded => {
                self.refunded(&payment, &json!({ "amount": 100 }), &["completed"]).await?;
            }
            _ => {}
        }
        Ok(payment.id)
    }

    async fn refund(&self, event: EventType) -> Result<String, Unproduced> {
        let steps: &[&str] = match event {
            EventType::RefundProcessing => &["processing"],
            EventType::RefundCompleted => &["completed"],
            EventType::RefundFailed => &["failed"],
            _ => &[],
        };
        let payment = self.pay("succeeded").await?;
        self.refunded(&payment, &json!({ "amount": 100 }), steps).await
    }

    async fn shipment(&self, event: EventType) -> Result<String, Unproduced> {
        let number = order_of(self.pay("succeeded").await?, event)?;
        let path = format!("/orders/{number}/shipments");
        let body = self.changes.applied("shipment", json!({ "carrier": "sandbox" }))?;
        let parcel: CreatedRecord = self.calls.write(&path, &body).await?;
        match event {
            EventType::ShipmentUpdated => self.advance("shipments", &parcel.id, "in_transit").await?,
            EventType::ShipmentDelivered => self.advance("shipments", &parcel.id, "delivered").await?,
            _ => {}
        }
        Ok(parcel.id)
    }

    async fn order(&self, event: EventType) -> Result<String, Unproduced> {
        let outcome = match event {
            EventType::OrderUpdated | EventType::OrderCancelled => "pending",
            _ => "succeeded",
        };
        let payment = self.pay(outcome).await?;
        let id = payment.id.clone();
        let number = order_of(payment, event)?;
        match event {
            EventType::OrderUpdated => self.advance("payments", &id, "failed").await?,
            EventType::OrderCancelled => self.play(&format!("/orders/{number}/cancel"), json!({})).await?,
            EventType::OrderFulfilled => self.fulfil(&number, "fulfilled").await?,
            EventType::OrderShipped => self.fulfil(&number, "shipped").await?,
            EventType::OrderDelivered => self.fulfil(&number, "delivered").await?,
            EventType::OrderShared => {
                self.share(&number).await?;
            }
            EventType::OrderShareRevoked => {
                let share = self.share(&number).await?;
                let path = format!("/order-shares/{}/revoke", share.id);
                let _: IgnoredAny = self.calls.write(&path, &json!({})).await?;
            }
            _ => {}
        }
        Ok(number)
    }

    async fn subscription(&self, event: EventType) -> Result<String, Unproduced> {
        let item = json!({ "name": "Coffee", "quantity": 1, "unit_amount": 1_500 });
        let body = json!({ "currency": "USD", "interval": "month", "items": [item],
                           "customer": { "reference": "c-100", "name": "Ada Byron" } });
        let body = self.changes.applied("subscription", body)?;
        let subscription: CreatedRecord = self.calls.play("/subscriptions", &body).await?;
        match event {
            EventType::SubscriptionUpdated => {
                self.advance("subscriptions", &subscription.id, "past_due").await?;
            }
            EventType::SubscriptionCancelled => {
                self.advance("subscriptions", &subscription.id, "cancelled").await?;
            }
            _ => {}
        }
        Ok(subscription.id)
    }

    /// Opens a checkout and pays it.
    async fn pay(&self, outcome: &str) -> Result<Paid, Unproduced> {
        let checkout = self.open().await?;
        Ok(self.calls.play(&format!("/checkouts/{}/pay", checkout.id), &self.payment_body(outcome)?).await?)
    }

    async fn open(&self) -> Result<CreatedRecord, Unproduced> {
        Ok(self.calls.play("/checkouts", &self.changes.applied("checkout", basket())?).await?)
    }

    fn payment_body(&self, outcome: &str) -> Result<Value, Unproduced> {
        Ok(self.changes.applied("payment", json!({ "outcome": outcome }))?)
    }

    /// Requests a refund of a payment and advances it. Returns the refund's id.
    async fn refunded(&self, payment: &Paid, body: &Value, steps: &[&str]) -> Result<String, Unproduced> {
        let number = payment.order_number.as_deref().unwrap_or_default();
        let body = self.changes.applied("refund", body.clone())?;
        let refund: CreatedRecord = self.calls.write(&format!("/orders/{number}/refunds"), &body).await?;
        for step in steps {
            self.advance("refunds", &refund.id, step).await?;
        }
        Ok(refund.id)
    }

    /// Shares an order with the counterpart merchant that the sandbox creates.
    async fn share(&self, number: &str) -> Result<CreatedRecord, Unproduced> {
        Ok(self.calls.play(&format!("/orders/{number}/share"), &json!({})).await?)
    }

    async fn fulfil(&self, number: &str, target: &str) -> Result<(), Unproduced> {
        let path = format!("/orders/{number}/fulfillment");
        let body = json!({ "fulfillment_status": target });
        self.calls.send(&Method::PATCH, &format!("/v1/merchant{path}"), &body).await?;
        Ok(())
    }

    async fn advance(&self, collection: &str, id: &str, to: &str) -> Result<(), Unproduced> {
        self.play(&format!("/{collection}/{id}/advance"), json!({ "to": to })).await
    }

    /// Sends a write to the sandbox whose answer says nothing new.
    async fn play(&self, path: &str, body: Value) -> Result<(), Unproduced> {
        let _: IgnoredAny = self.calls.play(path, &body).await?;
        Ok(())
    }
}

fn order_of(payment: Paid, event: EventType) -> Result<String, Unproduced> {
    payment.order_number.ok_or(Unproduced::Missing(event.as_str()))
}
