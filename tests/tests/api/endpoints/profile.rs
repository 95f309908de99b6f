//! The signature profile of an endpoint (contract 15.12): chosen when it is made, shown wherever it is shown, the form
//! of its secrets.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::{Value, json};
use tests::{Database, Merchant, Reply, on_both_databases, text};

use super::{at, patch};

const URL: &str = "http://127.0.0.1:9/a";
const STANDARD: &str = "standard-webhooks";

/// Whether the secret is `whsec_` and the base64 of 32 bytes, as the public libraries read it.
fn is_base64(secret: &str) -> bool {
    let key = BASE64_STANDARD.decode(secret.strip_prefix("whsec_").unwrap());
    secret.len() == 50
        && key.is_ok_and(|key| key.len() == 32)
        && standardwebhooks::Webhook::new(secret).is_ok()
}

fn only_member(reply: &Reply, code: &str) -> Value {
    let refused = reply.refused(422, code);
    assert_eq!(refused["errors"].as_array().unwrap().len(), 1);
    assert_eq!(refused["errors"][0]["pointer"], "/signature_profile");
    refused["errors"][0]["code"].clone()
}

async fn a_profile_is_chosen_once_and_shown_wherever_the_endpoint_is(database: Database) {
    let (authority, merchant) = Merchant::on(database, "profiles").await;
    let api = &merchant.api;
    for body in [json!({ "url": URL }), json!({ "url": URL, "signature_profile": "service" })] {
        let made = api.post("/webhook-endpoints", &body).await.expect(201);
        assert_eq!(made["signature_profile"], "service");
        let secret = text(&made, "secret");
        assert!(secret.len() == 49 && secret[6..].bytes().all(|byte| byte.is_ascii_alphanumeric()));
    }
    let made = api.post("/webhook-endpoints", &json!({ "url": URL, "signature_profile": STANDARD })).await;
    let made = made.expect(201);
    let (id, first) = (text(&made, "id"), text(&made, "secret"));
    assert_eq!(made["signature_profile"], STANDARD);
    assert!(is_base64(&first));
    assert_eq!(text(&made, "secret_hint"), format!("…{}", &first[47..]));
    // Rotations keep the form.
    let mut secrets = vec![first];
    for body in [json!({}), json!({ "force": true }), json!({ "force": true, "overlap_seconds": 0 })] {
        let rotated = api.post(&format!("{}/rotate-secret", at(&id)), &body).await.expect(200);
        assert_eq!(rotated["signature_profile"], STANDARD);
        secrets.push(text(&rotated, "secret"));
    }
    assert!(secrets.iter().all(|secret| is_base64(secret)));
    secrets.sort();
    secrets.dedup();
    assert_eq!(secrets.len(), 4);
    // It stays with the endpoint through every change, and is shown by every path.
    let retired = api.post(&format!("{}/retire-secret", at(&id)), &json!({})).await.expect(200);
    let changed = patch(api, &id, &json!({ "description": "new" })).send().await.expect(200);
    let read = api.get(&at(&id)).await.expect(200);
    let listed = api.get("/webhook-endpoints").await.expect(200);
    let of_operator = merchant.operator.get(&at(&id)).await.expect(200);
    for shown in [retired, changed, read, listed["data"][0].clone(), of_operator] {
        assert_eq!((&shown["id"], &shown["signature_profile"]), (&json!(id), &json!(STANDARD)));
        assert_eq!(shown.get("secret"), None);
    }
    assert_eq!(listed["data"][1]["signature_profile"], "service");
    assert!(!authority.log().contains("whsec_"));
}

async fn another_profile_is_refused_and_none_can_be_changed(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "refused").await;
    let api = &merchant.api;
    for (profile, code) in [
        (json!("standardwebhooks"), "invalid_value"),
        (json!("Service"), "invalid_value"),
        (json!(""), "invalid_value"),
        (json!(1), "wrong_type"),
        (json!(null), "required"),
    ] {
        let body = json!({ "url": URL, "signature_profile": profile });
        let refused = api.post("/webhook-endpoints", &body).await;
        assert_eq!(only_member(&refused, "validation_failed"), code, "{profile}");
    }
    assert_eq!(api.get("/webhook-endpoints").await.expect(200)["data"], json!([]));
    for own in ["service", STANDARD] {
        let body = json!({ "url": URL, "signature_profile": own });
        let endpoint = merchant.endpoint_with(body).await;
        let before = merchant.endpoint_now(&endpoint).await;
        for wish in ["service", STANDARD] {
            let refused = patch(api, &endpoint.id, &json!({ "signature_profile": wish })).send().await;
            assert_eq!(only_member(&refused, "field_not_writable"), "field_not_writable");
        }
        assert_eq!(merchant.endpoint_now(&endpoint).await, before);
    }
    // The same of the platform's own endpoint.
    let operator = &merchant.operator;
    let sink =
        operator.post("/sink", &json!({ "url": URL, "signature_profile": STANDARD })).await.expect(201);
    assert!(is_base64(&text(&sink, "secret")));
    assert!(is_base64(&text(&operator.post("/sink/rotate-secret", &json!({})).await.expect(200), "secret")));
    assert_eq!(operator.get("/sink").await.expect(200)["signature_profile"], STANDARD);
    let refused = operator.patch("/sink", &json!({ "signature_profile": "service" })).await;
    assert_eq!(only_member(&refused, "field_not_writable"), "field_not_writable");
}

on_both_databases!(
    a_profile_is_chosen_once_and_shown_wherever_the_endpoint_is,
    another_profile_is_refused_and_none_can_be_changed,
);
