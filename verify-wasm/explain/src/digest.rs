//! Keys and digests for the search: any bytes can be a key here, and any form of a digest is read.
//!
//! The signatures of a header are collected once, each as the 32 bytes that it writes, whether in hexadecimal or in
//! base64, with or without a scheme. A guess about key or body is then compared with all of them, whole and in constant
//! time: to be told of a match one must already have the digest.

use alloc::vec::Vec;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use subtle::{Choice, ConstantTimeEq as _};
use verify_core::header::SIGNATURE_LIMIT;
use verify_core::sign::SCHEME;

pub(crate) type Digest = [u8; 32];

/// The HMAC states of one key.
pub(crate) struct Key(Hmac<Sha256>);

impl Key {
    /// HMAC takes keys of any length; `None` never happens and is not worth a panic.
    pub(crate) fn new(bytes: &[u8]) -> Option<Self> {
        Hmac::new_from_slice(bytes).ok().map(Self)
    }

    /// The digest of these parts, one after the other.
    pub(crate) fn digest(&self, parts: &[&[u8]]) -> Digest {
        let mut mac = self.0.clone();
        for part in parts {
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
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
    let mut digest = Digest::default();
    hex::decode_to_slice(text, &mut digest).ok().map(|()| digest)
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
    const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    let alphabet = if text.iter().any(|byte| matches!(byte, b'-' | b'_')) {
        &alphabet::URL_SAFE
    } else {
        &alphabet::STANDARD
    };
    GeneralPurpose::new(alphabet, LENIENT).decode(text).ok()
}

/// Whether this is a signature as the contract has it: `v1=` and 64 lowercase hexadecimal digits.
pub(crate) fn is_exact(item: &[u8]) -> bool {
    item.strip_prefix(SCHEME.as_bytes()).is_some_and(|digits| {
        digits.len() == 64 && digits.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}
