//! Who may do what on the operator root (contract 6.1).

use http::Method;
use serde_json::json;
use tests::{Api, Authority, Merchant};

const SCOPES: [&str; 5] =
    ["operator:read", "operator:write", "processor:write", "carrier:write", "keys:write"];

/// An operator key with these scopes, made by the command.
async fn operator_with(authority: &Authority, scopes: &[&str]) -> Api {
    authority.operator().with_key(authority.new_operator_key("narrow", scopes).await["key"].as_str())
}

#[tokio::test]
async fn each_operation_needs_its_scope() {
    let (authority, merchant) = Merchant::alone("scopes").await;
    let keys = format!("/merchants/{}/api-keys", merchant.id);
    let one = format!("/merchants/{}", merchant.id);
    let operations = [
        (Method::GET, "/merchants", "operator:read", 200),
        (Method::GET, &one, "operator:read", 200),
        (Method::POST, "/merchants", "operator:write", 422),
        (Method::PATCH, &one, "operator:write", 200),
        (Method::GET, &keys, "operator:read", 200),
        (Method::POST, &keys, "keys:write", 422),
        (Method::POST, "/api-keys/key_x/rotate", "keys:write", 404),
        (Method::POST, "/api-keys/key_x/revoke", "keys:write", 404),
        (Method::GET, "/audit-log", "operator:read", 200),
        (Method::GET, "/deliveries", "operator:read", 200),
        (Method::GET, "/deliveries/dlv_x", "operator:read", 404),
        (Method::POST, "/deliveries/dlv_x/retry", "keys:write", 404),
        (Method::GET, "/events", "operator:read", 200),
        (Method::GET, "/events/evt_x", "operator:read", 404),
        (Method::GET, "/outbox", "operator:read", 200),
        (Method::GET, "/webhook-endpoints/we_x", "operator:read", 404),
        (Method::POST, "/webhook-endpoints/we_x/disable", "keys:write", 404),
        (Method::POST, "/webhook-endpoints/we_x/enable", "keys:write", 404),
        (Method::GET, "/sink", "operator:read", 404),
        (Method::POST, "/sink", "keys:write", 422),
        (Method::PATCH, "/sink", "keys:write", 404),
        (Method::DELETE, "/sink", "keys:write", 404),
        (Method::POST, "/sink/rotate-secret", "keys:write", 404),
    ];
    for scope in SCOPES {
        let others: Vec<&str> = SCOPES.into_iter().filter(|other| *other != scope).collect();
        let (alone, without) =
            (operator_with(&authority, &[scope]).await, operator_with(&authority, &others).await);
        for (method, path, needed, status) in &operations {
            if *needed != scope {
                continue;
            }
            let call = |api: &Api| {
                let call = api.call(method.clone(), path);
                if method == Method::GET { call } else { call.json(&json!({})) }
            };
            let refused = call(&without).send().await;
            assert_eq!(refused.refused(403, "insufficient_scope")["required_scopes"], json!([scope]));
            assert_eq!(call(&alone).send().await.status, *status, "{method} {path} with {scope} alone");
        }
    }
}

#[tokio::test]
async fn a_merchant_key_opens_nothing_and_a_query_must_be_known() {
    let (authority, merchant) = Merchant::alone("stranger").await;
    let operator = authority.operator();
    let lists = [
        "/merchants",
        "/audit-log",
        "/deliveries",
        "/events",
        &format!("/merchants/{}/api-keys", merchant.id),
    ];
    for path in lists {
        operator.with_key(Some(&merchant.key)).get(path).await.refused(401, "invalid_api_key");
        operator.with_key(None).get(path).await.refused(401, "missing_credential");
        merchant
            .api
            .with_key(Some(authority.operator_key()))
            .get("/orders")
            .await
            .refused(401, "invalid_api_key");
        for (query, code, param) in [
            ("crusor=x", "unknown_parameter", "crusor"),
            ("limit=0", "invalid_parameter", "limit"),
            ("limit=101", "invalid_parameter", "limit"),
            ("cursor=AQ", "invalid_cursor", "cursor"),
        ] {
            let reply = operator.get(&format!("{path}?{query}")).await;
            assert_eq!(reply.refused(400, code)["param"], param, "{path}");
        }
    }
    // A merchant's cursor is none of the operator's, nor is that of another list or filter.
    for slug in ["a", "b"] {
        Merchant::create(&authority, slug).await;
    }
    let page = operator.get("/merchants?limit=1").await.expect(200);
    let cursor = page["next_cursor"].as_str().unwrap();
    for path in ["/audit-log?limit=1", "/merchants?limit=1&status=active"] {
        operator.get(&format!("{path}&cursor={cursor}")).await.refused(400, "invalid_cursor");
    }
}
