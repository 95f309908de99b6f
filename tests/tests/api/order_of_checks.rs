//! The order of checks (contract 4.2): a request with two faults gets the answer of the check that comes first.
//!
//! Each row breaks two neighbouring checks at once. Row 5, the merchant's state, cannot be broken today: no operation
//! suspends a merchant.

use http::Method;
use serde_json::{Value, json};
use tests::{Call, Database, Merchant, Shop, shipments};

/// A request for a shipment, still without a body.
fn ship(shop: &Shop, order: &str) -> Call {
    shop.merchant.api.call(Method::POST, &shipments(order))
}

fn parcel() -> Value {
    json!({ "carrier": "dhl" })
}

fn unknown_version(call: Call) -> Call {
    call.header("service-version", "2020-01-01")
}

fn bad_key(call: Call) -> Call {
    call.header("idempotency-key", "a b")
}

#[tokio::test]
async fn what_is_wrong_first_is_told() {
    let mut shop = Shop::open(Database::Sqlite, &[]).await;
    let api = shop.merchant.api.clone();
    let (order, shipped) = (shop.order.clone(), shop.shipped.clone());
    let reader = api.with_key(Some(&shop.merchant.issue_key("test", &["orders:read"]).await));
    let used = || ship(&shop, &order).header("idempotency-key", "used");
    let endpoint = json!({ "url": "https://hooks.example.com/" });
    let first = api.post_as("used", "/webhook-endpoints", &endpoint).await;
    first.expect(201);
    let target = format!("/nowhere?{}", "a".repeat(8 * 1024));
    let large = json!({ "carrier": "x".repeat(256 * 1024) });
    let broken = |call: Call| call.header("content-type", "application/json").bytes("{");

    let rows: Vec<(&str, Call, u16, &str)> = vec![
        ("target before route", api.call(Method::GET, &target), 414, "uri_too_long"),
        ("route before credential", api.with_key(None).call(Method::GET, "/nowhere"), 404, "route_not_found"),
        (
            "method before credential",
            api.with_key(None).call(Method::PUT, "/orders"),
            405,
            "method_not_allowed",
        ),
        (
            "credential before scope, version and body",
            broken(unknown_version(api.with_key(Some("svc_test_x")).call(Method::POST, &shipments(&order)))),
            401,
            "invalid_api_key",
        ),
        (
            "scope before version",
            unknown_version(reader.call(Method::POST, &shipments(&order))),
            403,
            "insufficient_scope",
        ),
        (
            "version before size",
            unknown_version(ship(&shop, &order)).json(&large),
            400,
            "unsupported_api_version",
        ),
        (
            "version before media type",
            unknown_version(ship(&shop, &order)).bytes("{}"),
            400,
            "unsupported_api_version",
        ),
        ("size before media type", ship(&shop, &order).bytes(large.to_string()), 413, "payload_too_large"),
        ("media type before key", bad_key(ship(&shop, &order)).bytes("{}"), 415, "unsupported_media_type"),
        (
            "key before query",
            bad_key(api.call(Method::POST, &format!("{}?a=b", shipments(&order)))).json(&parcel()),
            400,
            "invalid_idempotency_key",
        ),
        (
            "If-Match before query",
            api.call(Method::POST, &format!("{}?a=b", shipments(&order)))
                .json(&parcel())
                .header("if-match", "x"),
            400,
            "invalid_if_match",
        ),
        (
            "query before JSON",
            broken(api.call(Method::POST, &format!("{}?a=b", shipments(&order)))),
            400,
            "unknown_parameter",
        ),
        ("JSON before idempotency", broken(used()), 400, "invalid_json"),
        (
            "idempotency before existence",
            ship(&shop, "ORD-1").header("idempotency-key", "used").json(&parcel()),
            422,
            "idempotency_key_reused",
        ),
        (
            "idempotency before version",
            used().header("if-match", "1").json(&parcel()),
            422,
            "idempotency_key_reused",
        ),
        (
            "existence before If-Match",
            ship(&shop, "ORD-1").header("if-match", "1").json(&parcel()),
            404,
            "not_found",
        ),
        ("existence before members", ship(&shop, "ORD-1").json(&json!({})), 404, "not_found"),
        (
            "If-Match before members",
            ship(&shop, &order).header("if-match", "1").json(&json!({})),
            409,
            "resource_version_conflict",
        ),
        ("members before state", ship(&shop, &shipped).json(&json!({ "carier": "a" })), 422, "unknown_field"),
    ];
    for (name, call, status, code) in rows {
        println!("{name}");
        shop.refuses(call, status, code, json!({})).await;
    }
}

/// Rows 3, 4 and 6: a credential that is not good is told before a limit, a limit before a scope.
#[tokio::test]
async fn limits_stand_between_credential_and_scope() {
    let limits = [("AUTHORITY_RATE_LIMITS", "on"), ("AUTHORITY_RATE_DELIVERY_PER_MINUTE", "1")];
    let (authority, merchant) = Merchant::alone_with(&limits, "limited").await;
    let endpoint = merchant.endpoint("https://hooks.example.com/", &["order.*"]).await;
    let path = endpoint.path("/test");
    merchant.api.call(Method::POST, &path).send().await.expect(202);
    let narrow = authority.merchant(&merchant.issue_key("test", &["orders:read"]).await);
    narrow.call(Method::POST, &path).send().await.refused(429, "rate_limited");
    narrow.with_key(None).call(Method::POST, &path).send().await.refused(401, "missing_credential");
}
