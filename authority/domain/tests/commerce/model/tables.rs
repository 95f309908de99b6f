//! The tables of contract 3.2 and 3.3, read row by row, and the ends of contract 3.1 to 3.8. Written down once more, so
//! that the functions under test are not their own judge.

use authority_domain::parts::{Money, OrderLine};
use authority_domain::{Order, OrderStatus, Payment, PaymentStatus};

fn sum<T>(list: &[T], part: impl Fn(&T) -> i64) -> i64 {
    list.iter().map(part).sum()
}

/// Contract 3.2. `payments` are the order's, oldest first.
pub(super) fn payment_status(order: &Order, payments: &[Payment]) -> &'static str {
    let total = order.amounts.total;
    let authorized: Money =
        sum(payments, |p| if p.status == PaymentStatus::Authorized { p.amount_authorized } else { 0 });
    let captured = sum(payments, |p| p.amount_captured);
    let refunded = sum(payments, |p| p.amount_refunded);
    let any = |status| payments.iter().any(|p| p.status == status);
    let newest = |status| payments.last().is_some_and(|p| p.status == status);
    let rows = [
        (captured > 0 && refunded == captured, "refunded"),
        (refunded > 0 && captured >= total, "partially_refunded"),
        (captured > 0 && captured >= total, "paid"),
        (captured > 0, "partially_paid"),
        (total == 0 && order.status != OrderStatus::Pending, "paid"),
        (authorized > 0 && authorized >= total, "authorized"),
        (any(PaymentStatus::Pending) || any(PaymentStatus::Created), "pending"),
        (newest(PaymentStatus::Failed), "failed"),
        (newest(PaymentStatus::Cancelled), "voided"),
        (true, "unpaid"),
    ];
    first(&rows)
}

/// Contract 3.3.
pub(super) fn fulfillment_status(lines: &[OrderLine]) -> &'static str {
    let shippable = |line: &OrderLine| i64::from(line.requires_shipping);
    let (quantity, fulfilled) = (sum(lines, |l| l.quantity), sum(lines, |l| l.fulfilled_quantity));
    let to_ship = sum(lines, |l| l.quantity * shippable(l));
    let shipped = sum(lines, |l| l.shipped_quantity * shippable(l));
    let delivered = sum(lines, |l| l.delivered_quantity * shippable(l));
    let rows = [
        (to_ship > 0 && delivered == to_ship && fulfilled == quantity, "delivered"),
        (delivered > 0, "partially_delivered"),
        (to_ship > 0 && shipped == to_ship && fulfilled == quantity, "shipped"),
        (shipped > 0, "partially_shipped"),
        (fulfilled == quantity, "fulfilled"),
        (fulfilled > 0, "partially_fulfilled"),
        (true, "unfulfilled"),
    ];
    first(&rows)
}

fn first(rows: &[(bool, &'static str)]) -> &'static str {
    rows.iter().find(|(holds, _)| *holds).unwrap().1
}

/// How far along a fulfilment status is; a milestone is told when it is reached from below.
pub(super) fn rank(fulfillment_status: &str) -> Option<usize> {
    let order = [
        "unfulfilled",
        "partially_fulfilled",
        "fulfilled",
        "partially_shipped",
        "shipped",
        "partially_delivered",
        "delivered",
    ];
    order.iter().position(|status| *status == fulfillment_status)
}

/// The ends, by category.
pub(super) fn is_terminal(category: &str, status: &str) -> bool {
    let ends: &[&str] = match category {
        "checkout" => &["completed", "expired", "cancelled"],
        "payment" => &["failed", "cancelled", "refunded"],
        "order" => &["completed", "cancelled"],
        "refund" => &["completed", "failed"],
        "shipment" => &["delivered", "returned", "cancelled"],
        "subscription" => &["cancelled"],
        _ => &[],
    };
    ends.contains(&status)
}
