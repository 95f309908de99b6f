//! The log as JSON (contract 16): one object per line, with the ids that an operator searches for, and no secret.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tests::{Answer, Database, KEK, Merchant, Receiver, has, on_both_databases, retries, text};

const MANUAL: &str = include_str!("../../../../docs/operations.md");

on_both_databases!(json_lines_carry_ids_and_never_a_secret);

/// The lines of the log that say `message`.
fn saying<'l>(lines: &'l [Value], message: &str) -> Vec<&'l Value> {
    lines.iter().filter(|line| line["message"] == message).collect()
}

async fn json_lines_carry_ids_and_never_a_secret(database: Database) {
    let variables = [("AUTHORITY_LOG_FORMAT", "json"), ("AUTHORITY_LOG", "trace"), retries("0,0")];
    let (mut authority, merchant) = Merchant::on_with(database, &variables, "logged").await;
    let receiver = Receiver::start(|arrival| Answer::status(if arrival.nth == 1 { 500 } else { 200 })).await;
    let endpoint = merchant.endpoint(&receiver.url("/hook?token=urlsecret"), &["*"]).await;
    merchant.paid_order().await;
    authority.nothing_pending().await;
    let path = endpoint.path("/rotate-secret");
    let rotated = text(&merchant.api.post(&path, &json!({})).await.expect(200), "secret");
    let asked = merchant.api.get("/orders/ORD-9").await;
    let request_id = asked.header("service-request-id").unwrap().to_owned();
    let wrong = format!("{}x", merchant.key);
    merchant.api.with_key(Some(&wrong)).get("/orders").await.refused(401, "invalid_api_key");
    let sink = authority.operator().post("/sink", &json!({ "url": receiver.url("/sink") })).await.expect(201);
    merchant.checkout().await;
    authority.nothing_pending().await;
    authority.terminate().await;

    let log = authority.log();
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}")))
        .collect();
    for line in &lines {
        for member in ["timestamp", "level", "target", "message"] {
            assert!(line[member].is_string(), "no {member}: {line}");
        }
    }
    // A request is found by the id that its client was given.
    let answered = saying(&lines, "answered");
    let [found] = answered.iter().filter(|line| line["request_id"] == request_id).collect::<Vec<_>>()[..]
    else {
        panic!("{request_id} is not there once")
    };
    let expected = json!({
        "route": "/v1/merchant/orders/{order}", "status": 404, "method": "GET", "merchant": merchant.id,
    });
    has(found, expected);
    let row = MANUAL.lines().find(|line| line.starts_with("| `answered` ")).unwrap();
    for member in ["request_id", "api", "merchant", "method", "route", "status", "ms"] {
        assert!(found.get(member).is_some() && row.contains(&format!("`{member}`")), "{member}: {found}");
    }
    // An attempt by its delivery, its event, its endpoint.
    let attempts: BTreeSet<(String, String, String)> =
        [saying(&lines, "attempt failed"), saying(&lines, "delivered")]
            .concat()
            .iter()
            .map(|line| (text(line, "delivery_id"), text(line, "event_id"), line["attempt"].to_string()))
            .collect();
    let arrived: BTreeSet<(String, String, String)> = receiver
        .arrivals()
        .all
        .iter()
        .map(|arrival| {
            let header = |name: &str| arrival.header(name).to_owned();
            (header("service-delivery-id"), arrival.event_id.clone(), header("service-attempt"))
        })
        .collect();
    assert_eq!(attempts, arrived);
    assert!(saying(&lines, "delivered").iter().any(|line| line["endpoint_id"] == endpoint.id));
    // And nothing else of anybody: no key, no secret, no URL, no word of a body.
    let key = &merchant.key;
    let sink_secret = text(&sink, "secret");
    for secret in [key, &endpoint.secret, &rotated, &sink_secret, authority.operator_key(), KEK] {
        assert!(!log.contains(&secret[secret.len() - 30..]), "a secret is in the log");
    }
    for word in ["urlsecret", "T-shirt", "Bearer", "v1=", "Authorization"] {
        assert!(!log.contains(word), "{word} is in the log");
    }
}
