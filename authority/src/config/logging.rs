//! The level and the format of the log (contract 16).
//!
//! A level without a target applies to the authority's own crates; libraries stay at `warn` unless they are named.
//! Their `trace` output may contain the data they handle, including request headers, and no key may ever reach a log
//! (contract 1.2).

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use super::variables::{ConfigError, Lookup, malformed, text, word};

const LOG: &str = "AUTHORITY_LOG";
const LOG_FORMAT: &str = "AUTHORITY_LOG_FORMAT";
const LOG_EXPECTED: &str =
    "off, error, warn, info, debug or trace, or a comma-separated list of these and of target=level";
const OWN_CRATES: [&str; 4] = ["authority", "authority_domain", "authority_store", "verify_core"];

/// The format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// Text for people.
    Text,
    /// One JSON object per line.
    Json,
}

/// The settings for [`crate::telemetry::install`].
#[derive(Debug)]
pub struct Logging {
    /// Which events are logged.
    pub filter: EnvFilter,
    /// How they are written.
    pub format: LogFormat,
}

impl Logging {
    /// Reads `AUTHORITY_LOG` (default `info`) and `AUTHORITY_LOG_FORMAT` (default `text`).
    ///
    /// # Errors
    /// [`ConfigError`] naming the variable.
    pub fn read(lookup: Lookup<'_>) -> Result<Self, ConfigError> {
        let directives = text(lookup, LOG)?.unwrap_or_else(|| "info".to_owned());
        let filter = filter(&directives).ok_or_else(|| malformed(LOG, LOG_EXPECTED))?;
        let forms = [("text", LogFormat::Text), ("json", LogFormat::Json)];
        let format = word(lookup, LOG_FORMAT, &forms, LogFormat::Text)?;
        Ok(Self { filter, format })
    }
}

/// Parses the directives. `EnvFilter` alone would read a misspelt level as the name of a target and log nothing.
fn filter(directives: &str) -> Option<EnvFilter> {
    let mut filter = EnvFilter::default().add_directive(LevelFilter::WARN.into());
    for directive in directives.split(',') {
        if directive.contains('=') {
            filter = filter.add_directive(directive.parse().ok()?);
            continue;
        }
        let level: LevelFilter =
            LEVELS.iter().find(|(name, _)| *name == directive).map(|(_, level)| *level)?;
        for name in OWN_CRATES {
            filter = filter.add_directive(format!("{name}={level}").parse().ok()?);
        }
        if level < LevelFilter::WARN {
            filter = filter.add_directive(level.into());
        }
    }
    Some(filter)
}

const LEVELS: [(&str, LevelFilter); 6] = [
    ("off", LevelFilter::OFF),
    ("error", LevelFilter::ERROR),
    ("warn", LevelFilter::WARN),
    ("info", LevelFilter::INFO),
    ("debug", LevelFilter::DEBUG),
    ("trace", LevelFilter::TRACE),
];

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    #[test]
    fn a_bare_log_level_speaks_of_our_own_crates() {
        let cases = [
            (None, "warn", "authority=info"),
            (Some("trace"), "warn", "authority=trace"),
            (Some("off"), "off", "authority=off"),
            (Some("error"), "error", "authority_store=error"),
            (Some("debug,hyper=info"), "hyper=info", "authority_domain=debug"),
        ];
        for (value, others, ours) in cases {
            let logging =
                Logging::read(&|name| value.filter(|_| name == "AUTHORITY_LOG").map(OsString::from))
                    .expect("accepted");
            let directives = logging.filter.to_string();
            let directives: Vec<&str> = directives.split(',').collect();
            assert!(directives.contains(&others) && directives.contains(&ours), "{value:?}: {directives:?}");
            assert_eq!(logging.format, LogFormat::Text);
        }
    }

    #[test]
    fn misspelt_log_settings_are_refused() {
        for (variable, values) in [
            ("AUTHORITY_LOG", &["", "inof", "INFO", "info,", "hyper=loud", "debug, hyper=info"] as &[&str]),
            ("AUTHORITY_LOG_FORMAT", &["", "JSON", "yaml"]),
        ] {
            for value in values {
                let error = Logging::read(&|name| (name == variable).then(|| value.into())).expect_err(value);
                assert!(error.to_string().starts_with(&format!("{variable} must be ")), "{error}");
            }
        }
        let json =
            Logging::read(&|name| (name == "AUTHORITY_LOG_FORMAT").then(|| "json".into())).expect("accepted");
        assert_eq!(json.format, LogFormat::Json);
    }
}
