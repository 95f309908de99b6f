//! The configuration: every variable is read into a type that can only hold allowed values.
//!
//! The command line passes in a lookup (the process environment; in tests a table). A value is in the environment, in a
//! file or in a credential of systemd ([`given`]). [`Config::read`] returns the whole configuration or the first
//! variable to correct; the process then ends with exit code 2 and that one line (contract 6.5, 16). At SIGHUP a
//! running service reads all of it again and takes what can change while it runs ([`Snapshot::changed`]); a
//! configuration that is refused then changes nothing. Nothing else in the service reads the environment, but for
//! OpenTelemetry's library, which reads its own variables (`OTEL_…`). An empty variable counts as malformed, not as
//! absent, so that a forgotten value in a deployment file is noticed. For the same reason `serve` refuses a misspelt
//! `AUTHORITY_…` variable ([`unread_variables`]). [`settings`] shows all of it without the secrets.
//!
//! Deliberately absent: a configuration file with several settings; values in error messages (a secret under the wrong
//! name would reach the log).

mod database;
mod delivery;
mod egress_proxy;
mod keys;
mod logging;
mod names;
mod portal;
mod rate_limits;
mod settings;
mod snapshot;
mod sources;
mod trusted_proxies;
mod variables;

pub use database::{DatabaseUrl, read_database_url};
pub use delivery::Delivery;
pub use egress_proxy::EgressProxy;
pub use keys::Keys;
pub use logging::{LogFormat, Logging};
pub use names::unread_variables;
pub use portal::{Color, PortalLooks};
pub use rate_limits::{Quota, RateLimits};
pub use settings::{Setting, settings};
pub use snapshot::{Changed, Snapshot};
pub use sources::{Source, given};
pub use trusted_proxies::TrustedProxies;
pub use variables::{ConfigError, Lookup};

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use authority_domain::endpoint::url::UrlPolicy;
use url::Url;

use variables::{count, integer, nonzero, parsed, socket_address, word};

const LISTEN: &str = "AUTHORITY_LISTEN";
const OPERATOR_LISTEN: &str = "AUTHORITY_OPERATOR_LISTEN";
const BASE_URL: &str = "AUTHORITY_BASE_URL";
const PROBLEM_BASE_URL: &str = "AUTHORITY_PROBLEM_BASE_URL";
const ENV: &str = "AUTHORITY_ENV";
const ALLOW_LOOPBACK_ENDPOINTS: &str = "AUTHORITY_ALLOW_LOOPBACK_ENDPOINTS";
const SANDBOX: &str = "AUTHORITY_SANDBOX";
const EVENT_RETENTION_DAYS: &str = "AUTHORITY_EVENT_RETENTION_DAYS";
const REQUIRE_IDEMPOTENCY_KEY: &str = "AUTHORITY_REQUIRE_IDEMPOTENCY_KEY";
const IDEMPOTENCY_DAYS: &str = "AUTHORITY_IDEMPOTENCY_DAYS";
const OTLP_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const READY_MAX_DELAY_SECONDS: &str = "AUTHORITY_READY_MAX_DELAY_SECONDS";

/// The kind of environment that the authority runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Environment {
    /// Insecure settings are refused.
    Production,
    /// Deliveries to this machine may be allowed (contract 7.6).
    Development,
}

/// Whether the sandbox is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sandbox {
    /// Served beside the merchant API.
    On,
    /// Not served, as if it did not exist.
    Off,
}

/// The configuration of `serve`. `Debug` shows no key.
#[derive(Debug)]
pub struct Config {
    /// The kind of environment that the authority runs in.
    pub environment: Environment,
    /// The database.
    pub database_url: DatabaseUrl,
    /// Address of the merchant API.
    pub listen: SocketAddr,
    /// Address of the operator API.
    pub operator_listen: SocketAddr,
    /// Public address of the merchant API without a slash at the end, for `Location`.
    pub base_url: Option<String>,
    /// Where the deployment documents the codes of refusals, without a slash at the end: what the `type` of a problem
    /// begins with (contract 5.1).
    pub problem_base_url: Option<String>,
    /// How the merchants' portal looks.
    pub portal: PortalLooks,
    /// Key-encryption keys and cursor keys.
    pub keys: Keys,
    /// Which receiver URLs an endpoint may have (contract 7.6).
    pub url_policy: UrlPolicy,
    /// How events are delivered.
    pub delivery: Delivery,
    /// How long events are retained; `None` means for ever (contract 15.13).
    pub event_retention: Option<Duration>,
    /// Whether every write of the merchant API needs an idempotency key (contract 4.3).
    pub require_idempotency_key: bool,
    /// How long an idempotency key is stored (contract 4.3).
    pub idempotency_retention: Duration,
    /// Whether the sandbox is served (contract 6.3).
    pub sandbox: Sandbox,
    /// How long deliveries may be due but unsent before the service reports that it is not ready (contract 15.10).
    pub ready_max_delay: Duration,
    /// The token buckets, `None` when they are off.
    pub rate_limits: Option<RateLimits>,
    /// The proxies that are trusted to report the client address of a request (contract 18.1).
    pub trusted_proxies: TrustedProxies,
    /// Where traces are sent (contract 15.11); `None` when none are recorded.
    pub trace_collector: Option<Url>,
}

impl Config {
    /// Reads the configuration of `serve`.
    ///
    /// # Errors
    /// The first variable that is missing, malformed or in conflict with the others.
    pub fn read(lookup: Lookup<'_>) -> Result<Self, ConfigError> {
        let environments =
            [("production", Environment::Production), ("development", Environment::Development)];
        let environment = word(lookup, ENV, &environments, Environment::Production)?;
        let (listen, operator_listen) = read_listeners(lookup)?;
        Ok(Self {
            environment,
            database_url: read_database_url(lookup)?,
            listen,
            operator_listen,
            base_url: read_address(lookup, BASE_URL)?,
            problem_base_url: read_address(lookup, PROBLEM_BASE_URL)?,
            portal: PortalLooks::read(lookup)?,
            keys: Keys::read(lookup)?,
            url_policy: read_url_policy(lookup, environment)?,
            delivery: Delivery::read(lookup)?,
            event_retention: read_event_retention(lookup)?,
            require_idempotency_key: word(
                lookup,
                REQUIRE_IDEMPOTENCY_KEY,
                &[("true", true), ("false", false)],
                false,
            )?,
            idempotency_retention: read_idempotency_retention(lookup)?,
            sandbox: read_sandbox(lookup)?,
            ready_max_delay: read_ready_max_delay(lookup)?,
            rate_limits: RateLimits::read(lookup)?,
            trusted_proxies: TrustedProxies::read(lookup)?,
            trace_collector: read_trace_collector(lookup)?,
        })
    }
}

/// The listen address of the merchant API.
///
/// # Errors
/// [`ConfigError::Malformed`].
pub fn read_listen(lookup: Lookup<'_>) -> Result<SocketAddr, ConfigError> {
    socket_address(lookup, LISTEN, SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 8080))
}

/// The addresses of the public and the operator listener, which must differ.
fn read_listeners(lookup: Lookup<'_>) -> Result<(SocketAddr, SocketAddr), ConfigError> {
    let loopback = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8081);
    let listen = read_listen(lookup)?;
    let operator_listen = socket_address(lookup, OPERATOR_LISTEN, loopback)?;
    if listen == operator_listen && listen.port() != 0 {
        let reason = "is the same address as AUTHORITY_LISTEN; the operator API has its own listener";
        return Err(ConfigError::Conflict { variable: OPERATOR_LISTEN, reason });
    }
    Ok((listen, operator_listen))
}

/// Whether the sandbox is served; on unless it is switched off.
///
/// # Errors
/// [`ConfigError::Malformed`].
pub fn read_sandbox(lookup: Lookup<'_>) -> Result<Sandbox, ConfigError> {
    word(lookup, SANDBOX, &[("on", Sandbox::On), ("off", Sandbox::Off)], Sandbox::On)
}

fn read_address(lookup: Lookup<'_>, variable: &'static str) -> Result<Option<String>, ConfigError> {
    let parse = |value: &str| web_address(value).map(|url| url.as_str().trim_end_matches('/').to_owned());
    parsed(lookup, variable, WEB_ADDRESS, parse)
}

/// What [`web_address`] takes.
pub const WEB_ADDRESS: &str = "an http or https address without user, query and fragment";

/// An address of that form.
pub fn web_address(value: &str) -> Option<Url> {
    let url = Url::parse(value).ok()?;
    let bare = url.query().is_none() && url.fragment().is_none();
    let anonymous = url.username().is_empty() && url.password().is_none();
    (matches!(url.scheme(), "http" | "https") && bare && anonymous).then_some(url)
}

/// OpenTelemetry's own variable: an empty value means that it is not set, as in every other program that reads it.
fn read_trace_collector(lookup: Lookup<'_>) -> Result<Option<Url>, ConfigError> {
    let parse = |value: &str| if value.is_empty() { Some(None) } else { web_address(value).map(Some) };
    Ok(parsed(lookup, OTLP_ENDPOINT, WEB_ADDRESS, parse)?.flatten())
}

fn read_url_policy(lookup: Lookup<'_>, environment: Environment) -> Result<UrlPolicy, ConfigError> {
    let words = [("true", UrlPolicy::Development), ("false", UrlPolicy::Public)];
    let policy = word(lookup, ALLOW_LOOPBACK_ENDPOINTS, &words, UrlPolicy::Public)?;
    if policy == UrlPolicy::Development && environment == Environment::Production {
        let reason = "is allowed only with AUTHORITY_ENV=development";
        return Err(ConfigError::Conflict { variable: ALLOW_LOOPBACK_ENDPOINTS, reason });
    }
    Ok(policy)
}

fn read_idempotency_retention(lookup: Lookup<'_>) -> Result<Duration, ConfigError> {
    /// Ten years: longer than any client retries.
    const MAX_DAYS: u32 = 3_650;
    let days = count(lookup, IDEMPOTENCY_DAYS, MAX_DAYS, nonzero::<30>())?;
    Ok(Duration::from_secs(u64::from(days.get()) * 24 * 60 * 60))
}

fn read_event_retention(lookup: Lookup<'_>) -> Result<Option<Duration>, ConfigError> {
    /// A consumer that was offline for a quarter of a year can still catch up with its cursor (contract 6.5, 8.6).
    const MIN_DAYS: u32 = 90;
    /// A hundred years. To retain events for ever, leave the variable out.
    const MAX_DAYS: u32 = 36_500;
    let days = integer(lookup, EVENT_RETENTION_DAYS, MIN_DAYS..=MAX_DAYS)?;
    Ok(days.map(|days| Duration::from_secs(u64::from(days) * 24 * 60 * 60)))
}

fn read_ready_max_delay(lookup: Lookup<'_>) -> Result<Duration, ConfigError> {
    /// A day: with a longer delay, "ready" would mean nothing.
    const MAX_SECONDS: u32 = 86_400;
    let seconds = count(lookup, READY_MAX_DELAY_SECONDS, MAX_SECONDS, nonzero::<300>())?;
    Ok(Duration::from_secs(seconds.get().into()))
}

#[cfg(test)]
mod table_tests;
#[cfg(test)]
mod tests;
