//! Signing: HMAC-SHA256 over the timestamp, a full stop and the exact body bytes.
//!
//! The sender signs each attempt with every secret that is valid at that moment, newest first, so that a
//! receiver may change from one to the next at any point of the overlap.

use alloc::string::String;

use crate::mac;
use crate::secret::Secret;

/// What every signature of this scheme begins with in the header.
pub const SCHEME: &str = "v1=";

/// The digest in lowercase hexadecimal ASCII.
pub type Signature = [u8; 64];

impl Secret {
    /// The signature of `timestamp + "." + body`. The timestamp is the header's text, ten digits when the
    /// receiver is to accept it; it is signed as it stands.
    #[must_use]
    pub fn sign(&self, timestamp: &[u8], body: &[u8]) -> Signature {
        to_hex(self.states.mac([timestamp, b".", body]))
    }

    /// The same signature, when a host has computed the SHA-256 of the key padded for the inner hash (RFC 2104),
    /// timestamp, full stop and body by other means.
    #[must_use]
    pub fn sign_digest(&self, inner: &[u8; mac::DIGEST_LEN]) -> Signature {
        to_hex(self.states.outer_digest(inner))
    }
}

/// The value of `Service-Signature`: `v1=<hex>` of every secret in the given order, separated by commas.
pub fn signature_header<'s>(
    secrets: impl IntoIterator<Item = &'s Secret>,
    timestamp: &str,
    body: &[u8],
) -> String {
    header_value(secrets.into_iter().map(|secret| secret.states.mac([timestamp.as_bytes(), b".", body])))
}

/// The same of digests that a host has computed by other means: HMAC-SHA256 with the key that [`crate::secret::key`]
/// says, over the timestamp, a full stop and the body.
pub fn header_value(digests: impl IntoIterator<Item = [u8; mac::DIGEST_LEN]>) -> String {
    let mut value = String::new();
    for digest in digests {
        if !value.is_empty() {
            value.push(',');
        }
        value.push_str(SCHEME);
        value.extend(to_hex(digest).map(char::from));
    }
    value
}

/// Without a table: where it would be read depends on the digest.
fn to_hex(digest: [u8; mac::DIGEST_LEN]) -> Signature {
    let mut text = [0; 64];
    for (pair, byte) in text.as_chunks_mut().0.iter_mut().zip(digest) {
        *pair = [digit(byte >> 4), digit(byte & 15)];
    }
    text
}

fn digit(value: u8) -> u8 {
    value + if value < 10 { b'0' } else { b'a' - 10 }
}
