//! Cursors: positions in a list that a client stores and sends back, and can neither forge nor use for another list
//! (contract 8.5).
//!
//! A list writes a cursor after the last item of a page; a later request sends it back; decoding proves that this
//! service wrote it for this merchant, mode, list and filter. Nothing is stored, so any instance can decode it and
//! it never expires. The layout, base64url without padding:
//!
//! | Bytes | Content |
//! |---|---|
//! | 1 | format version: 1 with a sequence as position, 2 with an id |
//! | 1 | key id |
//! | 1 | list kind |
//! | 8 or 16 | position, big-endian |
//! | 8 | first 8 bytes of SHA-256 of the canonical filter string; zero for none |
//! | 16 | HMAC-SHA256 over the above, the mode and the merchant id, truncated |
//!
//! A merchant's lists are ordered by the sequences of its stream: version 1, 47 characters. An operator's lists span
//! all merchants, which share no sequence; they are ordered by the number in the records' ids, which is ordered by
//! time: version 2, 58 characters.
//!
//! Deliberately absent: encryption. The position is no secret; it stands in every event as `sequence`, or is an id.

mod keys;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use self::keys::MAC_LEN;
pub use self::keys::{CursorKeyError, CursorKeys, Owner};

/// Longest text that is examined (contract 8.5).
const TEXT_LIMIT: usize = 256;
/// Format version of a cursor whose position is a sequence: 8 bytes.
const BY_SEQUENCE: u8 = 1;
/// Format version of a cursor whose position is an id: 16 bytes.
const BY_ID: u8 = 2;
const FILTER_LEN: usize = 8;

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
    /// The portal's API keys, by id; merchant and mode are the filter string
    ApiKeys = 15;
    /// The pages' recoveries of an endpoint that have ended, by id; the endpoint is the filter string
    Recoveries = 16;
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
    /// Operator: alerts
    OperatorAlerts = 39;
    /// Operator: payments
    OperatorPayments = 40;
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

impl CursorKeys {
    /// The cursor of `position` in a list: the sequence after which (newest-first lists: before which) to go on.
    /// `filter` is the canonical filter string, empty for none.
    #[must_use]
    pub fn encode(&self, list: ListKind, position: u64, owner: Owner<'_>, filter: &str) -> String {
        self.seal(BY_SEQUENCE, list, position.to_be_bytes(), owner, filter)
    }

    /// The position of a cursor that this service gave out for this list, owner and filter.
    ///
    /// # Errors
    /// [`CursorError`]. List and filter are checked only after the cursor has proved genuine.
    pub fn decode(
        &self,
        text: &str,
        list: ListKind,
        owner: Owner<'_>,
        filter: &str,
    ) -> Result<u64, CursorError> {
        self.open(BY_SEQUENCE, text, list, owner)?.under(filter).map(u64::from_be_bytes)
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
        self.open(BY_SEQUENCE, text, list, owner).map(|opened| u64::from_be_bytes(opened.position))
    }

    /// The cursor of an operator list, which spans all merchants and goes by the records' ids: `uuid` is the number
    /// in the id of the last item ([`verify_core::id::uuid`]).
    #[must_use]
    pub fn encode_id(&self, list: ListKind, uuid: u128, filter: &str) -> String {
        self.seal(BY_ID, list, uuid.to_be_bytes(), Owner::Operator, filter)
    }

    /// The number in the id that a cursor of an operator list stands for.
    ///
    /// # Errors
    /// [`CursorError`], as for [`CursorKeys::decode`].
    pub fn decode_id(&self, text: &str, list: ListKind, filter: &str) -> Result<u128, CursorError> {
        self.open(BY_ID, text, list, Owner::Operator)?.under(filter).map(u128::from_be_bytes)
    }

    fn seal<const N: usize>(
        &self,
        version: u8,
        list: ListKind,
        position: [u8; N],
        owner: Owner<'_>,
        filter: &str,
    ) -> String {
        let mut bytes = Vec::with_capacity(head_len(N) + MAC_LEN);
        bytes.extend([version, self.signing.id, list as u8]);
        bytes.extend(position);
        bytes.extend(filter_digest(filter));
        let mac = self.signing.authenticate(&bytes, owner);
        bytes.extend(mac);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    fn open<const N: usize>(
        &self,
        expected: u8,
        text: &str,
        list: ListKind,
        owner: Owner<'_>,
    ) -> Result<Opened<N>, CursorError> {
        if text.len() > TEXT_LIMIT {
            return Err(CursorError::Malformed);
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| CursorError::Malformed)?;
        let (head, mac) = bytes.split_at_checked(head_len(N)).ok_or(CursorError::Malformed)?;
        let [version, key_id, kind, rest @ ..] = head else { return Err(CursorError::Malformed) };
        let (position, filter_digest) = rest.split_at_checked(N).ok_or(CursorError::Malformed)?;
        if *version != expected || mac.len() != MAC_LEN {
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
            position: position.try_into().map_err(|_| CursorError::Malformed)?,
            filter_digest: filter_digest.try_into().map_err(|_| CursorError::Malformed)?,
        })
    }
}

/// What an authentic cursor says; its position has `N` bytes.
struct Opened<const N: usize> {
    position: [u8; N],
    filter_digest: [u8; FILTER_LEN],
}

impl<const N: usize> Opened<N> {
    /// The position, when the cursor was given out under `filter`.
    fn under(self, filter: &str) -> Result<[u8; N], CursorError> {
        if self.filter_digest == filter_digest(filter) {
            Ok(self.position)
        } else {
            Err(CursorError::OtherFilter)
        }
    }
}

/// What is authenticated of a cursor whose position has `position_len` bytes.
const fn head_len(position_len: usize) -> usize {
    3 + position_len + FILTER_LEN
}

fn filter_digest(filter: &str) -> [u8; FILTER_LEN] {
    let mut digest = [0; FILTER_LEN];
    if !filter.is_empty() {
        digest.iter_mut().zip(Sha256::digest(filter.as_bytes())).for_each(|(to, from)| *to = from);
    }
    digest
}

#[cfg(test)]
mod tests;
