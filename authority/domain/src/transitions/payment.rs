//! What a payment does to its surroundings: the checkout it was tried on and the order it pays (contract 3.4, 3.9).
//!
//! The platform starts an attempt (`payment.created`), the processor reports on it. The first successful report
//! completes the checkout into exactly one order; a failed one leaves the checkout open; a report on the payment of
//! an existing order moves that order's derived state. Each function returns the changes in causal order.

use verify_core::catalog::EventType;

use crate::checkout::{Checkout, CheckoutEnd, CheckoutStatus};
use crate::event::change::Change;
use crate::order::{ConfirmOn, Order, OrderStatus};
use crate::order_number::OrderNumber;
use crate::payment::{NewPayment, Payment, PaymentStatus};
use crate::refusal::{MemberCode, Refusal, Result};
use crate::time::Timestamp;
use crate::transitions::checkout::completion;
use crate::transitions::founding::Founding;

/// Where a payment stands when a report arrives.
#[derive(Debug)]
pub enum Surroundings {
    /// The checkout is open and this report completes it ([`completes`]) into an order of this number.
    Completing {
        /// The open checkout.
        checkout: Box<Checkout>,
        /// The order's number, already reserved in this transaction.
        order_number: OrderNumber,
        /// What else it makes, in mode `subscription`.
        subscription: Option<Box<Founding>>,
    },
    /// The checkout is open and stays so.
    OpenCheckout(Box<Checkout>),
    /// The checkout is still open though its time is over: it expires first, and the payment completes nothing.
    Overdue(Box<Checkout>),
    /// The payment belongs to an order; all payments of that order as stored, oldest first.
    Order {
        /// The order.
        order: Box<Order>,
        /// Its payments, the reported one in its former version among them.
        payments: Vec<Payment>,
    },
    /// The checkout ended without an order: the payment alone is recorded.
    Ended,
}

/// What a payment was meant to pay for, when late money is reported.
#[derive(Clone, Copy, Debug)]
pub enum PaidFor<'a> {
    /// Its checkout, which has made no order.
    Checkout(&'a Checkout),
    /// Its order.
    Order(&'a Order),
}

/// Whether a payment was cancelled because its checkout or its order ended, and not by its processor (contract 18.3). A
/// checkout that ends names the attempt that it cancels; an order that is cancelled cancels its payments at that time.
#[must_use]
pub fn was_given_up(payment: &Payment, paid_for: PaidFor<'_>) -> bool {
    let ended = match paid_for {
        PaidFor::Checkout(checkout) => {
            matches!(checkout.status, CheckoutStatus::Expired | CheckoutStatus::Cancelled)
                && checkout.payment_id.as_ref() == Some(&payment.id)
        }
        PaidFor::Order(order) => {
            order.status == OrderStatus::Cancelled && order.cancelled_at == payment.cancelled_at
        }
    };
    ended && payment.status == PaymentStatus::Cancelled
}

/// Whether a payment that reached `status` completes an open checkout.
#[must_use]
pub fn completes(status: PaymentStatus) -> bool {
    matches!(status, PaymentStatus::Pending | PaymentStatus::Authorized | PaymentStatus::Succeeded)
}

/// Starts an attempt on an open checkout. `open_payment` tells that another attempt is still under way.
///
/// # Errors
/// `invalid_state_transition` when the checkout has ended, its time is over, or another attempt is open (two captures
/// of one checkout must not be possible); `currency_mismatch`; `validation_failed` when the amount is not the total.
pub fn start(checkout: &Checkout, open_payment: bool, new: NewPayment, now: Timestamp) -> Result<Change> {
    // What the attempt asks for is that the checkout be completed.
    let refused = |detail: String| {
        let requested = CheckoutStatus::Completed.as_str();
        Err(Refusal::transition(checkout.status.as_str(), requested, detail))
    };
    if checkout.status != CheckoutStatus::Open {
        return refused(format!("The checkout is {}; a payment needs an open one.", checkout.status));
    }
    if checkout.is_overdue(now) {
        return refused("The checkout's time is over.".to_owned());
    }
    if open_payment {
        let detail = "Another payment of this checkout is still open; it has to fail or be cancelled first.";
        return refused(detail.to_owned());
    }
    Refusal::check_currency("checkout", &checkout.currency, "payment", &new.currency)?;
    if new.amount != checkout.amounts.total {
        let detail = format!("must be the checkout's total, {}", checkout.amounts.total);
        return Err(Refusal::member("/amount", MemberCode::Inconsistent, detail));
    }
    Ok(Payment::create(new, checkout.livemode, now).told())
}

/// Applies a payment's new version to its checkout or order; `before` is its former version.
#[must_use]
pub fn settle(
    before: &Payment,
    payment: Box<Payment>,
    surroundings: Surroundings,
    confirm_on: ConfirmOn,
    now: Timestamp,
) -> Vec<Change> {
    match surroundings {
        Surroundings::Completing { checkout, order_number, subscription } => {
            let founding = subscription.map(|founding| *founding);
            complete(before, *payment, *checkout, order_number, founding, confirm_on, now)
        }
        Surroundings::OpenCheckout(checkout) => {
            let mut changes = vec![payment.told()];
            if payment.status == PaymentStatus::Failed {
                let failed = checkout.after_failed_attempt(payment.id.clone(), payment.failure.clone(), now);
                changes.push(Change::checkout(EventType::CheckoutPaymentFailed, &failed));
            }
            changes
        }
        Surroundings::Overdue(checkout) => expire(before, *payment, *checkout, now),
        Surroundings::Order { order, mut payments } => {
            let mut changes = vec![payment.told()];
            if let Some(stored) = payments.iter_mut().find(|stored| stored.id == payment.id) {
                *stored = *payment;
            }
            changes.extend(order.after_payments(&payments, confirm_on, now));
            changes
        }
        Surroundings::Ended => vec![payment.told()],
    }
}

/// Contract 3.9 rows 2 to 4: the order exists before the payment's decisive event, which therefore names it.
fn complete(
    before: &Payment,
    mut payment: Payment,
    checkout: Checkout,
    order_number: OrderNumber,
    founding: Option<Founding>,
    confirm_on: ConfirmOn,
    now: Timestamp,
) -> Vec<Change> {
    let paid = payment.status == PaymentStatus::Succeeded;
    let (order, mut changes) = completion(checkout, Some(before), paid, order_number, founding, now);
    payment.order_number = Some(order.order_number.clone());
    payment.subscription_id.clone_from(&order.subscription_id);
    changes.push(payment.told());
    changes.extend(order.after_payments(std::slice::from_ref(&payment), confirm_on, now));
    changes
}

/// The report came after the checkout's time. If the payment ended, that is recorded as it is, and a success as late
/// money; a payment that would still be open is cancelled with the checkout (contract 3.4), and the report changes
/// nothing. The checkout does not name an attempt that its processor cancelled: such an end is the processor's own
/// ([`was_given_up`]).
fn expire(before: &Payment, payment: Payment, checkout: Checkout, now: Timestamp) -> Vec<Change> {
    let attempt = (payment.status != PaymentStatus::Cancelled).then(|| payment.id.clone());
    let expired =
        Change::checkout(EventType::CheckoutExpired, &checkout.end(CheckoutEnd::Expired, attempt, now));
    match payment.status {
        PaymentStatus::Succeeded => vec![expired, Payment { late: true, ..payment }.told()],
        status if status.is_open() => vec![before.clone().cancel(now).told(), expired],
        _ => vec![payment.told(), expired],
    }
}

impl Payment {
    /// The event of a version that changed the status.
    pub(crate) fn told(&self) -> Change {
        let event = match self.status {
            PaymentStatus::Created => EventType::PaymentCreated,
            PaymentStatus::Pending => EventType::PaymentPending,
            PaymentStatus::Authorized => EventType::PaymentAuthorized,
            PaymentStatus::Succeeded => EventType::PaymentSucceeded,
            PaymentStatus::Failed => EventType::PaymentFailed,
            PaymentStatus::Cancelled => EventType::PaymentCancelled,
            PaymentStatus::PartiallyRefunded => EventType::PaymentPartiallyRefunded,
            PaymentStatus::Refunded => EventType::PaymentRefunded,
        };
        Change::payment(event, self)
    }
}
