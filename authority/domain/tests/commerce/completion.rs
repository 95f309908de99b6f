//! When an order is done: contract 3.1, `confirmed` → `completed`, in the same change that makes both halves true.

use authority_domain::order::fulfillment_status;
use authority_domain::{ConfirmOn, FulfillmentStatus, Order, OrderStatus, Payment, PaymentStatus};

use crate::fixtures::{event_names, last_order, noon, on_order, ordered};

/// An order that waits for its money, while its lines have come as far as `lines` says: fulfilled, shipped, delivered.
fn waiting(status: OrderStatus, digital: bool, lines: [bool; 3]) -> (Order, Payment) {
    let (mut order, payment) = ordered(PaymentStatus::Pending);
    for line in &mut order.line_items {
        line.requires_shipping &= !digital;
        let reached = |done: bool| if done { line.quantity } else { 0 };
        let (fulfilled, shipped, delivered) = (reached(lines[0]), reached(lines[1]), reached(lines[2]));
        line.fulfilled_quantity = fulfilled;
        line.shipped_quantity = if line.requires_shipping { shipped } else { 0 };
        line.delivered_quantity = if line.requires_shipping { delivered } else { 0 };
    }
    order.fulfillment_status = fulfillment_status::derive(&order.line_items);
    order.status = status;
    (order, payment)
}

#[test]
fn an_order_is_done_when_it_is_confirmed_paid_and_all_of_it_arrived() {
    use FulfillmentStatus as Is;
    const ALL: [bool; 3] = [true, true, true];
    let table = [
        (OrderStatus::Confirmed, false, ALL, Is::Delivered, OrderStatus::Completed),
        (OrderStatus::Confirmed, false, [true, true, false], Is::Shipped, OrderStatus::Confirmed),
        (OrderStatus::Confirmed, false, [true, false, false], Is::Fulfilled, OrderStatus::Confirmed),
        (OrderStatus::Confirmed, false, [false; 3], Is::Unfulfilled, OrderStatus::Confirmed),
        // What does not ship is done when it is fulfilled.
        (OrderStatus::Confirmed, true, [true, false, false], Is::Fulfilled, OrderStatus::Completed),
        (OrderStatus::Confirmed, true, [false; 3], Is::Unfulfilled, OrderStatus::Confirmed),
        // The money confirms what waited for it, and that may be all that was missing.
        (OrderStatus::Pending, true, [true, false, false], Is::Fulfilled, OrderStatus::Completed),
        // An end is not left, whatever comes.
        (OrderStatus::Cancelled, true, [true, false, false], Is::Fulfilled, OrderStatus::Cancelled),
    ];
    for (status, digital, lines, fulfillment, expected) in table {
        let (order, payment) = waiting(status, digital, lines);
        assert_eq!(order.fulfillment_status, fulfillment);
        let version = order.resource_version;
        let changes =
            on_order(&order, &payment, PaymentStatus::Succeeded, ConfirmOn::Paid, noon().plus_ms(1));
        let order = last_order(&changes).unwrap();
        assert_eq!(order.status, expected, "{status}, {fulfillment}, digital: {digital}");
        assert_eq!(order.completed_at.is_some(), expected == OrderStatus::Completed);
        // Completion has no event of its own: one change, one version, one order event.
        let event = if status == OrderStatus::Pending { "order.confirmed" } else { "order.updated" };
        assert_eq!(event_names(&changes), ["payment.succeeded", event]);
        assert_eq!(order.resource_version, version + 1);
    }
}

#[test]
fn delivery_without_the_money_does_not_complete() {
    let (order, payment) = waiting(OrderStatus::Confirmed, false, [true, true, true]);
    for status in [PaymentStatus::Authorized, PaymentStatus::Failed, PaymentStatus::Cancelled] {
        let changes = on_order(&order, &payment, status, ConfirmOn::Paid, noon());
        assert_eq!(last_order(&changes).unwrap().status, OrderStatus::Confirmed, "{status}");
    }
}
