//! The keys behind cursors: how they are configured, and how they authenticate.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::tenant::Tenant;

/// Bytes of what authenticates a cursor: HMAC-SHA256, truncated.
pub(super) const MAC_LEN: usize = 16;

/// Whose list a cursor was given out for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner<'a> {
    /// A merchant in one mode.
    Tenant(&'a Tenant),
    /// The operator side, whose lists span all merchants.
    Operator,
}

impl<'a> Owner<'a> {
    /// What is authenticated beside the head: one byte, then the merchant id.
    fn bytes(self) -> (u8, &'a str) {
        match self {
            Self::Tenant(tenant) => (u8::from(tenant.livemode), tenant.merchant_id.as_str()),
            Self::Operator => (2, ""),
        }
    }
}

/// Why a list of cursor keys is refused. Never tells the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CursorKeyError {
    /// No key at all: nothing could be signed.
    #[error("at least one cursor key is needed")]
    Empty,
    /// An entry is not `id:base64` with an id of 0–255 and 32 bytes.
    #[error("a cursor key is written id:base64, with an id from 0 to 255 and 32 bytes")]
    Malformed,
    /// Two keys with one id: it would be undecided which of them verifies.
    #[error("a cursor key id is used twice")]
    DuplicateId,
}

/// The keys that authenticate cursors: the first signs, all verify. Wiped when dropped, redacted in `Debug`.
pub struct CursorKeys {
    pub(super) signing: CursorKey,
    retired: Vec<CursorKey>,
}

pub(super) struct CursorKey {
    pub(super) id: u8,
    secret: Zeroizing<[u8; 32]>,
}

impl CursorKeys {
    /// Keys from a signing key and older ones that still verify.
    ///
    /// # Errors
    /// [`CursorKeyError::DuplicateId`].
    pub fn new(signing: (u8, [u8; 32]), retired: Vec<(u8, [u8; 32])>) -> Result<Self, CursorKeyError> {
        let key = |(id, secret)| CursorKey { id, secret: Zeroizing::new(secret) };
        let keys = Self { signing: key(signing), retired: retired.into_iter().map(key).collect() };
        let mut seen = [false; 256];
        for key in keys.all() {
            if seen.get_mut(usize::from(key.id)).is_none_or(|seen| std::mem::replace(seen, true)) {
                return Err(CursorKeyError::DuplicateId);
            }
        }
        Ok(keys)
    }

    /// Reads `id:base64,…` as `AUTHORITY_CURSOR_KEYS` carries it.
    ///
    /// # Errors
    /// [`CursorKeyError`]; its text names no key.
    pub fn parse(text: &str) -> Result<Self, CursorKeyError> {
        let mut keys = Vec::new();
        for entry in text.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
            let (id, secret) = entry.split_once(':').ok_or(CursorKeyError::Malformed)?;
            let id: u8 = id.parse().map_err(|_| CursorKeyError::Malformed)?;
            let secret = Zeroizing::new(STANDARD.decode(secret).map_err(|_| CursorKeyError::Malformed)?);
            keys.push((id, secret.as_slice().try_into().map_err(|_| CursorKeyError::Malformed)?));
        }
        let mut keys = keys.into_iter();
        let signing = keys.next().ok_or(CursorKeyError::Empty)?;
        Self::new(signing, keys.collect())
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &CursorKey> {
        std::iter::once(&self.signing).chain(&self.retired)
    }
}

impl std::fmt::Debug for CursorKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CursorKeys({} keys, redacted)", 1 + self.retired.len())
    }
}

impl CursorKey {
    /// HMAC over head, mode and merchant id. The head and the mode have fixed lengths, so the id, which comes last,
    /// cannot borrow bytes from them.
    pub(super) fn authenticate(&self, head: &[u8], owner: Owner<'_>) -> [u8; MAC_LEN] {
        // A key of 32 bytes is within what HMAC takes, which is any length.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(self.secret.as_slice()) else { return [0; MAC_LEN] };
        mac.update(head);
        let (mode, merchant_id) = owner.bytes();
        mac.update(&[mode]);
        mac.update(merchant_id.as_bytes());
        let full = mac.finalize().into_bytes();
        let mut truncated = [0; MAC_LEN];
        truncated.iter_mut().zip(full).for_each(|(to, from)| *to = from);
        truncated
    }
}
