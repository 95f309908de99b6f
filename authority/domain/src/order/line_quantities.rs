//! How parcels and marks move the quantities of an order's lines (contract 3.7, I5).
//!
//! Per line: shipped is the larger of what was marked shipped by the fulfilment update and what all parcels hold that
//! were not cancelled; fulfilled is at least what is shipped; delivered is at least what arrived in parcels.

use std::collections::BTreeMap;

use crate::id::LineItemId;
use crate::parts::OrderLine;
use crate::refusal::MemberCode;
use crate::shipment::{Shipment, ShipmentStatus};

/// What the fulfilment update said of a line, beside what parcels hold: cancelling a parcel does not take that back.
/// Not part of the order's record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// The quantity that it set as fulfilled.
    pub fulfilled: i64,
    /// The quantity that it marked as shipped; never falls.
    pub shipped: i64,
}

/// The marks of an order's lines; a line without any has none set.
pub type LineMarks = BTreeMap<LineItemId, Marks>;

/// Σ quantity per line over all parcels that were not cancelled.
pub(crate) fn held(parcels: &[Shipment]) -> BTreeMap<LineItemId, i64> {
    sums(parcels, |parcel| parcel.status != ShipmentStatus::Cancelled)
}

/// The lines of an order whose parcels are now these.
pub(crate) fn with_parcels(lines: &[OrderLine], marked: &LineMarks, parcels: &[Shipment]) -> Vec<OrderLine> {
    let held = held(parcels);
    let arrived = sums(parcels, |parcel| parcel.status == ShipmentStatus::Delivered);
    let of = |sums: &BTreeMap<LineItemId, i64>, line: &OrderLine| sums.get(&line.id).copied().unwrap_or(0);
    lines
        .iter()
        .map(|line| {
            let mut next = line.clone();
            let marks = marked.get(&line.id).copied().unwrap_or_default();
            next.shipped_quantity = marks.shipped.max(of(&held, line));
            next.fulfilled_quantity = marks.fulfilled.max(next.shipped_quantity);
            next.delivered_quantity = line.delivered_quantity.max(of(&arrived, line));
            next
        })
        .collect()
}

/// The line of an order that a body names, unless it named it `earlier`; else what is wrong with the name.
pub(crate) fn named<'o>(
    lines: &'o [OrderLine],
    id: &LineItemId,
    earlier: impl IntoIterator<Item = &'o LineItemId>,
) -> Result<&'o OrderLine, (MemberCode, &'static str)> {
    match lines.iter().find(|line| line.id == *id) {
        None => Err((MemberCode::UnknownReference, "is no line of this order")),
        Some(_) if earlier.into_iter().any(|earlier| earlier == id) => {
            Err((MemberCode::Duplicate, "is named twice"))
        }
        Some(line) => Ok(line),
    }
}

fn sums(parcels: &[Shipment], counts: fn(&Shipment) -> bool) -> BTreeMap<LineItemId, i64> {
    let mut sums = BTreeMap::new();
    for line in parcels.iter().filter(|parcel| counts(parcel)).flat_map(|parcel| &parcel.line_items) {
        *sums.entry(line.line_item_id.clone()).or_insert(0) += line.quantity;
    }
    sums
}
