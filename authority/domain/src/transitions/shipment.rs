//! How parcels change their order (contract 3.7, 4.7).
//!
//! The merchant ships a confirmed order: creating the record counts as "with the carrier", and the order's shipped and
//! fulfilled quantities rise with it in the same change. Then the carrier reports: movement concerns the parcel alone,
//! delivery and cancelling move the order's quantities as well.

use std::collections::BTreeMap;

use verify_core::catalog::EventType;

use crate::body::party_name;
use crate::error_code::ErrorCode;
use crate::event::change::Change;
use crate::id::{LineItemId, ShipmentId};
use crate::order::line_quantities::LineMarks;
use crate::order::{ConfirmedBy, Order, line_quantities};
use crate::parts::OrderLine;
use crate::refusal::{MemberCode, Refusal, Result};
use crate::shipment::report::{ShipmentOutcome, ShipmentReport};
use crate::shipment::{NewShipment, SHIPMENTS_MAX, Shipment, ShipmentLine, ShipmentStatus};
use crate::time::Timestamp;

/// Ships a part or all of an order: `shipment.created`, then the order's event (contract 3.9 rows 10 and 11).
/// `existing` are all shipments of the order.
///
/// # Errors
/// `validation_failed` for an unknown, repeated or non-shippable line; `order_not_fulfillable`; `shipment_exists`;
/// `nothing_to_ship`; `quantity_exceeded`; `validation_failed` when the order has [`SHIPMENTS_MAX`] shipments.
pub fn create(
    order: Order,
    existing: &[Shipment],
    confirmed_by: ConfirmedBy,
    id: ShipmentId,
    new: NewShipment,
    now: Timestamp,
) -> Result<(Shipment, Vec<Change>)> {
    if let Some(asked) = &new.line_items {
        check_lines(&order, asked)?;
    }
    if !order.is_fulfillable(confirmed_by) {
        return Err(order.not_fulfillable());
    }
    refuse_same_parcel(existing.iter(), &new.carrier, new.tracking_number.as_deref())?;
    let in_shipments = line_quantities::held(existing);
    let line_items = chosen_lines(&order, &in_shipments, new.line_items)?;
    if existing.len() >= SHIPMENTS_MAX {
        let detail =
            format!("The order has {SHIPMENTS_MAX} shipments, cancelled ones included: it takes no more.");
        return Err(Refusal::member("", MemberCode::TooLong, detail));
    }
    let shipment = Shipment {
        id,
        order_number: order.order_number.clone(),
        status: ShipmentStatus::Created,
        carrier: new.carrier,
        service_level: new.service_level,
        tracking_number: new.tracking_number,
        tracking_url: new.tracking_url,
        line_items,
        shipped_at: new.shipped_at.unwrap_or(now),
        estimated_delivery_at: new.estimated_delivery_at,
        delivered_at: None,
        exception: None,
        metadata: new.metadata,
        resource_version: 1,
        livemode: order.livemode,
        created_at: now,
        updated_at: now,
    };
    let mut changes = vec![Change::shipment(EventType::ShipmentCreated, &shipment)];
    let lines = raised(&order.line_items, &in_shipments, &shipment);
    changes.extend(order.after_lines(lines, now));
    Ok((shipment, changes))
}

/// Applies a carrier's report to the parcel and, where quantities change, to its order: `shipment.delivered` or
/// `shipment.updated`, then the order's event (contract 3.9 rows 12 and 13). `parcels` are all shipments of the
/// order, the reported one in its former version among them; `marked` is what the fulfilment update set. Without
/// changes the parcel is already as reported.
///
/// # Errors
/// Those of [`Shipment::report`]; `shipment_exists` when another parcel has this carrier and tracking number.
pub fn report(
    order: Order,
    parcels: &[Shipment],
    marked: &LineMarks,
    shipment: Shipment,
    report: &ShipmentReport,
    now: Timestamp,
) -> Result<(Shipment, Vec<Change>)> {
    let next = match shipment.report(report, now)? {
        ShipmentOutcome::Unchanged(shipment) => return Ok((*shipment, Vec::new())),
        ShipmentOutcome::Changed(next) => *next,
    };
    let others = || parcels.iter().filter(|parcel| parcel.id != next.id);
    refuse_same_parcel(others(), &next.carrier, next.tracking_number.as_deref())?;
    let event = match next.status {
        ShipmentStatus::Delivered => EventType::ShipmentDelivered,
        _ => EventType::ShipmentUpdated,
    };
    let mut changes = vec![Change::shipment(event, &next)];
    let now_parcels: Vec<Shipment> = others().cloned().chain([next.clone()]).collect();
    let lines = line_quantities::with_parcels(&order.line_items, marked, &now_parcels);
    changes.extend(order.after_lines(lines, now));
    Ok((next, changes))
}

fn check_lines(order: &Order, asked: &[ShipmentLine]) -> Result<()> {
    for (index, line) in asked.iter().enumerate() {
        let earlier = asked.iter().take(index).map(|earlier| &earlier.line_item_id);
        let (code, detail) = match line_quantities::named(&order.line_items, &line.line_item_id, earlier) {
            Ok(known) if known.requires_shipping => continue,
            Ok(_) => (MemberCode::Inconsistent, "does not require shipping"),
            Err(wrong) => wrong,
        };
        return Err(Refusal::member(format!("/line_items/{index}/line_item_id"), code, detail));
    }
    Ok(())
}

/// A tracking number is unique per order and carrier (contract 2.5), cancelled parcels included.
fn refuse_same_parcel<'s>(
    others: impl IntoIterator<Item = &'s Shipment>,
    carrier: &str,
    tracking_number: Option<&str>,
) -> Result<()> {
    let Some(number) = tracking_number else { return Ok(()) };
    let same = others.into_iter().find(|other| {
        party_name::is_same(&other.carrier, carrier) && other.tracking_number.as_deref() == Some(number)
    });
    let Some(shipment) = same else { return Ok(()) };
    let detail = "A shipment of this order already has this carrier and tracking number.";
    Err(Refusal::new(ErrorCode::ShipmentExists, detail).with("shipment_id", shipment.id.as_str()))
}

fn chosen_lines(
    order: &Order,
    in_shipments: &BTreeMap<LineItemId, i64>,
    asked: Option<Vec<ShipmentLine>>,
) -> Result<Vec<ShipmentLine>> {
    let rest: Vec<ShipmentLine> = order
        .line_items
        .iter()
        .filter(|line| line.requires_shipping)
        .map(|line| ShipmentLine {
            line_item_id: line.id.clone(),
            quantity: line.quantity - in_shipments.get(&line.id).copied().unwrap_or(0),
        })
        .filter(|line| line.quantity > 0)
        .collect();
    if rest.is_empty() {
        let detail = "Every shippable quantity of this order is already in a shipment.";
        return Err(Refusal::new(ErrorCode::NothingToShip, detail));
    }
    let Some(asked) = asked else { return Ok(rest) };
    for line in &asked {
        let ShipmentLine { line_item_id: id, quantity: asked } = line;
        let left = rest.iter().find(|rest| rest.line_item_id == *id).map_or(0, |rest| rest.quantity);
        if *asked > left {
            let detail = format!("{left} of line {id} can still be shipped; {asked} were asked for.");
            return Err(Refusal::new(ErrorCode::QuantityExceeded, detail)
                .with("line_item_id", id.as_str())
                .with("shippable", left));
        }
    }
    Ok(asked)
}

/// Per line, shipped is at least what all shipments hold, and fulfilled at least what is shipped (contract 3.7).
fn raised(lines: &[OrderLine], in_shipments: &BTreeMap<LineItemId, i64>, new: &Shipment) -> Vec<OrderLine> {
    lines
        .iter()
        .map(|line| {
            let added = new.line_items.iter().find(|l| l.line_item_id == line.id).map_or(0, |l| l.quantity);
            let held = in_shipments.get(&line.id).copied().unwrap_or(0) + added;
            let mut line = line.clone();
            line.shipped_quantity = line.shipped_quantity.max(held);
            line.fulfilled_quantity = line.fulfilled_quantity.max(line.shipped_quantity);
            line
        })
        .collect()
}
