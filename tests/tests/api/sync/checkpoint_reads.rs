//! Checkpoints as they are read: lists of them (contract 4.12), and how far consumers are behind (2.12).

use serde_json::{Value, json};
use tests::{Database, Merchant, SCOPES, on_both_databases, rows, text};

use super::checkpoints::acknowledge;
use crate::sync::changes;

on_both_databases!(checkpoints_are_listed_and_found, health_tells_how_far_consumers_are_behind);

async fn checkpoints_are_listed_and_found(database: Database) {
    let (authority, merchant) = Merchant::on(database, "many").await;
    let events = text(&merchant.api.get("/events").await.expect(200), "resume_cursor");
    let orders = text(&changes(&merchant, "").await, "resume_cursor");
    for n in 0..100 {
        let (stream, cursor) = if n % 2 == 0 { ("events", &events) } else { ("orders", &orders) };
        let body = json!({ "name": format!("c{}", n / 2), "stream": stream, "cursor": cursor });
        acknowledge(&merchant, &body).await.expect(200);
    }
    let body = json!({ "name": "one-more", "cursor": events });
    acknowledge(&merchant, &body).await.refused(409, "checkpoint_limit_reached");
    // Those that are there go on; the other mode has its own hundred.
    acknowledge(&merchant, &json!({ "name": "c7", "cursor": events })).await.expect(200);
    let live = authority.merchant(&merchant.issue_key("live", &SCOPES).await);
    let in_live = text(&live.get("/events").await.expect(200), "resume_cursor");
    live.post("/sync/checkpoints", &json!({ "name": "c0", "cursor": in_live })).await.expect(200);

    let names = |page: &Value| -> Vec<String> {
        rows(page).iter().map(|row| format!("{} {}", text(row, "name"), text(row, "stream"))).collect()
    };
    let (mut all, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = merchant.api.get(&format!("/sync/checkpoints?limit=40&cursor={cursor}")).await.expect(200);
        assert_eq!(page.get("resume_cursor"), None);
        all.extend(names(&page));
        let Some(next) = page["next_cursor"].as_str() else { break };
        next.clone_into(&mut cursor);
    }
    let newest_first = (0..50).rev().flat_map(|n| [format!("c{n} orders"), format!("c{n} events")]);
    assert_eq!(all, newest_first.collect::<Vec<_>>());
    for (query, expected) in [
        ("name=c7", vec!["c7 orders", "c7 events"]),
        ("name=c7&stream=events", vec!["c7 events"]),
        ("name=nobody", vec![]),
    ] {
        let page = merchant.api.get(&format!("/sync/checkpoints?{query}")).await.expect(200);
        assert_eq!(names(&page), expected, "{query}");
    }
    let of_orders = merchant.api.get("/sync/checkpoints?stream=orders&limit=100").await.expect(200);
    assert_eq!(rows(&of_orders).len(), 50);
    merchant.api.get("/sync/checkpoints?stream=refunds").await.refused(400, "invalid_parameter");
    let filtered = merchant.api.get("/sync/checkpoints?stream=orders&limit=1").await.expect(200);
    let elsewhere = format!("/sync/checkpoints?cursor={}", text(&filtered, "next_cursor"));
    merchant.api.get(&elsewhere).await.refused(400, "invalid_cursor");
}

async fn health_tells_how_far_consumers_are_behind(database: Database) {
    let (authority, merchant) = Merchant::on(database, "behind").await;
    let health = async || merchant.health().await;
    assert_eq!(health().await["checkpoints"], json!([]));
    let events = text(&merchant.api.get("/events").await.expect(200), "resume_cursor");
    merchant.paid_order().await;
    merchant.checkout().await;
    let orders = text(&changes(&merchant, "").await, "resume_cursor");
    let made = [
        acknowledge(&merchant, &json!({ "name": "a", "cursor": events })).await.expect(200),
        acknowledge(&merchant, &json!({ "name": "a", "stream": "orders", "cursor": orders }))
            .await
            .expect(200),
    ];
    merchant.checkout().await;
    let row = |stream: &str, lag: u64, made: &Value| json!({ "name": "a", "stream": stream, "lag_events": lag, "updated_at": made["updated_at"] });
    // A consumer that has seen the end of the feed of orders lags behind what came after, and nothing else.
    let expected = json!([row("orders", 1, &made[1]), row("events", 8, &made[0])]);
    let said = health().await;
    assert_eq!((&said["checkpoints"], &said["status"]), (&expected, &json!("healthy")));
    for scope in ["events:read", "webhooks:manage"] {
        let without = authority.merchant(&merchant.issue_key("test", &[scope]).await);
        assert_eq!(without.get("/integration-health").await.expect(200).get("checkpoints"), None);
        let with = authority.merchant(&merchant.issue_key("test", &[scope, "sync:read"]).await);
        assert_eq!(with.get("/integration-health").await.expect(200)["checkpoints"], expected);
    }
    let live = authority.merchant(&merchant.issue_key("live", &SCOPES).await);
    assert_eq!(live.get("/integration-health").await.expect(200)["checkpoints"], json!([]));
}
