//! A merchant in business, for requests that must be refused: exactly how, and without any effect.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::authority::{Authority, Database};
use crate::http::{Call, Reply};
use crate::merchant::{Endpoint, Merchant};

/// A merchant with an order in each state that matters, and a disabled endpoint.
#[derive(Debug)]
pub struct Shop {
    /// Where it is.
    pub authority: Authority,
    /// Whose it is.
    pub merchant: Merchant,
    /// A paid order of two shirts, nothing shipped, at version 2.
    pub order: String,
    /// An order whose payment is still pending.
    pub pending: String,
    /// An order that is shipped whole, by `dhl` under `JD01`.
    pub shipped: String,
    /// An endpoint that the merchant has switched off.
    pub disabled: Endpoint,
    events: usize,
    provoked: BTreeSet<String>,
}

impl Shop {
    /// Opens one on an authority with these variables, on this kind of database.
    pub async fn open(database: Database, variables: &[(&str, &str)]) -> Self {
        let (authority, merchant) = Merchant::on_with(database, variables, "shop").await;
        let order = merchant.paid_order().await;
        let payment = merchant.payment(&merchant.checkout().await, "automatic").await;
        let reported = merchant.report(&payment, "pending").await;
        let pending = reported["payment"]["order_number"].as_str().unwrap().to_owned();
        let shipped = merchant.paid_order().await;
        merchant.ship(&shipped, &json!({ "carrier": "dhl", "tracking_number": "JD01" })).await;
        let body = json!({ "url": "http://127.0.0.1:9/", "status": "disabled" });
        let disabled = merchant.endpoint_with(body).await;
        let events = merchant.events().await.len();
        Self { authority, merchant, order, pending, shipped, disabled, events, provoked: BTreeSet::new() }
    }

    /// Sends a request that must be refused with this status and code, and must change nothing. `facts` are members
    /// that the problem must have; its `errors` are given as pairs of pointer and code.
    pub async fn refuses(&mut self, call: Call, status: u16, code: &str, facts: Value) -> Reply {
        let reply = call.send().await;
        reply.refused_with(status, code, &facts);
        assert_eq!(self.merchant.events().await.len(), self.events, "{code} had an effect");
        self.provoked.insert(code.to_owned());
        reply
    }

    /// Something happened that the merchant was told of: the next refusal is compared with what is known now.
    pub async fn heard(&mut self) {
        self.events = self.merchant.events().await.len();
    }

    /// Every code that was seen.
    #[must_use]
    pub fn provoked(&self) -> &BTreeSet<String> {
        &self.provoked
    }
}

/// The path of an order's shipments.
#[must_use]
pub fn shipments(order: &str) -> String {
    format!("/orders/{order}/shipments")
}
