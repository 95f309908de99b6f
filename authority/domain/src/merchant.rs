//! The merchant: the tenant that every stored record belongs to (contract 2.16).

use serde::{Deserialize, Serialize};

use crate::event::MerchantContext;
use crate::id::MerchantId;
use crate::order::ConfirmOn;
use crate::text_enum::text_enum;
use crate::time::Timestamp;

text_enum! {
    /// Whether a merchant may act.
    MerchantStatus {
        /// May read and write.
        Active = "active",
        /// May read.
        Suspended = "suspended",
        /// May do nothing.
        Closed = "closed",
    }
}

/// What an operator can set per merchant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// When an order confirms by itself.
    pub confirm_on: ConfirmOn,
    /// A conflict-sensitive update without `If-Match` is refused with 428.
    pub require_if_match: bool,
    /// A mutation without `Idempotency-Key` is refused with 400.
    pub require_idempotency_key: bool,
    /// What generated order numbers begin with.
    pub order_number_prefix: String,
    /// Hours after which an order that is still pending is cancelled (reason `expired`); `None`: never.
    #[serde(default)]
    pub pending_order_ttl_hours: Option<i64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            confirm_on: ConfirmOn::Paid,
            require_if_match: false,
            require_idempotency_key: false,
            order_number_prefix: "ORD-".to_owned(),
            pending_order_ttl_hours: None,
        }
    }
}

/// The merchant record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "object", rename = "merchant")]
#[allow(missing_docs)] // the members are those of the contract's table
pub struct Merchant {
    pub id: MerchantId,
    pub slug: String,
    pub name: String,
    pub status: MerchantStatus,
    pub default_currency: String,
    pub api_version: String,
    pub settings: Settings,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Merchant {
    /// The signed merchant context of an event.
    #[must_use]
    pub fn context(&self) -> MerchantContext {
        MerchantContext { id: self.id.clone(), slug: self.slug.clone() }
    }
}

/// Whether `text` may be a slug: `^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$`.
#[must_use]
pub fn is_slug(text: &str) -> bool {
    let bytes = text.as_bytes();
    let edge = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    (1..=63).contains(&bytes.len())
        && edge(bytes.first())
        && edge(bytes.last())
        && bytes.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-')
}
