//! The names that the merchant's own systems have for an order (contract 4.13): one entry per system, so that an ERP
//! and a warehouse never overwrite each other.
//!
//! A change of an entry is a change of the order: one version and `order.updated`. An order in any status may get an
//! entry, since systems learn of orders late. Whether another order has the same name in the same system is checked
//! by the caller, which can see all orders, in the transaction that writes this one.

use verify_core::catalog::EventType;

use crate::error_code::ErrorCode;
use crate::event::change::Change;
use crate::order::number::OrderNumber;
use crate::order::{ExternalReference, Order, size};
use crate::refusal::{MemberCode, Refusal, Result};
use crate::time::Timestamp;

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

/// Sets the entry of a system, in place of the one before it: `order.updated`, or nothing when it says the same.
///
/// # Errors
/// `validation_failed` when [`SYSTEMS_MAX`] other systems have an entry; `payload_too_large` when the order would leave
/// no room for what may yet happen to it.
pub fn set(order: &Order, system: &SystemName, new: NewReference, now: Timestamp) -> Result<Vec<Change>> {
    let before = reference(order, system);
    if before.is_some_and(|entry| entry.id == new.id && entry.url == new.url) {
        return Ok(Vec::new());
    }
    if before.is_none() && order.external_references.len() >= SYSTEMS_MAX {
        let detail = format!("{SYSTEMS_MAX} systems refer to this order already.");
        return Err(Refusal::member("", MemberCode::TooLong, detail));
    }
    let mut next = order.clone().next_version(now);
    let NewReference { id, url } = new;
    let system = system.as_str().to_owned();
    next.external_references.retain(|entry| entry.system != system);
    next.external_references.push(ExternalReference { system, id, url, updated_at: next.updated_at });
    next.external_references.sort_by(|a, b| a.system.cmp(&b.system));
    size::check_grown(order, &next)?;
    Ok(vec![Change::order(EventType::OrderUpdated, &next)])
}

/// Removes the entry of a system: `order.updated`, or nothing when there is none.
#[must_use]
pub fn remove(order: &Order, system: &SystemName, now: Timestamp) -> Vec<Change> {
    if reference(order, system).is_none() {
        return Vec::new();
    }
    let mut next = order.clone().next_version(now);
    next.external_references.retain(|entry| entry.system != system.as_str());
    vec![Change::order(EventType::OrderUpdated, &next)]
}

/// The refusal of a name that another order already has.
#[must_use]
pub fn conflict(holder: &OrderNumber) -> Refusal {
    let detail = format!("Order {holder} has this name in this system.");
    Refusal::new(ErrorCode::ExternalReferenceConflict, detail).with("order_number", holder.as_str())
}
