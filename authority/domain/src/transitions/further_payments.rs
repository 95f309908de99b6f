//! Further payments of an order that is not paid (contract 3.9 row 7a).
//!
//! The platform asks for a part or all of what is due; what other open payments ask for already is not asked for
//! twice, so that no sequence of reports can capture more than the order costs. What comes of an attempt is reported as
//! for any payment ([`crate::transitions::payment`]).

use crate::event::change::Change;
use crate::order::payment_room::{PAYMENTS_MAX, room};
use crate::order::{ConfirmOn, Order, OrderStatus, payment_status};
use crate::payment::{NewPayment, Payment};
use crate::refusal::{MemberCode, Refusal, Result};
use crate::time::Timestamp;

/// Starts an attempt on an order: `payment.created`, then `order.updated`. `payments` are all of the order's, oldest
/// first.
///
/// # Errors
/// `currency_mismatch`; `invalid_state_transition` when the order is cancelled, paid, or has as many payments as it
/// may; `validation_failed` when the amount is more than [`room`].
pub fn start(
    order: Order,
    mut payments: Vec<Payment>,
    new: NewPayment,
    confirm_on: ConfirmOn,
    now: Timestamp,
) -> Result<Vec<Change>> {
    let payment = attach(&order, &payments, new, now)?;
    let mut changes = vec![payment.told()];
    payments.push(payment);
    changes.extend(order.after_payments(&payments, confirm_on, now));
    Ok(changes)
}

/// The payment's version 1, when the order can take it.
pub(crate) fn attach(
    order: &Order,
    payments: &[Payment],
    new: NewPayment,
    now: Timestamp,
) -> Result<Payment> {
    Refusal::check_currency("order", &order.currency, "payment", &new.currency)?;
    let asked = payment_status::PaymentStatus::Pending.as_str();
    if order.status == OrderStatus::Cancelled {
        let detail = "The order is cancelled; it takes no further payment.";
        return Err(Refusal::transition(order.status.as_str(), asked, detail));
    }
    let room = room(order.amounts.total, payments);
    let current = order.payment_status.as_str();
    if room == 0 {
        let detail = "Nothing is due on this order that its payments do not cover already.";
        return Err(Refusal::transition(current, asked, detail));
    }
    if payments.len() >= PAYMENTS_MAX {
        let detail = format!("The order has {PAYMENTS_MAX} payments, which is the most it may have.");
        return Err(Refusal::transition(current, asked, detail));
    }
    if new.amount > room {
        let detail = format!("must be at most {room}: what is due and not covered by open payments");
        return Err(Refusal::member("/amount", MemberCode::OutOfRange, detail));
    }
    let mut payment = Payment::create(new, order.livemode, now);
    payment.order_number = Some(order.order_number.clone());
    payment.subscription_id.clone_from(&order.subscription_id);
    Ok(payment)
}
