//! The keys that the configuration carries: key-encryption keys and cursor keys (contract 1.2, 6.5, 8.5).

use std::sync::Arc;

use authority_domain::cursor::{CursorKeyError, CursorKeys};

use super::variables::{ConfigError, Lookup, malformed, parsed, text};
use crate::secret_box::{Kek, SecretBox};

const KEK: &str = "AUTHORITY_SECRET_KEK";
const KEK_PREVIOUS: &str = "AUTHORITY_SECRET_KEK_PREVIOUS";
const CURSOR_KEYS: &str = "AUTHORITY_CURSOR_KEYS";
const KEK_FORM: &str = "32 random bytes in base64, such as `openssl rand -base64 32` prints";
const CURSOR_KEYS_FORM: &str =
    "a comma-separated list of id:key with distinct ids from 0 to 255 and keys of 32 bytes in base64";

/// The keys of a running authority. `Debug` shows none of them.
#[derive(Debug)]
pub struct Keys {
    /// The key-encryption key that seals.
    pub current: Kek,
    /// The previous key-encryption key, while secrets are being resealed with the current one.
    pub previous: Option<Kek>,
    /// The keys that authenticate cursors.
    pub cursors: Arc<CursorKeys>,
}

impl Keys {
    /// Derives a cursor key from each key-encryption key, so that older cursors stay valid while the previous key is
    /// configured.
    ///
    /// # Errors
    /// [`CursorKeyError::DuplicateId`] when the two key-encryption keys are the same or, with a chance of 1 in 256,
    /// have the same one-byte id.
    pub fn from_keks(current: Kek, previous: Option<Kek>) -> Result<Self, CursorKeyError> {
        let derive = |kek: &Kek| (kek.id(), *kek.cursor_key());
        let cursors = CursorKeys::new(derive(&current), previous.iter().map(derive).collect())?;
        Ok(Self { current, previous, cursors: Arc::new(cursors) })
    }

    /// The [`SecretBox`] that seals and opens signing secrets with these keys.
    pub fn secret_box(&self) -> SecretBox {
        SecretBox::new(&self.current, self.previous.as_ref())
    }

    pub(super) fn read(lookup: Lookup<'_>) -> Result<Self, ConfigError> {
        let kek = |variable| parsed(lookup, variable, KEK_FORM, |value| Kek::parse(value).ok());
        let current =
            kek(KEK)?.ok_or_else(|| ConfigError::Missing { variable: KEK, expected: KEK_FORM.to_owned() })?;
        let keys = Self::from_keks(current, kek(KEK_PREVIOUS)?).map_err(|_| ConfigError::Conflict {
            variable: KEK_PREVIOUS,
            reason: "has the same key id as AUTHORITY_SECRET_KEK: make another new key",
        })?;
        match text(lookup, CURSOR_KEYS)? {
            Some(list) => {
                let cursors =
                    CursorKeys::parse(&list).map_err(|_| malformed(CURSOR_KEYS, CURSOR_KEYS_FORM))?;
                Ok(Self { cursors: Arc::new(cursors), ..keys })
            }
            None => Ok(keys),
        }
    }
}
