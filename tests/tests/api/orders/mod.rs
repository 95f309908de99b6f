//! The operator's side of orders and checkouts, through HTTP: what happens, which events say so, and what is refused
//! (contract 3.1, 3.4, 3.9 rows 5 to 8, 7a and 21, 6.2). On both databases.

mod alerts;
mod changes;
mod checkouts;
mod ingest;
mod lists;
mod payments;

use http::Method;
use serde_json::{Value, json};
use tests::{Authority, Call, Database, Merchant, Reply, checkout_body};

/// A merchant of an authority of its own.
struct Shop {
    authority: Authority,
    merchant: Merchant,
    known: usize,
}

impl Shop {
    async fn open(database: Database) -> Self {
        Self::with_settings(database, json!({})).await
    }

    async fn with_settings(database: Database, settings: Value) -> Self {
        let authority = Authority::on(database, &[]).await;
        let merchant = Merchant::with_settings(&authority, "shop", settings).await;
        Self { authority, merchant, known: 0 }
    }

    fn call(&self, method: Method, path: &str) -> Call {
        self.merchant.operator.call(method, path)
    }

    fn post(&self, path: &str, body: &Value) -> Call {
        self.call(Method::POST, path).json(body)
    }

    /// `orders` of this merchant, or what is below.
    fn orders(&self, below: &str) -> String {
        self.merchant.platform_path(&format!("orders{below}"))
    }

    /// Takes in two shirts and shipping, 53.00 USD, with these members on top.
    async fn take_in(&self, more: Value) -> Value {
        self.post(&self.orders(""), &order_body(more)).send().await.expect(201)
    }

    /// The events since the last time, as `type version`.
    async fn new_events(&mut self) -> Vec<String> {
        let new = self.merchant.events_after(self.known).await;
        self.known += new.len();
        new.iter().map(|event| format!("{} {}", event.event_type, event.version.unwrap())).collect()
    }

    /// Sends what must be refused and must tell nothing.
    async fn refuses(&mut self, call: Call, status: u16, code: &str, facts: Value) -> Reply {
        let reply = call.send().await;
        reply.refused_with(status, code, &facts);
        assert_eq!(self.new_events().await, [""; 0], "{code} had an effect");
        reply
    }
}

/// Two shirts and shipping, 53.00 USD, with these members on top.
fn order_body(more: Value) -> Value {
    let mut body = checkout_body();
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

/// A payment that an order brings along.
fn made(amount: i64, status: &str, event: &str) -> Value {
    json!({
        "amount": amount,
        "status": status,
        "method": { "type": "cash" },
        "processor": { "name": "till" },
        "processor_event_id": event,
    })
}

/// A payment of an order.
fn attempt(order: &str, amount: i64, event: &str) -> Value {
    json!({
        "order_number": order,
        "amount": amount,
        "currency": "USD",
        "method": { "type": "bank_transfer" },
        "processor": { "name": "acme-pay" },
        "processor_event_id": event,
    })
}

fn state(record: &Value) -> (&str, &str) {
    (record["status"].as_str().unwrap(), record["payment_status"].as_str().unwrap())
}

fn transition(current: &str, requested: &str) -> Value {
    json!({ "current_status": current, "requested_status": requested })
}
