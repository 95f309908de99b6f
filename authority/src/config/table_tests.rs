//! Every variable again, as a table that operators could read: the result without a value, the accepted values at both
//! ends of its range, and the refused values just beyond.

use super::names::is_known;
use super::{Config, ConfigError, Logging};

const KEK: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// Variable, accepted values, refused values.
const TABLE: &[(&str, &[&str], &[&str])] = &[
    (
        "AUTHORITY_DATABASE_URL",
        &["sqlite://a.db", "sqlite:///a/b.db", "postgres://u:p@h/d", "postgresql://h/d"],
        &[
            "",
            "a.db",
            "mysql://h/d",
            "postgres://h",
            "postgres://user:pw@host",
            "mysql://user:pw@host/db",
            "postgres://user:pw@host/",
            "postgres:///db",
            "postgres:db",
            "sqlite:",
            "sqlite://",
            "sqlite::memory:",
            "sqlite://a.db?mode=memory",
            "sqlite://?mode=rw",
            "sqlite:a.db",
            "sqlite:///a.db?mode=rwc",
            "postgres://h/d?sslmode=maybe",
            "postgres://user:1/pw@host/db",
        ],
    ),
    (
        "AUTHORITY_LISTEN",
        &["0.0.0.0:0", "[::]:65535"],
        &["", "8080", "localhost:80", "1.2.3.4:65536", ":8080", "127.0.0.1"],
    ),
    (
        "AUTHORITY_OPERATOR_LISTEN",
        &["127.0.0.1:0", "[::1]:65535"],
        &["", "8081", "localhost:81", "127.0.0.1:"],
    ),
    (
        "AUTHORITY_BASE_URL",
        &["https://a.example", "http://a.example/x/"],
        &[
            "",
            "a.example",
            "https://u@a.example",
            "https://a.example?q",
            "https://user:pw@commerce.example",
            "ftp://commerce.example",
            "https://commerce.example#x",
        ],
    ),
    (
        "AUTHORITY_PROBLEM_BASE_URL",
        &["https://docs.example", "http://docs.example/errors/"],
        &[
            "",
            "docs.example",
            "https://docs.example?code=",
            "https://docs.example#errors",
            "urn:service:error:",
        ],
    ),
    (
        "AUTHORITY_PORTAL_NAME",
        &["A", "Jones & Söhne <Shop>", "123456789012345678901234567890123456789012345678901234567890"],
        &[
            "",
            " A",
            "A\n",
            "A\u{85}B",
            "1234567890123456789012345678901234567890123456789012345678901",
            "line\nline",
        ],
    ),
    (
        "AUTHORITY_PORTAL_COLOR",
        &["#000000", "#1b4F9a"],
        &["", "#fff", "000000", "#12345g", "red", "#1234567", "#12345", "#12345x"],
    ),
    ("AUTHORITY_PORTAL_LOGO", &["/etc/logo.png", "logo.svg"], &[""]),
    (
        "AUTHORITY_SECRET_KEK",
        &[KEK, "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"],
        &[
            "",
            "AAEC",
            "0123456789abcdef0123456789abcdef",
            "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n",
            "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHg==",
        ],
    ),
    ("AUTHORITY_SECRET_KEK_PREVIOUS", &["//////////////////////////////////////////8="], &["", "AAEC", KEK]),
    (
        "AUTHORITY_CURSOR_KEYS",
        &[
            "0:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
            "255:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
        ],
        &[
            "",
            KEK,
            "256:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
            ",",
            "//////////////////////////////////////////8=",
            "1:",
            "1:short",
            "256://////////////////////////////////////////8=",
            "-1://////////////////////////////////////////8=",
            "a://////////////////////////////////////////8=",
            "1://////////////////////////////////////////8=,1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
        ],
    ),
    (
        "AUTHORITY_ENV",
        &["production", "development"],
        &["", "prod", "DEVELOPMENT", "Production", "development "],
    ),
    ("AUTHORITY_ALLOW_LOOPBACK_ENDPOINTS", &["false"], &["", "true", "1", "yes", "TRUE"]),
    (
        "AUTHORITY_RETRY_SCHEDULE",
        &["0", "2592000", "0,5,300"],
        &["", "0,", "2592001", "-1", "0;5", ",", "0, 5", "0,-5", "0,1.5", "0,5s"],
    ),
    ("AUTHORITY_RETRY_JITTER", &["0", "0.2", "1"], &["", "-0.1", "1.1", "NaN", "1.01", "inf", "20%"]),
    ("AUTHORITY_REJECTED_ATTEMPTS", &["1", "4294967295"], &["", "0", "4294967296", "+4", "4.0"]),
    ("AUTHORITY_CONNECT_TIMEOUT_MS", &["1", "50000"], &["", "0", "50001", "5s"]),
    ("AUTHORITY_DELIVERY_TIMEOUT_MS", &["1", "50000"], &["", "0", "50001", "99999999999"]),
    ("AUTHORITY_DISABLE_AFTER_HOURS", &["1", "120", "8760"], &["", "0", "8761", "1.5", "-1"]),
    ("AUTHORITY_DELIVERY_CONCURRENCY", &["1", "4096"], &["", "0", "4097"]),
    ("AUTHORITY_DELIVERY_CONCURRENCY_PER_ENDPOINT", &["1", "256"], &["", "0", "257"]),
    ("AUTHORITY_REQUIRE_IDEMPOTENCY_KEY", &["true", "false"], &["", "on", "1", "True"]),
    ("AUTHORITY_IDEMPOTENCY_DAYS", &["1", "3650"], &["", "0", "3651"]),
    ("AUTHORITY_READY_MAX_DELAY_SECONDS", &["1", "86400"], &["", "0", "86401", "5m"]),
    ("AUTHORITY_RATE_LIMITS", &["on", "off"], &["", "true", "no", "Off"]),
    ("AUTHORITY_SANDBOX", &["on", "off"], &["", "true"]),
    ("AUTHORITY_RATE_READ_LIVE_PER_SECOND", &["1", "1000000"], &["", "0", "1000001"]),
    ("AUTHORITY_RATE_READ_TEST_PER_SECOND", &["1", "1000000"], &["", "0", "1000001"]),
    ("AUTHORITY_RATE_WRITE_LIVE_PER_SECOND", &["1", "1000000"], &["", "0", "1000001"]),
    ("AUTHORITY_RATE_WRITE_TEST_PER_SECOND", &["1", "1000000"], &["", "0", "1000001"]),
    ("AUTHORITY_RATE_DELIVERY_PER_MINUTE", &["1", "1000000"], &["", "0", "1000001"]),
    ("AUTHORITY_RATE_AUTH_PER_MINUTE", &["1", "1000000"], &["", "0", "1000001"]),
    (
        "AUTHORITY_TRUSTED_PROXIES",
        &["10.0.0.0/8", "127.0.0.1,::1, fd00::/8"],
        &["", "10.0.0.0/33", "proxy.example", "10.0.0.1,", "10.0.0.1;10.0.0.2"],
    ),
    ("AUTHORITY_EVENT_RETENTION_DAYS", &["90", "365", "36500"], &["", "0", "89", "36501", "forever"]),
    (
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        &["", "http://127.0.0.1:4318", "https://otel.example/otlp/"],
        &["127.0.0.1:4318", "grpc://otel.example", "https://u:p@otel.example", "https://otel.example?q"],
    ),
    (
        "AUTHORITY_PRIVATE_RECEIVERS",
        &["10.0.0.0/8,corp.example", "corp.example, fd12::/16 ,10.0.0.1"],
        &["", "10.0.0.0/8", "corp.example", "0.0.0.0/0,corp.example", "127.0.0.1,localhost", "10.0.0.0/8,*"],
    ),
    (
        "AUTHORITY_PLATFORM_PRIVATE_RECEIVERS",
        &["10.0.0.0/8,app", "127.0.0.1,::1,localhost"],
        &["", "169.254.169.254,app", "93.184.215.14,app", "10.0.0.0/8,http://app"],
    ),
    (
        "AUTHORITY_EGRESS_PROXY",
        &["http://proxy.example:3128", "http://u:p@10.0.0.1", "http://[::1]:8080/"],
        &[
            "",
            "proxy.example:3128",
            "https://proxy.example",
            "http://proxy.example/path",
            "http://p.example?q",
        ],
    ),
    ("AUTHORITY_EXTRA_ROOTS", &["/etc/roots.pem", "roots.pem"], &[""]),
    ("AUTHORITY_LOG", &["off", "trace", "info,hyper=debug"], &["", "loud", "INFO"]),
    ("AUTHORITY_LOG_FORMAT", &["text", "json"], &["", "yaml"]),
];

/// Refused values that stand in the examples of what a value must be.
const IN_EXAMPLES: [&str; 3] = ["sqlite://", "127.0.0.1", "127.0.0.1:"];

/// Reads the configuration of `serve` with one variable set besides the one that is always needed.
fn read(variable: &str, value: &str) -> Result<(), ConfigError> {
    let lookup = |name: &str| match name {
        name if name == variable => Some(value.into()),
        "AUTHORITY_SECRET_KEK" => Some(KEK.into()),
        _ => None,
    };
    Logging::read(&lookup)?;
    Config::read(&lookup).map(|_| ())
}

#[test]
fn every_variable_takes_its_range_and_nothing_beyond() {
    for (variable, taken, refused) in TABLE {
        for value in *taken {
            assert_eq!(read(variable, value), Ok(()), "{variable}={value}");
        }
        for value in *refused {
            let error = read(variable, value).expect_err(&format!("{variable}={value:?}"));
            assert_eq!(error.variable(), *variable, "{error}");
            let must_be = if matches!(error, ConfigError::Malformed { .. }) { "must be " } else { "" };
            let line = error.to_string();
            assert!(
                line.starts_with(&format!("{variable} {must_be}")) && line.lines().count() == 1,
                "{line}"
            );
            let is_hidden = !line.contains(value) || value.len() < 8 || IN_EXAMPLES.contains(value);
            assert!(is_hidden, "{line} repeats the value");
        }
    }
}

/// Every variable that is read must be in the table, so that its values are tested, in the operations manual, so that
/// operators know it, and among the known names, so that `serve` does not refuse it.
#[test]
fn every_variable_stands_in_the_table_and_in_the_manual() {
    let seen = std::cell::RefCell::new(std::collections::BTreeSet::new());
    let lookup = |name: &str| {
        seen.borrow_mut().insert(name.to_owned());
        (name == "AUTHORITY_SECRET_KEK").then(|| KEK.into())
    };
    Logging::read(&lookup).expect("accepted");
    Config::read(&lookup).expect("accepted");
    let manual = include_str!("../../../docs/operations.md");
    let seen = seen.into_inner();
    for name in &seen {
        assert!(name == "CREDENTIALS_DIRECTORY" || is_known(name), "serve would refuse {name}");
    }
    // What else is asked for is where a value may be found.
    for name in seen.iter().filter(|name| seen.contains(&format!("{name}_FILE"))) {
        assert!(TABLE.iter().any(|(variable, ..)| variable == name), "{name} is not in the table");
        assert!(manual.contains(&format!("`{name}`")), "{name} is not in docs/operations.md");
    }
}
