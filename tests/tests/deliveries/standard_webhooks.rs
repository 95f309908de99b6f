//! Deliveries to an endpoint of the profile `standard-webhooks` (contract 15.12): the public library of that standard
//! for Rust verifies them as it is, and so do receivers that know nothing of the profile. The libraries for JavaScript
//! and Python do the same in `tests/client` and `tests/openapi`.

use http::HeaderMap;
use serde_json::json;
use standardwebhooks::{Webhook, WebhookError};
use tests::{
    Answer, Arrival, Authority, Database, Endpoint, Merchant, Receiver, Reply, on_both_databases, retries,
    text,
};
use verify_core::standard_webhooks::{EVENT_ID, SIGNATURE, TIMESTAMP};

const NAMES: [&str; 3] = [EVENT_ID, TIMESTAMP, SIGNATURE];

/// What the public library says, at the present time.
fn by_library(secret: &str, headers: &HeaderMap, body: &[u8]) -> Result<(), WebhookError> {
    Webhook::new(secret).unwrap().verify(body, headers)
}

/// Which of `secrets` signed, in the order of the header's signatures, by the public library.
fn signed_by(arrival: &Arrival, secrets: &[&str]) -> Vec<usize> {
    let signatures = arrival.header(SIGNATURE).split(' ');
    let of = |signature: &str| {
        let mut headers = arrival.headers.clone();
        headers.insert(SIGNATURE, signature.parse().unwrap());
        secrets.iter().position(|secret| by_library(secret, &headers, &arrival.body).is_ok()).unwrap()
    };
    signatures.map(of).collect()
}

/// The headers agree with each other and with the body.
fn agrees(arrival: &Arrival) {
    let event: serde_json::Value = serde_json::from_slice(&arrival.body).unwrap();
    assert_eq!(arrival.header(EVENT_ID), text(&event, "id"));
    assert_eq!(arrival.header(EVENT_ID), arrival.header("service-event-id"));
    assert_eq!(arrival.header(TIMESTAMP), arrival.header("service-timestamp"));
}

/// What is altered, or signed with another secret, is refused by the library.
fn refuses_what_is_altered(arrival: &Arrival, secret: &str) {
    let mut body = arrival.body.to_vec();
    body[20] ^= 1;
    assert!(matches!(by_library(secret, &arrival.headers, &body), Err(WebhookError::InvalidSignature)));
    let other = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    let refused = by_library(other, &arrival.headers, &arrival.body);
    assert!(matches!(refused, Err(WebhookError::InvalidSignature)));
    for name in NAMES {
        let mut headers = arrival.headers.clone();
        headers.remove(name);
        let refused = by_library(secret, &headers, &arrival.body);
        assert!(matches!(refused, Err(WebhookError::MissingHeader(_))), "{name}");
    }
}

async fn rotate(merchant: &Merchant, endpoint: &Endpoint) -> String {
    let path = endpoint.path("/rotate-secret");
    text(&merchant.api.post(&path, &json!({})).await.expect(200), "secret")
}

async fn test(merchant: &Merchant, endpoint: &Endpoint) -> Reply {
    merchant.api.post(&endpoint.path("/test"), &json!({})).await
}

/// First attempts, retries, replays and tests, during a rotation and after it.
async fn the_public_library_verifies_every_delivery(database: Database) {
    let authority = Authority::on(database, &[retries("0,0,0")]).await;
    let receiver = Receiver::start(|arrival| {
        let fails = arrival.path == "/hook" && arrival.nth == 1;
        Answer::status(if fails { 500 } else { 200 })
    })
    .await;
    let merchant = Merchant::create(&authority, "standard").await;
    let body = json!({ "url": receiver.url("/hook"), "signature_profile": "standard-webhooks" });
    let endpoint = merchant.endpoint_with(body).await;
    let plain = merchant.endpoint(&receiver.url("/plain"), &["*"]).await;
    let (old, new) = (endpoint.secret.clone(), rotate(&merchant, &endpoint).await);

    merchant.checkout().await;
    let event = text(&merchant.events().await[0], "id");
    receiver.until("the retry", |arrivals| arrivals.at("/hook").count() == 2).await;
    let replay = json!({ "endpoint_ids": [endpoint.id] });
    merchant.api.post(&format!("/events/{event}/replay"), &replay).await.expect(202);
    receiver.until("the replay", |arrivals| arrivals.at("/hook").count() == 3).await;
    test(&merchant, &endpoint).await.expect(202);
    let arrivals = receiver
        .until("the test", |arrivals| arrivals.at("/hook").count() == 5 && arrivals.accepted("/plain") == 1)
        .await;
    let during: Vec<&Arrival> = arrivals.at("/hook").collect();
    // Of the first event: attempt, retry, replay; of the test: attempt and retry.
    let ids: Vec<&str> = during.iter().map(|arrival| arrival.header(EVENT_ID)).collect();
    assert_eq!(ids[..3], [event.as_str(); 3]);
    assert!(ids.len() == 5 && ids[3] == ids[4] && ids[3] != event);
    for arrival in &during {
        agrees(arrival);
        assert_eq!(signed_by(arrival, &[&new, &old]), [0, 1], "the newest first");
        for secret in [&new, &old] {
            by_library(secret, &arrival.headers, &arrival.body).unwrap();
            refuses_what_is_altered(arrival, secret);
            // A receiver of ours, by the profile and by the service's own headers.
            assert_eq!(arrival.verify(secret).unwrap().id, arrival.header(EVENT_ID));
            assert_eq!(arrival.verify_standard(secret).unwrap().id, arrival.header(EVENT_ID));
        }
    }
    for arrival in arrivals.at("/plain") {
        assert!(NAMES.iter().all(|name| !arrival.headers.contains_key(*name)));
        arrival.verify(&plain.secret).unwrap();
    }

    merchant.api.post(&endpoint.path("/retire-secret"), &json!({})).await.expect(200);
    test(&merchant, &endpoint).await.expect(202);
    let arrivals = receiver.until("the last test", |arrivals| arrivals.at("/hook").count() == 7).await;
    for arrival in arrivals.at("/hook").skip(5) {
        assert_eq!(signed_by(arrival, &[&new, &old]), [0]);
        let refused = by_library(&old, &arrival.headers, &arrival.body);
        assert!(matches!(refused, Err(WebhookError::InvalidSignature)));
    }
    authority.nothing_pending().await;
    assert!(!authority.log().contains("whsec_"));
}

on_both_databases!(the_public_library_verifies_every_delivery);
