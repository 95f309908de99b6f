//! API keys: issued, listed, rotated, revoked (contract 1.2, 2.11, 6.2).

use serde_json::{Value, json};
use tests::{Api, Authority, Merchant, has, rows, text, wrong_members};

use super::listed;

struct Keys {
    operator: Api,
    path: String,
}

impl Keys {
    async fn issue(&self, body: Value) -> Value {
        self.operator.post(&self.path, &body).await.expect(201)
    }

    /// The record as the list has it.
    async fn now(&self, id: &str) -> Value {
        let list = self.operator.get(&self.path).await.expect(200);
        rows(&list).iter().find(|key| key["id"] == id).unwrap().clone()
    }
}

async fn keys(authority: &Authority, slug: &str) -> (Merchant, Keys) {
    let merchant = Merchant::create(authority, slug).await;
    let keys = Keys { operator: authority.operator(), path: format!("/merchants/{}/api-keys", merchant.id) };
    (merchant, keys)
}

#[tokio::test]
async fn keys_are_listed_without_the_key() {
    let authority = Authority::start(&[]).await;
    let (merchant, keys) = keys(&authority, "owner").await;
    let (_, others) = self::keys(&authority, "other").await;
    let live =
        keys.issue(json!({ "name": "till", "mode": "live", "scopes": ["orders:read", "events:read"] })).await;
    let ids = listed(&keys.operator, &keys.path, "id").await;
    assert_eq!((ids.len(), &ids[0]), (2, &text(&live, "id")), "newest first, and nobody else's");
    let mut shown = live.clone();
    let key = shown.as_object_mut().unwrap().remove("key").unwrap();
    assert_eq!(keys.now(&ids[0]).await, shown);
    assert!(key.as_str().unwrap().starts_with(text(&live, "display").trim_end_matches('…')));
    let expected = json!({
        "status": "active", "merchant_id": merchant.id, "replaced_by": null, "last_used_at": null,
        "revoked_at": null,
    });
    has(&shown, expected);
    assert!(text(&shown, "created_by").starts_with("key_"));
    // A cursor of one merchant's list is none of another's.
    let page = keys.operator.get(&format!("{}?limit=1", keys.path)).await.expect(200);
    let cursor = page["next_cursor"].as_str().unwrap();
    let foreign = keys.operator.get(&format!("{}?limit=1&cursor={cursor}", others.path)).await;
    foreign.refused(400, "invalid_cursor");
    for merchant in ["mer_01k3zqa7000000000000000000", "x"] {
        keys.operator.get(&format!("/merchants/{merchant}/api-keys")).await.refused(404, "not_found");
    }
}

/// Both keys work during the overlap; the new one takes over what is not said otherwise.
#[tokio::test]
async fn a_key_is_rotated() {
    let authority = Authority::start(&[]).await;
    let (_, keys) = keys(&authority, "rotating").await;
    let old = keys.issue(json!({ "name": "till", "mode": "test", "scopes": ["orders:read"] })).await;
    let rotate = async |key: &Value, body: Value| {
        keys.operator.post(&format!("/api-keys/{}/rotate", text(key, "id")), &body).await
    };
    let new = rotate(&old, json!({ "overlap_seconds": 3600, "scopes": ["events:read", "orders:read"] }))
        .await
        .expect(201);
    assert_ne!(new["id"], old["id"]);
    assert_ne!(new["key"], old["key"]);
    for member in ["name", "livemode", "merchant_id", "expires_at"] {
        assert_eq!(new[member], old[member], "{member}");
    }
    assert_eq!(new["scopes"], json!(["orders:read", "events:read"]));
    let replaced = keys.now(&text(&old, "id")).await;
    assert_eq!((&replaced["status"], &replaced["replaced_by"]), (&json!("expiring"), &new["id"]));
    assert!(replaced["expires_at"].is_string());
    let api = |key: &Value| authority.merchant(&text(key, "key"));
    api(&old).get("/orders").await.expect(200);
    api(&old).get("/events").await.refused(403, "insufficient_scope");
    api(&new).get("/events").await.expect(200);
    rotate(&old, json!({})).await.refused(409, "rotation_in_progress");

    // Without an overlap the old key ends at once.
    let third = rotate(&new, json!({ "overlap_seconds": 0 })).await.expect(201);
    assert_eq!(third["scopes"], new["scopes"]);
    api(&new).get("/orders").await.refused(401, "expired_api_key");
    assert_eq!(keys.now(&text(&new, "id")).await["status"], "expired");
    rotate(&new, json!({})).await.refused_with(
        409,
        "invalid_state_transition",
        &json!({ "current_status": "expired", "requested_status": "expiring" }),
    );
    for (body, errors) in [
        (json!({ "overlap_seconds": 2_592_001 }), json!([["/overlap_seconds", "out_of_range"]])),
        (json!({ "overlap_seconds": -1 }), json!([["/overlap_seconds", "out_of_range"]])),
        (json!({ "scopes": [] }), json!([["/scopes", "too_short"]])),
        (json!({ "scopes": ["operator:read"] }), json!([["/scopes/0", "invalid_value"]])),
        (json!({ "expires_at": "2020-01-01T00:00:00Z" }), json!([["/expires_at", "out_of_range"]])),
    ] {
        assert_eq!(wrong_members(&rotate(&third, body).await.refused(422, "validation_failed")), errors);
    }
    api(&third).get("/orders").await.expect(200);
    // The same request again is answered with the same key, and makes no other.
    let path = format!("/api-keys/{}/rotate", text(&third, "id"));
    let first = keys.operator.post_as("once", &path, &json!({})).await;
    let again = keys.operator.post_as("once", &path, &json!({})).await;
    assert_eq!((again.expect(201), again.header("idempotent-replayed")), (first.expect(201), Some("true")));
    assert_eq!(listed(&keys.operator, &keys.path, "id").await.len(), 5);
}

#[tokio::test]
async fn a_key_is_revoked_at_once() {
    let authority = Authority::start(&[]).await;
    let (merchant, keys) = keys(&authority, "leaky").await;
    let leaked = keys.issue(json!({ "name": "leaked", "mode": "test", "scopes": ["orders:read"] })).await;
    let api = authority.merchant(&text(&leaked, "key"));
    api.get("/orders").await.expect(200);
    let path = format!("/api-keys/{}/revoke", text(&leaked, "id"));
    let missing = keys.operator.post(&path, &json!({})).await.refused(422, "validation_failed");
    assert_eq!(wrong_members(&missing), json!([["/reason", "required"]]));
    let revoked = keys.operator.post(&path, &json!({ "reason": "found in a log" })).await.expect(200);
    assert_eq!(revoked["status"], "revoked");
    assert_eq!(revoked.get("key"), None);
    api.get("/orders").await.refused(401, "invalid_api_key");
    merchant.api.get("/orders").await.expect(200);
    // Once more changes nothing, and the time stays that of the first.
    let again = keys.operator.post(&path, &json!({ "reason": "again" })).await.expect(200);
    assert_eq!(again["revoked_at"], revoked["revoked_at"]);
    let rotate = format!("/api-keys/{}/rotate", text(&leaked, "id"));
    keys.operator.post(&rotate, &json!({})).await.refused(409, "invalid_state_transition");
    for key in ["key_01k3zqa7000000000000000000", "x"] {
        let reply = keys.operator.post(&format!("/api-keys/{key}/revoke"), &json!({ "reason": "r" })).await;
        reply.refused(404, "not_found");
        keys.operator.post(&format!("/api-keys/{key}/rotate"), &json!({})).await.refused(404, "not_found");
    }
}

/// What was used is written when the service stops at the latest.
#[tokio::test]
async fn the_last_use_is_noted() {
    let mut authority = Authority::start(&[]).await;
    let (_, keys) = keys(&authority, "used").await;
    let scopes = json!(["orders:read"]);
    let used = keys.issue(json!({ "name": "used", "mode": "test", "scopes": scopes })).await;
    let unused = keys.issue(json!({ "name": "unused", "mode": "test", "scopes": scopes })).await;
    authority.merchant(&text(&used, "key")).get("/orders").await.expect(200);
    authority.terminate().await;
    authority.restart().await;
    let (used, unused) = (keys.now(&text(&used, "id")).await, keys.now(&text(&unused, "id")).await);
    assert!(text(&used, "last_used_at") >= text(&used, "created_at"));
    assert_eq!(unused["last_used_at"], Value::Null);
}
