//! Changing, disabling, enabling and deleting endpoints.

use serde_json::{Value, json};
use tests::{
    Answer, Api, Authority, Database, Merchant, Receiver, has, on_both_databases, retries, rows, text, texts,
};

use super::{at, delete, patch};

async fn statuses(api: &Api, id: &str) -> Vec<(String, Value)> {
    let page = api.get(&format!("{}/deliveries", at(id))).await.expect(200);
    rows(&page).iter().map(|row| (text(row, "status"), row["failure_reason"].clone())).collect()
}

async fn an_endpoint_changes_under_its_version(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "changing").await;
    let api = &merchant.api;
    let id = merchant.endpoint("http://127.0.0.1:9/a", &["*"]).await.id;
    let body = json!({ "url": "http://127.0.0.1:9/b", "enabled_events": ["order.*"], "description": "new",
                       "metadata": { "team": "a" } });
    let changed = patch(api, &id, &body).header("if-match", "\"1\"").send().await;
    assert_eq!(changed.header("etag"), Some("\"2\""));
    let changed = changed.expect(200);
    for (member, value) in body.as_object().unwrap() {
        assert_eq!(&changed[member], value, "{member}");
    }
    assert_eq!((&changed["resource_version"], changed.get("secret")), (&json!(2), None));
    assert_eq!(api.get(&at(&id)).await.expect(200), changed);
    // Against another version, in every form that names one.
    for tag in ["1", "\"1\"", "W/\"1\"", "3"] {
        let refused = patch(api, &id, &json!({ "description": "x" })).header("if-match", tag).send().await;
        let refused = refused.refused(409, "resource_version_conflict");
        assert_eq!(refused["current_version"], 2);
    }
    // What says nothing new is no version; any version does for a star.
    let same = patch(api, &id, &body).header("if-match", "*").send().await.expect(200);
    assert_eq!(same, changed);
    let merged = patch(api, &id, &json!({ "metadata": { "team": null, "x": "1" }, "description": null }));
    let merged = merged.without("content-type").header("content-type", "application/merge-patch+json");
    let merged = merged.send().await.expect(200);
    assert_eq!((&merged["metadata"], &merged["description"]), (&json!({ "x": "1" }), &Value::Null));
    // Refusals change nothing.
    let table = [
        (json!({ "url": "http://127.0.0.1:9/b", "secret": "whsec_x" }), 422, "field_not_writable"),
        (json!({ "colour": "red" }), 422, "unknown_field"),
        (json!({ "status": "gone" }), 422, "validation_failed"),
        (json!({ "url": "ftp://example.com/" }), 422, "endpoint_url_forbidden"),
        (json!({ "url": "https://10.0.0.1/" }), 422, "endpoint_url_forbidden"),
    ];
    for (body, status, code) in table {
        patch(api, &id, &body).send().await.refused(status, code);
    }
    api.call(http::Method::PATCH, &at(&id)).send().await.refused(400, "body_required");
    patch(api, "we_01k3zqa7000000000000000000", &json!({})).send().await.refused(404, "not_found");
    assert_eq!(api.get(&at(&id)).await.expect(200), merged);
    // The same logical write twice is one.
    let body = json!({ "description": "once" });
    let first = patch(api, &id, &body).header("idempotency-key", "k").send().await;
    let again = patch(api, &id, &body).header("idempotency-key", "k").send().await;
    assert_eq!((first.expect(200), again.header("idempotent-replayed")), (again.expect(200), Some("true")));
    assert_eq!(api.get(&at(&id)).await.expect(200)["resource_version"], 4);
}

async fn strict_merchants_name_the_version(database: Database) {
    let authority = Authority::on(database, &[]).await;
    let settings = json!({ "require_if_match": true });
    let merchant = Merchant::with_settings(&authority, "strict", settings).await;
    let api = &merchant.api;
    let id = merchant.endpoint("http://127.0.0.1:9/a", &["*"]).await.id;
    let rotate = format!("{}/rotate-secret", at(&id));
    patch(api, &id, &json!({})).send().await.refused(428, "precondition_required");
    delete(api, &id).send().await.refused(428, "precondition_required");
    api.post(&rotate, &json!({})).await.refused(428, "precondition_required");
    api.post(&format!("{}/retire-secret", at(&id)), &json!({})).await.expect(200);
    let rotated = api.call(http::Method::POST, &rotate).header("if-match", "1").send().await;
    assert_eq!(rotated.header("etag"), Some("\"2\""));
    delete(api, &id).header("if-match", "1").send().await.refused(409, "resource_version_conflict");
    delete(api, &id).header("if-match", "2").send().await.expect(200);
}

/// What waits for a disabled endpoint is cancelled; enabled again it gets what comes, and begins anew.
async fn a_disabled_endpoint_gets_nothing_and_catches_up_with_nothing(database: Database) {
    let (authority, merchant) = Merchant::on_with(database, &[retries("0,3600")], "pausing").await;
    let receiver =
        Receiver::start(|arrival| Answer::status(if arrival.number <= 6 { 500 } else { 200 })).await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["checkout.created"]).await;
    merchant.checkouts(6).await;
    receiver.until("six attempts", |arrivals| arrivals.all.len() == 6).await;
    let failed = tests::eventually("six outcomes", async || {
        let now = merchant.endpoint_now(&endpoint).await;
        (now["health"]["consecutive_failures"] == 6).then_some(now)
    })
    .await;
    assert_eq!(failed["health"]["state"], "degraded");
    let api = &merchant.api;
    let disabled = patch(api, &endpoint.id, &json!({ "status": "disabled" })).send().await.expect(200);
    assert_eq!((&disabled["status"], &disabled["disabled_reason"]), (&json!("disabled"), &json!("merchant")));
    assert!(disabled["disabled_at"].is_string());
    let cancelled = ("cancelled".to_owned(), json!("endpoint_disabled"));
    assert_eq!(statuses(api, &endpoint.id).await, vec![cancelled.clone(); 6]);
    merchant.checkout().await;
    let enabled = patch(api, &endpoint.id, &json!({ "status": "enabled" })).send().await.expect(200);
    assert_eq!((&enabled["status"], &enabled["disabled_reason"]), (&json!("enabled"), &Value::Null));
    has(&enabled["health"], json!({ "state": "unknown", "consecutive_failures": 0 }));
    merchant.checkout().await;
    receiver.until("the one after", |arrivals| arrivals.all.len() == 7).await;
    authority.nothing_pending().await;
    let mut expected = vec![cancelled; 6];
    expected.insert(0, ("succeeded".to_owned(), Value::Null));
    assert_eq!(statuses(api, &endpoint.id).await, expected);
}

async fn a_deleted_endpoint_is_gone_and_its_place_is_free(database: Database) {
    let (authority, merchant) = Merchant::on_with(database, &[retries("0,0,0")], "deleting").await;
    let (receiver, gate) = Receiver::gated(500).await;
    let api = &merchant.api;
    let mut ids = Vec::new();
    for _ in 0..16 {
        ids.push(merchant.endpoint(&receiver.url("/hook"), &["checkout.created"]).await.id);
    }
    let body = json!({ "url": receiver.url("/hook") });
    api.post("/webhook-endpoints", &body).await.refused(409, "endpoint_limit_reached");
    for id in &ids[1..] {
        patch(api, id, &json!({ "status": "disabled" })).send().await.expect(200);
    }
    api.post("/webhook-endpoints", &body).await.refused(409, "endpoint_limit_reached");
    merchant.checkout().await;
    let arrived = receiver.until("one attempt", |arrivals| arrivals.all.len() == 1).await;
    let delivery = arrived.all[0].header("service-delivery-id").to_owned();
    let event = merchant.events().await.remove(0);
    let gone = delete(api, &ids[0]).header("idempotency-key", "gone").send().await.expect(200);
    assert_eq!(gone, json!({ "object": "webhook_endpoint", "id": ids[0], "deleted": true }));
    // The attempt in flight ends as it likes; none follows.
    gate.open();
    authority.nothing_pending().await;
    assert_eq!(receiver.arrivals().all.len(), 1);
    // To its merchant it never was, wherever it could show.
    let hidden = at(&ids[0]);
    api.get(&hidden).await.refused(404, "not_found");
    api.get(&format!("{hidden}/deliveries")).await.refused(404, "not_found");
    api.get(&format!("/deliveries/{delivery}")).await.refused(404, "not_found");
    for path in ["test", "rotate-secret", "retire-secret"] {
        api.post(&format!("{hidden}/{path}"), &json!({})).await.refused(404, "not_found");
    }
    patch(api, &ids[0], &json!({ "status": "enabled" })).send().await.refused(404, "not_found");
    delete(api, &ids[0]).send().await.refused(404, "not_found");
    let replay = format!("/events/{}/replay", text(&event, "id"));
    api.post(&replay, &json!({ "endpoint_ids": [ids[0]] })).await.refused(422, "validation_failed");
    let listed = api.get("/webhook-endpoints?limit=100").await.expect(200);
    let listed = texts(rows(&listed), "id");
    assert_eq!(listed, ids[1..].iter().rev().cloned().collect::<Vec<_>>());
    let health = api.get("/integration-health").await.expect(200);
    assert_eq!(health["endpoints"].as_array().unwrap().len(), 15);
    // A repeated request is answered as before, although there is nothing left to delete.
    let again = delete(api, &ids[0]).header("idempotency-key", "gone").send().await;
    assert_eq!((again.header("idempotent-replayed"), again.expect(200)), (Some("true"), gone));
    let made = api.post("/webhook-endpoints", &body).await.expect(201);
    delete(api, &text(&made, "id")).send().await.expect(200);
}

on_both_databases!(
    an_endpoint_changes_under_its_version,
    strict_merchants_name_the_version,
    a_disabled_endpoint_gets_nothing_and_catches_up_with_nothing,
    a_deleted_endpoint_is_gone_and_its_place_is_free,
);
