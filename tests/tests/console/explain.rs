//! Why a receiver refused: what it got is pasted, and judged with the endpoint's own secrets.

use std::fmt::Write as _;

use serde_json::json;
use tests::{Arrival, Database, Merchant, Receiver, on_both_databases};

use crate::browser::{Browser, audit};

on_both_databases!(what_a_receiver_got_is_judged);

/// The headers as people paste them.
fn lines(arrival: &Arrival) -> String {
    let mut text = String::new();
    for (name, value) in &arrival.headers {
        write!(text, "{name}: {}\r\n", value.to_str().unwrap()).unwrap();
    }
    text
}

async fn what_a_receiver_got_is_judged(database: Database) {
    let (authority, merchant) = Merchant::on(database, "acme").await;
    let receiver = Receiver::accepting().await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["checkout.created"]).await;
    let other = merchant.endpoint(&receiver.url("/other"), &["order.created"]).await;
    merchant.checkout().await;
    let arrivals = receiver.until("a delivery", |arrivals| arrivals.accepted("/hook") == 1).await;
    let arrival = arrivals.at("/hook").next().unwrap();
    let (headers, body) = (lines(arrival), String::from_utf8(arrival.body.to_vec()).unwrap());
    let newline = format!("{body}\r\n");
    let reserialized = body.replacen("\":", "\": ", 3);
    let without_signature: String =
        headers.split_inclusive('\n').filter(|line| !line.starts_with("service-signature")).collect();

    let browser = Browser::signed_in(&authority).await;
    let page = |endpoint: &str| format!("/console/endpoints/{endpoint}/explain");
    let own = page(&endpoint.id);
    let judged = async |path: &str, headers: &str, body: &str, at: &str| {
        let typed = [("headers", headers), ("body", body), ("received_at", at)];
        let reply = browser.send(path, path, &typed).await;
        assert!(!reply.text().contains(&endpoint.secret), "no secret is shown");
        (reply.status, reply.text().to_owned())
    };
    let foreign = page(&other.id);
    let cases = [
        (&own, &headers, &body, "", "It is valid", "verifies with the secret of this endpoint"),
        (&own, &headers, &newline, "", "<code>invalid_signature</code>", "<bdi>body_newline</bdi>"),
        (&own, &headers, &reserialized, "", "<code>invalid_signature</code>", "<bdi>body_reserialized</bdi>"),
        (&own, &without_signature, &body, "", "<code>missing_signature</code>", "<bdi>header_dropped</bdi>"),
        (
            &own,
            &headers,
            &body,
            "2040-01-01T00:00:00Z",
            "<code>stale_timestamp</code>",
            "<bdi>old_delivery</bdi>",
        ),
        (&foreign, &headers, &body, "", "<code>invalid_signature</code>", "<bdi>other_secret_or_bytes</bdi>"),
    ];
    for (path, headers, body, at, verdict, cause) in cases {
        let (status, html) = judged(path, headers, body, at).await;
        assert!(status == 200 && html.contains(verdict) && html.contains(cause), "{verdict} {cause}: {html}");
    }

    // What is no time is refused, and what was pasted is still there.
    let (status, html) = judged(&own, &headers, "<b>", "yesterday").await;
    assert_eq!(status, 422);
    assert!(html.contains("value=\"yesterday\"") && html.contains("&#60;b&#62;</textarea>"), "{html}");
    // No event has such a body (contract 5.6), and to judge it would take much memory.
    let (status, html) = judged(&own, &headers, &"1".repeat(256 * 1024 + 1), "").await;
    assert!(status == 413 && html.contains("The body of an event has at most 256 KiB"), "{html}");
    // It does not come back either: as HTML it would be several times as large.
    assert!(html.len() < 64 * 1024, "{} bytes", html.len());
    let (status, html) = judged(&own, &"a: \"".repeat(16 * 1024), &body, "").await;
    assert!(status == 413 && html.contains("at most 32 KiB") && !html.contains("a: &#34;a"), "{html}");
    // A secret that no longer signs is named as such.
    let rotate = endpoint.path("/rotate-secret");
    merchant.api.post(&rotate, &json!({ "overlap_seconds": 0 })).await.expect(200);
    let (_, html) = judged(&own, &headers, &body, "").await;
    assert!(html.contains("<code>invalid_signature</code>"), "{html}");
    // It is a question, so the audit log has nothing of it.
    assert!(audit(&authority).await.iter().all(|(operation, _)| !operation.contains("explain")));
}
