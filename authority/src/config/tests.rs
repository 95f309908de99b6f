//! Every variable: its default, its format, and each refusal in one line that repeats no value.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

use authority_domain::ListKind;
use authority_domain::cursor::{CursorError, Owner};
use authority_domain::delivery::retry::RetryPolicy;
use authority_store::StoreUrl;

use super::*;

const KEK: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const OTHER_KEY: &str = "//////////////////////////////////////////8=";

/// Reads the configuration from a table. Adds the one variable that is always needed, unless the table has it.
fn read(variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
    Config::read(&|name| lookup(variables, name))
}

fn lookup(variables: &[(&str, &str)], name: &str) -> Option<OsString> {
    let base = [("AUTHORITY_SECRET_KEK", KEK)];
    variables.iter().chain(&base).find(|(key, _)| *key == name).map(|(_, value)| value.into())
}

fn config(variables: &[(&str, &str)]) -> Config {
    read(variables).expect("accepted")
}

#[test]
fn the_defaults_are_those_of_the_contract() {
    let config = config(&[]);
    assert_eq!(config.environment, Environment::Production);
    assert_eq!(*config.database_url.store_url(), StoreUrl::Sqlite("authority.db".into()));
    assert_eq!(config.listen.to_string(), "0.0.0.0:8080");
    assert_eq!(config.operator_listen.to_string(), "127.0.0.1:8081");
    assert_eq!(config.base_url, None);
    assert_eq!(config.portal, PortalLooks::default());
    assert_eq!(config.url_policy, UrlPolicy::Public);
    assert_eq!(config.idempotency_retention.as_secs(), 30 * 86_400);
    assert_eq!(config.sandbox, Sandbox::On);
    assert_eq!(config.ready_max_delay.as_secs(), 300);

    let delivery = config.delivery;
    assert_eq!(delivery.retry, RetryPolicy::standard());
    assert_eq!((delivery.connect_timeout.as_millis(), delivery.timeout.as_millis()), (5_000, 15_000));
    assert_eq!((delivery.concurrency.get(), delivery.concurrency_per_endpoint.get()), (512, 128));

    let limits = config.rate_limits.expect("on");
    let quotas = [
        limits.read_live,
        limits.read_test,
        limits.write_live,
        limits.write_test,
        limits.delivery,
        limits.auth,
    ]
    .map(|quota| (quota.refill.get(), quota.window.as_secs(), quota.burst.get()));
    assert_eq!(quotas, [(100, 1, 200), (25, 1, 50), (25, 1, 50), (10, 1, 20), (60, 60, 60), (20, 60, 20)]);
}

#[test]
fn every_variable_is_taken() {
    let config = config(&[
        ("AUTHORITY_ENV", "development"),
        ("AUTHORITY_DATABASE_URL", "sqlite:///var/lib/authority/authority.db"),
        ("AUTHORITY_LISTEN", "[::1]:0"),
        ("AUTHORITY_OPERATOR_LISTEN", "[::1]:0"),
        ("AUTHORITY_BASE_URL", "https://commerce.example/api/"),
        ("AUTHORITY_PROBLEM_BASE_URL", "https://docs.example/errors/"),
        ("AUTHORITY_REQUIRE_IDEMPOTENCY_KEY", "true"),
        ("AUTHORITY_PORTAL_NAME", "Acme"),
        ("AUTHORITY_PORTAL_COLOR", "#1b4F9a"),
        ("AUTHORITY_PORTAL_LOGO", "acme.svg"),
        ("AUTHORITY_ALLOW_LOOPBACK_ENDPOINTS", "true"),
        ("AUTHORITY_RETRY_SCHEDULE", "0,1,2592000"),
        ("AUTHORITY_RETRY_JITTER", "0"),
        ("AUTHORITY_REJECTED_ATTEMPTS", "10"),
        ("AUTHORITY_CONNECT_TIMEOUT_MS", "100"),
        ("AUTHORITY_DELIVERY_TIMEOUT_MS", "50000"),
        ("AUTHORITY_DELIVERY_CONCURRENCY", "4096"),
        ("AUTHORITY_DELIVERY_CONCURRENCY_PER_ENDPOINT", "1"),
        ("AUTHORITY_IDEMPOTENCY_DAYS", "1"),
        ("AUTHORITY_RATE_READ_LIVE_PER_SECOND", "7"),
        ("AUTHORITY_RATE_AUTH_PER_MINUTE", "8"),
    ]);
    assert_eq!(config.environment, Environment::Development);
    assert_eq!(*config.database_url.store_url(), StoreUrl::Sqlite("/var/lib/authority/authority.db".into()));
    assert_eq!(
        (config.listen.to_string(), config.operator_listen.to_string()),
        ("[::1]:0".into(), "[::1]:0".into())
    );
    assert_eq!(config.base_url.as_deref(), Some("https://commerce.example/api"));
    assert_eq!(config.problem_base_url.as_deref(), Some("https://docs.example/errors"));
    assert!(config.require_idempotency_key);
    let looks = PortalLooks {
        name: Some("Acme".to_owned()),
        color: Some(Color([0x1b, 0x4f, 0x9a])),
        logo: Some("acme.svg".into()),
    };
    assert_eq!(config.portal, looks);
    assert_eq!(config.url_policy, UrlPolicy::Development);
    assert_eq!(Ok(config.delivery.retry), RetryPolicy::new(vec![0, 1, 2_592_000], 0.0, 10));
    assert_eq!(config.delivery.connect_timeout, Duration::from_millis(100));
    assert_eq!(config.delivery.timeout, Duration::from_secs(50));
    assert_eq!(config.delivery.concurrency.get(), 4096);
    assert_eq!(config.delivery.concurrency_per_endpoint.get(), 1);
    assert_eq!(config.idempotency_retention, Duration::from_secs(86_400));
    let limits = config.rate_limits.expect("on");
    assert_eq!((limits.read_live.refill.get(), limits.read_live.burst.get()), (7, 14));
    assert_eq!((limits.auth.refill.get(), limits.auth.burst.get()), (8, 8));
}

#[test]
fn the_sandbox_can_be_switched_off() {
    assert_eq!(config(&[("AUTHORITY_SANDBOX", "off")]).sandbox, Sandbox::Off);
    assert_eq!(config(&[("AUTHORITY_SANDBOX", "on")]).sandbox, Sandbox::On);
    let refused = read(&[("AUTHORITY_SANDBOX", "true")]).unwrap_err();
    assert_eq!(refused.to_string(), "AUTHORITY_SANDBOX must be on or off");
}

#[test]
fn rate_limits_can_be_switched_off() {
    assert_eq!(config(&[("AUTHORITY_RATE_LIMITS", "off")]).rate_limits, None);
    assert!(config(&[("AUTHORITY_RATE_LIMITS", "on")]).rate_limits.is_some());
}

#[test]
fn a_schedule_has_at_most_a_hundred_attempts() {
    let waits = |count| vec!["1"; count].join(",");
    assert!(read(&[("AUTHORITY_RETRY_SCHEDULE", &waits(100))]).is_ok());
    assert!(read(&[("AUTHORITY_RETRY_SCHEDULE", &waits(101))]).is_err());
}

#[test]
fn bytes_that_are_not_text_are_refused() {
    let bytes = OsString::from_vec(vec![b'o', 0xff]);
    let error = Config::read(&|name| (name == "AUTHORITY_ENV").then(|| bytes.clone())).expect_err("refused");
    assert_eq!(error.to_string(), "AUTHORITY_ENV must be UTF-8 text");
}

#[test]
fn the_key_encryption_key_has_no_default_in_either_environment() {
    for environment in ["production", "development"] {
        let error =
            Config::read(&|name| (name == "AUTHORITY_ENV").then(|| environment.into())).expect_err("refused");
        assert_eq!(
            error.to_string(),
            "AUTHORITY_SECRET_KEK is not set: it must be 32 random bytes in base64, such as `openssl rand -base64 32` prints"
        );
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    let cases: [(&[(&str, &str)], &str); 3] = [
        (
            &[("AUTHORITY_ALLOW_LOOPBACK_ENDPOINTS", "true")],
            "AUTHORITY_ALLOW_LOOPBACK_ENDPOINTS is allowed only with AUTHORITY_ENV=development",
        ),
        (
            &[("AUTHORITY_LISTEN", "127.0.0.1:9000"), ("AUTHORITY_OPERATOR_LISTEN", "127.0.0.1:9000")],
            "AUTHORITY_OPERATOR_LISTEN is the same address as AUTHORITY_LISTEN; the operator API has its own listener",
        ),
        (
            &[("AUTHORITY_SECRET_KEK_PREVIOUS", KEK)],
            "AUTHORITY_SECRET_KEK_PREVIOUS has the same key id as AUTHORITY_SECRET_KEK: make another new key",
        ),
    ];
    for (variables, line) in cases {
        assert_eq!(read(variables).expect_err(line).to_string(), line);
    }
    assert_eq!(config(&[("AUTHORITY_ALLOW_LOOPBACK_ENDPOINTS", "false")]).url_policy, UrlPolicy::Public);
}

/// A cursor of the operator's list of events at position 7, made with the keys of `config`.
fn cursor(config: &Config) -> String {
    config.keys.cursors.encode(ListKind::OperatorEvents, 7, Owner::Operator, "")
}

fn position(config: &Config, text: &str) -> Result<u64, CursorError> {
    config.keys.cursors.decode(text, ListKind::OperatorEvents, Owner::Operator, "")
}

#[test]
fn the_first_cursor_key_signs_and_all_verify() {
    let old = config(&[("AUTHORITY_CURSOR_KEYS", &format!("3:{KEK}"))]);
    let new = config(&[("AUTHORITY_CURSOR_KEYS", &format!("7:{OTHER_KEY},3:{KEK}"))]);
    assert_eq!(position(&new, &cursor(&old)), Ok(7));
    assert_eq!(position(&old, &cursor(&new)), Err(CursorError::UnknownKey));
    assert!(position(&config(&[]), &cursor(&old)).is_err(), "the derived key is another one");
}

#[test]
fn derived_cursor_keys_outlive_a_change_of_the_key_encryption_key() {
    let before = config(&[]);
    let during = config(&[("AUTHORITY_SECRET_KEK", OTHER_KEY), ("AUTHORITY_SECRET_KEK_PREVIOUS", KEK)]);
    let after = config(&[("AUTHORITY_SECRET_KEK", OTHER_KEY)]);
    assert_eq!(position(&config(&[]), &cursor(&before)), Ok(7), "the same key after a restart");
    assert_eq!(position(&during, &cursor(&before)), Ok(7));
    assert_eq!(position(&after, &cursor(&during)), Ok(7));
    assert_eq!(position(&after, &cursor(&before)), Err(CursorError::UnknownKey));
}

#[test]
fn debug_shows_no_key() {
    let list = format!("7:{OTHER_KEY}");
    let shown = format!(
        "{:?}",
        config(&[("AUTHORITY_CURSOR_KEYS", &list), ("AUTHORITY_SECRET_KEK_PREVIOUS", OTHER_KEY)])
    );
    assert!(shown.contains("Kek(redacted)") && shown.contains("CursorKeys(1 keys, redacted)"), "{shown}");
    assert!(!shown.contains("255, 255") && !shown.contains("1, 2, 3, 4"), "{shown}");
}

#[test]
fn a_database_address_is_read_alone() {
    let read = |value: Option<&str>| {
        let lookup = |name: &str| value.filter(|_| name == "AUTHORITY_DATABASE_URL").map(OsString::from);
        read_database_url(&lookup).map(|url| url.store_url().clone())
    };
    assert_eq!(read(None), Ok(StoreUrl::Sqlite("authority.db".into())));
    for url in [
        "sqlite:///var/a.db",
        "postgres://user:pw@db.example.com:5433/authority?sslmode=verify-full",
        "postgresql://localhost/authority?host=/run/postgresql",
    ] {
        assert_eq!(read(Some(url)).ok(), StoreUrl::parse(url), "{url}");
    }
    assert!(read(Some("mysql://x")).is_err());
}

#[test]
fn a_database_address_is_not_shown() {
    let config = config(&[("AUTHORITY_DATABASE_URL", "postgres://user:pass-word@host/db")]);
    let shown = format!("{config:?}");
    assert!(shown.contains("DatabaseUrl(redacted)") && !shown.contains("pass-word"), "{shown}");
}
