//! Every setting of the service with its value and where that came from, for `authority config check`.
//!
//! [`SETTINGS`] is the only list of the variables: misspelt names are found with it, too. A value comes from the
//! environment or is the default; there are no other sources. A test below sets every variable to its default and
//! compares, so the defaults here are those of the service.
//!
//! Secrets are shown as `set`, and addresses without user, password and options.

use serde::Serialize;
use url::Url;

use super::variables::{ConfigError, Lookup, text};

/// How a value may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    /// As it is.
    Plain,
    /// An address that may hold a password: only scheme, host, port and path.
    Address,
    /// Only that it is set.
    Secret,
}

/// A variable of the service.
#[derive(Debug)]
pub(super) struct Variable {
    pub(super) name: &'static str,
    /// The text that has the same effect as leaving the variable out; `None` when no text has.
    default: Option<&'static str>,
    shown: Shown,
}

const fn plain(name: &'static str, default: &'static str) -> Variable {
    Variable { name, default: Some(default), shown: Shown::Plain }
}

const fn without_default(name: &'static str, shown: Shown) -> Variable {
    Variable { name, default: None, shown }
}

/// All variables of the service, in the order of the manual: what has to be set first.
pub(super) const SETTINGS: &[Variable] = &[
    without_default("AUTHORITY_SECRET_KEK", Shown::Secret),
    without_default("AUTHORITY_SECRET_KEK_PREVIOUS", Shown::Secret),
    without_default("AUTHORITY_CURSOR_KEYS", Shown::Secret),
    Variable {
        name: "AUTHORITY_DATABASE_URL",
        default: Some("sqlite://authority.db"),
        shown: Shown::Address,
    },
    plain("AUTHORITY_LISTEN", "0.0.0.0:8080"),
    plain("AUTHORITY_OPERATOR_LISTEN", "127.0.0.1:8081"),
    without_default("AUTHORITY_BASE_URL", Shown::Plain),
    plain("AUTHORITY_ENV", "production"),
    plain("AUTHORITY_ALLOW_LOOPBACK_ENDPOINTS", "false"),
    plain("AUTHORITY_RETRY_SCHEDULE", "0,5,300,1800,7200,18000,36000,50400,72000,86400"),
    plain("AUTHORITY_RETRY_JITTER", "0.2"),
    plain("AUTHORITY_REJECTED_ATTEMPTS", "4"),
    plain("AUTHORITY_CONNECT_TIMEOUT_MS", "5000"),
    plain("AUTHORITY_DELIVERY_TIMEOUT_MS", "15000"),
    plain("AUTHORITY_DISABLE_AFTER_HOURS", "120"),
    plain("AUTHORITY_DELIVERY_CONCURRENCY", "512"),
    plain("AUTHORITY_DELIVERY_CONCURRENCY_PER_ENDPOINT", "128"),
    without_default("AUTHORITY_EGRESS_PROXY", Shown::Address),
    without_default("AUTHORITY_EXTRA_ROOTS", Shown::Plain),
    plain("AUTHORITY_IDEMPOTENCY_DAYS", "30"),
    without_default("AUTHORITY_EVENT_RETENTION_DAYS", Shown::Plain),
    plain("AUTHORITY_SANDBOX", "on"),
    plain("AUTHORITY_READY_MAX_DELAY_SECONDS", "300"),
    plain("AUTHORITY_RATE_LIMITS", "on"),
    plain("AUTHORITY_RATE_READ_LIVE_PER_SECOND", "100"),
    plain("AUTHORITY_RATE_READ_TEST_PER_SECOND", "25"),
    plain("AUTHORITY_RATE_WRITE_LIVE_PER_SECOND", "25"),
    plain("AUTHORITY_RATE_WRITE_TEST_PER_SECOND", "10"),
    plain("AUTHORITY_RATE_DELIVERY_PER_MINUTE", "60"),
    plain("AUTHORITY_RATE_AUTH_PER_MINUTE", "20"),
    without_default("AUTHORITY_TRUSTED_PROXIES", Shown::Plain),
    plain("AUTHORITY_LOG", "info"),
    plain("AUTHORITY_LOG_FORMAT", "text"),
];

/// Where a value came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The variable is set.
    Environment,
    /// The variable is not set.
    Default,
}

impl Source {
    /// The name in tables.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Environment => "environment",
            Self::Default => "default",
        }
    }
}

/// A setting as it may be shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// The variable's name.
    pub name: &'static str,
    /// The value; `set` for a secret. `None` when the setting is off.
    pub value: Option<String>,
    /// Where the value came from.
    pub source: Source,
    /// Whether the value is a secret.
    pub secret: bool,
}

/// All settings. Call [`super::Config::read`] and [`super::Logging::read`] first: this function checks no value.
///
/// # Errors
/// [`ConfigError::Malformed`] when a variable is not text.
pub fn settings(lookup: Lookup<'_>) -> Result<Vec<Setting>, ConfigError> {
    SETTINGS.iter().map(|variable| setting(variable, lookup)).collect()
}

fn setting(variable: &Variable, lookup: Lookup<'_>) -> Result<Setting, ConfigError> {
    let Variable { name, default, shown } = variable;
    let secret = *shown == Shown::Secret;
    let Some(given) = text(lookup, name)? else {
        return Ok(Setting { name, value: default.map(ToOwned::to_owned), source: Source::Default, secret });
    };
    let value = match shown {
        Shown::Plain => given,
        Shown::Address => address(&given),
        Shown::Secret => "set".to_owned(),
    };
    Ok(Setting { name, value: Some(value), source: Source::Environment, secret })
}

/// The address without user, password and options. The path of a SQLite file is not one of a URL: it stays as it is.
fn address(text: &str) -> String {
    let bare = text.split('?').next().unwrap_or_default();
    if bare.starts_with("sqlite:") {
        return bare.to_owned();
    }
    let Ok(url) = Url::parse(bare) else { return "set".to_owned() };
    let (host, port) = (url.host_str().unwrap_or_default(), url.port());
    let port = port.map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{host}{port}{}", url.scheme(), url.path())
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::BTreeSet;
    use std::ffi::OsString;

    use super::super::{Config, Logging};
    use super::*;

    const KEK: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

    /// The whole configuration with one variable set besides the one that is always needed.
    fn configuration(name: &str, value: Option<&str>) -> String {
        let lookup = |asked: &str| match asked {
            "AUTHORITY_SECRET_KEK" => Some(OsString::from(KEK)),
            asked if asked == name => value.map(OsString::from),
            _ => None,
        };
        let logging = Logging::read(&lookup).expect(name);
        // The parts of a log filter have no order.
        let mut filter: Vec<String> = logging.filter.to_string().split(',').map(ToOwned::to_owned).collect();
        filter.sort();
        format!("{:?} {filter:?} {:?}", Config::read(&lookup).expect(name), logging.format)
    }

    #[test]
    fn a_variable_set_to_its_default_changes_nothing() {
        let manual = include_str!("../../../docs/operations.md");
        let unset = configuration("", None);
        for Variable { name, default, .. } in SETTINGS {
            let Some(default) = default else { continue };
            assert_eq!(configuration(name, Some(default)), unset, "{name}={default}");
            let row =
                manual.lines().find(|line| line.starts_with("| ") && line.contains(&format!("`{name}`")));
            assert!(
                row.expect(name).contains(&format!("`{default}`")),
                "{name}: the manual has another default"
            );
        }
    }

    #[test]
    fn the_settings_are_what_the_service_reads() {
        let seen = RefCell::new(BTreeSet::new());
        let lookup = |name: &str| {
            seen.borrow_mut().insert(name.to_owned());
            (name == "AUTHORITY_SECRET_KEK").then(|| KEK.into())
        };
        Logging::read(&lookup).expect("accepted");
        Config::read(&lookup).expect("accepted");
        let listed: BTreeSet<String> = SETTINGS.iter().map(|variable| variable.name.to_owned()).collect();
        assert_eq!((listed.len(), listed), (SETTINGS.len(), seen.into_inner()));
    }

    #[test]
    fn no_secret_is_shown() {
        let value = |name: &str, given: &str| {
            let settings = settings(&|asked| (asked == name).then(|| given.into())).expect(name);
            settings.into_iter().find(|setting| setting.name == name).and_then(|setting| setting.value)
        };
        for (name, given, shown) in [
            ("AUTHORITY_SECRET_KEK", "topsecret", "set"),
            ("AUTHORITY_CURSOR_KEYS", "1:topsecret", "set"),
            ("AUTHORITY_EGRESS_PROXY", "http://topsecret:topsecret@p.example:3128", "http://p.example:3128/"),
            ("AUTHORITY_DATABASE_URL", "sqlite:///var/a.db?mode=rwc", "sqlite:///var/a.db"),
            (
                "AUTHORITY_DATABASE_URL",
                "postgres://topsecret:topsecret@db.example/shop?password=topsecret",
                "postgres://db.example/shop",
            ),
            ("AUTHORITY_DATABASE_URL", "topsecret", "set"),
        ] {
            assert_eq!(value(name, given).as_deref(), Some(shown), "{name}");
        }
    }
}
