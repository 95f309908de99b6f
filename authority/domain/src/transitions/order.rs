//! What the operator does with orders: takes them in, edits, confirms and cancels them (contract 3.1, 3.9 rows 7, 8
//! and 21).
//!
//! Each function returns the changes in causal order, or none when the order is already as requested (contract 3,
//! general rule 1). Lines, amounts and currency never change after the order was created; statuses follow from
//! events and are never set directly.

use verify_core::catalog::EventType;

use crate::event::change::Change;
use crate::order::payment_room::room;
use crate::order::payment_status::PaymentStatus;
use crate::order::{
    CancelReason, ConfirmOn, NewOrder, Order, OrderEdit, OrderStatus, PaymentMade, check_grown,
};
use crate::parts::OrderLine;
use crate::payment::{Payment, PaymentOutcome};
use crate::refusal::{MemberCode, Refusal, Result};
use crate::time::Timestamp;
use crate::transitions::further_payments::attach;

/// Takes in an order from elsewhere with the payments made on it: `order.created`, for each payment `payment.created`
/// and what became of it, then `order.confirmed` or `order.updated` when the payments change what the order shows.
/// An order that costs nothing confirms.
///
/// # Errors
/// `validation_failed` when the payments ask for more than the total; `currency_mismatch`; those of
/// [`Payment::report`]. Pointers lead below `/payments/<n>`.
pub fn ingest(
    new: NewOrder,
    payments: Vec<PaymentMade>,
    confirm_on: ConfirmOn,
    livemode: bool,
    now: Timestamp,
) -> Result<Vec<Change>> {
    let order = Order::create(new, &[], livemode, now);
    let mut changes = vec![Change::order(EventType::OrderCreated, &order)];
    let mut made: Vec<Payment> = Vec::with_capacity(payments.len());
    for (index, payment) in payments.into_iter().enumerate() {
        let refused = |refusal: Refusal| refusal.within(&format!("/payments/{index}"));
        let room = room(order.amounts.total, &made);
        if payment.new.amount > room {
            let detail = format!("must be at most {room}, the amount still unpaid");
            return Err(refused(Refusal::member("/amount", MemberCode::OutOfRange, detail)));
        }
        let mut version = attach(&order, &made, payment.new, now).map_err(refused)?;
        changes.push(version.told());
        if let Some(report) = payment.report
            && let PaymentOutcome::Changed(next) = version.clone().report(&report, now).map_err(refused)?
        {
            version = *next;
            changes.push(version.told());
        }
        made.push(version);
    }
    changes.extend(order.after_payments(&made, confirm_on, now));
    Ok(changes)
}

/// Replaces what may be edited; in any status, since people move and notes are taken after the end as well.
///
/// # Errors
/// `payload_too_large` when it would fill the order up.
pub fn edit(order: &Order, edit: OrderEdit, now: Timestamp) -> Result<Vec<Change>> {
    let OrderEdit { customer, billing_address, shipping_address, metadata } = edit;
    let next = Order { customer, billing_address, shipping_address, metadata, ..order.clone() };
    if next == *order {
        return Ok(Vec::new());
    }
    let next = next.next_version(now);
    check_grown(order, &next)?;
    Ok(vec![Change::order(EventType::OrderUpdated, &next)])
}

/// Confirms a pending order without waiting for money: cash on delivery, invoice.
///
/// # Errors
/// `invalid_state_transition` when the order has ended.
pub fn confirm(order: Order, now: Timestamp) -> Result<Vec<Change>> {
    match order.status {
        OrderStatus::Confirmed => Ok(Vec::new()),
        OrderStatus::Pending => {
            let mut next = order;
            next.status = OrderStatus::Confirmed;
            next.confirmed_at = Some(now);
            next.complete_if_done(now);
            Ok(vec![Change::order(EventType::OrderConfirmed, &next.next_version(now))])
        }
        OrderStatus::Completed | OrderStatus::Cancelled => Err(refused(
            &order,
            OrderStatus::Confirmed,
            format!("The order is {}; only a pending one can be confirmed.", order.status),
        )),
    }
}

/// Cancels an order with nothing shipped: `payment.cancelled` for each open payment, then `order.cancelled`.
/// Captured money stays where it is until a refund is requested; fulfilment quantities freeze. `payments` are all of
/// the order's, oldest first.
///
/// # Errors
/// `invalid_state_transition` when the order is completed or something is shipped.
pub fn cancel(
    order: Order,
    mut payments: Vec<Payment>,
    reason: CancelReason,
    now: Timestamp,
) -> Result<Vec<Change>> {
    match order.status {
        OrderStatus::Cancelled => return Ok(Vec::new()),
        OrderStatus::Pending | OrderStatus::Confirmed => {}
        OrderStatus::Completed => {
            let detail = "The order is completed; it can no longer be cancelled.";
            return Err(refused(&order, OrderStatus::Cancelled, detail.to_owned()));
        }
    }
    if order.line_items.iter().any(|line| line.shipped_quantity > 0) {
        let detail = "A part of the order is shipped; it can no longer be cancelled.";
        return Err(refused(&order, OrderStatus::Cancelled, detail.to_owned()));
    }
    let mut changes = Vec::new();
    for payment in payments.iter_mut().filter(|payment| payment.status.is_open()) {
        *payment = payment.clone().cancel(now);
        changes.push(payment.told());
    }
    let mut next = order;
    next.status = OrderStatus::Cancelled;
    next.cancel_reason = Some(reason);
    next.cancelled_at = Some(now);
    next.take_over(&payments);
    changes.push(Change::order(EventType::OrderCancelled, &next.next_version(now)));
    Ok(changes)
}

/// Whether an order has been pending for longer than the merchant allows (setting `pending_order_ttl_hours`).
#[must_use]
pub fn is_overdue(order: &Order, ttl_hours: Option<i64>, now: Timestamp) -> bool {
    let due = ttl_hours.map(|hours| order.created_at.plus_ms(pending_ms(hours)));
    order.status == OrderStatus::Pending && due.is_some_and(|due| due <= now)
}

/// `pending_order_ttl_hours` in milliseconds.
#[must_use]
pub fn pending_ms(hours: i64) -> i64 {
    const HOUR_MS: i64 = 3_600_000;
    hours.saturating_mul(HOUR_MS)
}

fn refused(order: &Order, requested: OrderStatus, detail: String) -> Refusal {
    Refusal::transition(order.status.as_str(), requested.as_str(), detail)
}

impl Order {
    /// The next version after its payments changed, told by one event; `None` when nothing that the order shows has
    /// changed. `payments` are all of the order's, oldest first.
    #[must_use]
    pub(crate) fn after_payments(
        self,
        payments: &[Payment],
        confirm_on: ConfirmOn,
        now: Timestamp,
    ) -> Option<Change> {
        let before = self.clone();
        let mut next = self;
        next.take_over(payments);
        // What was captured counts, whatever of it went back since; what costs nothing has nothing to wait for
        // (contract 3.1).
        let confirms = next.payment_summary.captured >= next.amounts.total
            || (next.payment_status == PaymentStatus::Authorized && confirm_on == ConfirmOn::Authorized);
        let mut event = EventType::OrderUpdated;
        if next.status == OrderStatus::Pending && confirms {
            next.status = OrderStatus::Confirmed;
            next.confirmed_at = Some(now);
            event = EventType::OrderConfirmed;
        }
        // Once more: a free order counts as paid from here on (contract 3.2 row 5).
        next.take_over(payments);
        next.complete_if_done(now);
        (next != before).then(|| Change::order(event, &next.next_version(now)))
    }

    /// The next version after its lines changed, told by one event; `None` when they did not.
    #[must_use]
    pub(crate) fn after_lines(self, lines: Vec<OrderLine>, now: Timestamp) -> Option<Change> {
        let note = self.fulfillment_note.clone();
        self.after_fulfillment(lines, note, now).map(|(order, event)| Change::order(event, &order))
    }
}
