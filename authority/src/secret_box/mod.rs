//! Webhook signing secrets, and the request headers and client certificates of endpoints, at rest (contract 1.2, 4.10).
//!
//! The authority must be able to sign, so signing secrets are stored encrypted and not hashed. Whoever creates or
//! rotates a secret calls [`SecretBox::seal`] and stores the blob beside the endpoint; the dispatcher calls
//! [`SecretBox::open`] before it signs. A blob opens only for the endpoint, the purpose and the secret version it was
//! sealed for, so a row that is copied, swapped or altered in the database opens nowhere.
//!
//! ```text
//! blob = format (1 byte, = 1) | key id (1) | nonce (12, random) | AES-256-GCM ciphertext and tag (length + 16)
//! associated data = "authority webhook signing secret" | format | key id
//!                   | secret version (4, big-endian) | endpoint id
//!            or   = "authority webhook request header" | format | key id | endpoint id
//!            or   = "authority webhook client keypair" | format | key id | endpoint id
//! ```
//!
//! The key comes from the operator's key-encryption key ([`Kek`]). While the operator changes it, the previous one
//! still opens, and [`SecretBox::rewrap`] moves a blob to the current one. Every failure is closed: no secret, one
//! typed error. Deliberately absent: API keys (they are hashed and never recovered) and any use of the database.

mod kek;

pub use kek::{Kek, MalformedKey};

use std::sync::Arc;

use aes_gcm::aead::{Aead, KeyInit, Payload};
use aes_gcm::{Aes256Gcm, Nonce};
use arc_swap::ArcSwap;
use authority_domain::EndpointId;
use authority_store::tx::SealedOption;
use zeroize::Zeroizing;

use crate::dice::Dice;

const FORMAT: u8 = 1;
const NONCE_BYTES: usize = 12;
const TAG_BYTES: usize = 16;
/// The labels of the purposes have one length, so that none is the beginning of another with what follows it.
const LABEL_BYTES: usize = 32;
const SIGNING_SECRET: &[u8; LABEL_BYTES] = b"authority webhook signing secret";
const REQUEST_HEADERS: &[u8; LABEL_BYTES] = b"authority webhook request header";
const CLIENT_CERTIFICATE: &[u8; LABEL_BYTES] = b"authority webhook client keypair";

/// What a sealed text belongs to, and what for. It opens for nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretContext<'a> {
    /// A signing secret.
    SigningSecret {
        /// The endpoint's id, `we_…`.
        endpoint_id: &'a str,
        /// The version of the endpoint's secret, counted by rotation.
        secret_version: u32,
    },
    /// The headers that an endpoint's deliveries carry beside the service's own.
    RequestHeaders {
        /// The endpoint's id, `we_…`.
        endpoint_id: &'a str,
    },
    /// The certificates that an endpoint's deliveries show, with their private key.
    ClientCertificate {
        /// The endpoint's id, `we_…`.
        endpoint_id: &'a str,
    },
}

impl<'a> SecretContext<'a> {
    /// That of an option of an endpoint.
    pub fn of_option(option: SealedOption, endpoint_id: &'a EndpointId) -> Self {
        let endpoint_id = endpoint_id.as_str();
        match option {
            SealedOption::RequestHeaders => Self::RequestHeaders { endpoint_id },
            SealedOption::ClientCertificate => Self::ClientCertificate { endpoint_id },
        }
    }
}

/// Why a blob was not opened or a secret not sealed. Says nothing about the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SecretBoxError {
    /// The blob is not in the form that [`SecretBox::seal`] writes.
    #[error("sealed secret is not in a known form")]
    UnknownForm,
    /// The blob was sealed under a key-encryption key that is not configured.
    #[error("sealed secret belongs to a key-encryption key that is not configured")]
    UnknownKey,
    /// The blob was altered, or sealed for another endpoint or secret version.
    #[error("sealed secret was altered or belongs to another endpoint or version")]
    Refused,
    /// The secret is longer than the cipher takes (64 GiB).
    #[error("secret is too long to seal")]
    TooLong,
}

/// Seals and opens secrets of endpoints under the current key-encryption key, and opens those of the previous one. Both
/// keys can be replaced while the box is used.
pub struct SecretBox {
    keys: ArcSwap<SealingKeys>,
}

struct SealingKeys {
    current: SealingKey,
    previous: Option<SealingKey>,
}

struct SealingKey {
    id: u8,
    cipher: Aes256Gcm,
}

impl SealingKey {
    fn new(kek: &Kek) -> Self {
        let key = kek.sealing_key();
        Self { id: kek.id(), cipher: Aes256Gcm::new((&*key).into()) }
    }
}

impl SealingKeys {
    fn new(current: &Kek, previous: Option<&Kek>) -> Self {
        Self { current: SealingKey::new(current), previous: previous.map(SealingKey::new) }
    }
}

impl SecretBox {
    /// A box that seals under `current` and opens what was sealed under `current` or `previous`.
    pub fn new(current: &Kek, previous: Option<&Kek>) -> Self {
        Self { keys: ArcSwap::from_pointee(SealingKeys::new(current, previous)) }
    }

    /// Replaces both keys. What was sealed before opens only while the key it is sealed under is one of them.
    pub fn replace_keys(&self, current: &Kek, previous: Option<&Kek>) {
        self.keys.store(Arc::new(SealingKeys::new(current, previous)));
    }

    /// How everything begins that was sealed under one of the keys: the format, and a key's id.
    pub fn beginnings(&self) -> Vec<[u8; 2]> {
        let keys = self.keys.load();
        std::iter::once(&keys.current).chain(&keys.previous).map(|key| [FORMAT, key.id]).collect()
    }

    /// Seals `secret` for `context` under the current key, with a nonce from `dice`.
    ///
    /// Random 96-bit nonces are safe for 2³² blobs under one key (NIST SP 800-38D, 8.3), more endpoint secrets than
    /// one authority ever holds.
    ///
    /// # Errors
    /// [`SecretBoxError::TooLong`] above 64 GiB.
    pub fn seal(
        &self,
        dice: &dyn Dice,
        context: SecretContext<'_>,
        secret: &str,
    ) -> Result<Vec<u8>, SecretBoxError> {
        let mut nonce = [0_u8; NONCE_BYTES];
        dice.fill(&mut nonce);
        let keys = self.keys.load();
        let SealingKey { id, cipher } = &keys.current;
        let associated = associated_data(*id, context);
        let payload = Payload { msg: secret.as_bytes(), aad: &associated };
        let sealed = cipher.encrypt(&Nonce::from(nonce), payload).map_err(|_| SecretBoxError::TooLong)?;
        let mut blob = Vec::with_capacity(2 + NONCE_BYTES + sealed.len());
        blob.extend_from_slice(&[FORMAT, *id]);
        blob.extend_from_slice(&nonce);
        blob.extend_from_slice(&sealed);
        Ok(blob)
    }

    /// Opens a blob that was sealed for `context`.
    ///
    /// # Errors
    /// [`SecretBoxError::UnknownForm`], [`SecretBoxError::UnknownKey`] or [`SecretBoxError::Refused`].
    pub fn open(&self, context: SecretContext<'_>, blob: &[u8]) -> Result<Zeroizing<String>, SecretBoxError> {
        self.open_with_key(context, blob).map(|(secret, _)| secret)
    }

    /// Opens a blob and tells with which key.
    ///
    /// # Errors
    /// Those of [`SecretBox::open`].
    pub fn sealed_under(
        &self,
        context: SecretContext<'_>,
        blob: &[u8],
    ) -> Result<SealedUnder, SecretBoxError> {
        self.open_with_key(context, blob).map(|(_, key)| key)
    }

    /// Moves a blob to the current key: the new blob, or `None` when it already is under the current key.
    ///
    /// # Errors
    /// Those of [`SecretBox::open`] and [`SecretBox::seal`].
    pub fn rewrap(
        &self,
        dice: &dyn Dice,
        context: SecretContext<'_>,
        blob: &[u8],
    ) -> Result<Option<Vec<u8>>, SecretBoxError> {
        match self.open_with_key(context, blob)? {
            (_, SealedUnder::Current) => Ok(None),
            (secret, SealedUnder::Previous) => self.seal(dice, context, &secret).map(Some),
        }
    }

    /// Key ids are one byte, so two keys may share one: every key with the blob's id is tried.
    fn open_with_key(
        &self,
        context: SecretContext<'_>,
        blob: &[u8],
    ) -> Result<(Zeroizing<String>, SealedUnder), SecretBoxError> {
        let parts = Parts::read(blob)?;
        let associated = associated_data(parts.key_id, context);
        let configured = self.keys.load();
        let previous = configured.previous.iter().map(|key| (key, SealedUnder::Previous));
        let keys = std::iter::once((&configured.current, SealedUnder::Current)).chain(previous);
        let mut failure = SecretBoxError::UnknownKey;
        for (key, opened_by) in keys.filter(|(key, _)| key.id == parts.key_id) {
            failure = SecretBoxError::Refused;
            let payload = Payload { msg: parts.sealed, aad: &associated };
            let Ok(plain) = key.cipher.decrypt(&Nonce::from(parts.nonce), payload) else { continue };
            return match String::from_utf8(plain) {
                Ok(secret) => Ok((Zeroizing::new(secret), opened_by)),
                Err(_) => Err(SecretBoxError::UnknownForm),
            };
        }
        Err(failure)
    }
}

impl std::fmt::Debug for SecretBox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecretBox").finish_non_exhaustive()
    }
}

/// The key under which something is sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SealedUnder {
    /// The one that seals.
    Current,
    /// The one before it.
    Previous,
}

struct Parts<'a> {
    key_id: u8,
    nonce: [u8; NONCE_BYTES],
    sealed: &'a [u8],
}

impl<'a> Parts<'a> {
    fn read(blob: &'a [u8]) -> Result<Self, SecretBoxError> {
        let (&[FORMAT, key_id], rest) = blob.split_first_chunk().ok_or(SecretBoxError::UnknownForm)? else {
            return Err(SecretBoxError::UnknownForm);
        };
        let (nonce, sealed) = rest.split_first_chunk().ok_or(SecretBoxError::UnknownForm)?;
        if sealed.len() < TAG_BYTES {
            return Err(SecretBoxError::UnknownForm);
        }
        Ok(Self { key_id, nonce: *nonce, sealed })
    }
}

/// The labels differ, and everything before the endpoint id has a fixed length for each of them, so no two contexts
/// give the same bytes.
fn associated_data(key_id: u8, context: SecretContext<'_>) -> Vec<u8> {
    let (label, version, endpoint_id) = match context {
        SecretContext::SigningSecret { endpoint_id, secret_version } => {
            (SIGNING_SECRET, Some(secret_version), endpoint_id)
        }
        SecretContext::RequestHeaders { endpoint_id } => (REQUEST_HEADERS, None, endpoint_id),
        SecretContext::ClientCertificate { endpoint_id } => (CLIENT_CERTIFICATE, None, endpoint_id),
    };
    let mut bytes = Vec::with_capacity(LABEL_BYTES + 6 + endpoint_id.len());
    bytes.extend_from_slice(label);
    bytes.extend_from_slice(&[FORMAT, key_id]);
    bytes.extend(version.into_iter().flat_map(u32::to_be_bytes));
    bytes.extend_from_slice(endpoint_id.as_bytes());
    bytes
}

#[cfg(test)]
mod tests;
