//! Sets and removes the names that the merchant's own systems have for an order (contract 4.13).
//!
//! A change of an entry is a change of the order: one version and `order.updated`. An order in any status may get an
//! entry, since systems learn of orders late. Whether another order has the same name in the same system is checked
//! by the caller, which can see all orders, in the transaction that writes this one.

use verify_core::catalog::EventType;

use crate::event::change::Change;
use crate::order::external_references::{NewReference, SYSTEMS_MAX, SystemName, reference};
use crate::order::{ExternalReference, Order, check_grown};
use crate::refusal::{MemberCode, Refusal, Result};
use crate::time::Timestamp;

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
    check_grown(order, &next)?;
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
