//! The names that the merchant's own systems have for an order (contract 4.13): one entry per system, so that an ERP
//! and a warehouse never overwrite each other.
//!
//! They are set and removed in [`crate::transitions::external_references`].

use crate::error_code::ErrorCode;
use crate::order::{ExternalReference, Order};
use crate::order_number::OrderNumber;
use crate::refusal::Refusal;

/// How many systems may have an entry on one order (contract 2.2).
pub const SYSTEMS_MAX: usize = 20;

/// Longest name of a system, in characters.
const SYSTEM_LIMIT: usize = 32;

/// A merchant's system: `^[a-z0-9][a-z0-9_-]{0,31}$` (contract 4.13).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemName(String);

impl SystemName {
    /// `None` when the text names no system.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let first = text.bytes().next().is_some_and(plain);
        let all = text.bytes().all(|byte| plain(byte) || matches!(byte, b'_' | b'-'));
        (first && all && text.len() <= SYSTEM_LIMIT).then(|| Self(text.to_owned()))
    }

    /// The text form.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// An order by the name that one of the merchant's systems gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalName {
    /// The system.
    pub system: SystemName,
    /// The order's name there.
    pub id: String,
}

/// What is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewReference {
    /// The order's name in the system, 1–128 characters.
    pub id: String,
    /// Where it is found there.
    pub url: Option<String>,
}

/// The order's entry of a system, if it has one.
#[must_use]
pub fn reference<'o>(order: &'o Order, system: &SystemName) -> Option<&'o ExternalReference> {
    order.external_references.iter().find(|entry| entry.system == system.as_str())
}

/// The refusal of a name that another order already has.
#[must_use]
pub fn conflict(holder: &OrderNumber) -> Refusal {
    let detail = format!("Order {holder} has this name in this system.");
    Refusal::new(ErrorCode::ExternalReferenceConflict, detail).with("order_number", holder.as_str())
}
