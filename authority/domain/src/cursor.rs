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

/// Whose list it is. Operator lists, which belong to no merchant, use [`Tenant::OPERATOR`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tenant<'a> {
    /// `mer_…`; empty on the operator side.
    pub merchant_id: &'a str,
    /// The mode of the key.
    pub livemode: bool,
}

impl Tenant<'static> {
    /// The operator side.
    pub const OPERATOR: Self = Self { merchant_id: "", livemode: false };
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
    pub fn encode(&self, list: ListKind, position: u64, tenant: Tenant<'_>, filter: &str) -> String {
        let mut bytes = Vec::with_capacity(CURSOR_LEN);
        bytes.extend([VERSION, self.signing.id, list as u8]);
        bytes.extend(position.to_be_bytes());
        bytes.extend(filter_digest(filter));
        let mac = self.signing.authenticate(&bytes, tenant);
        bytes.extend(mac);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The position of a cursor that this service gave out for this list, tenant and filter.
    ///
    /// # Errors
    /// [`CursorError`]. List and filter are looked at only after the cursor has proved genuine.
    pub fn decode(
        &self,
        text: &str,
        list: ListKind,
        tenant: Tenant<'_>,
        filter: &str,
    ) -> Result<u64, CursorError> {
        let opened = self.open(text, list, tenant)?;
        if opened.filter_digest == filter_digest(filter) { Ok(opened.position) } else { Err(CursorError::OtherFilter) }
    }

    /// The position of a cursor whatever its filter: for a checkpoint, which marks a place in the whole stream.
    ///
    /// # Errors
    /// [`CursorError`], never [`CursorError::OtherFilter`].
    pub fn decode_any_filter(&self, text: &str, list: ListKind, tenant: Tenant<'_>) -> Result<u64, CursorError> {
        self.open(text, list, tenant).map(|opened| opened.position)
    }

    fn open(&self, text: &str, list: ListKind, tenant: Tenant<'_>) -> Result<Opened, CursorError> {
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
        if !bool::from(key.authenticate(head, tenant).as_slice().ct_eq(mac)) {
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
    fn authenticate(&self, head: &[u8], tenant: Tenant<'_>) -> [u8; MAC_LEN] {
        // A key of 32 bytes is within what HMAC takes, which is any length.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(self.secret.as_slice()) else { return [0; MAC_LEN] };
        mac.update(head);
        mac.update(&[u8::from(tenant.livemode)]);
        mac.update(tenant.merchant_id.as_bytes());
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
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MERCHANT: Tenant<'static> = Tenant { merchant_id: "mer_01k3zqa7w5e8v9r2t4y6m8n0pq", livemode: true };

    fn keys() -> CursorKeys {
        CursorKeys::new((7, [1; 32]), vec![(3, [2; 32])]).unwrap()
    }

    #[test]
    fn is_47_url_safe_characters() {
        let text = keys().encode(ListKind::Events, u64::MAX, MERCHANT, "type=order.%2A");
        assert_eq!(text.len(), 47);
        assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'));
    }

    #[test]
    fn the_layout_is_fixed() {
        // Computed with Python's hmac and base64 over the table in the module's story.
        let text = keys().encode(ListKind::Orders, 41, MERCHANT, "status=confirmed");
        assert_eq!(text, "AQcDAAAAAAAAACmPIhiZP5zZE4RZ-89fLQveSBsFt755X1s");
    }

    #[test]
    fn every_altered_byte_is_refused() {
        let keys = keys();
        let bytes = URL_SAFE_NO_PAD.decode(keys.encode(ListKind::Events, 41, MERCHANT, "")).unwrap();
        for at in 0..bytes.len() {
            for flip in 1..=255_u8 {
                let mut altered = bytes.clone();
                altered[at] ^= flip;
                let text = URL_SAFE_NO_PAD.encode(&altered);
                assert!(keys.decode(&text, ListKind::Events, MERCHANT, "").is_err(), "byte {at} ^ {flip}");
            }
        }
    }

    #[test]
    fn every_other_character_is_refused() {
        // Also covers the two spare bits of the last character, which carry nothing and must be zero.
        let keys = keys();
        let text = keys.encode(ListKind::Events, 41, MERCHANT, "");
        for at in 0..text.len() {
            for other in 0..=127_u8 {
                let mut altered = text.clone().into_bytes();
                if altered[at] == other {
                    continue;
                }
                altered[at] = other;
                let altered = String::from_utf8(altered).unwrap();
                assert!(keys.decode(&altered, ListKind::Events, MERCHANT, "").is_err(), "{altered}");
            }
        }
    }

    #[test]
    fn belongs_to_its_tenant_mode_list_and_filter() {
        let keys = keys();
        let text = keys.encode(ListKind::Events, 41, MERCHANT, "type=order.*");
        let decode = |list, tenant, filter| keys.decode(&text, list, tenant, filter);
        assert_eq!(decode(ListKind::Events, MERCHANT, "type=order.*"), Ok(41));
        let test_mode = Tenant { livemode: false, ..MERCHANT };
        let other = Tenant { merchant_id: "mer_01k3zqa7w5e8v9r2t4y6m8n0pr", ..MERCHANT };
        assert_eq!(decode(ListKind::Events, test_mode, "type=order.*"), Err(CursorError::NotAuthentic));
        assert_eq!(decode(ListKind::Events, other, "type=order.*"), Err(CursorError::NotAuthentic));
        assert_eq!(decode(ListKind::Events, Tenant::OPERATOR, "type=order.*"), Err(CursorError::NotAuthentic));
        assert_eq!(decode(ListKind::Events, MERCHANT, ""), Err(CursorError::OtherFilter));
        assert_eq!(decode(ListKind::Events, MERCHANT, "type=order.shipped"), Err(CursorError::OtherFilter));
        for list in ListKind::ALL.iter().filter(|list| **list != ListKind::Events) {
            assert_eq!(decode(*list, MERCHANT, "type=order.*"), Err(CursorError::OtherList), "{list:?}");
        }
        assert_eq!(keys.decode_any_filter(&text, ListKind::Events, MERCHANT), Ok(41));
        assert_eq!(keys.decode_any_filter(&text, ListKind::SyncOrders, MERCHANT), Err(CursorError::OtherList));
    }

    #[test]
    fn truncated_padded_and_oversized_texts_are_malformed() {
        let keys = keys();
        let text = keys.encode(ListKind::Events, 41, MERCHANT, "");
        let decode = |text: &str| keys.decode(text, ListKind::Events, MERCHANT, "");
        for end in 0..text.len() {
            assert_eq!(decode(&text[..end]), Err(CursorError::Malformed), "{end} characters");
        }
        for text in [format!("{text}A"), format!("{text}="), format!(" {text}"), "A".repeat(10_240), "é".repeat(20)] {
            assert_eq!(decode(&text), Err(CursorError::Malformed), "{text:.60}");
        }
    }

    #[test]
    fn an_older_key_verifies_until_it_is_retired() {
        let before = CursorKeys::new((3, [2; 32]), vec![]).unwrap();
        let text = before.encode(ListKind::Events, 5, MERCHANT, "");
        assert_eq!(keys().decode(&text, ListKind::Events, MERCHANT, ""), Ok(5));
        let after = CursorKeys::new((7, [1; 32]), vec![]).unwrap();
        assert_eq!(after.decode(&text, ListKind::Events, MERCHANT, ""), Err(CursorError::UnknownKey));
        let replaced = CursorKeys::new((3, [9; 32]), vec![]).unwrap();
        assert_eq!(replaced.decode(&text, ListKind::Events, MERCHANT, ""), Err(CursorError::NotAuthentic));
    }

    #[test]
    fn key_lists() {
        let one = STANDARD.encode([1; 32]);
        let table = [
            (format!("7:{one}"), None),
            (format!("7:{one}, 3:{}", STANDARD.encode([2; 32])), None),
            (String::new(), Some(CursorKeyError::Empty)),
            (" , ".into(), Some(CursorKeyError::Empty)),
            (one.clone(), Some(CursorKeyError::Malformed)),
            (format!("256:{one}"), Some(CursorKeyError::Malformed)),
            (format!("7:{}", STANDARD.encode([1; 31])), Some(CursorKeyError::Malformed)),
            ("7:*".into(), Some(CursorKeyError::Malformed)),
            (format!("7:{one},7:{one}"), Some(CursorKeyError::DuplicateId)),
        ];
        for (text, expected) in table {
            assert_eq!(CursorKeys::parse(&text).err(), expected, "{text}");
        }
        assert_eq!(format!("{:?}", keys()), "CursorKeys(2 keys, redacted)");
    }

    proptest! {
        #[test]
        fn what_is_encoded_decodes(
            position: u64, livemode: bool, merchant_id in "mer_[0-9a-z]{26}", filter in ".{0,40}",
            list in prop::sample::select(ListKind::ALL),
        ) {
            let tenant = Tenant { merchant_id: &merchant_id, livemode };
            let text = keys().encode(list, position, tenant, &filter);
            prop_assert_eq!(keys().decode(&text, list, tenant, &filter), Ok(position));
        }

        #[test]
        fn no_text_breaks_the_decoder(text in "\\PC{0,300}") {
            prop_assert!(keys().decode(&text, ListKind::Events, MERCHANT, "").is_err());
        }
    }
}
