//! How a checkout ends without a payment: cancelled, expired, or completed because it is free (contract 3.4, 3.9 row
//! 6).
//!
//! The operator cancels or completes, the scheduler expires. A payment attempt that is still open is cancelled
//! first. All end states are terminal, and asking for the one that is already reached changes nothing (contract 3,
//! general rule 1). What a payment does to a checkout is decided in [`crate::transitions::payment`].

use verify_core::catalog::EventType;

use crate::checkout::{Checkout, CheckoutEnd, CheckoutStatus};
use crate::event::change::Change;
use crate::order::{ConfirmOn, NewOrder, Order, OrderSource};
use crate::order_number::OrderNumber;
use crate::payment::Payment;
use crate::refusal::{Refusal, Result};
use crate::subscription::AnchoredSubscription;
use crate::time::Timestamp;
use crate::transitions::founding::{Founding, found};

/// Ends an open checkout: `payment.cancelled` for the attempt that is under way, then `checkout.expired` or
/// `checkout.cancelled`. Nothing when it has ended so already.
///
/// # Errors
/// `invalid_state_transition` when it has ended otherwise.
pub fn end(
    checkout: Checkout,
    open_payment: Option<Payment>,
    how: CheckoutEnd,
    now: Timestamp,
) -> Result<Vec<Change>> {
    let requested = how.status();
    if checkout.status == requested {
        return Ok(Vec::new());
    }
    if checkout.status != CheckoutStatus::Open {
        return Err(refused(&checkout, requested, "only an open one can end so."));
    }
    let event = match how {
        CheckoutEnd::Expired => EventType::CheckoutExpired,
        CheckoutEnd::Cancelled => EventType::CheckoutCancelled,
    };
    let cancelled = open_payment.map(|payment| payment.cancel(now));
    let ended = checkout.end(how, cancelled.as_ref().map(|payment| payment.id.clone()), now);
    let mut changes: Vec<Change> = cancelled.iter().map(Payment::told).collect();
    changes.push(Change::checkout(event, &ended));
    Ok(changes)
}

/// Whether [`complete`] would change something, and so needs a number for the order it makes.
#[must_use]
pub fn needs_completion(checkout: &Checkout) -> bool {
    checkout.status != CheckoutStatus::Completed
}

/// Completes an open checkout that costs nothing: `checkout.completed`, in mode `subscription` `subscription.created`,
/// `order.created`, `order.confirmed`.
/// `order_number` is reserved in this transaction.
///
/// # Errors
/// `invalid_state_transition` when the checkout has ended, its time is over, or there is something to pay.
pub fn complete(
    checkout: Checkout,
    order_number: OrderNumber,
    founding: Option<Founding>,
    confirm_on: ConfirmOn,
    now: Timestamp,
) -> Result<Vec<Change>> {
    let requested = CheckoutStatus::Completed;
    if checkout.status != CheckoutStatus::Open {
        return Err(refused(&checkout, requested, "only an open one can be completed."));
    }
    if checkout.is_overdue(now) {
        return Err(refused(&checkout, requested, "but its time is over."));
    }
    if checkout.amounts.total > 0 {
        return Err(refused(&checkout, requested, "and has something to pay: a payment completes it."));
    }
    let (order, mut changes) = completion(checkout, None, true, order_number, founding, now);
    changes.extend(order.after_payments(&[], confirm_on, now));
    Ok(changes)
}

/// What a checkout makes that completes: the order's version 1, and the changes up to `order.created`. `payment` is the
/// attempt that completes it, in its former version; `paid`: the money is there. In mode `subscription` the
/// subscription stands between checkout and order, since the order refers to it.
pub(crate) fn completion(
    checkout: Checkout,
    payment: Option<&Payment>,
    paid: bool,
    order_number: OrderNumber,
    founding: Option<Founding>,
    now: Timestamp,
) -> (Order, Vec<Change>) {
    let subscription = founding.map(|founding| found(founding, &checkout, paid, order_number.clone(), now));
    let mut new = order_of(&checkout, order_number.clone(), now);
    new.subscription_id = subscription.as_ref().map(|made| made.record.id.clone());
    let payments = payment.map(std::slice::from_ref).unwrap_or_default();
    let order = Order::create(new, payments, checkout.livemode, now);
    let completed = checkout.complete(payment.map(|payment| payment.id.clone()), order_number, now);
    let mut changes = vec![Change::checkout(EventType::CheckoutCompleted, &completed)];
    changes.extend(subscription.iter().map(AnchoredSubscription::told));
    changes.push(Change::order(EventType::OrderCreated, &order));
    (order, changes)
}

/// The order that a completed checkout becomes.
fn order_of(checkout: &Checkout, order_number: OrderNumber, now: Timestamp) -> NewOrder {
    NewOrder {
        order_number,
        currency: checkout.currency.clone(),
        amounts: checkout.amounts,
        line_items: checkout.line_items.clone(),
        customer: checkout.customer.clone(),
        billing_address: checkout.billing_address.clone(),
        shipping_address: checkout.shipping_address.clone(),
        checkout_id: Some(checkout.id.clone()),
        subscription_id: None,
        source: OrderSource::Checkout,
        placed_at: now,
        metadata: checkout.metadata.clone(),
    }
}

fn refused(checkout: &Checkout, requested: CheckoutStatus, why: &str) -> Refusal {
    let detail = format!("The checkout is {}; {why}", checkout.status);
    Refusal::transition(checkout.status.as_str(), requested.as_str(), detail)
}
