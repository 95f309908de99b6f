//! Cursors: positions in a list that a client keeps and sends back, and can neither make up nor move elsewhere
//! (contract 8.5).
//!
//! A list writes a cursor after the last item of a page; a later request hands it back; decoding proves that this
//! service wrote it for this merchant, mode, list and filter. Nothing is stored, so any instance can decode it and
//! it never expires. The layout, base64url without padding, 47 characters:
//!
//! | Bytes | Content |
//! |---|---|
//! | 1 | format version = 1 |
//! | 1 | key id |
//! | 1 | list kind |
//! | 8 | position, big-endian |
//! | 8 | first 8 bytes of SHA-256 of the canonical filter string; zero for none |
//! | 16 | HMAC-SHA256 over the above, the mode and the merchant id, truncated |
//!
//! Deliberately absent: encryption. The position is no secret; it stands in every event as `sequence`.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::tenant::Tenant;

/// Longest text that is looked at (contract 8.5).
const TEXT_LIMIT: usize = 256;
const VERSION: u8 = 1;
const HEAD_LEN: usize = 19;
const MAC_LEN: usize = 16;
const CURSOR_LEN: usize = HEAD_LEN + MAC_LEN;

macro_rules! list_kinds {
    ($($(#[$doc:meta])* $name:ident = $number:literal;)*) => {
        /// Which list a cursor belongs to. The numbers are part of every cursor ever given out: never reuse one.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum ListKind { $($(#[$doc])* $name = $number,)* }

        impl ListKind {
            /// Every list.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];
        }
    };
}

list_kinds! {
    /// `/events`
    Events = 1;
    /// `/sync/orders`
    SyncOrders = 2;
    /// `/orders`
    Orders = 3;
    /// `/payments`
    Payments = 4;
    /// `/refunds`
    Refunds = 5;
    /// `/subscriptions`
    Subscriptions = 6;
    /// `/orders/:order/shipments`; the order is part of the filter string
    Shipments = 7;
    /// `/webhook-endpoints`
    WebhookEndpoints = 8;
    /// `/webhook-endpoints/:id/deliveries`; the endpoint is part of the filter string
    Deliveries = 9;
    /// `/sync/checkpoints`
    Checkpoints = 10;
    /// `/partner-connections`
    PartnerConnections = 11;
    /// `/order-shares`
    OrderShares = 12;
    /// `/partner-orders`
    PartnerOrders = 13;
    /// `/webhook-endpoints/:id/undelivered`; the endpoint is part of the filter string
    Undelivered = 14;
    /// Operator: merchants
    OperatorMerchants = 32;
    /// Operator: API keys of a merchant; the merchant is part of the filter string
    OperatorApiKeys = 33;
    /// Operator: refunds to be worked on
    OperatorRefunds = 34;
    /// Operator: deliveries
    OperatorDeliveries = 35;
    /// Operator: events
    OperatorEvents = 36;
    /// Operator: audit log
    OperatorAuditLog = 37;
    /// Operator: outbox
    OperatorOutbox = 38;
}

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

/// Why a cursor is refused. The client is told `invalid_cursor` for each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CursorError {
    /// Not base64url of the right length, or another format version.
    #[error("malformed cursor")]
    Malformed,
    /// Signed with a key that this service does not hold (any more).
    #[error("unknown cursor key")]
    UnknownKey,
    /// Altered, or given to another merchant or mode.
    #[error("cursor not given out to this merchant and mode")]
    NotAuthentic,
    /// Given out by another list.
    #[error("cursor of another list")]
    OtherList,
    /// Given out under another filter.
    #[error("cursor of another filter")]
    OtherFilter,
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
    signing: CursorKey,
    retired: Vec<CursorKey>,
}

struct CursorKey {
    id: u8,
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

    /// The cursor of `position` in a list: the sequence after which (newest-first lists: before which) to go on.
    /// `filter` is the canonical filter string, empty for none.
    #[must_use]
    pub fn encode(&self, list: ListKind, position: u64, owner: Owner<'_>, filter: &str) -> String {
        let mut bytes = Vec::with_capacity(CURSOR_LEN);
        bytes.extend([VERSION, self.signing.id, list as u8]);
        bytes.extend(position.to_be_bytes());
        bytes.extend(filter_digest(filter));
        let mac = self.signing.authenticate(&bytes, owner);
        bytes.extend(mac);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The position of a cursor that this service gave out for this list, owner and filter.
    ///
    /// # Errors
    /// [`CursorError`]. List and filter are looked at only after the cursor has proved genuine.
    pub fn decode(
        &self,
        text: &str,
        list: ListKind,
        owner: Owner<'_>,
        filter: &str,
    ) -> Result<u64, CursorError> {
        let opened = self.open(text, list, owner)?;
        if opened.filter_digest == filter_digest(filter) {
            Ok(opened.position)
        } else {
            Err(CursorError::OtherFilter)
        }
    }

    /// The position of a cursor whatever its filter: for a checkpoint, which marks a place in the whole stream.
    ///
    /// # Errors
    /// [`CursorError`], never [`CursorError::OtherFilter`].
    pub fn decode_any_filter(
        &self,
        text: &str,
        list: ListKind,
        owner: Owner<'_>,
    ) -> Result<u64, CursorError> {
        self.open(text, list, owner).map(|opened| opened.position)
    }

    fn open(&self, text: &str, list: ListKind, owner: Owner<'_>) -> Result<Opened, CursorError> {
        if text.len() > TEXT_LIMIT {
            return Err(CursorError::Malformed);
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| CursorError::Malformed)?;
        let (head, mac) = bytes.split_at_checked(HEAD_LEN).ok_or(CursorError::Malformed)?;
        let [version, key_id, kind, rest @ ..] = head else { return Err(CursorError::Malformed) };
        let (position, filter_digest) = rest.split_at_checked(8).ok_or(CursorError::Malformed)?;
        if *version != VERSION || mac.len() != MAC_LEN {
            return Err(CursorError::Malformed);
        }
        let key = self.all().find(|key| key.id == *key_id).ok_or(CursorError::UnknownKey)?;
        if !bool::from(key.authenticate(head, owner).as_slice().ct_eq(mac)) {
            return Err(CursorError::NotAuthentic);
        }
        if *kind != list as u8 {
            return Err(CursorError::OtherList);
        }
        Ok(Opened {
            position: u64::from_be_bytes(position.try_into().map_err(|_| CursorError::Malformed)?),
            filter_digest: filter_digest.try_into().map_err(|_| CursorError::Malformed)?,
        })
    }

    fn all(&self) -> impl Iterator<Item = &CursorKey> {
        std::iter::once(&self.signing).chain(&self.retired)
    }
}

impl std::fmt::Debug for CursorKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CursorKeys({} keys, redacted)", 1 + self.retired.len())
    }
}

/// What an authentic cursor says.
struct Opened {
    position: u64,
    filter_digest: [u8; 8],
}

impl CursorKey {
    /// HMAC over head, mode and merchant id. The head and the mode have fixed lengths, so the id, which comes last,
    /// cannot borrow bytes from them.
    fn authenticate(&self, head: &[u8], owner: Owner<'_>) -> [u8; MAC_LEN] {
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

fn filter_digest(filter: &str) -> [u8; 8] {
    let mut digest = [0; 8];
    if !filter.is_empty() {
        digest.iter_mut().zip(Sha256::digest(filter.as_bytes())).for_each(|(to, from)| *to = from);
    }
    digest
}

#[cfg(test)]
mod tests;
