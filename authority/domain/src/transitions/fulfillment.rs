//! The fulfilment update: the merchant says how far an order has come (contract 3.3, 4.6).
//!
//! A target raises or takes back whole quantities, lines set single ones; with both, the lines decide and the target
//! must be what they result in. What is set is remembered per line ([`LineMarks`]), because cancelling a parcel
//! later must not take back what was set without it. Setting `delivered` delivers the order's open parcels first.
//! Deliberately absent: setting a single line's shipped quantity; that is what parcels are for.

use verify_core::catalog::EventType;

use crate::error_code::ErrorCode;
use crate::event::change::Change;
use crate::order::fulfillment_status::FulfillmentStatus;
use crate::order::line_quantities::{LineMarks, Marks, named};
use crate::order::{
    ConfirmedBy, FulfillmentUpdate, LineTarget, Order, OrderStatus, TARGETS, fulfillment_status,
};
use crate::parts::OrderLine;
use crate::refusal::{MemberCode, MemberError, Refusal, Result};
use crate::shipment::Shipment;
use crate::time::Timestamp;

/// What an update leaves behind.
#[derive(Clone, Debug)]
pub struct Updated {
    /// The order, in its next version when something changed.
    pub order: Order,
    /// Empty when nothing changed.
    pub changes: Vec<Change>,
    /// What is set from now on.
    pub marked: LineMarks,
}

/// Whether a target may be asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cell {
    /// It is reached already: a no-op.
    Same,
    Yes,
    /// Only together with `line_items`.
    WithLines,
    Never,
}

/// The table of contract 3.3: a row per present status, a column per target in the order of [`TARGETS`].
const TABLE: [(FulfillmentStatus, [Cell; 5]); 7] = {
    use Cell::{Never, Same, WithLines, Yes};
    [
        (FulfillmentStatus::Unfulfilled, [Same, WithLines, Yes, Yes, Yes]),
        (FulfillmentStatus::PartiallyFulfilled, [Yes, WithLines, Yes, Yes, Yes]),
        (FulfillmentStatus::Fulfilled, [Yes, WithLines, Same, Yes, Yes]),
        (FulfillmentStatus::PartiallyShipped, [Never, Never, Never, Yes, Yes]),
        (FulfillmentStatus::Shipped, [Never, Never, Never, Same, Yes]),
        (FulfillmentStatus::PartiallyDelivered, [Never, Never, Never, Never, Yes]),
        (FulfillmentStatus::Delivered, [Never, Never, Never, Never, Same]),
    ]
};

fn cell(from: FulfillmentStatus, target: FulfillmentStatus) -> Cell {
    let row = TABLE.iter().find(|(status, _)| *status == from).map(|(_, cells)| cells);
    let column = TARGETS.iter().position(|status| *status == target);
    row.zip(column).and_then(|(cells, column)| cells.get(column)).copied().unwrap_or(Cell::Never)
}

/// Applies a fulfilment update: `shipment.delivered` of every parcel it delivers, then the order's event (contract 3.9
/// row 9). `parcels` are all shipments of the order, `marked` what earlier updates set.
///
/// # Errors
/// In this order: `validation_failed` for unknown and repeated lines; `order_not_fulfillable` unless the order is
/// confirmed, and by the operator where its payments failed (a completed one takes what changes nothing);
/// `invalid_state_transition` by the table of contract 3.3; `validation_failed` for quantities outside their range,
/// for lines that are missing, and for a target that the lines do not result in.
pub fn update(
    order: Order,
    parcels: &[Shipment],
    marked: LineMarks,
    confirmed_by: ConfirmedBy,
    update: &FulfillmentUpdate,
    now: Timestamp,
) -> Result<Updated> {
    check_references(&order, update.line_items.as_deref().unwrap_or_default())?;
    let (status, not_fulfillable) = (order.status, order.not_fulfillable());
    if !order.is_fulfillable(confirmed_by) {
        return Err(not_fulfillable);
    }
    let applied = apply(order, parcels, marked, update, now);
    match (status, applied) {
        (OrderStatus::Completed, Ok(updated)) if !updated.changes.is_empty() => Err(not_fulfillable),
        (OrderStatus::Completed, Err(refusal)) if refusal.code == ErrorCode::InvalidStateTransition => {
            Err(not_fulfillable)
        }
        (_, applied) => applied,
    }
}

fn apply(
    order: Order,
    parcels: &[Shipment],
    mut marked: LineMarks,
    update: &FulfillmentUpdate,
    now: Timestamp,
) -> Result<Updated> {
    let allowed = match update.target {
        Some(target) => allowed(&order, target)?,
        None => Cell::Yes,
    };
    let mut changes = Vec::new();
    let lines = match (&update.line_items, update.target) {
        (Some(targets), target) => {
            let lines = with_lines(&order, targets)?;
            agree(&lines, target)?;
            for target in targets {
                marked.entry(target.id.clone()).or_default().fulfilled = target.fulfilled_quantity;
            }
            lines
        }
        (None, Some(_)) if allowed == Cell::WithLines => {
            let detail = "is needed to set partially_fulfilled";
            return Err(Refusal::member("/line_items", MemberCode::Required, detail));
        }
        (None, Some(target)) if allowed == Cell::Yes => {
            if target == FulfillmentStatus::Delivered {
                changes.extend(delivered(parcels, now));
            }
            let lines: Vec<OrderLine> = order.line_items.iter().map(|line| moved(line, target)).collect();
            for line in &lines {
                let marks = marked.entry(line.id.clone()).or_default();
                *marks = marks_of(line, target, *marks);
            }
            lines
        }
        (None, _) => order.line_items.clone(),
    };
    let note = update.note.clone().unwrap_or_else(|| order.fulfillment_note.clone());
    let before = order.clone();
    let order = match order.after_fulfillment(lines, note, now) {
        None => before,
        Some((order, event)) => {
            changes.push(Change::order(event, &order));
            order
        }
    };
    Ok(Updated { order, changes, marked })
}

fn check_references(order: &Order, targets: &[LineTarget]) -> Result<()> {
    let wrong = targets.iter().enumerate().filter_map(|(index, target)| {
        let earlier = targets.iter().take(index).map(|earlier| &earlier.id);
        let (code, detail) = named(&order.line_items, &target.id, earlier).err()?;
        Some(MemberError::new(format!("/line_items/{index}/id"), code, detail))
    });
    Refusal::check(wrong.collect())
}

fn allowed(order: &Order, target: FulfillmentStatus) -> Result<Cell> {
    let from = order.fulfillment_status;
    let refuse = |detail: String| Err(Refusal::transition(from.as_str(), target.as_str(), detail));
    let ships = matches!(target, FulfillmentStatus::Shipped | FulfillmentStatus::Delivered);
    if ships && !order.line_items.iter().any(|line| line.requires_shipping) {
        return refuse(format!("Nothing of this order is to be shipped; it cannot be {target}."));
    }
    match cell(from, target) {
        Cell::Never => refuse(format!("The order is {from}; it cannot be set to {target}.")),
        allowed => Ok(allowed),
    }
}

fn with_lines(order: &Order, targets: &[LineTarget]) -> Result<Vec<OrderLine>> {
    let mut lines = order.line_items.clone();
    let mut wrong = Vec::new();
    for (index, target) in targets.iter().enumerate() {
        let Some(line) = lines.iter_mut().find(|line| line.id == target.id) else { continue };
        if (line.shipped_quantity..=line.quantity).contains(&target.fulfilled_quantity) {
            line.fulfilled_quantity = target.fulfilled_quantity;
        } else {
            let (least, most) = (line.shipped_quantity, line.quantity);
            let detail = format!("must be from {least}, what is shipped, to {most}, the line's quantity");
            let pointer = format!("/line_items/{index}/fulfilled_quantity");
            wrong.push(MemberError::new(pointer, MemberCode::OutOfRange, detail));
        }
    }
    Refusal::check(wrong).map(|()| lines)
}

fn agree(lines: &[OrderLine], target: Option<FulfillmentStatus>) -> Result<()> {
    let results = fulfillment_status::derive(lines);
    match target {
        Some(target) if target != results => {
            let detail = format!("the quantities of line_items result in {results}");
            Err(Refusal::member("/fulfillment_status", MemberCode::Inconsistent, detail))
        }
        _ => Ok(()),
    }
}

/// A line of an order that is set to `target` as a whole: lower quantities rise with the higher ones.
fn moved(line: &OrderLine, target: FulfillmentStatus) -> OrderLine {
    let mut line = line.clone();
    line.fulfilled_quantity = if target == FulfillmentStatus::Unfulfilled { 0 } else { line.quantity };
    if line.requires_shipping && matches!(target, FulfillmentStatus::Shipped | FulfillmentStatus::Delivered) {
        line.shipped_quantity = line.quantity;
    }
    if line.requires_shipping && target == FulfillmentStatus::Delivered {
        line.delivered_quantity = line.quantity;
    }
    line
}

/// What a line's marks are when the order as a whole was set to `target`, which made `line` of it.
fn marks_of(line: &OrderLine, target: FulfillmentStatus, before: Marks) -> Marks {
    let ships = matches!(target, FulfillmentStatus::Shipped | FulfillmentStatus::Delivered);
    let shipped = if ships { line.shipped_quantity } else { before.shipped };
    Marks { fulfilled: line.fulfilled_quantity, shipped }
}

/// `shipment.delivered` of every parcel that is still on its way, oldest first.
fn delivered(parcels: &[Shipment], now: Timestamp) -> impl Iterator<Item = Change> {
    let open = parcels.iter().filter(|parcel| parcel.status.is_open());
    open.map(move |parcel| Change::shipment(EventType::ShipmentDelivered, &parcel.clone().deliver(now, now)))
}
