//! Verification of one delivery: the fifteen conditions in the order of contract 10.2.
//!
//! A receiver builds one [`Verifier`] from its configuration and keeps it; per request it hands in the raw
//! body, the normalised headers and the time. Configuration that cannot be meant (a tolerance out of range,
//! too many secrets) is refused at construction; a missing or unusable secret is not, because a receiver that
//! is wrongly configured must still answer each request, with `invalid_secret` (contract 10.2).
//!
//! Steps that look only at headers come before the HMAC, and the body is not parsed until a signature holds.

use alloc::vec::Vec;
use core::iter;

use subtle::{Choice, ConstantTimeEq};

use crate::code::VerificationCode;
pub use crate::configuration::{BodyLimit, ConfigError, MAX_SECRETS, Tolerance};
use crate::event::{self, Envelope};
use crate::profile::Profile;
use crate::secret::Secret;
use crate::sign::{SCHEME, Signature};
use crate::{header, standard_webhooks};

/// The headers of a delivery, each absent or its normalised value ([`header::join_lines`]). Their names are those of
/// the verifier's profile ([`Profile::header_names`]).
#[derive(Debug, Clone, Copy, Default)]
pub struct Headers<'a> {
    /// `Service-Timestamp`, or `webhook-timestamp`
    pub timestamp: Option<&'a [u8]>,
    /// `Service-Signature`, or `webhook-signature`
    pub signature: Option<&'a [u8]>,
    /// `Service-Event-Id`, or `webhook-id`
    pub event_id: Option<&'a [u8]>,
}

/// A receiver's trusted secrets, prepared, its tolerance, and its bound for bodies.
#[derive(Debug, Clone)]
pub struct Verifier {
    /// Empty when there is nothing to verify with: no secret, or an unusable one among them.
    secrets: Vec<Secret>,
    profile: Profile,
    tolerance: Tolerance,
    body_limit: BodyLimit,
}

impl Verifier {
    /// Prepares the secrets. Their order is irrelevant. With no secret, or an unusable one among them, every
    /// verification answers [`VerificationCode::InvalidSecret`].
    ///
    /// # Errors
    ///
    /// [`ConfigError::TooManySecrets`] for more than [`MAX_SECRETS`].
    pub fn new<S: AsRef<str>>(secrets: &[S], tolerance: Tolerance) -> Result<Self, ConfigError> {
        Self::for_profile(Profile::Service, secrets, tolerance)
    }

    /// The same for deliveries of this profile: secrets are usable by its rule, and the headers are those that it
    /// names.
    ///
    /// # Errors
    ///
    /// As [`Verifier::new`].
    pub fn for_profile<S: AsRef<str>>(
        profile: Profile,
        secrets: &[S],
        tolerance: Tolerance,
    ) -> Result<Self, ConfigError> {
        if secrets.len() > MAX_SECRETS {
            return Err(ConfigError::TooManySecrets);
        }
        let parsed = secrets.iter().map(|text| Secret::parse_for(profile, text.as_ref()));
        let secrets = parsed.collect::<Result<Vec<_>, _>>().unwrap_or_default();
        Ok(Self { secrets, profile, tolerance, body_limit: BodyLimit::DEFAULT })
    }

    /// The profile that it was made for.
    #[must_use]
    pub const fn profile(&self) -> Profile {
        self.profile
    }

    /// The same verifier with another bound for bodies than [`BodyLimit::DEFAULT`].
    #[must_use]
    pub fn with_body_limit(self, body_limit: BodyLimit) -> Self {
        Self { body_limit, ..self }
    }

    /// Judges one delivery. `body` is the raw bytes as transmitted, `now` the receiver's time in Unix seconds.
    ///
    /// # Errors
    ///
    /// [`VerificationCode::InvalidPayload`] for a body above the bound, whatever else is wrong; then the first code of
    /// contract 10.2 whose condition holds.
    pub fn verify<'b>(
        &self,
        body: Option<&'b [u8]>,
        headers: &Headers<'_>,
        now: i64,
    ) -> Result<Envelope<'b>, VerificationCode> {
        self.body_limit.admit(body.map_or(0, <[u8]>::len))?;
        let claim = Claim::check(body, headers, !self.secrets.is_empty(), self.tolerance, now)?;
        let secrets = self.secrets.iter();
        match self.profile {
            Profile::Service => claim.check_signature(secrets.map(|secret| claim.sign(secret)))?,
            Profile::StandardWebhooks => {
                claim.check_standard_signature(secrets.map(|secret| claim.sign_standard(secret)))?;
            }
        }
        claim.read(event::read)
    }
}

/// A delivery whose headers pass, the conditions 1 to 5 of contract 10.2: nothing was computed over its body yet.
///
/// [`Verifier::verify`] takes the three steps in order. They are apart for a host that keeps prepared secrets or
/// computes digests by itself; whoever takes them apart must take them all, in this order.
#[derive(Debug, Clone, Copy)]
pub struct Claim<'b, 'h> {
    body: &'b [u8],
    timestamp: &'h [u8],
    signature: &'h [u8],
    event_id: Option<&'h [u8]>,
}

impl<'b, 'h> Claim<'b, 'h> {
    /// The first step: everything that the headers alone decide.
    ///
    /// # Errors
    ///
    /// The first of [`VerificationCode::MissingBody`] to [`VerificationCode::MissingSignature`] that applies.
    pub fn check(
        body: Option<&'b [u8]>,
        headers: &Headers<'h>,
        has_secrets: bool,
        tolerance: Tolerance,
        now: i64,
    ) -> Result<Self, VerificationCode> {
        let body = body.filter(|body| !body.is_empty()).ok_or(VerificationCode::MissingBody)?;
        if !has_secrets {
            return Err(VerificationCode::InvalidSecret);
        }
        let timestamp = headers.timestamp.ok_or(VerificationCode::InvalidTimestamp)?;
        let seconds = parse_timestamp(timestamp).ok_or(VerificationCode::InvalidTimestamp)?;
        if now.abs_diff(seconds) > u64::from(tolerance.seconds()) {
            return Err(VerificationCode::StaleTimestamp);
        }
        let signature = header::trim(headers.signature.unwrap_or_default());
        if signature.is_empty() {
            return Err(VerificationCode::MissingSignature);
        }
        Ok(Self { body, timestamp, signature, event_id: headers.event_id })
    }

    /// What `secret` makes of this delivery's timestamp and body.
    #[must_use]
    pub fn sign(&self, secret: &Secret) -> Signature {
        secret.sign(self.timestamp, self.body)
    }

    /// The second step: whether any `v1=` candidate equals any expected signature, one for each trusted secret
    /// (contract 10.6). Every candidate is compared with every signature, so that the time tells nothing about
    /// which one came close.
    ///
    /// # Errors
    ///
    /// [`VerificationCode::InvalidSignature`].
    pub fn check_signature(
        &self,
        expected: impl IntoIterator<Item = Signature>,
    ) -> Result<(), VerificationCode> {
        let mut found = Choice::from(0);
        if self.signature.len() <= header::SIGNATURE_LIMIT {
            for expected in expected {
                for candidate in candidates(self.signature) {
                    found |= equal(candidate, &expected);
                }
            }
        }
        if found.into() { Ok(()) } else { Err(VerificationCode::InvalidSignature) }
    }

    /// What `secret` makes of this delivery's id, timestamp and body in the profile of Standard Webhooks.
    #[must_use]
    pub fn sign_standard(&self, secret: &Secret) -> standard_webhooks::Signature {
        secret.sign_standard(self.event_id.unwrap_or_default(), self.timestamp, self.body)
    }

    /// The second step in that profile: whether any `v1,` candidate equals any expected signature. As strict as
    /// [`Claim::check_signature`], in the same time for every delivery of the same lengths.
    ///
    /// # Errors
    ///
    /// [`VerificationCode::InvalidSignature`].
    pub fn check_standard_signature(
        &self,
        expected: impl IntoIterator<Item = standard_webhooks::Signature>,
    ) -> Result<(), VerificationCode> {
        let is_short = self.signature.len() <= header::SIGNATURE_LIMIT;
        if is_short && standard_webhooks::holds(self.signature, expected).into() {
            Ok(())
        } else {
            Err(VerificationCode::InvalidSignature)
        }
    }

    /// The third step: the event, read by `read`, and whose id the header names.
    ///
    /// # Errors
    ///
    /// What `read` refuses, then [`VerificationCode::EventIdMismatch`].
    pub fn read(
        &self,
        read: impl FnOnce(&'b [u8]) -> Result<Envelope<'b>, VerificationCode>,
    ) -> Result<Envelope<'b>, VerificationCode> {
        let envelope = read(self.body)?;
        if self.event_id != Some(envelope.id.as_bytes()) {
            return Err(VerificationCode::EventIdMismatch);
        }
        Ok(envelope)
    }
}

/// What follows `v1=` in each comma-separated item of the header that begins so, blanks around the item removed.
///
/// What is as long as one candidate is taken for one: if there is a comma in it, none in it would be long enough.
fn candidates(header: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(header);
    let items = iter::from_fn(move || {
        let items = rest.take()?;
        let is_one = items.len() == SCHEME.len() + size_of::<Signature>();
        let comma = if is_one { None } else { items.iter().position(|byte| *byte == b',') };
        let Some(at) = comma else { return Some(items) };
        rest = items.get(at + 1..);
        items.get(..at)
    });
    items.filter_map(|item| header::trim(item).strip_prefix(SCHEME.as_bytes()))
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
