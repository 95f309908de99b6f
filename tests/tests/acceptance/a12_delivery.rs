//! A12: a delivery as its receiver sees it, when it is tried again, and what each answer means (contract 7.1 to 7.5).
//!
//! The clock stands until the test turns it, so that times are compared with times and not with patience.

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;
use tests::{
    Answer, Database, InProcess, Merchant, Receiver, has, ms, on_every_database, retries, rows, text,
};

on_every_database!(
    a12_headers_bytes_and_digest,
    a12_no_redirect_is_followed,
    a12_retries_come_at_the_times_of_the_schedule,
    a12_retry_after_moves_the_next_attempt,
    a12_gone_disables,
    a12_a_deleted_endpoint_gets_nothing_more,
);

/// The digest of contract 10.6, computed by nothing of this project.
fn digest(secret: &str, timestamp: &str, body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(timestamp.as_bytes());
    mac.update(b".");
    mac.update(body);
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

async fn a12_headers_bytes_and_digest(database: Database) {
    let (service, merchant) = Merchant::inside(database, &[], "signed").await;
    let receiver = Receiver::accepting().await;
    let endpoint = merchant.endpoint(&receiver.url("/hook?source=tests"), &["*"]).await;
    let now = service.clock.shown();
    merchant.paid_order().await;
    service.play_out().await;
    let arrivals = receiver.arrivals();
    let events = merchant.events().await;
    assert_eq!(arrivals.all.len(), events.len());
    for event in &events {
        let id = text(event, "id");
        let arrival = arrivals.all.iter().find(|arrival| arrival.event_id == id).unwrap();
        let stored = merchant.api.get(&format!("/events/{id}")).await;
        assert_eq!((stored.status, &stored.body), (200, &arrival.body), "the very bytes");
        let timestamp = now.div_euclid(1000).to_string();
        let signature = format!("v1={}", digest(&endpoint.secret, &timestamp, &stored.body));
        let length = stored.body.len().to_string();
        assert_eq!((arrival.method.as_str(), arrival.path.as_str()), ("POST", "/hook"));
        let delivery = merchant.delivery(arrival.header("service-delivery-id")).await;
        assert_eq!(delivery["event_id"], id);
        let host = receiver.url("").replace("http://", "");
        for (name, value) in [
            ("service-event-id", id.as_str()),
            ("service-timestamp", &timestamp),
            ("service-signature", &signature),
            ("service-version", "2026-09-01"),
            ("service-attempt", "1"),
            ("content-type", "application/json"),
            ("content-length", &length),
            ("user-agent", "Service-Webhooks/1"),
            ("accept-encoding", "identity"),
            ("host", &host),
        ] {
            assert_eq!(arrival.header(name), value, "{name}");
        }
        for absent in ["transfer-encoding", "content-encoding", "cookie", "authorization", "expect"] {
            assert_eq!(arrival.header(absent), "", "{absent}");
        }
        assert_eq!(arrival.verify_at(&endpoint.secret, now).unwrap().id, id);
    }
    service.stop().await;
}

async fn a12_no_redirect_is_followed(database: Database) {
    let service = InProcess::start(database, &[retries("0")]).await;
    let elsewhere = Receiver::accepting().await;
    let target = elsewhere.url("/elsewhere");
    let receiver = Receiver::start(move |arrival| {
        Answer::status(arrival.path[1..].parse().unwrap())
            .with("location", &target)
            .with("set-cookie", "a=b; Path=/")
    })
    .await;
    let merchant = Merchant::create(&service, "moved").await;
    let mut endpoints = Vec::new();
    for status in [301, 302, 303, 307, 308] {
        let endpoint = merchant.endpoint(&receiver.url(&format!("/{status}")), &["checkout.created"]).await;
        endpoints.push((status, endpoint));
    }
    merchant.checkout().await;
    merchant.checkout().await;
    service.play_out().await;
    for (status, endpoint) in &endpoints {
        for delivery in merchant.deliveries(endpoint).await {
            let expected =
                json!({ "status": "failed", "last_outcome": "redirect", "last_response_status": status });
            has(&delivery, expected);
        }
    }
    assert_eq!(elsewhere.arrivals().all.len(), 0);
    let arrivals = receiver.arrivals().all;
    assert_eq!(arrivals.len(), 10);
    assert!(arrivals.iter().all(|arrival| arrival.header("cookie").is_empty()), "no cookie comes back");
    service.stop().await;
}

async fn a12_retries_come_at_the_times_of_the_schedule(database: Database) {
    let (service, merchant) = Merchant::inside(database, &[retries("0,1,2")], "patient").await;
    let receiver = Receiver::start(|_| Answer::status(500)).await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["*"]).await;
    let start = service.clock.shown();
    merchant.checkout().await;
    service.play_out().await;
    let delivery = merchant.deliveries(&endpoint).await.remove(0);
    has(&delivery, json!({ "status": "failed", "failure_reason": "attempts_exhausted", "attempt_count": 3 }));
    let delivery = merchant.delivery(&text(&delivery, "id")).await;
    let attempts = delivery["attempts"].as_array().unwrap();
    let begun: Vec<i64> = attempts.iter().map(|attempt| ms(attempt, "started_at") - start).collect();
    assert_eq!(begun, [0, 1_000, 3_000]);
    let announced: Vec<i64> = attempts[..2].iter().map(|attempt| ms(attempt, "retry_at") - start).collect();
    assert_eq!((announced, &attempts[2]["retry_at"]), (vec![1_000, 3_000], &Value::Null));
    let arrivals = receiver.arrivals().all;
    assert_eq!(arrivals.len(), 3);
    for ((arrival, attempt), number) in arrivals.iter().zip(attempts).zip(1..) {
        // Signed anew at each attempt; everything else is as it was.
        let at = ms(attempt, "started_at");
        assert_eq!(arrival.header("service-timestamp"), at.div_euclid(1000).to_string());
        assert_eq!(attempt["signed_timestamp"], at.div_euclid(1000));
        arrival.verify_at(&endpoint.secret, at).unwrap();
        assert_eq!(
            (arrival.header("service-attempt"), &attempt["number"]),
            (&*number.to_string(), &json!(number))
        );
        assert_eq!(arrival.header("service-delivery-id"), text(&delivery, "id"));
        assert_eq!(arrival.body, arrivals[0].body);
    }
    service.stop().await;
}

/// What a receiver asks for is what it gets, from the end of the attempt on, where the schedule would be earlier.
async fn a12_retry_after_moves_the_next_attempt(database: Database) {
    let service = InProcess::start(database, &[retries("0,5")]).await;
    let start = service.clock.shown();
    let date = |at_ms: i64| http_date(at_ms.div_euclid(1000));
    let table: [(u16, String, i64); 8] = [
        (429, "120".into(), 120_000),
        (503, "120".into(), 120_000),
        (429, date(start + 600_000), 600_000 - start.rem_euclid(1000)),
        (503, "86400".into(), 86_400_000),
        (429, "90000".into(), 86_400_000),
        (500, "120".into(), 5_000),
        (429, "soon".into(), 5_000),
        (503, "0".into(), 5_000),
    ];
    let rows = table.clone();
    let receiver = Receiver::start(move |arrival| {
        let (status, asked, _) = &rows[arrival.path[1..].parse::<usize>().unwrap()];
        match arrival.nth {
            1 => Answer::status(*status).with("retry-after", asked),
            _ => Answer::status(200),
        }
    })
    .await;
    let merchant = Merchant::create(&service, "busy").await;
    let mut endpoints = Vec::new();
    for row in 0..table.len() {
        endpoints.push(merchant.endpoint(&receiver.url(&format!("/{row}")), &["*"]).await);
    }
    merchant.checkout().await;
    service.play_out().await;
    for ((status, asked, wait), endpoint) in table.iter().zip(&endpoints) {
        let delivery = merchant.deliveries(endpoint).await.remove(0);
        assert_eq!((&delivery["status"], &delivery["attempt_count"]), (&json!("succeeded"), &json!(2)));
        let delivery = merchant.delivery(&text(&delivery, "id")).await;
        let attempts = &delivery["attempts"];
        assert_eq!(ms(&attempts[0], "retry_at") - start, *wait, "{status} {asked}");
        // 429 and 503 hold the endpoint back as well: never earlier, and here never later either.
        assert_eq!(ms(&attempts[1], "started_at") - start, *wait, "{status} {asked}");
    }
    service.stop().await;
}

/// `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 5.6.7).
fn http_date(unix_s: i64) -> String {
    let output = std::process::Command::new("date")
        .env("LC_ALL", "C")
        .args(["--utc", &format!("--date=@{unix_s}"), "+%a, %d %b %Y %H:%M:%S GMT"])
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

async fn a12_gone_disables(database: Database) {
    let (service, merchant) = Merchant::inside(database, &[retries("0,60,60")], "gone").await;
    let receiver = Receiver::start(|arrival| match arrival.number {
        1 => Answer::status(500),
        // What it asks for besides is not looked at.
        _ => Answer::status(410).with("retry-after", "1"),
    })
    .await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["checkout.created"]).await;
    merchant.checkout().await;
    receiver.until("a failure", |arrivals| arrivals.all.len() == 1).await;
    merchant.checkout().await;
    service.play_out().await;
    let now = merchant.endpoint_now(&endpoint).await;
    assert_eq!((&now["status"], &now["disabled_reason"]), (&json!("disabled"), &json!("gone")));
    let fates = merchant.fates(&endpoint).await;
    assert_eq!(fates, ["failed gone 1", "cancelled endpoint_disabled 1"], "the newest first");
    assert_eq!(receiver.arrivals().all.len(), 2);
    let alerts = merchant.alerts("endpoint_disabled").await;
    assert!(alerts.iter().any(|alert| alert["endpoint_id"] == endpoint.id), "{alerts:?}");
    // Nothing is made for it any more.
    merchant.checkout().await;
    assert_eq!(merchant.deliveries(&endpoint).await.len(), 2);
    service.stop().await;
}

async fn a12_a_deleted_endpoint_gets_nothing_more(database: Database) {
    let (service, merchant) = Merchant::inside(database, &[retries("0,60,60")], "deleted").await;
    let receiver = Receiver::start(|_| Answer::status(500)).await;
    let kept = merchant.endpoint(&receiver.url("/kept"), &["checkout.created"]).await;
    let deleted = merchant.endpoint(&receiver.url("/deleted"), &["checkout.created"]).await;
    merchant.checkout().await;
    service.play_until(service.clock.shown() + 1).await;
    let path = deleted.path("");
    merchant.api.delete(&path).await.expect(200);
    merchant.checkout().await;
    service.play_out().await;
    let arrivals = receiver.arrivals();
    assert_eq!((arrivals.at("/deleted").count(), arrivals.at("/kept").count()), (1, 6));
    assert_eq!(merchant.fates(&kept).await, ["failed attempts_exhausted 3"; 2]);
    // The history stays, for the operator.
    let path = format!("/deliveries?endpoint_id={}", deleted.id);
    let page = merchant.operator.get(&path).await.expect(200);
    let rows: Vec<_> = rows(&page).iter().map(|row| (&row["status"], &row["failure_reason"])).collect();
    assert_eq!(rows, [(&json!("cancelled"), &json!("endpoint_deleted"))]);
    merchant.api.get(&path).await.refused(404, "route_not_found");
    service.stop().await;
}
