//! How parcels and marks move the quantities of an order's lines (contract 3.7, I5).
//!
//! Per line: shipped is the larger of what was marked shipped by the fulfilment update and what all parcels hold that
//! were not cancelled; fulfilled is at least what is shipped; delivered is at least what arrived in parcels.

use std::collections::BTreeMap;

use crate::id::LineItemId;
use crate::parts::OrderLine;
use crate::shipment::{Shipment, ShipmentStatus};

/// Per line, the quantity that the fulfilment update marked as shipped. Not part of the order's record; never falls.
pub type Marked = BTreeMap<LineItemId, i64>;

/// Σ quantity per line over all parcels that were not cancelled.
pub(crate) fn held(parcels: &[Shipment]) -> BTreeMap<LineItemId, i64> {
    sums(parcels, |parcel| parcel.status != ShipmentStatus::Cancelled)
}

/// The lines of an order whose parcels are now these.
pub(crate) fn with_parcels(lines: &[OrderLine], marked: &Marked, parcels: &[Shipment]) -> Vec<OrderLine> {
    let held = held(parcels);
    let arrived = sums(parcels, |parcel| parcel.status == ShipmentStatus::Delivered);
    let of = |sums: &BTreeMap<LineItemId, i64>, line: &OrderLine| sums.get(&line.id).copied().unwrap_or(0);
    lines
        .iter()
        .map(|line| {
            let mut next = line.clone();
            next.shipped_quantity = of(marked, line).max(of(&held, line));
            next.fulfilled_quantity = line.fulfilled_quantity.max(next.shipped_quantity);
            next.delivered_quantity = line.delivered_quantity.max(of(&arrived, line));
            next
        })
        .collect()
}

fn sums(parcels: &[Shipment], counts: fn(&Shipment) -> bool) -> BTreeMap<LineItemId, i64> {
    let mut sums = BTreeMap::new();
    for line in parcels.iter().filter(|parcel| counts(parcel)).flat_map(|parcel| &parcel.line_items) {
        *sums.entry(line.line_item_id.clone()).or_insert(0) += line.quantity;
    }
    sums
}
