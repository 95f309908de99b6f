//! A2: every operation with a key that lacks only its scope is refused with the scopes it needs; with a key that has
//! only its scope it works (contract 4.1, 5.3).

use http::Method;
use serde_json::{Value, json};
use tests::{Api, Database, Endpoint, Merchant, Reply, SCOPES, on_every_database, partners, text};

on_every_database!(a02_each_operation_needs_its_scope_and_nothing_else);

/// An operation: method, path, scopes of which any one suffices, body, status of success.
type Operation = (Method, &'static str, &'static [&'static str], Value, u16);

/// The rows of contract 4.1. `{…}` are the records of [`Stock`].
fn operations() -> Vec<Operation> {
    let read = |path: &'static str, scopes: &'static [&'static str]| -> Operation {
        (Method::GET, path, scopes, Value::Null, 200)
    };
    vec![
        read("/orders", &["orders:read"]),
        read("/orders/{order}", &["orders:read"]),
        (
            Method::PATCH,
            "/orders/{unshipped}/fulfillment",
            &["orders:write"],
            json!({ "fulfillment_status": "fulfilled" }),
            200,
        ),
        (
            Method::POST,
            "/orders/{unshipped}/shipments",
            &["shipments:write"],
            json!({ "carrier": "dhl" }),
            201,
        ),
        read("/orders/{order}/shipments", &["orders:read"]),
        read("/shipments/{shipment}", &["orders:read"]),
        read("/payments", &["payments:read"]),
        read("/payments/{payment}", &["payments:read"]),
        read("/refunds", &["refunds:read"]),
        read("/refunds/{refund}", &["refunds:read"]),
        (Method::POST, "/orders/{order}/refunds", &["refunds:write"], json!({ "amount": 1 }), 201),
        read("/subscriptions", &["subscriptions:read"]),
        read("/subscriptions/{subscription}", &["subscriptions:read"]),
        read("/events", &["events:read"]),
        read("/events/{event}", &["events:read"]),
        (Method::POST, "/events/{event}/replay", &["webhooks:manage"], json!({}), 202),
        read("/webhook-endpoints", &["webhooks:manage"]),
        (
            Method::POST,
            "/webhook-endpoints",
            &["webhooks:manage"],
            json!({ "url": "https://hooks.example.com/" }),
            201,
        ),
        read("/webhook-endpoints/{endpoint}", &["webhooks:manage"]),
        (
            Method::PATCH,
            "/webhook-endpoints/{endpoint}",
            &["webhooks:manage"],
            json!({ "description": "new" }),
            200,
        ),
        (Method::POST, "/webhook-endpoints/{endpoint}/test", &["webhooks:manage"], json!({}), 202),
        (Method::POST, "/webhook-endpoints/{endpoint}/rotate-secret", &["webhooks:manage"], json!({}), 200),
        (Method::POST, "/webhook-endpoints/{endpoint}/retire-secret", &["webhooks:manage"], json!({}), 200),
        read("/webhook-endpoints/{endpoint}/deliveries", &["webhooks:manage"]),
        read("/webhook-endpoints/{endpoint}/undelivered", &["webhooks:manage"]),
        (
            Method::POST,
            "/webhook-endpoints/{endpoint}/recover",
            &["webhooks:manage"],
            json!({ "since": "2026-09-01T12:00:00Z", "dry_run": true }),
            200,
        ),
        read("/endpoint-recoveries/{recovery}", &["webhooks:manage"]),
        (Method::POST, "/endpoint-recoveries/{recovery}/cancel", &["webhooks:manage"], json!({}), 409),
        read("/deliveries/{delivery}", &["webhooks:manage"]),
        (Method::POST, "/deliveries/{delivery}/retry", &["webhooks:manage"], json!({}), 202),
        (Method::DELETE, "/webhook-endpoints/{spare}", &["webhooks:manage"], Value::Null, 200),
        read("/integration-health", &["webhooks:manage", "events:read"]),
        read("/sync/orders", &["sync:read"]),
        read("/sync/checkpoints", &["sync:read"]),
        (
            Method::POST,
            "/sync/checkpoints",
            &["sync:write"],
            json!({ "name": "projection", "cursor": "{cursor}" }),
            200,
        ),
        (
            Method::PUT,
            "/orders/{order}/external-references/erp",
            &["sync:write", "orders:write"],
            json!({ "id": "SO-1" }),
            200,
        ),
        (
            Method::DELETE,
            "/orders/{order}/external-references/erp",
            &["sync:write", "orders:write"],
            Value::Null,
            200,
        ),
        read("/partner-connections", &["partners:read"]),
        (Method::POST, "/partner-connections", &["partners:write"], json!({}), 201),
        read("/partner-connections/{connection}", &["partners:read"]),
        (
            Method::POST,
            "/partner-connections/accept",
            &["partners:write"],
            json!({ "invite_code": "inv_01k3zqa7000000000000000000" }),
            404,
        ),
        read("/order-shares", &["partners:read"]),
        (
            Method::POST,
            "/orders/{unshipped}/shares",
            &["partners:write"],
            json!({ "connection_id": "{connection}" }),
            201,
        ),
        (Method::POST, "/order-shares/{share}/revoke", &["partners:write"], json!({}), 200),
        read("/partner-orders", &["partners:read"]),
        read("/partner-orders/{seen}", &["partners:read"]),
        (Method::POST, "/partner-connections/{connection}/revoke", &["partners:write"], json!({}), 200),
    ]
}

/// One of each record.
struct Stock(Vec<(&'static str, String)>);

impl Stock {
    async fn of(merchant: &Merchant, partner: &Merchant) -> Self {
        let Endpoint { id: endpoint, .. } = merchant.endpoint("https://hooks.example.com/", &["*"]).await;
        let spare = merchant.endpoint("https://hooks.example.com/", &["order.shared"]).await.id;
        let (order, unshipped) = (merchant.paid_order().await, merchant.paid_order().await);
        let line = merchant.order(&order).await["line_items"][0]["id"].clone();
        let part = json!({ "carrier": "dhl", "line_items": [{ "line_item_id": line, "quantity": 1 }] });
        let shipment = merchant.ship(&order, &part).await;
        let refund = merchant.api.post(&format!("/orders/{order}/refunds"), &json!({ "amount": 1 })).await;
        let subscription = merchant.subscription().await;
        let deliveries = merchant.api.get(&format!("/webhook-endpoints/{endpoint}/deliveries")).await;
        let connection = partners::connect(merchant, partner).await;
        let share = partners::share(merchant, &order, &connection).await;
        let seen = partners::share(partner, &partner.paid_order().await, &connection).await;
        // It has ended by the time it is answered: nothing is that new.
        let recover = json!({ "since": "2100-01-01T00:00:00Z" });
        let recovery = merchant.api.post(&format!("/webhook-endpoints/{endpoint}/recover"), &recover).await;
        Self(vec![
            ("{cursor}", text(&merchant.api.get("/events").await.expect(200), "resume_cursor")),
            ("{connection}", connection),
            ("{share}", share),
            ("{seen}", seen),
            ("{recovery}", text(&recovery.expect(202), "id")),
            ("{payment}", merchant.order(&order).await["payment_ids"][0].as_str().unwrap().to_owned()),
            ("{shipment}", text(&shipment, "id")),
            ("{refund}", text(&refund.expect(201), "id")),
            ("{subscription}", text(&subscription, "id")),
            ("{event}", text(&merchant.events().await[0], "id")),
            ("{delivery}", text(&deliveries.expect(200)["data"][0], "id")),
            ("{order}", order),
            ("{unshipped}", unshipped),
            ("{endpoint}", endpoint),
            ("{spare}", spare),
        ])
    }

    fn fill(&self, path: &str) -> String {
        self.0.iter().fold(path.to_owned(), |path, (name, id)| path.replace(name, id))
    }
}

async fn a02_each_operation_needs_its_scope_and_nothing_else(database: Database) {
    let (authority, merchant) = Merchant::on(database, "scopes").await;
    let partner = Merchant::create(&authority, "partner").await;
    let stock = Stock::of(&merchant, &partner).await;
    for (method, path, scopes, body, success) in operations() {
        let path = stock.fill(path);
        let body: Value = serde_json::from_str(&stock.fill(&body.to_string())).unwrap();
        let ask = async |api: &Api| -> Reply {
            let call = api.call(method.clone(), &path);
            if body.is_null() { call.send().await } else { call.json(&body).send().await }
        };
        let others: Vec<_> = SCOPES.into_iter().filter(|scope| !scopes.contains(scope)).collect();
        let lacking = authority.merchant(&merchant.issue_key("test", &others).await);
        let reply = ask(&lacking).await;
        let problem = reply.refused(403, "insufficient_scope");
        assert_eq!(problem["required_scopes"], json!(scopes), "{method} {path}");
        let challenge = reply.header("www-authenticate").unwrap();
        assert!(
            challenge.ends_with(&format!("error=\"insufficient_scope\", scope=\"{}\"", scopes.join(" ")))
        );
        for scope in scopes {
            let only = authority.merchant(&merchant.issue_key("test", &[scope]).await);
            let reply = ask(&only).await;
            assert_eq!(reply.status, success, "{method} {path} with {scope}: {}", reply.text());
        }
    }
}
