//! What must hold of everything that is kept, at every commit: I1 to I6, and that records which belong together say so.

use std::collections::BTreeMap;

use authority_domain::checkout::{CheckoutMode, CheckoutStatus};
use authority_domain::parts::{Amounts, Money};
use authority_domain::shipment::ShipmentStatus;
use authority_domain::{Order, OrderStatus, Payment, PaymentStatus, RefundStatus};

use super::Violation;
use super::ledger::Ledger;
use super::tables;

/// Collects what does not hold.
#[derive(Default)]
pub(super) struct Found(pub(super) Vec<Violation>);

impl Found {
    pub(super) fn expect(&mut self, holds: bool, rule: &'static str, what: impl FnOnce() -> String) {
        if !holds {
            self.0.push((rule, what()));
        }
    }
}

/// Every violation in what is kept.
pub(super) fn violations(ledger: &Ledger) -> Vec<Violation> {
    let mut found = Found::default();
    for payment in &ledger.payments {
        money(payment, ledger, &mut found);
    }
    for order in &ledger.orders {
        currency(order, ledger, &mut found);
        amounts(order, &mut found);
        quantities(order, ledger, &mut found);
        derived(order, ledger, &mut found);
    }
    checkouts(ledger, &mut found);
    subscriptions(ledger, &mut found);
    found.0
}

fn currency(order: &Order, ledger: &Ledger, found: &mut Found) {
    let number = &order.order_number;
    let payments = ledger.payments_of(number);
    let currencies =
        payments.iter().map(|p| &p.currency).chain(ledger.refunds_of(number).map(|r| &r.currency));
    for currency in currencies {
        found.expect(*currency == order.currency, "I1", || format!("{number}: {currency}"));
    }
}

/// I2 and I3, and that the sums on the payment are those of its refunds.
fn money(payment: &Payment, ledger: &Ledger, found: &mut Found) {
    let of = |open: bool| -> Money {
        let of_it = ledger.refunds.iter().filter(|refund| refund.payment_id == payment.id);
        let counts =
            |status: RefundStatus| if open { status.is_open() } else { status == RefundStatus::Completed };
        of_it.filter(|refund| counts(refund.status)).map(|refund| refund.amount).sum()
    };
    let (pending, completed) = (of(true), of(false));
    let id = &payment.id;
    found.expect(pending + completed <= payment.amount_captured, "I2", || {
        format!("{id}: {pending} + {completed}")
    });
    found.expect(payment.amount_refunded == completed, "I2", || format!("{id}: refunded is not {completed}"));
    found
        .expect(payment.amount_refund_pending == pending, "I2", || format!("{id}: pending is not {pending}"));
    let expected = match completed {
        0 => !matches!(payment.status, PaymentStatus::Refunded | PaymentStatus::PartiallyRefunded),
        all if all == payment.amount_captured => payment.status == PaymentStatus::Refunded,
        _ => payment.status == PaymentStatus::PartiallyRefunded,
    };
    found.expect(expected, "3.5", || format!("{id}: {} with {completed} refunded", payment.status));
    let steps =
        [0, payment.amount_refunded, payment.amount_captured, payment.amount_authorized, payment.amount];
    found.expect(steps.is_sorted(), "I3", || format!("{id}: {steps:?}"));
    late(payment, ledger, found);
}

/// Contract 18.3: late is captured money, and what it was for has ended; captured money without an order is late.
fn late(payment: &Payment, ledger: &Ledger, found: &mut Found) {
    let id = &payment.id;
    let captured = payment.amount_captured > 0;
    let order = payment.order_number.as_ref().and_then(|number| ledger.order(number));
    if payment.late {
        let checkout = ledger.checkouts.iter().find(|c| Some(&c.id) == payment.checkout_id.as_ref());
        let ended = match order {
            Some(order) => order.status == OrderStatus::Cancelled,
            None => checkout.is_some_and(|c| {
                matches!(c.status, CheckoutStatus::Expired | CheckoutStatus::Cancelled)
                    && c.order_number.is_none()
            }),
        };
        found.expect(captured && ended, "18.3", || format!("{id} is late: {captured}, {ended}"));
    }
    found.expect(payment.late || !captured || order.is_some(), "18.3", || format!("{id} paid for nothing"));
}

fn amounts(order: &Order, found: &mut Found) {
    let Amounts { subtotal, discount, shipping, tax, total } = order.amounts;
    let number = &order.order_number;
    found.expect(total == subtotal - discount + shipping + tax && total >= 0, "I4", || {
        format!("{number}: {total}")
    });
    let on_lines: Money = order.line_items.iter().map(|line| line.subtotal_amount).sum();
    found.expect(on_lines == subtotal, "I4", || format!("{number}: {on_lines} on the lines"));
    for line in &order.line_items {
        let agree = line.subtotal_amount == line.unit_amount * line.quantity
            && line.total_amount == line.subtotal_amount - line.discount_amount + line.tax_amount;
        found.expect(agree, "I4", || format!("{number}: {line:?}"));
    }
}

/// I5, and contract 3.7: what is shipped is marked so or in a parcel.
fn quantities(order: &Order, ledger: &Ledger, found: &mut Found) {
    let parcels = ledger.parcels_of(&order.order_number);
    let marked = ledger.marked.get(&order.order_number).cloned().unwrap_or_default();
    let mut held: BTreeMap<_, (i64, i64)> = BTreeMap::new();
    for parcel in parcels.iter().filter(|parcel| parcel.status != ShipmentStatus::Cancelled) {
        for part in &parcel.line_items {
            let sums = held.entry(&part.line_item_id).or_default();
            sums.0 += part.quantity;
            sums.1 += if parcel.status == ShipmentStatus::Delivered { part.quantity } else { 0 };
        }
    }
    for line in &order.line_items {
        let steps =
            [0, line.delivered_quantity, line.shipped_quantity, line.fulfilled_quantity, line.quantity];
        found.expect(steps.is_sorted(), "I5", || format!("{}: {steps:?}", line.id));
        let (sent, arrived) = held.get(&line.id).copied().unwrap_or_default();
        let marks = marked.get(&line.id).copied().unwrap_or_default();
        let shipped = sent.max(marks.shipped);
        let fulfilled = shipped.max(marks.fulfilled);
        found.expect(line.fulfilled_quantity == fulfilled, "3.7", || {
            format!("{}: {fulfilled} fulfilled", line.id)
        });
        found.expect(sent <= line.quantity, "I5", || format!("{}: parcels hold {sent}", line.id));
        found.expect(line.shipped_quantity == shipped, "3.7", || format!("{}: {shipped} shipped", line.id));
        found.expect(line.delivered_quantity >= arrived, "3.7", || format!("{}: {arrived} arrived", line.id));
        let ships = line.requires_shipping || line.shipped_quantity == 0;
        found.expect(ships, "2.1", || format!("{} does not ship", line.id));
    }
}

fn derived(order: &Order, ledger: &Ledger, found: &mut Found) {
    let number = &order.order_number;
    let payments = ledger.payments_of(number);
    let paid = tables::payment_status(order.amounts.total, order.status, &payments);
    found.expect(order.payment_status.as_str() == paid, "I6", || format!("{number} is {paid}"));
    let fulfilled = tables::fulfillment_status(&order.line_items);
    found.expect(order.fulfillment_status.as_str() == fulfilled, "I6", || format!("{number} is {fulfilled}"));
    let summary = order.payment_summary;
    let sum = |part: fn(&Payment) -> Money| payments.iter().map(part).sum::<Money>();
    let reserved = |p: &Payment| if p.status == PaymentStatus::Authorized { p.amount_authorized } else { 0 };
    let (captured, authorized) = (sum(|p| p.amount_captured), sum(reserved));
    let pending: Money = ledger.refunds_of(number).filter(|r| r.status.is_open()).map(|r| r.amount).sum();
    let refunded = sum(|p| p.amount_refunded);
    let agrees = summary.captured == captured
        && summary.authorized == authorized
        && summary.refunded == refunded
        && summary.refund_pending == pending
        && summary.refundable == captured - refunded - pending
        && summary.due == (order.amounts.total - captured - authorized).max(0);
    found.expect(agrees, "I6", || format!("{number}: {summary:?}"));
    let ids: Vec<_> = payments.iter().map(|payment| payment.id.clone()).collect();
    found.expect(order.payment_ids == ids, "2.2", || format!("{number}: the payments are {ids:?}"));
    let once = captured + authorized <= order.amounts.total;
    found.expect(once, "3.9", || format!("{number} is paid twice: {captured} + {authorized}"));
    let ended = order.status == OrderStatus::Cancelled && payments.iter().any(|p| p.status.is_open());
    found.expect(!ended, "3.1", || format!("{number} is cancelled and being paid"));
}

/// Contract 3.4: exactly one order, and one subscription where that is the mode, of exactly the completed ones.
fn checkouts(ledger: &Ledger, found: &mut Found) {
    for checkout in &ledger.checkouts {
        let id = &checkout.id;
        let orders: Vec<_> = ledger.orders.iter().filter(|o| o.checkout_id.as_ref() == Some(id)).collect();
        let completed = checkout.status == CheckoutStatus::Completed;
        found.expect(orders.len() == usize::from(completed), "3.4", || {
            format!("{id}: {} orders", orders.len())
        });
        for order in orders {
            found.expect(checkout.order_number.as_ref() == Some(&order.order_number), "3.4", || {
                id.to_string()
            });
            found.expect(order.currency == checkout.currency, "I1", || id.to_string());
            let subscribed =
                ledger.subscriptions.iter().any(|s| Some(&s.record.id) == order.subscription_id.as_ref());
            let wanted = checkout.mode == CheckoutMode::Subscription;
            found.expect(subscribed == wanted, "3.4", || format!("{id}: subscribed is {subscribed}"));
        }
        let attempts = ledger.payments.iter().filter(|p| p.checkout_id.as_ref() == Some(id));
        let open = attempts.filter(|payment| payment.status.is_open()).count();
        found.expect(open <= 1, "3.4", || format!("{id}: {open} attempts at a time"));
        let gone = matches!(checkout.status, CheckoutStatus::Expired | CheckoutStatus::Cancelled);
        found.expect(!(gone && open > 0), "3.4", || format!("{id} has ended and is being paid"));
    }
}

/// Contract 2.6.
fn subscriptions(ledger: &Ledger, found: &mut Found) {
    for record in ledger.subscriptions.iter().map(|ongoing| &ongoing.record) {
        let amount: Money = record.items.iter().map(|item| item.unit_amount * item.quantity).sum();
        found.expect(record.amount == amount, "2.6", || format!("{} costs {amount}", record.id));
        let Some(number) = &record.latest_order_number else { continue };
        let of_it = ledger.order(number).is_some_and(|order| {
            order.subscription_id.as_ref() == Some(&record.id) && order.currency == record.currency
        });
        found.expect(of_it, "2.6", || format!("{}: {number} is not its order", record.id));
    }
    for order in &ledger.orders {
        for payment in ledger.payments_of(&order.order_number) {
            let same = payment.subscription_id == order.subscription_id;
            found.expect(same, "2.3", || format!("{} belongs to another subscription", payment.id));
        }
    }
}
