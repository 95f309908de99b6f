//! Integration health (contract 2.12; acceptance A18).

use serde_json::{Value, json};
use tests::damage::damage;
use tests::{Answer, Database, Merchant, Receiver, eventually, has, on_both_databases, retries, texts};

use super::patch;

/// The codes of the open alerts, sorted.
fn codes(health: &Value) -> Vec<String> {
    let mut codes = texts(health["alerts"].as_array().unwrap(), "code");
    codes.sort();
    codes
}

/// Waits until the answer satisfies `enough`.
async fn until(merchant: &Merchant, what: &str, enough: impl Fn(&Value) -> bool) -> Value {
    eventually(what, async || Some(merchant.health().await).filter(&enough)).await
}

async fn it_shows_nothing_all_good_and_a_backlog(database: Database) {
    let (authority, merchant) = Merchant::on_with(database, &[retries("0,3600")], "healthy").await;
    let receiver = Receiver::start(|arrival| {
        Answer::status(if arrival.path == "/good" || arrival.number > 1 { 200 } else { 500 })
    })
    .await;
    let nothing = merchant.health().await;
    let expected = json!({
        "object": "integration_health", "status": "healthy", "generated_at": nothing["generated_at"],
        "livemode": false, "endpoints": [], "alerts": [], "checkpoints": [],
        "outbox": { "pending": 0, "due_now": 0, "scheduled_retries": 0, "failed_24h": 0, "oldest_pending_at": null,
                    "oldest_pending_age_seconds": null, "latest_sequence": 0, "oldest_retained_sequence": 1 },
    });
    assert_eq!(nothing, expected);
    // One that waits for an hour after its first attempt, one that gets everything.
    let late = merchant.endpoint(&receiver.url("/late"), &["checkout.created"]).await;
    merchant.checkout().await;
    until(&merchant, "an attempt", |health| health["endpoints"][0]["attempts_24h"] == 1).await;
    let good = merchant.endpoint(&receiver.url("/good"), &["payment.*"]).await;
    merchant.paid_order().await;
    let seen = until(&merchant, "three successes", |health| {
        health["endpoints"][1]["attempts_24h"] == 2 && health["endpoints"][0]["attempts_24h"] == 2
    })
    .await;
    assert_eq!((&seen["status"], &seen["alerts"]), (&json!("healthy"), &json!([])));
    let [first, second] = &seen["endpoints"].as_array().unwrap()[..] else { panic!("{seen}") };
    assert_eq!((&first["id"], &second["id"]), (&json!(late.id), &json!(good.id)));
    let expected = json!({
        "id": good.id, "url": receiver.url("/good"), "status": "enabled", "state": "healthy",
        "last_success_at": second["last_success_at"], "last_failure_at": null, "last_response_status": 200,
        "consecutive_failures": 0, "pending_deliveries": 0, "attempts_24h": 2, "failed_attempts_24h": 0,
        "latency_p95_ms": second["latency_p95_ms"], "disabled_reason": null, "previous_secret_expires_at": null,
    });
    assert_eq!(*second, expected);
    assert!(second["last_success_at"].is_string() && second["latency_p95_ms"].is_u64());
    assert_eq!((&first["pending_deliveries"], &first["failed_attempts_24h"]), (&json!(1), &json!(1)));
    let outbox = &seen["outbox"];
    has(outbox, json!({ "pending": 1, "due_now": 0, "scheduled_retries": 1 }));
    assert!(outbox["oldest_pending_at"].is_string() && outbox["oldest_pending_age_seconds"].is_u64());
    assert_eq!(outbox["latest_sequence"], 7);
    // What has been due for long makes the outbox late; the dispatcher is kept from it by a lease of nobody's.
    let sql = "UPDATE deliveries SET next_attempt_at = 1000, lease_token = 'nobody', lease_until = 9000000000000000 \
               WHERE status = 'pending'";
    assert_eq!(damage(authority.database_url(), sql).await, 1);
    let late = merchant.health().await;
    assert_eq!((codes(&late), &late["status"]), (vec!["outbox_delayed".to_owned()], &json!("degraded")));
    assert_eq!((&late["alerts"][0]["endpoint_id"], &late["outbox"]["due_now"]), (&Value::Null, &json!(1)));
    // Either scope reads it, and no other; the other mode has its own.
    for scope in ["webhooks:manage", "events:read"] {
        let key = merchant.issue_key("live", &[scope]).await;
        let live = authority.merchant(&key).get("/integration-health").await.expect(200);
        assert_eq!((&live["livemode"], &live["endpoints"]), (&json!(true), &json!([])));
    }
    let other = authority.merchant(&merchant.issue_key("test", &["orders:read"]).await);
    let refused = other.get("/integration-health").await.refused(403, "insufficient_scope");
    assert_eq!(refused["required_scopes"], json!(["webhooks:manage", "events:read"]));
    merchant.api.get("/integration-health?limit=1").await.refused(400, "unknown_parameter");
}

/// A receiver that answers 410 ends its endpoint; its merchant opens it again.
async fn a_disabled_endpoint_is_an_alert_until_it_is_enabled(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "gone").await;
    let receiver = Receiver::start(|_| Answer::status(410)).await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["checkout.created"]).await;
    merchant.checkout().await;
    let gone = until(&merchant, "the end", |health| health["endpoints"][0]["status"] == "disabled").await;
    assert_eq!(
        (&gone["endpoints"][0]["disabled_reason"], &gone["status"]),
        (&json!("gone"), &json!("failing"))
    );
    assert_eq!(codes(&gone), ["deliveries_failed", "endpoint_disabled"]);
    patch(&merchant.api, &endpoint.id, &json!({ "status": "enabled" })).send().await.expect(200);
    let open = merchant.health().await;
    assert_eq!((codes(&open), &open["status"]), (vec!["deliveries_failed".to_owned()], &json!("degraded")));
    super::delete(&merchant.api, &endpoint.id).send().await.expect(200);
    let deleted = merchant.health().await;
    assert_eq!((&deleted["alerts"], &deleted["status"]), (&json!([]), &json!("healthy")));
}

/// An address that is refused and a certificate that is not trusted are told at once.
async fn what_is_wrong_with_the_receivers_address_is_an_alert(database: Database) {
    let (authority, merchant) = Merchant::on_with(database, &[retries("0,3600")], "astray").await;
    let receiver = Receiver::accepting().await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["checkout.created"]).await;
    // A URL that was allowed when it was stored and is not any more.
    let sql = "UPDATE webhook_endpoints SET url = 'https://10.0.0.1/'";
    assert_eq!(damage(authority.database_url(), sql).await, 1);
    merchant.checkout().await;
    until(&merchant, "a blocked address", |health| codes(health) == ["blocked_address"]).await;
    // It speaks no TLS.
    let secure = receiver.url("/hook").replace("http://", "https://");
    let changed = patch(&merchant.api, &endpoint.id, &json!({ "url": secure })).send().await.expect(200);
    assert_eq!(merchant.health().await["alerts"], json!([]), "another address");
    merchant.checkout().await;
    until(&merchant, "no certificate", |health| codes(health) == ["tls_certificate_invalid"]).await;
    let right = json!({ "url": receiver.url("/hook"), "description": "right" });
    let right = patch(&merchant.api, &endpoint.id, &right)
        .header("if-match", &changed["resource_version"].to_string());
    right.send().await.expect(200);
    merchant.checkout().await;
    receiver.until("a delivery", |arrivals| arrivals.all.len() == 1).await;
    until(&merchant, "no alert", |health| {
        health["alerts"] == json!([]) && health["endpoints"][0]["state"] == "healthy"
    })
    .await;
}

on_both_databases!(
    it_shows_nothing_all_good_and_a_backlog,
    a_disabled_endpoint_is_an_alert_until_it_is_enabled,
    what_is_wrong_with_the_receivers_address_is_an_alert,
);
