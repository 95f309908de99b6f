//! What is different for an endpoint whose profile is `standard-webhooks` (contract 15.12).
//!
//! Such a delivery carries `webhook-id`, `webhook-timestamp` and `webhook-signature` beside its `Service-*` headers, as
//! the public libraries of Standard Webhooks verify them: HMAC-SHA256 over `id.timestamp.body`, written `v1,<base64>`,
//! one for each valid secret with blanks between them. The key is what the secret's text after `whsec_` stands for in
//! base64. `Service-Signature` of the same delivery takes the bytes of the whole text as ever (contract 10.5).
//!
//! An absent id is signed as an empty text. Nothing that is accepted depends on that, because the body's id is not
//! empty and must equal the header. Deliberately absent: signatures by public keys (`v1a`), which nobody here makes.

use alloc::string::String;
use core::fmt;

use subtle::{Choice, ConstantTimeEq as _};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::base64;
use crate::mac::{self, KeyStates};
use crate::secret::{MAX_CHARS, PREFIX, Secret, UnusableSecret};

/// `webhook-id`: the event's `id`, the same in every attempt.
pub const EVENT_ID: &str = "webhook-id";
/// `webhook-timestamp`: the same instant as `Service-Timestamp`, ten digits.
pub const TIMESTAMP: &str = "webhook-timestamp";
/// `webhook-signature`: `v1,<base64>`, several separated by blanks.
pub const SIGNATURE: &str = "webhook-signature";

/// What every signature of this scheme begins with in the header.
pub const SCHEME: &str = "v1,";

/// The digest in base64, padded.
pub type Signature = [u8; base64::DIGEST_LEN];

/// The most bytes that a usable secret stands for.
const KEY_MAX: usize = (MAX_CHARS - PREFIX.len()) / 4 * 3;

/// The key that a secret of this profile is. Wiped on drop.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Key {
    bytes: [u8; KEY_MAX],
    length: usize,
}

impl Key {
    /// Takes the secret as it is configured or stored.
    ///
    /// # Errors
    ///
    /// [`UnusableSecret`] unless the text is [`PREFIX`] and the base64 of one byte or more, in the standard alphabet
    /// and padded, at most [`MAX_CHARS`] characters in all.
    #[inline(never)]
    pub fn parse(text: &[u8]) -> Result<Self, UnusableSecret> {
        let written = text.strip_prefix(PREFIX.as_bytes()).ok_or(UnusableSecret)?;
        let mut key = Self { bytes: [0; KEY_MAX], length: 0 };
        key.length = base64::decode(written, &mut key.bytes).ok_or(UnusableSecret)?;
        if key.length == 0 { Err(UnusableSecret) } else { Ok(key) }
    }

    /// The key's bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    pub(crate) fn states(&self) -> KeyStates {
        KeyStates::new(self.as_bytes())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(redacted)")
    }
}

/// A new signing secret from 32 random bytes: [`PREFIX`] and their base64, 44 characters with the padding.
#[must_use]
pub fn generate(mut random: [u8; 32]) -> String {
    let mut text = String::with_capacity(PREFIX.len() + base64::DIGEST_LEN);
    text.push_str(PREFIX);
    base64::write_digits(&random, |digit| text.push(char::from(digit)));
    text.push('=');
    random.zeroize();
    text
}

impl Secret {
    /// The signature of `event_id + "." + timestamp + "." + body`, by a secret that was parsed for this profile.
    #[must_use]
    pub fn sign_standard(&self, event_id: &[u8], timestamp: &[u8], body: &[u8]) -> Signature {
        base64::encode_digest(&self.states.mac([event_id, b".", timestamp, b".", body]))
    }
}

/// The value of `webhook-signature` for secrets that were parsed for this profile, in the given order.
pub fn signature_header<'s>(
    secrets: impl IntoIterator<Item = &'s Secret>,
    event_id: &str,
    timestamp: &str,
    body: &[u8],
) -> String {
    let content = [event_id.as_bytes(), b".", timestamp.as_bytes(), b".", body];
    header_value(secrets.into_iter().map(|secret| secret.states.mac(content)))
}

/// The value of `webhook-signature`: `v1,<base64>` of every digest in the given order, separated by blanks. The digests
/// are HMAC-SHA256 with the key that [`Key`] is, over the id, a full stop, the timestamp, a full stop and the body.
pub fn header_value(digests: impl IntoIterator<Item = [u8; mac::DIGEST_LEN]>) -> String {
    let mut value = String::new();
    for digest in digests {
        if !value.is_empty() {
            value.push(' ');
        }
        value.push_str(SCHEME);
        value.extend(base64::encode_digest(&digest).map(char::from));
    }
    value
}

/// Whether any candidate of the header equals any expected signature. Every one is compared with every other.
pub(crate) fn holds(header: &[u8], expected: impl IntoIterator<Item = Signature>) -> Choice {
    let mut found = Choice::from(0);
    for expected in expected {
        for candidate in candidates(header) {
            found |= candidate.ct_eq(expected.as_slice());
        }
    }
    found
}

/// What follows `v1,` in each item of the header that begins so. Blanks separate items; so does the comma that joins
/// the lines of a header that came in several ([`crate::header::join_lines`]), which no signature contains.
fn candidates(header: &[u8]) -> impl Iterator<Item = &[u8]> {
    let items = header.split(|byte| matches!(byte, b' ' | b'\t'));
    items.filter_map(|item| item.strip_suffix(b",").unwrap_or(item).strip_prefix(SCHEME.as_bytes()))
}
