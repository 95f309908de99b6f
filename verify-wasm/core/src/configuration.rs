//! What a verifier is configured with, and what no configuration may say.
//!
//! A value that cannot be meant (a tolerance out of range, too many secrets) is refused when the verifier is made, not
//! answered to a request. Every receiver has the same bounds: the Worker, the npm package and the command line.

use core::fmt;

use crate::code::VerificationCode;

/// The most secrets a verifier takes.
pub const MAX_SECRETS: usize = 8;

/// A configuration that no request could ever be judged by. Not one of the codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigError {
    /// The tolerance is not within 1 to 3600 seconds.
    ToleranceOutOfRange,
    /// More than [`MAX_SECRETS`] secrets.
    TooManySecrets,
    /// The bound for bodies is not within 1 to [`BodyLimit::MAX`] bytes.
    BodyLimitOutOfRange,
}

impl ConfigError {
    /// The error's name for machines.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ToleranceOutOfRange => "tolerance_out_of_range",
            Self::TooManySecrets => "too_many_secrets",
            Self::BodyLimitOutOfRange => "body_limit_out_of_range",
        }
    }

    /// What is wrong, as a phrase for people.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::ToleranceOutOfRange => "the tolerance must be 1 to 3600 seconds",
            Self::TooManySecrets => "at most 8 signing secrets can be trusted at once",
            Self::BodyLimitOutOfRange => "the bound for bodies must be 1 to 268435456 bytes",
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl core::error::Error for ConfigError {}

/// How far a timestamp may lie from `now`, in whole seconds, 1 to 3600, both directions inclusive. Zero does
/// not mean "off" and is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tolerance(u32);

impl Tolerance {
    /// 300 seconds.
    pub const DEFAULT: Self = Self(300);

    /// A tolerance of so many seconds.
    ///
    /// # Errors
    ///
    /// [`ConfigError::ToleranceOutOfRange`] unless 1 to 3600.
    pub fn new(seconds: i64) -> Result<Self, ConfigError> {
        match u32::try_from(seconds) {
            Ok(seconds @ 1..=3600) => Ok(Self(seconds)),
            _ => Err(ConfigError::ToleranceOutOfRange),
        }
    }

    /// The tolerance in seconds.
    #[must_use]
    pub const fn seconds(self) -> u32 {
        self.0
    }
}

impl Default for Tolerance {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// How long a body may be, in bytes. A longer one is refused by its length alone, before anything of it is copied or
/// read (contract 18.5): a host that lends the core a fixed memory asks [`BodyLimit::admit`] first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BodyLimit(u32);

impl BodyLimit {
    /// 16 MiB. Events have at most 256 KiB (contract 5.6).
    pub const DEFAULT: Self = Self(16 << 20);
    /// 256 MiB. A body of that length is still within every runtime's longest text.
    pub const MAX: Self = Self(256 << 20);

    /// A bound of so many bytes.
    ///
    /// # Errors
    ///
    /// [`ConfigError::BodyLimitOutOfRange`] unless 1 to [`BodyLimit::MAX`].
    pub fn new(bytes: i64) -> Result<Self, ConfigError> {
        match u32::try_from(bytes) {
            Ok(bytes) if bytes > 0 && bytes <= Self::MAX.0 => Ok(Self(bytes)),
            _ => Err(ConfigError::BodyLimitOutOfRange),
        }
    }

    /// The bound in bytes.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        self.0
    }

    /// Whether a body of so many bytes is looked at.
    ///
    /// # Errors
    ///
    /// [`VerificationCode::InvalidPayload`].
    pub const fn admit(self, length: usize) -> Result<(), VerificationCode> {
        if length > self.0 as usize { Err(VerificationCode::InvalidPayload) } else { Ok(()) }
    }
}

impl Default for BodyLimit {
    fn default() -> Self {
        Self::DEFAULT
    }
}
