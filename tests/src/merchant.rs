//! A merchant with a key for everything, and the platform's side of its business.
//!
//! What the platform reports (checkouts, payments) goes to the operator root; what the merchant does goes to
//! [`Merchant::api`]. Bodies are the smallest that are accepted; a test gives what it is about.

use serde_json::{Value, json};

use crate::authority::{Authority, Database};
pub use crate::endpoint::Endpoint;
use crate::http::Api;
use crate::service::InProcess;
use crate::shop::shipments;

/// Every scope there is (contract 5.3).
pub const SCOPES: [&str; 13] = [
    "orders:read",
    "orders:write",
    "shipments:write",
    "payments:read",
    "refunds:read",
    "refunds:write",
    "subscriptions:read",
    "events:read",
    "webhooks:manage",
    "sync:read",
    "sync:write",
    "partners:read",
    "partners:write",
];

/// A running service, by its roots: a process of its own or one inside the test.
pub trait ServiceUrls {
    /// The operator root.
    fn operator(&self) -> Api;
    /// The merchant root, asked with `key`.
    fn merchant(&self, key: &str) -> Api;
}

/// Where an authority's operator signs in.
pub trait ConsoleUrls: ServiceUrls {
    /// The operator's listener, asked without a key.
    fn operator_listener(&self) -> Api;
    /// An operator key with every scope.
    fn operators_key(&self) -> &str;
}

/// A merchant and its test-mode key.
#[derive(Clone, Debug)]
pub struct Merchant {
    /// `mer_…`
    pub id: String,
    /// The key that [`Merchant::api`] uses.
    pub key: String,
    /// The merchant root, in test mode, with every scope.
    pub api: Api,
    /// The operator root.
    pub operator: Api,
}

/// What one event says where it stands in its stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventPosition {
    /// Its position.
    pub sequence: u64,
    /// Its name.
    pub event_type: String,
    /// The record's version; `None` when the event has none.
    pub version: Option<u64>,
}

impl Merchant {
    /// Starts a service on an empty database of this kind, and makes one.
    pub async fn on(database: Database, slug: &str) -> (Authority, Self) {
        Self::on_with(database, &[], slug).await
    }

    /// The same where the service has these variables.
    pub async fn on_with(database: Database, variables: &[(&str, &str)], slug: &str) -> (Authority, Self) {
        let authority = Authority::on(database, variables).await;
        let merchant = Self::create(&authority, slug).await;
        (authority, merchant)
    }

    /// As [`Merchant::on`] SQLite.
    pub async fn alone(slug: &str) -> (Authority, Self) {
        Self::on(Database::Sqlite, slug).await
    }

    /// The same where the service has these variables, as for [`Authority::start`].
    pub async fn alone_with(variables: &[(&str, &str)], slug: &str) -> (Authority, Self) {
        let authority = Authority::start(variables).await;
        let merchant = Self::create(&authority, slug).await;
        (authority, merchant)
    }

    /// Starts a service inside the test, with a clock that stands, and makes one.
    pub async fn inside(database: Database, variables: &[(&str, &str)], slug: &str) -> (InProcess, Self) {
        let service = InProcess::start(database, variables).await;
        let merchant = Self::create(&service, slug).await;
        (service, merchant)
    }

    /// Makes one, with a key.
    pub async fn create(authority: &impl ServiceUrls, slug: &str) -> Self {
        Self::with_settings(authority, slug, json!({})).await
    }

    /// Makes one with these settings.
    pub async fn with_settings(authority: &impl ServiceUrls, slug: &str, settings: Value) -> Self {
        let operator = authority.operator();
        let body = json!({ "slug": slug, "name": slug, "default_currency": "USD", "settings": settings });
        let made = operator.post("/merchants", &body).await.expect(201);
        let id = text(&made, "id");
        let key = issue(&operator, &id, "test", &SCOPES).await;
        Self { id, api: authority.merchant(&key), key, operator }
    }

    /// The same merchant where the service answers now.
    #[must_use]
    pub fn at(&self, authority: &impl ServiceUrls) -> Self {
        Self { api: authority.merchant(&self.key), operator: authority.operator(), ..self.clone() }
    }

    /// Issues another key of the merchant.
    pub async fn issue_key(&self, mode: &str, scopes: &[&str]) -> String {
        issue(&self.operator, &self.id, mode, scopes).await
    }

    /// The path on the operator root under which the platform writes this merchant's test data.
    #[must_use]
    pub fn platform_path(&self, collection: &str) -> String {
        format!("/merchants/{}/test/{collection}", self.id)
    }

    /// Opens a checkout of two shirts and shipping, 53.00 USD.
    pub async fn checkout(&self) -> Value {
        self.operator.post(&self.platform_path("checkouts"), &checkout_body()).await.expect(201)
    }

    /// Opens so many checkouts, one after the other.
    pub async fn checkouts(&self, count: usize) {
        for _ in 0..count {
            self.checkout().await;
        }
    }

    /// Starts a payment of the whole checkout.
    pub async fn payment(&self, checkout: &Value, capture_method: &str) -> Value {
        let body = payment_body(checkout, capture_method, &format!("start:{}", text(checkout, "id")));
        self.operator.post(&self.platform_path("payments"), &body).await.expect(201)
    }

    /// Reports `status` on a payment; returns what the report did.
    pub async fn report(&self, payment: &Value, status: &str) -> Value {
        let body = report_body(status, &format!("{status}:{}", text(payment, "id")));
        self.operator.post(&format!("/payments/{}/reports", text(payment, "id")), &body).await.expect(200)
    }

    /// One paid order, from the checkout on; returns its number.
    pub async fn paid_order(&self) -> String {
        self.pay(&self.checkout().await).await
    }

    /// So many paid orders, one after the other.
    pub async fn paid_orders(&self, count: usize) {
        for _ in 0..count {
            self.paid_order().await;
        }
    }

    /// One paid order of this total in cents.
    pub async fn paid_order_of(&self, total: i64) -> String {
        let line = json!({ "name": "T-shirt", "quantity": 1, "unit_amount": total });
        let body = json!({ "currency": "USD", "line_items": [line] });
        self.pay(&self.operator.post(&self.platform_path("checkouts"), &body).await.expect(201)).await
    }

    /// Pays a checkout; the number of its order.
    async fn pay(&self, checkout: &Value) -> String {
        let payment = self.payment(checkout, "automatic").await;
        text(&self.report(&payment, "succeeded").await["payment"], "order_number")
    }

    /// A monthly subscription that is active.
    pub async fn subscription(&self) -> Value {
        let item = json!({ "name": "Coffee", "quantity": 1, "unit_amount": 900 });
        let body = json!({
            "customer": { "email": "ada@example.com" },
            "currency": "USD",
            "items": [item],
            "interval": "month",
            "status": "active",
        });
        self.operator.post(&self.platform_path("subscriptions"), &body).await.expect(201)
    }

    /// Changes an order without reaching a milestone: another note, the next version.
    pub async fn note(&self, number: &str, note: &str) -> Value {
        let path = format!("/orders/{number}/fulfillment");
        self.api.patch(&path, &json!({ "note": note })).await.expect(200)
    }

    /// Asks for a refund of an order.
    pub async fn refund(&self, number: &str, body: &Value) -> Value {
        self.api.post(&format!("/orders/{number}/refunds"), body).await.expect(201)
    }

    /// Ships what is not shipped yet of an order, or what the body says.
    pub async fn ship(&self, number: &str, body: &Value) -> Value {
        self.api.post(&shipments(number), body).await.expect(201)
    }

    /// The order as it is now.
    pub async fn order(&self, number: &str) -> Value {
        self.api.get(&format!("/orders/{number}")).await.expect(200)
    }

    /// Every event of the stream, by the catch-up loop of the brief.
    pub async fn events(&self) -> Vec<Value> {
        self.api.list("/events").await
    }

    /// The types of the events behind the first `known`.
    pub async fn types_after(&self, known: usize) -> Vec<String> {
        self.events_after(known).await.into_iter().map(|told| told.event_type).collect()
    }

    /// The events behind the first `known`, in short.
    pub async fn events_after(&self, known: usize) -> Vec<EventPosition> {
        self.events().await.split_off(known).iter().map(position_of).collect()
    }
}

/// An event in short.
#[must_use]
pub fn position_of(event: &Value) -> EventPosition {
    EventPosition {
        sequence: event["sequence"].as_u64().unwrap(),
        event_type: text(event, "type"),
        version: event["resource_version"].as_u64(),
    }
}

/// Two shirts and shipping, 53.00 USD.
#[must_use]
pub fn checkout_body() -> Value {
    let line = json!({ "name": "T-shirt", "sku": "TSHIRT-M", "quantity": 2, "unit_amount": 2400 });
    json!({ "currency": "USD", "line_items": [line], "shipping": 500 })
}

/// A card payment of the whole checkout.
#[must_use]
pub fn payment_body(checkout: &Value, capture_method: &str, processor_event_id: &str) -> Value {
    json!({
        "checkout_id": checkout["id"],
        "amount": checkout["amounts"]["total"],
        "currency": checkout["currency"],
        "capture_method": capture_method,
        "method": { "type": "card", "brand": "visa", "last4": "4242" },
        "processor": { "name": "acme-pay" },
        "processor_event_id": processor_event_id,
    })
}

/// A processor's report of a status and nothing else.
#[must_use]
pub fn report_body(status: &str, processor_event_id: &str) -> Value {
    json!({ "status": status, "processor_event_id": processor_event_id })
}

/// A member that is a string.
#[must_use]
pub fn text(record: &Value, member: &str) -> String {
    record[member].as_str().unwrap_or_else(|| panic!("no {member}: {record}")).to_owned()
}

async fn issue(operator: &Api, merchant: &str, mode: &str, scopes: &[&str]) -> String {
    let body = json!({ "name": "tests", "mode": mode, "scopes": scopes });
    let path = format!("/merchants/{merchant}/api-keys");
    text(&operator.post(&path, &body).await.expect(201), "key")
}
