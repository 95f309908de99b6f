//! The keys that the configuration carries: key-encryption keys and cursor keys (contract 1.2, 6.5, 8.5).

use zeroize::Zeroizing;

use super::variables::{ConfigError, Lookup, malformed, parsed, text};
use crate::secret_box::{KEY_BYTES, Kek, SecretBox, key_from_base64};

const KEK: &str = "AUTHORITY_SECRET_KEK";
const KEK_PREVIOUS: &str = "AUTHORITY_SECRET_KEK_PREVIOUS";
const CURSOR_KEYS: &str = "AUTHORITY_CURSOR_KEYS";
const KEK_FORM: &str = "32 random bytes in base64, such as `openssl rand -base64 32` prints";
const CURSOR_KEYS_FORM: &str =
    "a comma-separated list of id:key with distinct ids from 0 to 255 and keys of 32 bytes in base64";

/// The keys of a running authority. `Debug` shows none of them.
#[derive(Debug, Clone)]
pub struct Keys {
    /// The key-encryption key that seals.
    pub current: Kek,
    /// The one before it, while secrets are being moved to the current one.
    pub previous: Option<Kek>,
    /// The keys that authenticate cursors.
    pub cursors: CursorKeys,
}

impl Keys {
    /// The keys of an authority that has only a key-encryption key; the cursor key is derived from it.
    pub fn from_kek(current: Kek) -> Self {
        let cursors = CursorKeys::derived(&current, None);
        Self { current, previous: None, cursors }
    }

    /// The box that seals and opens signing secrets with these keys.
    pub fn secret_box(&self) -> SecretBox {
        SecretBox::new(&self.current, self.previous.as_ref())
    }

    pub(super) fn read(lookup: Lookup<'_>) -> Result<Self, ConfigError> {
        let kek = |variable| parsed(lookup, variable, KEK_FORM, |value| Kek::parse(value).ok());
        let current =
            kek(KEK)?.ok_or_else(|| ConfigError::Missing { variable: KEK, expected: KEK_FORM.to_owned() })?;
        let previous = kek(KEK_PREVIOUS)?;
        if previous.as_ref() == Some(&current) {
            return Err(ConfigError::Conflict {
                variable: KEK_PREVIOUS,
                reason: "is the same key as AUTHORITY_SECRET_KEK",
            });
        }
        let cursors = match text(lookup, CURSOR_KEYS)? {
            Some(list) => CursorKeys::parse(&list).ok_or_else(|| malformed(CURSOR_KEYS, CURSOR_KEYS_FORM))?,
            None => CursorKeys::derived(&current, previous.as_ref()),
        };
        Ok(Self { current, previous, cursors })
    }
}

/// A key that authenticates cursors, with the id that a cursor carries.
#[derive(Clone, PartialEq, Eq)]
pub struct CursorKey {
    /// The key id byte of contract 8.5.
    pub id: u8,
    key: Zeroizing<[u8; KEY_BYTES]>,
}

impl CursorKey {
    /// The key for HMAC-SHA256.
    pub fn bytes(&self) -> &[u8; KEY_BYTES] {
        &self.key
    }
}

impl std::fmt::Debug for CursorKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CursorKey").field("id", &self.id).finish_non_exhaustive()
    }
}

/// All cursor keys: one signs, all verify.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CursorKeys {
    signing: CursorKey,
    retired: Vec<CursorKey>,
}

impl CursorKeys {
    /// The key for new cursors.
    pub fn signing(&self) -> &CursorKey {
        &self.signing
    }

    /// The keys that a cursor with this key id may have been made with. Configured ids are distinct; two derived keys
    /// may share an id, then both are to be tried.
    pub fn with_id(&self, id: u8) -> impl Iterator<Item = &CursorKey> {
        std::iter::once(&self.signing).chain(&self.retired).filter(move |key| key.id == id)
    }

    /// The key derived from each key-encryption key, so that cursors live as long as the previous one is configured.
    fn derived(current: &Kek, previous: Option<&Kek>) -> Self {
        let derive = |kek: &Kek| CursorKey { id: kek.id(), key: kek.cursor_key() };
        Self { signing: derive(current), retired: previous.map(derive).into_iter().collect() }
    }

    fn parse(list: &str) -> Option<Self> {
        let mut keys: Vec<CursorKey> = Vec::new();
        for item in list.split(',') {
            let (id, key) = item.split_once(':')?;
            let id = super::variables::decimal(id, &(0..=255)).and_then(|id| u8::try_from(id).ok())?;
            if keys.iter().any(|other| other.id == id) {
                return None;
            }
            keys.push(CursorKey { id, key: key_from_base64(key).ok()? });
        }
        let mut keys = keys.into_iter();
        Some(Self { signing: keys.next()?, retired: keys.collect() })
    }
}
