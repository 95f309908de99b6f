//! An order with everything that belongs to it: sums, quantities and derived statuses (I1, I2, I4, I5, I6); and the
//! money that belongs to none.

use super::record::amounts_are_ordered;
use super::{Finding, FindingCode};
use crate::bounds::MONEY_MAX;
use crate::id::LineItemId;
use crate::order::line_quantities::Marks;
use crate::order::payment_status::PaymentSummary;
use crate::order::{ExternalReference, Order, OrderStatus, fulfillment_status, payment_status};
use crate::parts::{Amounts, Money, OrderLine};
use crate::payment::Payment;
use crate::refund::{Refund, RefundStatus};
use crate::shipment::{Shipment, ShipmentStatus};

/// The most of one line (contract 2.1).
const QUANTITY_MAX: i64 = 100_000;

/// The quantities of a line as they stand in columns.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct OrderLineRow {
    pub id: LineItemId,
    pub quantity: i64,
    pub fulfilled_quantity: i64,
    pub shipped_quantity: i64,
    pub delivered_quantity: i64,
    pub marks: Marks,
}

/// What a merchant's system calls the order, as it stands in columns.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct ReferenceRow {
    pub system: String,
    pub id: String,
}

/// An order and what is stored about it.
#[derive(Clone, Debug)]
pub struct OrderFacts {
    /// The order.
    pub order: Order,
    /// Its rows of quantities, in any order.
    pub lines: Vec<OrderLineRow>,
    /// Its rows of external references, in any order.
    pub references: Vec<ReferenceRow>,
    /// Its payments, oldest first.
    pub payments: Vec<Payment>,
    /// Its refunds.
    pub refunds: Vec<Refund>,
    /// Its shipments.
    pub shipments: Vec<Shipment>,
}

/// Whether an order agrees with its lines, payments, refunds and shipments.
#[must_use]
pub fn check_order(facts: OrderFacts) -> Vec<Finding> {
    let OrderFacts { order, lines, references, mut payments, refunds, shipments } = facts;
    let number = order.order_number.to_string();
    let mut findings = Vec::new();
    let mut found = |code, detail: String| findings.push(Finding::new(code, number.as_str(), detail));
    if !rows_agree(&order.line_items, &lines) {
        found(FindingCode::ColumnsDiffer, "the rows of its lines".to_owned());
    }
    if !references_agree(&order.external_references, &references) {
        found(FindingCode::ColumnsDiffer, "the rows of its external references".to_owned());
    }
    if let Some(what) = sums_fail(&order) {
        found(FindingCode::AmountsDoNotAddUp, what.to_owned());
    }
    for line in &order.line_items {
        let marks = lines.iter().find(|row| row.id == line.id).map(|row| row.marks).unwrap_or_default();
        check_line(line, marks, &shipments, &mut found);
    }
    let mut currencies =
        payments.iter().map(|payment| &payment.currency).chain(refunds.iter().map(|refund| &refund.currency));
    if currencies.any(|currency| *currency != order.currency) {
        found(FindingCode::CurrencyDiffers, "a payment or refund is in another currency".to_owned());
    }
    if order.status != OrderStatus::Cancelled && payments.iter().any(|payment| payment.late) {
        let detail = "a payment is late, and the order is not cancelled";
        found(FindingCode::LatePaymentDiffers, detail.to_owned());
    }
    check_refunds(&mut payments, &refunds, &mut found);
    check_derived(&order, &payments, &mut found);
    findings
}

fn rows_agree(lines: &[OrderLine], rows: &[OrderLineRow]) -> bool {
    let agrees = |line: &OrderLine, row: &OrderLineRow| {
        row.id == line.id
            && row.quantity == line.quantity
            && row.fulfilled_quantity == line.fulfilled_quantity
            && row.shipped_quantity == line.shipped_quantity
            && row.delivered_quantity == line.delivered_quantity
    };
    lines.len() == rows.len() && lines.iter().all(|line| rows.iter().any(|row| agrees(line, row)))
}

fn references_agree(entries: &[ExternalReference], rows: &[ReferenceRow]) -> bool {
    let row = |entry: &ExternalReference| ReferenceRow { system: entry.system.clone(), id: entry.id.clone() };
    entries.len() == rows.len() && entries.iter().map(row).all(|expected| rows.contains(&expected))
}

/// I4: the first sum that is not what it should be. Sums of stored numbers are taken in 128 bits.
fn sums_fail(order: &Order) -> Option<&'static str> {
    let Amounts { subtotal, discount, shipping, tax, total } = order.amounts;
    let wide = i128::from;
    let sum =
        |part: fn(&OrderLine) -> Money| order.line_items.iter().map(|l| i128::from(part(l))).sum::<i128>();
    let line_fails = |line: &OrderLine| {
        wide(line.subtotal_amount) != wide(line.unit_amount) * wide(line.quantity)
            || wide(line.total_amount)
                != wide(line.subtotal_amount) - wide(line.discount_amount) + wide(line.tax_amount)
            || !(0..=line.subtotal_amount).contains(&line.discount_amount)
    };
    [
        (
            total < 0 || wide(total) != wide(subtotal) - wide(discount) + wide(shipping) + wide(tax),
            "the total",
        ),
        (sum(|l| l.subtotal_amount) != wide(subtotal), "the subtotal of its lines"),
        (sum(|l| l.discount_amount) > wide(discount), "the discounts of its lines"),
        (sum(|l| l.tax_amount) > wide(tax), "the taxes of its lines"),
        (order.line_items.iter().any(line_fails), "a line's own amounts"),
    ]
    .iter()
    .find(|(fails, _)| *fails)
    .map(|(_, what)| *what)
}

fn quantities_are_ordered(line: &OrderLine) -> bool {
    let OrderLine { delivered_quantity, shipped_quantity, fulfilled_quantity, quantity, .. } = *line;
    [0, delivered_quantity, shipped_quantity, fulfilled_quantity, quantity, QUANTITY_MAX].is_sorted()
}

/// I5. A parcel counts as shipped until it is cancelled, and as fulfilled; what was set without a parcel stays.
fn check_line(
    line: &OrderLine,
    marks: Marks,
    shipments: &[Shipment],
    found: &mut impl FnMut(FindingCode, String),
) {
    if !quantities_are_ordered(line) {
        let detail = format!("line {}: not 0 ≤ delivered ≤ shipped ≤ fulfilled ≤ quantity", line.id);
        found(FindingCode::LineQuantitiesOutOfOrder, detail);
    }
    let parcels: i64 = shipments
        .iter()
        .filter(|shipment| shipment.status != ShipmentStatus::Cancelled)
        .flat_map(|shipment| &shipment.line_items)
        .filter(|part| part.line_item_id == line.id)
        .map(|part| part.quantity)
        .fold(0, i64::saturating_add);
    if parcels > line.shipped_quantity.min(line.quantity) {
        let detail =
            format!("line {}: parcels hold {parcels}, {} are shipped", line.id, line.shipped_quantity);
        found(FindingCode::ParcelsExceedShipped, detail);
    }
    let (fulfilled, shipped) = (line.fulfilled_quantity, line.shipped_quantity);
    if fulfilled != marks.fulfilled.max(shipped) {
        let set = marks.fulfilled;
        let detail =
            format!("line {}: {fulfilled} fulfilled; {set} were set and {shipped} are shipped", line.id);
        found(FindingCode::FulfilledQuantityDiffers, detail);
    }
}

/// A payment that belongs to no order though its money came: the sums of its refunds (I2).
#[must_use]
pub fn check_payment_without_order(payment: Payment, refunds: &[Refund]) -> Vec<Finding> {
    let id = payment.id.clone();
    let mut findings = Vec::new();
    let mut found = |code, detail: String| findings.push(Finding::new(code, id.as_str(), detail));
    if refunds.iter().any(|refund| refund.currency != payment.currency) {
        found(FindingCode::CurrencyDiffers, "a refund is in another currency".to_owned());
    }
    check_refunds(&mut [payment], refunds, &mut found);
    findings
}

/// I2, per payment and so per order. Sets what is asked back on every payment, for what is derived from it.
fn check_refunds(payments: &mut [Payment], refunds: &[Refund], found: &mut impl FnMut(FindingCode, String)) {
    for payment in payments.iter_mut() {
        let sum = |wanted: fn(RefundStatus) -> bool| {
            refunds
                .iter()
                .filter(|refund| refund.payment_id == payment.id && wanted(refund.status))
                .map(|refund| refund.amount)
                .fold(0, Money::saturating_add)
        };
        let completed = sum(|status| status == RefundStatus::Completed);
        let open = sum(RefundStatus::is_open);
        let (id, captured) = (&payment.id, payment.amount_captured);
        let (refunded, pending) = (payment.amount_refunded, payment.amount_refund_pending);
        if completed != refunded {
            let detail = format!("payment {id}: {refunded} refunded, refunds of {completed}");
            found(FindingCode::RefundedSumDiffers, detail);
        }
        if open != pending {
            let detail = format!("payment {id}: {pending} pending, open refunds of {open}");
            found(FindingCode::RefundedSumDiffers, detail);
        }
        if completed.saturating_add(open) > captured {
            let detail =
                format!("payment {id}: {captured} captured, {completed} given back, {open} asked back");
            found(FindingCode::RefundsExceedCaptured, detail);
        }
        payment.amount_refund_pending = open;
    }
    for refund in refunds {
        if !payments.iter().any(|payment| payment.id == refund.payment_id) {
            let detail = format!("refund {} is of a payment of another order", refund.id);
            found(FindingCode::RefundsExceedCaptured, detail);
        }
    }
}

/// I6. What is out of range has been found by then, and cannot be summed.
fn check_derived(order: &Order, payments: &[Payment], found: &mut impl FnMut(FindingCode, String)) {
    let bounded = |payment: &Payment| {
        amounts_are_ordered(payment) && (0..=MONEY_MAX).contains(&payment.amount_refund_pending)
    };
    if !payments.iter().all(bounded) || !order.line_items.iter().all(quantities_are_ordered) {
        return;
    }
    let payment_status = payment_status::derive(order.amounts.total, order.status, payments);
    if payment_status != order.payment_status {
        let detail = format!("{} is stored, {payment_status} follows", order.payment_status);
        found(FindingCode::PaymentStatusDiffers, detail);
    }
    let ids: Vec<_> = payments.iter().map(|payment| payment.id.clone()).collect();
    if ids != order.payment_ids || PaymentSummary::of(order.amounts.total, payments) != order.payment_summary
    {
        let detail = "payment_ids or payment_summary are not those of its payments and refunds".to_owned();
        found(FindingCode::PaymentSummaryDiffers, detail);
    }
    let fulfillment_status = fulfillment_status::derive(&order.line_items);
    if fulfillment_status != order.fulfillment_status {
        let detail = format!("{} is stored, {fulfillment_status} follows", order.fulfillment_status);
        found(FindingCode::FulfillmentStatusDiffers, detail);
    }
}
