//! `authority config`: every setting, and with `check` also what `serve` would refuse, before it is started.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tests::binary::lone;

const KEK: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// What `config check` prints, says and exits with.
async fn check(variables: &[(&str, &str)], arguments: &[&str]) -> (String, String, Option<i32>) {
    config(variables, &[&["check"], arguments].concat()).await
}

async fn config(variables: &[(&str, &str)], arguments: &[&str]) -> (String, String, Option<i32>) {
    let mut command = lone(&[&["config"], arguments].concat());
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
    let (set, address) = (json!("set"), json!("postgres://db.example/orders"));
    for (name, value, default, unit, source, secret, reloaded) in [
        ("AUTHORITY_SECRET_KEK", set, json!(null), json!(null), "environment", true, true),
        ("AUTHORITY_SECRET_KEK_PREVIOUS", json!(null), json!(null), json!(null), "default", true, true),
        (
            "AUTHORITY_DATABASE_URL",
            address,
            json!("sqlite://authority.db"),
            json!(null),
            "environment",
            false,
            false,
        ),
        (
            "AUTHORITY_REJECTED_ATTEMPTS",
            json!("7"),
            json!("4"),
            json!("attempts"),
            "environment",
            false,
            false,
        ),
        (
            "AUTHORITY_LISTEN",
            json!("0.0.0.0:8080"),
            json!("0.0.0.0:8080"),
            json!(null),
            "default",
            false,
            false,
        ),
        ("AUTHORITY_BASE_URL", json!(null), json!(null), json!(null), "default", false, false),
    ] {
        let expected = json!({
            "name": name,
            "value": value,
            "default": default,
            "unit": unit,
            "source": source,
            "secret": secret,
            "reloaded": reloaded,
        });
        assert_eq!(settings[name], expected);
    }

    let (table, _, code) = check(&variables, &[]).await;
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!((code, rows.len()), (Some(0), settings.len() + 1));
    assert_eq!(rows[0], ["NAME", "VALUE", "SOURCE", "UNIT", "RELOAD", "DEFAULT"]);
    let attempts = vec!["AUTHORITY_REJECTED_ATTEMPTS", "7", "environment", "attempts", "start", "4"];
    assert!(rows.contains(&attempts), "{table}");
    assert!(rows.contains(&vec!["AUTHORITY_BASE_URL", "-", "default", "-", "start", "-"]), "{table}");
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

#[tokio::test]
async fn a_value_may_be_in_a_file_or_a_credential() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).into_os_string().into_string().unwrap();
    std::fs::write(path("AUTHORITY_SECRET_KEK"), KEK).unwrap();
    std::fs::write(path("database"), "postgres://shop:topsecret@db.example/orders\n").unwrap();
    let (database, credentials) = (path("database"), path(""));
    let variables = [
        ("AUTHORITY_DATABASE_URL_FILE", database.as_str()),
        ("CREDENTIALS_DIRECTORY", credentials.as_str()),
        ("AUTHORITY_SANDBOX", "off"),
    ];
    let (printed, said, code) = check(&variables, &["--json"]).await;
    assert_eq!((said.as_str(), code), ("", Some(0)));
    for (name, value, source) in [
        ("AUTHORITY_SECRET_KEK", "set", "credential"),
        ("AUTHORITY_DATABASE_URL", "postgres://db.example/orders", "file"),
        ("AUTHORITY_SANDBOX", "off", "environment"),
        ("AUTHORITY_LOG", "info", "default"),
    ] {
        let settings = printed.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let setting = settings.into_iter().find(|setting| setting["name"] == name).unwrap();
        assert_eq!((&setting["value"], &setting["source"]), (&json!(value), &json!(source)), "{name}");
    }
    let twice = [&variables[..], &[("AUTHORITY_SECRET_KEK", KEK)]].concat();
    let line =
        "authority: AUTHORITY_SECRET_KEK is given twice: by the environment and a credential of systemd\n";
    assert_eq!(check(&twice, &[]).await, (String::new(), line.to_owned(), Some(2)));
}

#[tokio::test]
async fn without_check_a_wrong_value_is_shown_as_it_is() {
    let (table, said, code) = config(&[("AUTHORITY_SANDBOX", "maybe")], &[]).await;
    assert_eq!((said.as_str(), code), ("", Some(0)));
    assert!(
        table.lines().any(|line| line.starts_with("AUTHORITY_SANDBOX ") && line.contains(" maybe ")),
        "{table}"
    );
    let (json, _, code) = config(&[("AUTHORITY_SANDBOX", "maybe")], &["--json"]).await;
    assert_eq!((json.lines().count(), code), (table.lines().count() - 1, Some(0)));
    // So is a name: the table is what shows the mistake.
    let (other, said, code) = config(&[("AUTHORITY_LISTNE", "topsecret")], &[]).await;
    let line = "authority: AUTHORITY_LISTNE is not a variable of this program: is AUTHORITY_LISTEN meant?\n";
    assert_eq!((said.as_str(), code), (line, Some(0)));
    assert_eq!(other.lines().count(), table.lines().count());
}

/// The files of `deploy` that set variables; the name of another would be found when somebody deploys.
const DEPLOYMENTS: [&str; 3] = [
    include_str!("../../../deploy/debian/env"),
    include_str!("../../../deploy/compose/compose.yaml"),
    include_str!("../../../deploy/kubernetes/authority.yaml"),
];

#[tokio::test]
async fn what_deployments_set_are_settings() {
    let (printed, _, code) = config(&[], &["--json"]).await;
    assert_eq!(code, Some(0));
    let settings: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let is_setting = |name: &str| settings.iter().any(|setting| setting["name"] == name);
    for deployment in DEPLOYMENTS {
        // Comments name what a person sets for the deployment itself.
        let lines = deployment.lines().filter(|line| !line.trim_start().starts_with('#'));
        let words = lines.flat_map(|line| line.split(|c: char| !c.is_ascii_uppercase() && c != '_'));
        let mut found = 0;
        for name in words.filter(|word| word.starts_with("AUTHORITY_") && *word != "AUTHORITY_VERSION") {
            assert!(is_setting(name.trim_end_matches("_FILE")), "{name} is no setting");
            found += 1;
        }
        assert!(found >= 4, "{found} variables");
    }
}
