//! `authority config check`: what `serve` would run with, and what it would refuse, before it is started.

#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tests::binary::lone;

const KEK: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// What the command prints, says and exits with.
async fn check(variables: &[(&str, &str)], arguments: &[&str]) -> (String, String, Option<i32>) {
    let mut command = lone(&[&["config", "check"], arguments].concat());
    let output = command.envs(variables.iter().copied()).output().await.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code())
}

#[tokio::test]
async fn every_setting_is_printed_with_its_source_and_no_secret() {
    let variables = [
        ("AUTHORITY_SECRET_KEK", KEK),
        ("AUTHORITY_DATABASE_URL", "postgres://shop:topsecret@db.example/orders"),
        ("AUTHORITY_REJECTED_ATTEMPTS", "7"),
        ("AUTHORITY_COLOUR", "topsecret"),
    ];
    let (printed, said, code) = check(&variables, &["--json"]).await;
    assert_eq!((said.as_str(), code), ("authority: nothing reads AUTHORITY_COLOUR\n", Some(0)));
    let settings: BTreeMap<String, Value> = printed
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|setting| (setting["name"].as_str().unwrap().to_owned(), setting))
        .collect();
    assert_eq!(settings.len(), printed.lines().count());
    for (name, value, source, secret) in [
        ("AUTHORITY_SECRET_KEK", json!("set"), "environment", true),
        ("AUTHORITY_SECRET_KEK_PREVIOUS", Value::Null, "default", true),
        ("AUTHORITY_DATABASE_URL", json!("postgres://db.example/orders"), "environment", false),
        ("AUTHORITY_REJECTED_ATTEMPTS", json!("7"), "environment", false),
        ("AUTHORITY_LISTEN", json!("0.0.0.0:8080"), "default", false),
        ("AUTHORITY_BASE_URL", Value::Null, "default", false),
    ] {
        let expected = json!({ "name": name, "value": value, "source": source, "secret": secret });
        assert_eq!(settings[name], expected);
    }

    let (table, _, code) = check(&variables, &[]).await;
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!((code, rows.len()), (Some(0), settings.len() + 1));
    assert_eq!(rows[0], ["NAME", "VALUE", "SOURCE"]);
    assert!(rows.contains(&vec!["AUTHORITY_REJECTED_ATTEMPTS", "7", "environment"]), "{table}");
    assert!(rows.contains(&vec!["AUTHORITY_BASE_URL", "-", "default"]), "{table}");
    for shown in [printed, table] {
        assert!(!shown.contains("topsecret") && !shown.contains(KEK), "{shown}");
    }
}

#[tokio::test]
async fn what_serve_refuses_is_named() {
    for (variables, line) in [
        (
            &[("AUTHORITY_SECRET_KEK", KEK), ("AUTHORITY_LISTNE", "topsecret")][..],
            "AUTHORITY_LISTNE is not a variable of this program: is AUTHORITY_LISTEN meant?",
        ),
        (
            &[("AUTHORITY_SECRET_KEK", KEK), ("AUTHORITY_RATE_LIMITS", "topsecret")],
            "AUTHORITY_RATE_LIMITS must be on or off",
        ),
        (
            &[("AUTHORITY_SECRET_KEK", KEK), ("AUTHORITY_LOG_FORMAT", "")],
            "AUTHORITY_LOG_FORMAT must be text or json",
        ),
        (
            &[],
            "AUTHORITY_SECRET_KEK is not set: it must be 32 random bytes in base64, such as `openssl rand -base64 32` \
             prints",
        ),
    ] {
        let expected = (String::new(), format!("authority: {line}\n"), Some(2));
        assert_eq!(check(variables, &[]).await, expected);
        assert_eq!(check(variables, &["--json"]).await, expected);
    }
}
