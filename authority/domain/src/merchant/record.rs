//! The merchant: the tenant that every stored record belongs to (contract 2.16).

use serde::{Deserialize, Serialize};

use crate::error_code::ErrorCode;
use crate::id::MerchantId;
use crate::merchant::limits::Limits;
use crate::order::ConfirmOn;
use crate::refusal::{Refusal, Result};
use crate::tenant::MerchantContext;
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
#[serde(default)] // a merchant that was stored before a setting existed has its default
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "MerchantSettings"))]
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
    /// In test mode, requested refunds go on by themselves (contract 6.3).
    pub sandbox_auto_advance: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            confirm_on: ConfirmOn::Paid,
            require_if_match: false,
            require_idempotency_key: false,
            order_number_prefix: "ORD-".to_owned(),
            pending_order_ttl_hours: None,
            sandbox_auto_advance: false,
        }
    }
}

/// The merchant record. Unlike what stands in contract 2.16 it has a version, so that `If-Match` and the audit log
/// hold for it as for every other record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "object", rename = "merchant")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Merchant {
    /// Identifies the merchant.
    pub id: MerchantId,
    /// Its readable name, unique; never changes.
    pub slug: String,
    /// For people.
    pub name: String,
    /// Whether it may act.
    pub status: MerchantStatus,
    /// ISO 4217, uppercase.
    pub default_currency: String,
    /// The version that its requests have when they name none, `YYYY-MM-DD`.
    pub api_version: String,
    /// What an operator can set.
    pub settings: Settings,
    /// What an operator allows it; where it says null, the platform's default holds.
    #[serde(default)]
    pub limits: Limits,
    #[serde(default = "first_version")]
    /// Counts the changes of this record, from 1; for `If-Match` and to see gaps.
    pub resource_version: i64,
    /// When the record was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// Of merchants that were stored before they had versions.
fn first_version() -> i64 {
    1
}

/// What an operator changes of a merchant; `None` leaves it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MerchantChange {
    /// For people.
    pub name: Option<String>,
    /// Whether it may act.
    pub status: Option<MerchantStatus>,
    /// All of them.
    pub settings: Option<Settings>,
    /// All of them.
    pub limits: Option<Limits>,
}

impl Merchant {
    /// The signed merchant context of an event.
    #[must_use]
    pub fn context(&self) -> MerchantContext {
        MerchantContext { id: self.id.clone(), slug: self.slug.clone() }
    }

    /// Refuses what a closed merchant gets no more: keys, orders, checkouts, endpoints (contract 18.3).
    ///
    /// # Errors
    /// `merchant_closed`.
    pub fn check_not_closed(&self) -> Result<()> {
        if self.status == MerchantStatus::Closed {
            return Err(Refusal::new(ErrorCode::MerchantEnded, "The merchant is closed."));
        }
        Ok(())
    }

    /// The merchant after `change`, one version on; the same when nothing is different.
    ///
    /// # Errors
    /// `invalid_state_transition` when a closed merchant is to act again: closing is for ever.
    pub fn change(&self, change: MerchantChange, now: Timestamp) -> Result<Self> {
        let status = change.status.unwrap_or(self.status);
        if self.status == MerchantStatus::Closed && status != MerchantStatus::Closed {
            let detail = "A closed merchant stays closed.";
            return Err(Refusal::transition(self.status.as_str(), status.as_str(), detail));
        }
        let mut changed = Self {
            name: change.name.unwrap_or_else(|| self.name.clone()),
            status,
            settings: change.settings.unwrap_or_else(|| self.settings.clone()),
            limits: change.limits.unwrap_or(self.limits),
            ..self.clone()
        };
        if changed != *self {
            changed.resource_version += 1;
            changed.updated_at = now.max(self.updated_at);
        }
        Ok(changed)
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
