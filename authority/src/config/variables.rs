//! Reading single variables: presence, text, and the formats that several of them share.
//!
//! A value never appears in an error message: a secret under the wrong name must not reach a log.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::ops::RangeInclusive;
use std::time::Duration;

use super::sources::given;

/// Looks up a variable: in the process environment, or in tests in a table.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// Why the configuration was refused. `Display` is one line that begins with the variable's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A variable without a default is not set.
    #[error("{variable} is not set: it must be {expected}")]
    Missing {
        /// The variable's name.
        variable: &'static str,
        /// What it must hold.
        expected: String,
    },
    /// The value of the variable is malformed.
    #[error("{variable} must be {expected}")]
    Malformed {
        /// The variable's name.
        variable: &'static str,
        /// What it must hold.
        expected: String,
    },
    /// The value is well formed but conflicts with other variables.
    #[error("{variable} {reason}")]
    Conflict {
        /// The variable's name.
        variable: &'static str,
        /// What it conflicts with.
        reason: &'static str,
    },
    /// The value is given in two ways, which may differ.
    #[error("{variable} is given twice: by {first} and {second}")]
    GivenTwice {
        /// The variable's name.
        variable: &'static str,
        /// One way.
        first: String,
        /// The other.
        second: String,
    },
    /// The value is in a file that cannot be read. The path is not shown: it may be a secret in the wrong place.
    #[error("{variable} cannot be read from {way}: {reason}")]
    Unreadable {
        /// The variable's name.
        variable: &'static str,
        /// What names the file.
        way: String,
        /// What the operating system said.
        reason: String,
    },
    /// Nothing reads the variable, and its name is nearly that of another.
    #[error("{variable} is not a variable of this program: is {likely} meant?")]
    Misspelt {
        /// The variable's name.
        variable: String,
        /// The variable that was probably meant.
        likely: String,
    },
}

impl ConfigError {
    /// The name of the variable to correct.
    pub fn variable(&self) -> &str {
        match self {
            Self::Missing { variable, .. }
            | Self::Malformed { variable, .. }
            | Self::Conflict { variable, .. }
            | Self::GivenTwice { variable, .. }
            | Self::Unreadable { variable, .. } => variable,
            Self::Misspelt { variable, .. } => variable,
        }
    }
}

pub(super) fn malformed(variable: &'static str, expected: impl Into<String>) -> ConfigError {
    ConfigError::Malformed { variable, expected: expected.into() }
}

/// The variable as text, or `None` when it is not set. An empty value counts as set: it does not give the default.
pub(super) fn text(lookup: Lookup<'_>, variable: &'static str) -> Result<Option<String>, ConfigError> {
    Ok(given(lookup, variable)?.map(|(text, _)| text))
}

/// The variable, parsed by `parse`, which returns `None` for a value that is not `expected`.
pub(super) fn parsed<T>(
    lookup: Lookup<'_>,
    variable: &'static str,
    expected: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<Option<T>, ConfigError> {
    let Some(value) = text(lookup, variable)? else { return Ok(None) };
    parse(&value).map(Some).ok_or_else(|| malformed(variable, expected))
}

/// The variable as one of the given words, matched exactly.
pub(super) fn word<T: Copy>(
    lookup: Lookup<'_>,
    variable: &'static str,
    words: &[(&str, T)],
    default: T,
) -> Result<T, ConfigError> {
    let expected = words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(" or ");
    let parse = |value: &str| words.iter().find(|(word, _)| *word == value).map(|(_, meaning)| *meaning);
    Ok(parsed(lookup, variable, &expected, parse)?.unwrap_or(default))
}

/// The variable as a decimal integer inside `range`.
pub(super) fn integer(
    lookup: Lookup<'_>,
    variable: &'static str,
    range: RangeInclusive<u32>,
) -> Result<Option<u32>, ConfigError> {
    let expected = format!("an integer from {} to {}", range.start(), range.end());
    parsed(lookup, variable, &expected, |value| decimal(value, &range))
}

/// The variable as a count from 1 to `max`.
pub(super) fn count(
    lookup: Lookup<'_>,
    variable: &'static str,
    max: u32,
    default: NonZeroU32,
) -> Result<NonZeroU32, ConfigError> {
    Ok(integer(lookup, variable, 1..=max)?.and_then(NonZeroU32::new).unwrap_or(default))
}

/// The variable as a time limit from 1 to `max` milliseconds.
pub(super) fn time_limit_ms(
    lookup: Lookup<'_>,
    variable: &'static str,
    max: u32,
    default: Duration,
) -> Result<Duration, ConfigError> {
    Ok(integer(lookup, variable, 1..=max)?.map_or(default, |ms| Duration::from_millis(ms.into())))
}

/// The variable as an IP address and port; port 0 picks a free one.
pub(super) fn socket_address(
    lookup: Lookup<'_>,
    variable: &'static str,
    default: SocketAddr,
) -> Result<SocketAddr, ConfigError> {
    let parse = |value: &str| value.parse().ok();
    Ok(parsed(lookup, variable, "an IP address and port, such as 127.0.0.1:8080", parse)?.unwrap_or(default))
}

/// Parses digits only: `u32::from_str` would accept a sign.
pub(super) fn decimal(value: &str, range: &RangeInclusive<u32>) -> Option<u32> {
    let digits_only = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    digits_only.then(|| value.parse().ok()).flatten().filter(|number| range.contains(number))
}

/// A default that is not zero, checked at compile time.
pub(super) const fn nonzero<const N: u32>() -> NonZeroU32 {
    const { assert!(N > 0) };
    match NonZeroU32::new(N) {
        Some(number) => number,
        None => NonZeroU32::MIN,
    }
}
