//! Verification of one delivery: the fifteen conditions in the order of contract 10.2.
//!
//! A receiver builds one [`Verifier`] from its configuration and keeps it; per request it hands in the raw
//! body, the normalised headers and the time. Configuration that cannot be meant (a tolerance out of range,
//! too many secrets) is refused at construction; a missing or unusable secret is not, because a receiver that
//! is wrongly configured must still answer each request, with `invalid_secret` (contract 10.2).
//!
//! Steps that look only at headers come before the HMAC, and the body is not parsed until a signature holds.

use alloc::vec::Vec;
use core::fmt;

use subtle::{Choice, ConstantTimeEq};

use crate::code::VerificationCode;
use crate::event::{self, Envelope};
use crate::header;
use crate::secret::Secret;
use crate::sign::{SCHEME, Signature};

/// The most secrets a verifier takes.
pub const MAX_SECRETS: usize = 8;

/// A configuration that no request could ever be judged by. Not one of the codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigError {
    /// The tolerance is not within 1 to 3600 seconds.
    ToleranceOutOfRange,
    /// More than [`MAX_SECRETS`] secrets.
    TooManySecrets,
}

impl ConfigError {
    /// The error's name for machines.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ToleranceOutOfRange => "tolerance_out_of_range",
            Self::TooManySecrets => "too_many_secrets",
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ToleranceOutOfRange => "the tolerance must be 1 to 3600 seconds",
            Self::TooManySecrets => "at most 8 signing secrets can be trusted at once",
        })
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

/// The headers of a delivery, each absent or its normalised value ([`header::join_lines`]).
#[derive(Debug, Clone, Copy, Default)]
pub struct Headers<'a> {
    /// `Service-Timestamp`
    pub timestamp: Option<&'a [u8]>,
    /// `Service-Signature`
    pub signature: Option<&'a [u8]>,
    /// `Service-Event-Id`
    pub event_id: Option<&'a [u8]>,
}

/// A receiver's trusted secrets, prepared, and its tolerance.
#[derive(Debug, Clone)]
pub struct Verifier {
    /// Empty when there is nothing to verify with: no secret, or an unusable one among them.
    secrets: Vec<Secret>,
    tolerance: Tolerance,
}

impl Verifier {
    /// Prepares the secrets. Their order is irrelevant. With no secret, or an unusable one among them, every
    /// verification answers [`VerificationCode::InvalidSecret`].
    ///
    /// # Errors
    ///
    /// [`ConfigError::TooManySecrets`] for more than [`MAX_SECRETS`].
    pub fn new<S: AsRef<str>>(secrets: &[S], tolerance: Tolerance) -> Result<Self, ConfigError> {
        if secrets.len() > MAX_SECRETS {
            return Err(ConfigError::TooManySecrets);
        }
        let secrets = secrets.iter().map(|text| Secret::parse(text.as_ref())).collect::<Result<_, _>>();
        Ok(Self { secrets: secrets.unwrap_or_default(), tolerance })
    }

    /// Judges one delivery. `body` is the raw bytes as transmitted, `now` the receiver's time in Unix seconds.
    ///
    /// # Errors
    ///
    /// The first code of contract 10.2 whose condition holds.
    pub fn verify<'b>(
        &self,
        body: Option<&'b [u8]>,
        headers: &Headers<'_>,
        now: i64,
    ) -> Result<Envelope<'b>, VerificationCode> {
        let body = body.filter(|body| !body.is_empty()).ok_or(VerificationCode::MissingBody)?;
        if self.secrets.is_empty() {
            return Err(VerificationCode::InvalidSecret);
        }
        let timestamp = headers.timestamp.ok_or(VerificationCode::InvalidTimestamp)?;
        let seconds = parse_timestamp(timestamp).ok_or(VerificationCode::InvalidTimestamp)?;
        if now.abs_diff(seconds) > u64::from(self.tolerance.seconds()) {
            return Err(VerificationCode::StaleTimestamp);
        }
        let signature = header::trim(headers.signature.unwrap_or_default());
        if signature.is_empty() {
            return Err(VerificationCode::MissingSignature);
        }
        if !self.signature_holds(signature, timestamp, body) {
            return Err(VerificationCode::InvalidSignature);
        }
        let envelope = event::read(body)?;
        if headers.event_id != Some(envelope.id.as_bytes()) {
            return Err(VerificationCode::EventIdMismatch);
        }
        Ok(envelope)
    }

    /// Whether any `v1=` candidate equals the digest under any secret (contract 10.6). Every candidate is
    /// compared with every digest, so that the time tells nothing about which one came close.
    fn signature_holds(&self, header: &[u8], timestamp: &[u8], body: &[u8]) -> bool {
        if header.len() > header::SIGNATURE_LIMIT {
            return false;
        }
        let mut found = Choice::from(0);
        for secret in &self.secrets {
            let expected = secret.sign(timestamp, body);
            for candidate in candidates(header) {
                found |= equal(candidate, &expected);
            }
        }
        found.into()
    }
}

/// What follows `v1=` in each comma-separated item of the header that begins so, blanks around the item removed.
fn candidates(header: &[u8]) -> impl Iterator<Item = &[u8]> {
    header.split(|byte| *byte == b',').filter_map(|item| header::trim(item).strip_prefix(SCHEME.as_bytes()))
}

/// Compares in constant time. A length is no secret: another one is not equal.
fn equal(candidate: &[u8], expected: &Signature) -> Choice {
    let Ok(candidate) = candidate.try_into() else { return Choice::from(0) };
    words(candidate)
        .zip(words(expected))
        .fold(Choice::from(1), |same, (left, right)| same & left.ct_eq(&right))
}

/// Eight characters at a time, which makes a comparison an eighth as long.
fn words(text: &Signature) -> impl Iterator<Item = u64> {
    text.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word))
}

/// The number that exactly ten ASCII digits write; leading zeros are digits like others (contract 10.7).
fn parse_timestamp(text: &[u8]) -> Option<i64> {
    let digits: &[u8; 10] = text.try_into().ok()?;
    digits.iter().try_fold(0_i64, |value, byte| match byte {
        b'0'..=b'9' => Some(value * 10 + i64::from(byte - b'0')),
        _ => None,
    })
}
