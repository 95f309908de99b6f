//! How a refund changes the payment it returns money from and the order that shows it (contract 3.6, 3.9 rows 14 to
//! 18, 4.8).
//!
//! The merchant or the operator asks: the refund exists from then on and reserves its amount, so that no other one
//! can take the same money (I2). The processor reports the result: if completed, the payment gets its next version;
//! if failed, the reservation is released. Each step returns the changes in causal order, refund first and order
//! last.
//!
//! A payment's version counts its own events only. A reservation changes what the payment shows and not its version;
//! such a payment is returned beside the changes, to be stored again under its present version.
//!
//! Money that came too late for its checkout belongs to no order (contract 18.3): it is given back by its payment,
//! and no order tells of it.
//!
//! Deliberately absent: a rule about the order's status. Captured money can be returned whatever became of the order.

use std::collections::BTreeMap;

use verify_core::catalog::EventType;

use crate::error_code::ErrorCode;
use crate::event::change::Change;
use crate::id::{PaymentId, RefundId};
use crate::order::line_quantities::named;
use crate::order::{ConfirmOn, Order};
use crate::parts::Money;
use crate::payment::Payment;
use crate::refund::{NewRefund, Refund, RefundOutcome, RefundReport, RefundStatus, Requester};
use crate::refusal::{MemberCode, Refusal, Result};
use crate::time::Timestamp;

/// What a refund is decided on: an order and its payments, or a payment without an order.
#[derive(Clone, Debug)]
pub struct RefundBasis {
    order: Option<Order>,
    payments: Vec<Payment>,
}

/// What happened.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The refund as it is now.
    pub refund: Refund,
    /// What is to be committed, in causal order.
    pub changes: Vec<Change>,
    /// The payment as it reads now, when no change writes it: the same version with another `amount_refund_pending`.
    pub restated: Option<Payment>,
}

impl RefundBasis {
    /// An order with all of its payments, oldest first. `reserved` is the sum of the open refunds of each payment that
    /// has any, from which the payments' `amount_refund_pending` is computed.
    #[must_use]
    pub fn new(order: Order, mut payments: Vec<Payment>, reserved: &BTreeMap<PaymentId, Money>) -> Self {
        for payment in &mut payments {
            payment.amount_refund_pending = reserved.get(&payment.id).copied().unwrap_or(0);
        }
        Self { order: Some(order), payments }
    }

    /// A payment that belongs to no order, as it is stored.
    #[must_use]
    pub fn without_order(payment: Payment) -> Self {
        Self { order: None, payments: vec![payment] }
    }
}

/// Asks for a refund: `refund.requested` and the order's event (contract 3.9 row 14).
///
/// # Errors
/// `validation_failed` for unknown or repeated lines, more than was ordered, lines that do not add up, a payment of
/// another order; `currency_mismatch`; `order_not_refundable`; `payment_required`; `refund_amount_exceeded`.
pub fn request(
    standing: RefundBasis,
    id: RefundId,
    new: NewRefund,
    requested_by: Requester,
    confirm_on: ConfirmOn,
    now: Timestamp,
) -> Result<Outcome> {
    check_body(&standing, &new)?;
    let RefundBasis { order, mut payments } = standing;
    let payment = chosen(&mut payments, new.payment_id.as_ref())?;
    let amount = granted(payment, &new)?;
    payment.amount_refund_pending += amount;
    let restated = payment.clone();
    let refund = Refund {
        id,
        status: RefundStatus::Requested,
        order_number: order.as_ref().map(|order| order.order_number.clone()),
        payment_id: restated.id.clone(),
        amount,
        currency: restated.currency.clone(),
        reason: new.reason,
        note: new.note,
        line_items: new.line_items,
        requested_by,
        processor_reference: None,
        failure: None,
        processing_at: None,
        completed_at: None,
        failed_at: None,
        metadata: new.metadata,
        resource_version: 1,
        livemode: restated.livemode,
        created_at: now,
        updated_at: now,
    };
    let mut changes = vec![Change::refund(EventType::RefundRequested, &refund)];
    changes.extend(order.and_then(|order| order.after_payments(&payments, confirm_on, now)));
    Ok(Outcome { refund, changes, restated: Some(restated) })
}

/// Applies a processor's report (contract 3.9 rows 15 to 18); `None` when it says nothing new.
///
/// # Errors
/// `processor_conflict` when the report contradicts an end that was already reported.
pub fn report(
    standing: RefundBasis,
    refund: Refund,
    report: &RefundReport,
    confirm_on: ConfirmOn,
    now: Timestamp,
) -> Result<Option<Outcome>> {
    let RefundOutcome::Changed(refund) = refund.report(report, now)? else { return Ok(None) };
    let refund = *refund;
    let RefundBasis { order, mut payments } = standing;
    let payment =
        payments.iter_mut().find(|payment| payment.id == refund.payment_id).ok_or_else(Refusal::internal)?;
    let (mut changes, mut restated) = (Vec::with_capacity(3), None);
    match refund.status {
        RefundStatus::Requested => return Ok(None),
        RefundStatus::Processing => changes.push(Change::refund(EventType::RefundProcessing, &refund)),
        RefundStatus::Completed => {
            changes.push(Change::refund(EventType::RefundCompleted, &refund));
            *payment = payment.clone().after_refund(refund.amount, now);
            changes.push(payment.told());
        }
        RefundStatus::Failed => {
            changes.push(Change::refund(EventType::RefundFailed, &refund));
            payment.amount_refund_pending -= refund.amount;
            restated = Some(payment.clone());
        }
    }
    changes.extend(order.and_then(|order| order.after_payments(&payments, confirm_on, now)));
    Ok(Some(Outcome { refund, changes, restated }))
}

/// Checks the body against the order and its payments, whatever state these are in.
fn check_body(standing: &RefundBasis, new: &NewRefund) -> Result<()> {
    let lines = standing.order.as_ref().map_or(&[][..], |order| &order.line_items);
    for (index, line) in new.line_items.iter().enumerate() {
        let earlier = new.line_items.iter().take(index).map(|earlier| &earlier.line_item_id);
        let (member, code, detail) = match named(lines, &line.line_item_id, earlier) {
            Err((code, detail)) => ("line_item_id", code, detail.to_owned()),
            Ok(known) if line.quantity > known.quantity => {
                ("quantity", MemberCode::OutOfRange, format!("{} were ordered", known.quantity))
            }
            Ok(_) => continue,
        };
        return Err(Refusal::member(format!("/line_items/{index}/{member}"), code, detail));
    }
    if let Some(id) = &new.payment_id
        && !standing.payments.iter().any(|payment| &payment.id == id)
    {
        let detail = "is no payment of this order";
        return Err(Refusal::member("/payment_id", MemberCode::UnknownReference, detail));
    }
    // An order's payments are in its currency. A payment that is refunded by itself has none.
    let of_order = standing.order.iter().map(|order| &order.currency);
    let mut known = of_order.chain(standing.payments.iter().map(|payment| &payment.currency));
    match &new.currency {
        Some(currency) if known.any(|known| known != currency) => {
            let detail = format!("The refund is in {currency}, and the order or payment is not.");
            Err(Refusal::new(ErrorCode::CurrencyMismatch, detail))
        }
        _ => Ok(()),
    }
}

/// The payment that was named, or the only one with something refundable.
fn chosen<'p>(payments: &'p mut [Payment], named: Option<&PaymentId>) -> Result<&'p mut Payment> {
    let eligible: Vec<PaymentId> = payments
        .iter()
        .filter(|payment| payment.refundable() > 0)
        .map(|payment| payment.id.clone())
        .collect();
    let id = match (named, eligible.as_slice()) {
        (_, []) => {
            let detail = "Nothing that was paid can be refunded.";
            return Err(Refusal::new(ErrorCode::OrderNotRefundable, detail));
        }
        (Some(named), _) => named,
        (None, [only]) => only,
        (None, several) => {
            let ids: Vec<&str> = several.iter().map(PaymentId::as_str).collect();
            let detail =
                "Several payments of this order can be refunded; payment_id has to name one of them.";
            return Err(Refusal::new(ErrorCode::PaymentRequired, detail).with("payment_ids", ids));
        }
    };
    payments.iter_mut().find(|payment| payment.id == *id).ok_or_else(Refusal::internal)
}

/// The amount that is asked for, if the payment still has it.
fn granted(payment: &Payment, new: &NewRefund) -> Result<Money> {
    let refundable = payment.refundable();
    let amount = new.amount.unwrap_or(refundable);
    if amount > refundable || refundable == 0 {
        let detail = format!("{refundable} of the payment can be refunded.");
        return Err(Refusal::new(ErrorCode::RefundAmountExceeded, detail).with("refundable", refundable));
    }
    let named: Money = new.line_items.iter().map(|line| line.amount).sum();
    if !new.line_items.is_empty() && named != amount {
        let detail = format!("the amounts must add up to {amount}");
        return Err(Refusal::member("/line_items", MemberCode::Inconsistent, detail));
    }
    Ok(amount)
}
