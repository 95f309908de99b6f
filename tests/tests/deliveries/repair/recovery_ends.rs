//! What ends a recovery before it is done, and what it is refused for (contract 15.2).

use http::Method;
use serde_json::{Value, json};
use tests::{
    Answer, Authority, Database, Endpoint, Merchant, Receiver, has, on_both_databases, retries, text,
};

use super::{at, ended};

const ALL: &str = "2020-01-01T00:00:00Z";

/// An endpoint whose receiver is down and from which more is missing than a recovery has due at a time.
async fn far_behind(authority: &Authority, slug: &str) -> (Merchant, Endpoint, Receiver) {
    let receiver = Receiver::start(|_| Answer::status(503)).await;
    let merchant = Merchant::create(authority, slug).await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["checkout.created"]).await;
    merchant.checkouts(70).await;
    (merchant, endpoint, receiver)
}

async fn begin(merchant: &Merchant, endpoint: &Endpoint) -> Value {
    merchant.api.post(&at(endpoint, "recover"), &json!({ "since": ALL })).await.expect(202)
}

async fn a_recovery_ends_with_its_endpoint_or_when_it_is_told_to(database: Database) {
    let authority = Authority::on(database, &[retries("3600,3600")]).await;
    let (merchant, endpoint, _receiver) = far_behind(&authority, "ends").await;
    // Told to.
    let made = begin(&merchant, &endpoint).await;
    let cancel = format!("/endpoint-recoveries/{}/cancel", text(&made, "id"));
    let answer = merchant.api.post(&cancel, &json!({})).await;
    if answer.status == 200 {
        let cancelled = answer.expect(200);
        assert_eq!((&cancelled["status"], &cancelled["id"]), (&json!("cancelled"), &made["id"]));
        assert!(cancelled["finished_at"].is_string());
    }
    merchant.api.post(&cancel, &json!({})).await.refused(409, "recovery_finished");
    // With its endpoint.
    let path = endpoint.path("");
    let patch =
        async |status: &str| merchant.api.patch(&path, &json!({ "status": status })).await.expect(200);
    let made = begin(&merchant, &endpoint).await;
    let disabled = patch("disabled").await;
    let gone = ended(&merchant, &made).await;
    if gone["status"] != "completed" {
        has(&gone, json!({ "status": "endpoint_disabled", "finished_at": disabled["disabled_at"] }));
    }
    for dry_run in [false, true] {
        let asked = json!({ "since": ALL, "dry_run": dry_run });
        merchant.api.post(&at(&endpoint, "recover"), &asked).await.refused(409, "endpoint_disabled");
    }
    patch("enabled").await;
    let made = begin(&merchant, &endpoint).await;
    merchant.api.delete(&path).await.expect(200);
    let gone = ended(&merchant, &made).await;
    assert!(gone["status"] == "endpoint_deleted" || gone["status"] == "completed", "{gone}");
    merchant.api.post(&at(&endpoint, "recover"), &json!({ "since": ALL })).await.refused(404, "not_found");
}

async fn what_is_wrong_with_a_recovery_is_told(database: Database) {
    let (authority, merchant) = Merchant::on(database, "wrong").await;
    let endpoint = merchant.endpoint("https://hooks.example.com/", &["*"]).await;
    let path = at(&endpoint, "recover");
    merchant.api.call(Method::POST, &path).send().await.refused(400, "body_required");
    for (body, pointer) in [
        (json!({}), "/since"),
        (json!({ "since": ALL, "until": ALL }), "/until"),
        (json!({ "since": ALL, "types": ["order"] }), "/types/0"),
        (json!({ "since": ALL, "dry_run": 1 }), "/dry_run"),
    ] {
        let problem = merchant.api.post(&path, &body).await.refused(422, "validation_failed");
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{body}");
    }
    merchant.api.post(&path, &json!({ "since": ALL, "limit": 5 })).await.refused(422, "unknown_field");
    // Another merchant's, the other mode's and nobody's recovery look the same.
    let made = begin(&merchant, &endpoint).await;
    let stranger = Merchant::create(&authority, "stranger").await;
    let id = text(&made, "id");
    for (api, id) in [
        (&stranger.api, id.as_str()),
        (&merchant.api, "rcv_1"),
        (&merchant.api, "rcv_01k3zqa7000000000000000000"),
    ] {
        api.get(&format!("/endpoint-recoveries/{id}")).await.refused(404, "not_found");
        api.post(&format!("/endpoint-recoveries/{id}/cancel"), &json!({})).await.refused(404, "not_found");
    }
    stranger.api.post(&path, &json!({ "since": ALL })).await.refused(404, "not_found");
    stranger.api.post(&path, &json!({ "since": ALL, "dry_run": true })).await.refused(404, "not_found");
}

on_both_databases!(
    a_recovery_ends_with_its_endpoint_or_when_it_is_told_to,
    what_is_wrong_with_a_recovery_is_told
);
