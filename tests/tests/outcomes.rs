//! What a receiver's answer means: how often a delivery is tried, and what becomes of its endpoint (contract 7.3, 7.5).

#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::{Value, json};
use tests::authority::Authority;
use tests::merchant::{Endpoint, Merchant};
use tests::receiver::{Answer, Gate, Receiver};

/// Five attempts for what is worth retrying, two for a receiver that refuses; no waits.
const BUDGETS: [(&str, &str); 2] =
    [("AUTHORITY_RETRY_SCHEDULE", "0,0,0,0,0"), ("AUTHORITY_REJECTED_ATTEMPTS", "2")];

#[tokio::test]
async fn every_status_has_its_budget() {
    let authority = Authority::start(&BUDGETS).await;
    let receiver = Receiver::start(|arrival| {
        let status = arrival.path[1..].parse().unwrap();
        Answer::status(status).with("location", "/200")
    })
    .await;
    let table: [(u16, usize, &str); 26] = [
        (200, 1, ""),
        (201, 1, ""),
        (204, 1, ""),
        (299, 1, ""),
        (300, 2, "redirect"),
        (301, 2, "redirect"),
        (302, 2, "redirect"),
        (304, 2, "redirect"),
        (307, 2, "redirect"),
        (308, 2, "redirect"),
        (400, 2, "http_error"),
        (401, 2, "http_error"),
        (403, 2, "http_error"),
        (404, 2, "http_error"),
        (405, 2, "http_error"),
        (413, 2, "http_error"),
        (422, 2, "http_error"),
        (408, 5, "http_error"),
        (409, 5, "http_error"),
        (425, 5, "http_error"),
        (429, 5, "http_error"),
        (500, 5, "http_error"),
        (502, 5, "http_error"),
        (503, 5, "http_error"),
        (599, 5, "http_error"),
        (410, 1, "http_error"),
    ];
    let mut endpoints: Vec<(Merchant, Endpoint)> = Vec::new();
    for (half, rows) in table.chunks(13).enumerate() {
        let merchant = Merchant::create(&authority, &format!("half-{half}")).await;
        for (status, ..) in rows {
            let endpoint = merchant.endpoint(&receiver.url(&format!("/{status}")), &["*"]).await;
            endpoints.push((merchant.clone(), endpoint));
        }
        merchant.checkout().await;
    }
    authority.nothing_pending().await;

    let arrivals = receiver.arrivals();
    for ((status, attempts, error), (merchant, endpoint)) in table.iter().zip(&endpoints) {
        let path = format!("/{status}");
        // The two 200s: a redirect that is followed would be a third.
        assert_eq!(arrivals.at(&path).count(), *attempts, "{status}");
        let endpoint = merchant.endpoint_now(endpoint).await;
        let health = &endpoint["health"];
        assert_eq!(health["last_response_status"], *status);
        assert_eq!(health["last_error"].as_str().unwrap_or_default(), *error, "{status}");
        let failures = if error.is_empty() { 0 } else { *attempts };
        assert_eq!(health["consecutive_failures"], failures, "{status}");
        let state = match failures {
            0 => "healthy",
            5 => "degraded",
            _ => "unknown",
        };
        assert_eq!(health["state"], state, "{status}");
        let (enabled, reason) =
            if *status == 410 { ("disabled", json!("gone")) } else { ("enabled", Value::Null) };
        assert_eq!(
            (&endpoint["status"], &endpoint["disabled_reason"]),
            (&json!(enabled), &reason),
            "{status}"
        );
    }
}

/// Nobody listens, and what answers is not HTTP.
#[tokio::test]
async fn no_answer_is_worth_every_attempt() {
    let authority = Authority::start(&BUDGETS).await;
    let merchant = Merchant::create(&authority, "unheard").await;
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let babbling = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let babble = babbling.local_addr().unwrap();
    let talking = tokio::spawn(async move {
        loop {
            let (mut stream, _) = babbling.accept().await.unwrap();
            tokio::io::AsyncWriteExt::write_all(&mut stream, b"220 mail.example.com ESMTP\r\n\r\n")
                .await
                .unwrap();
        }
    });
    let nobody = merchant.endpoint(&format!("http://{closed}/"), &["*"]).await;
    let babbler = merchant.endpoint(&format!("http://{babble}/"), &["*"]).await;
    merchant.checkout().await;
    authority.nothing_pending().await;
    talking.abort();
    for (endpoint, error) in [(nobody, "connect_error"), (babbler, "protocol_error")] {
        let health = &merchant.endpoint_now(&endpoint).await["health"];
        assert_eq!(health["last_error"], error);
        assert_eq!(
            (&health["consecutive_failures"], &health["last_response_status"]),
            (&json!(5), &Value::Null)
        );
    }
}

/// 410 ends everything for the endpoint: what waits, what is in flight and fails, and what comes later.
#[tokio::test]
async fn gone_is_final() {
    let mut authority = Authority::start(&[("AUTHORITY_RETRY_SCHEDULE", "0,1,86400")]).await;
    let gate = Gate::closed();
    let held = gate.clone();
    // The first event is gone after a while, the second waits for its retry, the third is in flight until the end.
    let receiver =
        Receiver::start(move |arrival| match (arrival.path.as_str(), arrival.number, arrival.nth) {
            ("/other", ..) => Answer::status(200),
            (_, 1, _) => Answer::status(503),
            (_, _, 2) => Answer::status(410),
            (_, 2, _) => Answer::status(503).with("retry-after", "3600"),
            _ => Answer::status(503).held_by(&held),
        })
        .await;
    let merchant = Merchant::create(&authority, "moved-away").await;
    let endpoint = merchant.endpoint(&receiver.url("/gone"), &["*"]).await;
    for number in 1..=3 {
        merchant.checkout().await;
        receiver.until("one more", |arrivals| arrivals.all.len() >= number).await;
    }
    receiver.until("the retry", |arrivals| arrivals.all.len() == 4).await;
    let disabled = tests::eventually::eventually("disabled", async || {
        let now = merchant.endpoint_now(&endpoint).await;
        (now["status"] == "disabled").then_some(now)
    })
    .await;
    assert_eq!((&disabled["disabled_reason"], &disabled["resource_version"]), (&json!("gone"), &json!(2)));
    assert!(disabled["disabled_at"].is_string());
    gate.open();
    authority.nothing_pending().await;

    merchant.endpoint(&receiver.url("/other"), &["*"]).await;
    merchant.checkout().await;
    let path = format!("/webhook-endpoints/{}/test", endpoint.id);
    merchant.api.post(&path, &json!({})).await.refused(409, "endpoint_disabled");
    authority.nothing_pending().await;
    authority.terminate().await;
    let arrivals = receiver.arrivals();
    assert_eq!((arrivals.at("/gone").count(), arrivals.at("/other").count()), (4, 1));
}
