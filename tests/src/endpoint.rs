//! A merchant's webhook endpoints, and what it is told of what was sent to them.

use serde_json::{Value, json};

use crate::merchant::{Merchant, text};

/// A webhook endpoint and what its receiver must know.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// `we_…`
    pub id: String,
    /// `whsec_…`
    pub secret: String,
}

impl Endpoint {
    /// Its path on the merchant root, or one below it.
    #[must_use]
    pub fn path(&self, below: &str) -> String {
        format!("/webhook-endpoints/{}{below}", self.id)
    }
}

impl Merchant {
    /// Makes an endpoint for these events.
    pub async fn endpoint(&self, url: &str, enabled_events: &[&str]) -> Endpoint {
        self.endpoint_with(json!({ "url": url, "enabled_events": enabled_events })).await
    }

    /// An endpoint made of this body.
    pub async fn endpoint_with(&self, body: Value) -> Endpoint {
        let made = self.api.post("/webhook-endpoints", &body).await.expect(201);
        Endpoint { id: text(&made, "id"), secret: text(&made, "secret") }
    }

    /// The endpoint as it is now.
    pub async fn endpoint_now(&self, endpoint: &Endpoint) -> Value {
        self.api.get(&endpoint.path("")).await.expect(200)
    }

    /// Changes members of an endpoint; returns it as it is then.
    pub async fn change(&self, endpoint: &Endpoint, members: &Value) -> Value {
        self.api.patch(&endpoint.path(""), members).await.expect(200)
    }

    /// Has an endpoint sent a test event.
    pub async fn test(&self, endpoint: &Endpoint) -> Value {
        self.api.post(&endpoint.path("/test"), &json!({})).await.expect(202)
    }

    /// What the merchant is told of its integration.
    pub async fn health(&self) -> Value {
        self.api.get("/integration-health").await.expect(200)
    }

    /// The open alerts with this code.
    pub async fn alerts(&self, code: &str) -> Vec<Value> {
        let health = self.health().await;
        let alerts = health["alerts"].as_array().unwrap().iter();
        alerts.filter(|alert| alert["code"] == code).cloned().collect()
    }

    /// Every delivery to an endpoint, the newest first, without attempts.
    pub async fn deliveries(&self, endpoint: &Endpoint) -> Vec<Value> {
        self.api.list(&endpoint.path("/deliveries?limit=100")).await
    }

    /// Status, reason and number of attempts of every delivery to an endpoint, the newest first, such as
    /// `failed attempts_exhausted 3`.
    pub async fn fates(&self, endpoint: &Endpoint) -> Vec<String> {
        let fate = |row: &Value| {
            let reason = row["failure_reason"].as_str().unwrap_or("null");
            format!("{} {reason} {}", text(row, "status"), row["attempt_count"])
        };
        self.deliveries(endpoint).await.iter().map(fate).collect()
    }

    /// A delivery with its attempts.
    pub async fn delivery(&self, id: &str) -> Value {
        self.api.get(&format!("/deliveries/{id}")).await.expect(200)
    }
}
