//! Keys and digests for the search: any bytes can be a key here, and any form of a digest is read.
//!
//! The signatures of a header are collected once, each as the 32 bytes that it writes, whether in hexadecimal or in
//! base64, with or without a scheme. A guess about key or body is then compared with all of them, whole and in constant
//! time: to be told of a match one must already have the digest.

use alloc::vec::Vec;

use subtle::{Choice, ConstantTimeEq as _};
use verify_core::header::SIGNATURE_LIMIT;
use verify_core::mac::KeyStates;
use verify_core::sign::SCHEME;

pub(crate) type Digest = [u8; 32];

/// Whatever may be a key, prepared.
pub(crate) struct Key(KeyStates);

impl Key {
    pub(crate) fn new(bytes: &[u8]) -> Self {
        Self(KeyStates::new(bytes))
    }

    /// The digest of these parts, one after the other.
    pub(crate) fn digest(&self, parts: &[&[u8]]) -> Digest {
        self.0.mac(parts.iter().copied())
    }
}

/// Every digest that a signature header writes in any form.
#[derive(Default)]
pub(crate) struct Claimed(Vec<Digest>);

impl Claimed {
    /// Of a longer header than is verified, none.
    pub(crate) fn of(header: &[u8]) -> Self {
        if header.len() > SIGNATURE_LIMIT {
            return Self::default();
        }
        Self(header.split(|byte| is_separator(*byte)).filter_map(any_digest).collect())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether one of them is this digest.
    pub(crate) fn holds(&self, digest: &Digest) -> bool {
        self.0.iter().fold(Choice::from(0), |found, claimed| found | claimed.ct_eq(digest)).into()
    }
}

fn is_separator(byte: u8) -> bool {
    matches!(byte, b',' | b';' | b' ' | b'\t' | b'"' | b'\'')
}

/// The digest that an item writes behind any short scheme name, or bare.
fn any_digest(item: &[u8]) -> Option<Digest> {
    let behind_scheme = || {
        let at = item.iter().position(|byte| *byte == b'=').filter(|at| *at <= 10)?;
        item.get(at + 1..)
    };
    bare_digest(item).or_else(|| behind_scheme().and_then(bare_digest))
}

fn bare_digest(text: &[u8]) -> Option<Digest> {
    hex_digest(text).or_else(|| base64_digest(text))
}

fn hex_digest(text: &[u8]) -> Option<Digest> {
    if text.len() != 64 {
        return None;
    }
    decode_hex(text)?.try_into().ok()
}

// Decoders of our own: what libraries bring along for their errors and panics is more than all else in this file.

/// Hexadecimal digits of either case.
pub(crate) fn decode_hex(text: &[u8]) -> Option<Vec<u8>> {
    let (pairs, []) = text.as_chunks() else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    pairs.iter().map(|[high, low]| u8::try_from(digit(*high)? << 4 | digit(*low)?).ok()).collect()
}

/// 32 bytes in base64 of either alphabet, padded or not.
pub(crate) fn base64_digest(text: &[u8]) -> Option<Digest> {
    if !matches!(text.len(), 43 | 44) {
        return None;
    }
    decode_base64(text)?.try_into().ok()
}

/// Base64 of either alphabet, padded or not.
pub(crate) fn decode_base64(text: &[u8]) -> Option<Vec<u8>> {
    let digits = text.strip_suffix(b"==").or_else(|| text.strip_suffix(b"=")).unwrap_or(text);
    if digits.len() % 4 == 1 {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    let (mut bits, mut count) = (0_u32, 0_u32);
    for byte in digits {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    Some(bytes)
}

/// Base64, with padding or without.
pub(crate) fn encode_base64(bytes: &[u8], padding: bool) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = Vec::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group =
            chunk.iter().chain(&[0; 2]).take(3).fold(0, |group, byte| group << 8 | usize::from(*byte));
        for place in 0..4 {
            if place <= chunk.len() {
                text.extend(DIGITS.get(group >> (18 - 6 * place) & 63));
            } else if padding {
                text.push(b'=');
            }
        }
    }
    text
}

/// Lowercase hexadecimal digits.
pub(crate) fn encode_hex(bytes: &[u8]) -> Vec<u8> {
    let digit = |value: u8| char::from_digit(value.into(), 16).map_or(b'0', |digit| digit as u8);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Whether this is a signature as the contract has it: `v1=` and 64 lowercase hexadecimal digits.
pub(crate) fn is_exact(item: &[u8]) -> bool {
    item.strip_prefix(SCHEME.as_bytes()).is_some_and(|digits| {
        digits.len() == 64 && digits.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}
