//! A12, continued: each class of contract 7.3, by every status and by everything that is no answer.

use serde_json::json;
use tests::{Answer, Database, Down, InProcess, Merchant, Receiver, has, on_every_database, retries, text};
use tokio::io::AsyncWriteExt as _;

on_every_database!(a12_every_status_has_its_class, a12_no_answer_is_worth_the_full_schedule);

/// Five attempts for what is worth retrying, two for a receiver that refuses.
const BUDGETS: [(&str, &str); 2] = [retries("0,1,1,1,1"), ("AUTHORITY_REJECTED_ATTEMPTS", "2")];

const SUCCEEDED: &str = "succeeded null 1";
const GONE: &str = "failed gone 1";
const REJECTED: &str = "failed rejected 2";
const EXHAUSTED: &str = "failed attempts_exhausted 5";

async fn a12_every_status_has_its_class(database: Database) {
    let service = InProcess::start(database, &BUDGETS).await;
    let receiver = Receiver::start(|arrival| {
        Answer::status(arrival.path[1..].parse().unwrap()).with("location", "/200")
    })
    .await;
    let table: [(&str, &str, &[u16]); 5] = [
        (SUCCEEDED, "success", &[200, 201, 202, 204, 299]),
        (GONE, "http_error", &[410]),
        (REJECTED, "redirect", &[300, 301, 302, 303, 304, 307, 308]),
        (REJECTED, "http_error", &[400, 401, 403, 404, 405, 406, 413, 415, 418, 422, 451, 499]),
        (EXHAUSTED, "http_error", &[408, 409, 425, 429, 500, 501, 502, 503, 504, 507, 599]),
    ];
    let rows: Vec<(u16, &str, &str)> = table
        .iter()
        .flat_map(|(fate, outcome, statuses)| statuses.iter().map(move |status| (*status, *fate, *outcome)))
        .collect();
    let mut endpoints = Vec::new();
    for (n, some) in rows.chunks(12).enumerate() {
        let merchant = Merchant::create(&service, &format!("classes-{n}")).await;
        for (status, fate, outcome) in some {
            let endpoint = merchant.endpoint(&receiver.url(&format!("/{status}")), &["*"]).await;
            endpoints.push((merchant.clone(), endpoint, *status, *fate, *outcome));
        }
        merchant.checkout().await;
    }
    service.play_out().await;
    let arrivals = receiver.arrivals();
    for (merchant, endpoint, status, fate, outcome) in &endpoints {
        assert_eq!(merchant.fates(endpoint).await, [*fate], "{status}");
        let delivery = merchant.deliveries(endpoint).await.remove(0);
        has(&delivery, json!({ "last_outcome": outcome, "last_response_status": status }));
        let made = delivery["attempt_count"].as_u64().unwrap();
        assert_eq!(arrivals.at(&format!("/{status}")).count() as u64, made, "{status}");
        let enabled = if *fate == GONE { "disabled" } else { "enabled" };
        let now = merchant.endpoint_now(endpoint).await;
        assert_eq!(now["status"], enabled, "{status}");
        let failures = if *fate == SUCCEEDED { 0 } else { made };
        let health = (&now["health"]["last_response_status"], &now["health"]["consecutive_failures"]);
        assert_eq!(health, (&json!(status), &json!(failures)), "{status}");
    }
    service.stop().await;
}

async fn a12_no_answer_is_worth_the_full_schedule(database: Database) {
    let variables = [&BUDGETS[..], &[("AUTHORITY_DELIVERY_TIMEOUT_MS", "1500")]].concat();
    let service = InProcess::start(database, &variables).await;
    let down = Down::new();
    let (silent, _never) = Receiver::gated(200).await;
    let babbling = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let babble = babbling.local_addr().unwrap();
    let talking = tokio::spawn(async move {
        loop {
            let (mut stream, _) = babbling.accept().await.unwrap();
            stream.write_all(b"220 mail.example.com ESMTP\r\n\r\n").await.unwrap();
        }
    });
    service.names.lead("inside.example.com", &["93.184.215.14"]);
    let table = [
        ("connect_error", down.url("/")),
        ("timeout", silent.url("/")),
        ("protocol_error", format!("http://{babble}/")),
        ("tls_error", format!("https://{babble}/")),
        ("dns_error", "https://nowhere.example.com/".to_owned()),
        ("blocked_address", "https://inside.example.com/".to_owned()),
    ];
    let merchant = Merchant::create(&service, "unheard").await;
    let mut endpoints = Vec::new();
    for (outcome, url) in &table {
        endpoints.push((*outcome, merchant.endpoint(url, &["*"]).await));
    }
    service.names.lead("inside.example.com", &["127.0.0.1"]);
    merchant.checkout().await;
    service.play_out().await;
    talking.abort();
    for (outcome, endpoint) in &endpoints {
        assert_eq!(merchant.fates(endpoint).await, [EXHAUSTED], "{outcome}");
        let delivery = merchant.deliveries(endpoint).await.remove(0);
        let delivery = merchant.delivery(&text(&delivery, "id")).await;
        for attempt in delivery["attempts"].as_array().unwrap() {
            assert_eq!(attempt["outcome"], *outcome);
            assert!(
                attempt["response_status"].is_null() && attempt["response_excerpt"].is_null(),
                "{attempt}"
            );
        }
    }
    for (outcome, code) in [("blocked_address", "blocked_address"), ("tls_error", "tls_certificate_invalid")]
    {
        let (_, endpoint) = endpoints.iter().find(|(name, _)| *name == outcome).unwrap();
        let alerts = merchant.alerts(code).await;
        assert_eq!(alerts.iter().filter(|alert| alert["endpoint_id"] == endpoint.id).count(), 1, "{code}");
    }
    service.stop().await;
}
