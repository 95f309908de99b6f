//! Who asks, and for what (contract 4.2 rows 2, 3, 6 and 13, 5.3).

use authority_domain::Timestamp;
use http::Method;
use serde_json::json;
use tests::{Api, Merchant, SCOPES, Shop, checkout_body, eventually, now_ms, shipments, text};

use super::get;

const NOTHING_GIVEN: &str = "Bearer realm=\"merchant-api\"";
const NOT_GOOD: &str = "Bearer realm=\"merchant-api\", error=\"invalid_token\"";

/// Missing, malformed, unknown, foreign, expired and too narrow credentials.
pub(super) async fn credentials(shop: &mut Shop) {
    let api = shop.merchant.api.clone();
    let none = json!({});
    let reply =
        shop.refuses(get(&api.with_key(None), "/orders"), 401, "missing_credential", none.clone()).await;
    assert_eq!(reply.header("www-authenticate"), Some(NOTHING_GIVEN));
    let mut altered = shop.merchant.key.clone();
    let last = altered.pop();
    altered.push(if last == Some('a') { 'b' } else { 'a' });
    let (key, operator_key) = (shop.merchant.key.clone(), shop.authority.operator_key().to_owned());
    let lines = [
        vec![format!("Bearer {altered}")],
        vec![format!("Bearer {operator_key}")],
        vec!["Bearer svc_test_".to_owned()],
        vec![format!("Basic {key}")],
        vec![key.clone()],
        vec![format!("Bearer {key}"), format!("Bearer {key}")],
    ];
    for lines in lines {
        let call = get(&api.with_key(None), "/orders");
        let call = lines.iter().fold(call, |call, line| call.header("authorization", line));
        let reply = shop.refuses(call, 401, "invalid_api_key", none.clone()).await;
        assert_eq!(reply.header("www-authenticate"), Some(NOT_GOOD));
        assert_eq!(reply.header("service-version"), None);
    }
    let operator = shop.merchant.operator.with_key(Some(&key));
    let call = operator.call(Method::POST, &shop.merchant.platform_path("checkouts")).json(&checkout_body());
    let reply = shop.refuses(call, 401, "invalid_api_key", none.clone()).await;
    let challenge = "Bearer realm=\"operator-api\", error=\"invalid_token\"";
    assert_eq!(reply.header("www-authenticate"), Some(challenge));

    let expired = expired_key(shop).await;
    let reply = shop.refuses(get(&expired, "/orders"), 401, "expired_api_key", none).await;
    assert_eq!(reply.header("www-authenticate"), Some(NOT_GOOD));
    scopes(shop).await;
}

/// A key whose time is over.
async fn expired_key(shop: &Shop) -> Api {
    let path = format!("/merchants/{}/api-keys", shop.merchant.id);
    let end = Timestamp::from_ms(now_ms() + 500).to_string();
    let body = json!({ "name": "short", "mode": "test", "scopes": ["orders:read"], "expires_at": end });
    let made = shop.merchant.operator.post(&path, &body).await.expect(201);
    let api = shop.authority.merchant(&text(&made, "key"));
    eventually("the key's end", async || (api.get("/orders").await.status == 401).then_some(())).await;
    api
}

/// One of many; every operation's scope is A2.
async fn scopes(shop: &mut Shop) {
    let narrow = shop.authority.merchant(&shop.merchant.issue_key("test", &["events:read"]).await);
    let facts = json!({ "required_scopes": ["orders:read"] });
    let reply = shop.refuses(get(&narrow, "/orders"), 403, "insufficient_scope", facts).await;
    let challenge = "Bearer realm=\"merchant-api\", error=\"insufficient_scope\", scope=\"orders:read\"";
    assert_eq!(reply.header("www-authenticate"), Some(challenge));
    assert_eq!(reply.header("service-version"), Some("2026-09-01"));
}

/// Merchants that may not write, or not even read, and keys that have no business in the sandbox.
pub(super) async fn merchants(shop: &mut Shop) {
    let halted = Merchant::create(&shop.authority, "halted").await;
    let order = halted.paid_order().await;
    let operator = shop.authority.operator();
    let set = async |status: &str| {
        let call = operator.call(Method::PATCH, &format!("/merchants/{}", halted.id));
        call.json(&json!({ "status": status })).send().await.expect(200)
    };
    let ship = || halted.api.call(Method::POST, &shipments(&order)).json(&json!({ "carrier": "dhl" }));
    set("suspended").await;
    shop.refuses(ship(), 403, "merchant_suspended", json!({})).await;
    assert_eq!(halted.order(&order).await["resource_version"], 2, "reading goes on");
    set("active").await;
    ship().send().await.expect(201);
    set("closed").await;
    shop.refuses(ship(), 403, "merchant_closed", json!({})).await;
    shop.refuses(get(&halted.api, "/orders"), 403, "merchant_closed", json!({})).await;

    let live = shop.merchant.issue_key("live", &SCOPES).await;
    let call = shop.authority.sandbox(&live).call(Method::POST, "/checkouts").json(&checkout_body());
    shop.refuses(call, 403, "test_mode_only", json!({})).await;
}

/// Routes, methods and records that are not there.
pub(super) async fn absent(shop: &mut Shop) {
    let api = shop.merchant.api.clone();
    for path in ["/order", "/orders/", "/Orders", "", "/orders/ORD-100001/refund", "//orders"] {
        shop.refuses(get(&api, path), 404, "route_not_found", json!({})).await;
    }
    for (method, path, allowed) in [
        (Method::DELETE, "/orders", "GET,HEAD"),
        (Method::OPTIONS, "/orders", "GET,HEAD"),
        (Method::PUT, "/orders/ORD-100001/shipments", "GET,HEAD,POST"),
        (Method::PATCH, "/webhook-endpoints", "GET,HEAD,POST"),
    ] {
        let reply = shop.refuses(api.call(method, path), 405, "method_not_allowed", json!({})).await;
        let mut methods: Vec<&str> = reply.header("allow").unwrap().split(',').map(str::trim).collect();
        methods.sort_unstable();
        assert_eq!(methods.join(","), allowed);
        assert!(reply.headers.keys().all(|name| !name.as_str().starts_with("access-control")));
    }
    let absent_id = "01k3zqa7000000000000000000";
    for path in [
        "/orders/ORD-1".to_owned(),
        "/orders/ORD-%31".to_owned(),
        "/orders/%ff".to_owned(),
        format!("/payments/pay_{absent_id}"),
        format!("/shipments/shp_{absent_id}"),
        format!("/events/evt_{absent_id}"),
        format!("/webhook-endpoints/we_{absent_id}"),
        // Of another kind, and of no form at all.
        format!("/webhook-endpoints/evt_{absent_id}"),
        "/events/x".to_owned(),
    ] {
        shop.refuses(get(&api, &path), 404, "not_found", json!({})).await;
    }
    let call = api.call(Method::POST, &shipments("ORD-1")).json(&json!({ "carrier": "dhl" }));
    shop.refuses(call, 404, "not_found", json!({})).await;
    let call = api.call(Method::POST, &format!("/webhook-endpoints/we_{absent_id}/test"));
    shop.refuses(call, 404, "not_found", json!({})).await;
}
