//! Every setting of the service with its value, default and unit, and where the value came from, for `authority
//! config`.
//!
//! [`SETTINGS`] is the only list of the variables: misspelt names are found with it, too. A test below sets every
//! variable to its default and compares, so the defaults here are those of the service.
//!
//! Secrets are shown as `set`, and addresses without user, password and options.

use serde::Serialize;
use url::Url;

use super::sources::{Source, given};
use super::variables::{ConfigError, Lookup};

/// How a value may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    /// As it is.
    Plain,
    /// An address that may hold a password, with one of these schemes: only scheme, host, port and path.
    Address(&'static [&'static str]),
    /// Only that it is set.
    Secret,
}

impl Shown {
    fn of(self, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Address(schemes) => address(text, schemes),
            Self::Secret => "set".to_owned(),
        }
    }
}

/// A variable of the service.
#[derive(Debug)]
pub(super) struct Variable {
    pub(super) name: &'static str,
    /// The text that has the same effect as leaving the variable out; `None` when no text has.
    default: Option<&'static str>,
    /// What a number counts.
    unit: Option<&'static str>,
    shown: Shown,
    /// Whether a running service takes a new value at a reload.
    pub(super) reloaded: bool,
}

impl Variable {
    const fn new(name: &'static str, default: Option<&'static str>, shown: Shown) -> Self {
        Self { name, default, unit: None, shown, reloaded: false }
    }

    const fn plain(name: &'static str, default: &'static str) -> Self {
        Self::new(name, Some(default), Shown::Plain)
    }

    const fn number(name: &'static str, default: &'static str, unit: &'static str) -> Self {
        Self { unit: Some(unit), ..Self::plain(name, default) }
    }

    const fn without_default(name: &'static str, shown: Shown) -> Self {
        Self::new(name, None, shown)
    }

    /// The service takes a new value of it at a reload ([`crate::reload::Reloadable::apply`]).
    const fn reloaded(self) -> Self {
        Self { reloaded: true, ..self }
    }
}

const DATABASE: Shown = Shown::Address(&["sqlite", "postgres", "postgresql"]);
const PROXY: Shown = Shown::Address(&["http"]);
const COLLECTOR: Shown = Shown::Address(&["http", "https"]);

/// All variables of the service, in the order of the manual: what has to be set first.
pub(super) const SETTINGS: &[Variable] = &[
    Variable::without_default("AUTHORITY_SECRET_KEK", Shown::Secret).reloaded(),
    Variable::without_default("AUTHORITY_SECRET_KEK_PREVIOUS", Shown::Secret).reloaded(),
    Variable::without_default("AUTHORITY_CURSOR_KEYS", Shown::Secret).reloaded(),
    Variable::new("AUTHORITY_DATABASE_URL", Some("sqlite://authority.db"), DATABASE),
    Variable::plain("AUTHORITY_LISTEN", "0.0.0.0:8080"),
    Variable::plain("AUTHORITY_OPERATOR_LISTEN", "127.0.0.1:8081"),
    Variable::without_default("AUTHORITY_BASE_URL", Shown::Plain),
    Variable::without_default("AUTHORITY_PROBLEM_BASE_URL", Shown::Plain),
    Variable::without_default("AUTHORITY_PORTAL_NAME", Shown::Plain),
    Variable::without_default("AUTHORITY_PORTAL_COLOR", Shown::Plain),
    Variable::without_default("AUTHORITY_PORTAL_LOGO", Shown::Plain),
    Variable::plain("AUTHORITY_ENV", "production"),
    Variable::plain("AUTHORITY_ALLOW_LOOPBACK_ENDPOINTS", "false"),
    Variable::number(
        "AUTHORITY_RETRY_SCHEDULE",
        "0,5,300,1800,7200,18000,36000,50400,72000,86400",
        "seconds",
    ),
    Variable::number("AUTHORITY_RETRY_JITTER", "0.2", "part of the wait"),
    Variable::number("AUTHORITY_REJECTED_ATTEMPTS", "4", "attempts"),
    Variable::number("AUTHORITY_CONNECT_TIMEOUT_MS", "5000", "milliseconds"),
    Variable::number("AUTHORITY_DELIVERY_TIMEOUT_MS", "15000", "milliseconds"),
    Variable::number("AUTHORITY_DISABLE_AFTER_HOURS", "120", "hours"),
    Variable::number("AUTHORITY_DELIVERY_CONCURRENCY", "512", "requests"),
    Variable::number("AUTHORITY_DELIVERY_CONCURRENCY_PER_ENDPOINT", "128", "requests"),
    Variable::without_default("AUTHORITY_EGRESS_PROXY", PROXY),
    Variable::without_default("AUTHORITY_PRIVATE_RECEIVERS", Shown::Plain),
    Variable::without_default("AUTHORITY_PLATFORM_PRIVATE_RECEIVERS", Shown::Plain),
    Variable::without_default("AUTHORITY_EXTRA_ROOTS", Shown::Plain),
    Variable::plain("AUTHORITY_REQUIRE_IDEMPOTENCY_KEY", "false"),
    Variable::number("AUTHORITY_IDEMPOTENCY_DAYS", "30", "days"),
    Variable {
        unit: Some("days"),
        ..Variable::without_default("AUTHORITY_EVENT_RETENTION_DAYS", Shown::Plain)
    },
    Variable::plain("AUTHORITY_SANDBOX", "on"),
    Variable::number("AUTHORITY_READY_MAX_DELAY_SECONDS", "300", "seconds"),
    Variable::plain("AUTHORITY_RATE_LIMITS", "on").reloaded(),
    Variable::number("AUTHORITY_RATE_READ_LIVE_PER_SECOND", "100", "requests").reloaded(),
    Variable::number("AUTHORITY_RATE_READ_TEST_PER_SECOND", "25", "requests").reloaded(),
    Variable::number("AUTHORITY_RATE_WRITE_LIVE_PER_SECOND", "25", "requests").reloaded(),
    Variable::number("AUTHORITY_RATE_WRITE_TEST_PER_SECOND", "10", "requests").reloaded(),
    Variable::number("AUTHORITY_RATE_DELIVERY_PER_MINUTE", "60", "requests").reloaded(),
    Variable::number("AUTHORITY_RATE_AUTH_PER_MINUTE", "20", "failures").reloaded(),
    Variable::without_default("AUTHORITY_TRUSTED_PROXIES", Shown::Plain).reloaded(),
    Variable::without_default("OTEL_EXPORTER_OTLP_ENDPOINT", COLLECTOR),
    Variable::plain("AUTHORITY_LOG", "info").reloaded(),
    Variable::plain("AUTHORITY_LOG_FORMAT", "text"),
];

/// A setting as it may be shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// The variable's name.
    pub name: &'static str,
    /// The value; `set` for a secret. `None` when the setting is off.
    pub value: Option<String>,
    /// The value that applies when nothing is set. `None` when there is none.
    pub default: Option<&'static str>,
    /// What a number counts; `None` when it is not a number.
    pub unit: Option<&'static str>,
    /// Where the value came from.
    pub source: Source,
    /// Whether the value is a secret.
    pub secret: bool,
    /// Whether a running service takes a new value at a reload.
    pub reloaded: bool,
}

/// All settings. This function checks no value: [`super::Config::read`] and [`super::Logging::read`] do.
///
/// # Errors
/// [`ConfigError`] when a value cannot be read ([`given`]).
pub fn settings(lookup: Lookup<'_>) -> Result<Vec<Setting>, ConfigError> {
    SETTINGS.iter().map(|variable| setting(variable, lookup)).collect()
}

fn setting(variable: &Variable, lookup: Lookup<'_>) -> Result<Setting, ConfigError> {
    let Variable { name, default, unit, shown, reloaded } = *variable;
    let (value, source) = match given(lookup, name)? {
        None => (default.map(ToOwned::to_owned), Source::Default),
        Some((text, source)) => (Some(shown.of(&text)), source),
    };
    let secret = shown == Shown::Secret;
    Ok(Setting { name, value, default, unit, source, secret, reloaded })
}

/// The address without user, password and options. The path of a SQLite file is not one of a URL: it stays as it is.
///
/// What is no address of these schemes is not shown at all. `user:password@host` reads as a URL without a host, whose
/// scheme is the user; and a password with a `/`, `?` or `#` that nobody has escaped ends the host too early, which
/// leaves an `@` behind it.
fn address(text: &str, schemes: &[&str]) -> String {
    if text.starts_with("sqlite://") && schemes.contains(&"sqlite") {
        return text.split('?').next().unwrap_or_default().to_owned();
    }
    let shown = Url::parse(text).ok().filter(|url| schemes.contains(&url.scheme())).and_then(|url| {
        let host = url.host_str().filter(|host| !host.is_empty())?;
        let behind = [Some(url.path()), url.query(), url.fragment()];
        let is_whole = !behind.into_iter().flatten().any(|part| part.contains('@'));
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        is_whole.then(|| format!("{}://{host}{port}{}", url.scheme(), url.path()))
    });
    shown.unwrap_or_else(|| "set".to_owned())
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::BTreeSet;
    use std::ffi::OsString;

    use super::super::sources::FILE;
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
        let sources = |name: &str| [name.to_owned(), format!("{name}{FILE}")];
        let mut listed: BTreeSet<String> =
            SETTINGS.iter().flat_map(|variable| sources(variable.name)).collect();
        listed.insert("CREDENTIALS_DIRECTORY".to_owned());
        assert_eq!((listed.len(), listed), (2 * SETTINGS.len() + 1, seen.into_inner()));
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
            // Without a scheme, with another variable's, without a host, and with a password that is not escaped.
            ("AUTHORITY_EGRESS_PROXY", "scraper:topsecret@proxy:3128", "set"),
            ("AUTHORITY_EGRESS_PROXY", "sqlite://topsecret@proxy", "set"),
            ("AUTHORITY_EGRESS_PROXY", "socks5://topsecret@proxy:1080", "set"),
            ("AUTHORITY_DATABASE_URL", "shop:topsecret@db.example/shop", "set"),
            ("AUTHORITY_DATABASE_URL", "sqlite:topsecret@db.example", "set"),
            ("AUTHORITY_DATABASE_URL", "postgres:shop:topsecret@db.example/shop", "set"),
            ("AUTHORITY_DATABASE_URL", "postgres:///topsecret", "set"),
            ("AUTHORITY_DATABASE_URL", "postgres://shop:12/topsecret@db.example/shop", "set"),
            ("AUTHORITY_DATABASE_URL", "postgres://shop:12?topsecret@db.example/shop", "set"),
            ("AUTHORITY_DATABASE_URL", "postgres://shop:12#topsecret@db.example/shop", "set"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://otel:topsecret@o.example/v1", "https://o.example/v1"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "otel:topsecret@o.example", "set"),
        ] {
            assert_eq!(value(name, given).as_deref(), Some(shown), "{name}={given}");
        }
    }
}
