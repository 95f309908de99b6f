//! The tables of contract 3.2 and 3.3, read row by row, and the ends of contract 3.1 to 3.8. Written down once more, so
//! that the functions under test are not their own judge.

use authority_domain::parts::{Money, OrderLine};
use authority_domain::{OrderStatus, Payment, PaymentStatus};

/// Contract 3.2: what an order of this total and status shows. `payments` are the order's, oldest first.
pub(crate) fn payment_status(total: Money, status: OrderStatus, payments: &[Payment]) -> &'static str {
    let sum = |part: fn(&Payment) -> Money| payments.iter().map(part).sum::<Money>();
    let authorized = sum(|p| if p.status == PaymentStatus::Authorized { p.amount_authorized } else { 0 });
    let (captured, refunded) = (sum(|p| p.amount_captured), sum(|p| p.amount_refunded));
    let any = |status| payments.iter().any(|p| p.status == status);
    let newest = |status| payments.last().is_some_and(|p| p.status == status);
    let rows = [
        (captured > 0 && refunded == captured, "refunded"),
        (refunded > 0 && captured >= total, "partially_refunded"),
        (captured > 0 && captured >= total, "paid"),
        (captured > 0, "partially_paid"),
        (total == 0 && status != OrderStatus::Pending, "paid"),
        (authorized > 0 && authorized >= total, "authorized"),
        (any(PaymentStatus::Pending) || any(PaymentStatus::Created), "pending"),
        (newest(PaymentStatus::Failed), "failed"),
        (newest(PaymentStatus::Cancelled), "voided"),
        (true, "unpaid"),
    ];
    first(&rows)
}

/// Contract 3.3, told by what is not yet done instead of by sums that are equal.
pub(crate) fn fulfillment_status(lines: &[OrderLine]) -> &'static str {
    let any = |part: fn(&OrderLine) -> bool| lines.iter().any(part);
    let ships = any(|line| line.requires_shipping);
    let prepared = !any(|line| line.fulfilled_quantity < line.quantity);
    let some_not_shipped = any(|line| line.requires_shipping && line.shipped_quantity < line.quantity);
    let some_not_delivered = any(|line| line.requires_shipping && line.delivered_quantity < line.quantity);
    let rows = [
        (ships && prepared && !some_not_delivered, "delivered"),
        (any(|line| line.delivered_quantity > 0), "partially_delivered"),
        (ships && prepared && !some_not_shipped, "shipped"),
        (any(|line| line.shipped_quantity > 0), "partially_shipped"),
        (prepared, "fulfilled"),
        (any(|line| line.fulfilled_quantity > 0), "partially_fulfilled"),
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
