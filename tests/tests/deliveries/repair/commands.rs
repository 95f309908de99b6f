//! The same by the command line, beside a running service (contract 6.4).

use serde_json::{Value, json};
use tests::{Authority, Database, Merchant, on_both_databases, text};

use super::{ONCE, Switched, ended, missing};

async fn an_operator_sees_and_recovers_what_is_missing(database: Database) {
    let authority = Authority::on(database, &[ONCE]).await;
    let switched = Switched::down().await;
    let merchant = Merchant::create(&authority, "operated").await;
    let endpoint = merchant.endpoint(&switched.receiver.url("/hook"), &["*"]).await;
    merchant.checkout().await;
    merchant.checkout().await;
    authority.nothing_pending().await;
    let listed = authority.prints(&["endpoint", "undelivered", "--id", &endpoint.id, "--json"]).await;
    let listed: Vec<Value> = listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<_> =
        listed.iter().map(|event| (event["sequence"].clone(), event["reason"].clone())).collect();
    assert_eq!(told, [(json!(2), json!("attempts_exhausted")), (json!(1), json!("attempts_exhausted"))]);
    let recover = ["endpoint", "recover", "--id", &endpoint.id, "--since", "2020-01-01T00:00:00Z"];
    let counted = authority.prints(&[&recover[..], &["--dry-run"]].concat()).await;
    assert_eq!(counted.trim(), format!("{}  2", endpoint.id));
    switched.goes_up();
    let made = authority.tells(&recover).await;
    assert_eq!(ended(&merchant, &made).await["status"], "completed");
    authority.nothing_pending().await;
    assert_eq!(missing(&merchant, &endpoint).await, []);
    let log = merchant.operator.get("/audit-log?limit=1").await.expect(200);
    assert_eq!(
        (text(&log["data"][0], "operation"), &log["data"][0]["resource_id"]),
        ("webhook_endpoints.recover".to_owned(), &made["id"])
    );
    let wrong = authority.run(&["endpoint", "recover", "--id", &endpoint.id, "--since", "yesterday"]).await;
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("--since"));
    let unknown = authority.run(&["endpoint", "undelivered", "--id", "we_1"]).await;
    assert_eq!(unknown.status.code(), Some(1));
}

on_both_databases!(an_operator_sees_and_recovers_what_is_missing);
