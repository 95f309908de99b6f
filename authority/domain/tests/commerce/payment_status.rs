//! `payment_status::derive` and the summary against contract 3.2 and 2.2, said again in other words ([`tables`]), over
//! every small combination of a total, an order status and up to three payments.

use std::collections::BTreeSet;

use authority_domain::order::payment_status::{PaymentStatus, PaymentSummary, derive};
use authority_domain::parts::Money;
use authority_domain::{OrderStatus, Payment, payment};

use crate::fixtures::{created_payment, payment_id};
use crate::model::tables;

/// Status, authorized, captured, refunded, refund pending.
type Shape = (payment::PaymentStatus, Money, Money, Money, Money);

/// Every state a small payment can be in.
const SHAPES: [Shape; 15] = {
    use payment::PaymentStatus as Is;
    [
        (Is::Created, 0, 0, 0, 0),
        (Is::Pending, 0, 0, 0, 0),
        (Is::Authorized, 1, 0, 0, 0),
        (Is::Authorized, 2, 0, 0, 0),
        (Is::Succeeded, 1, 1, 0, 0),
        (Is::Succeeded, 2, 1, 0, 1),
        (Is::Succeeded, 2, 2, 0, 0),
        (Is::Failed, 0, 0, 0, 0),
        (Is::Failed, 2, 0, 0, 0),
        (Is::Cancelled, 0, 0, 0, 0),
        (Is::Cancelled, 1, 0, 0, 0),
        (Is::PartiallyRefunded, 2, 2, 1, 0),
        (Is::PartiallyRefunded, 3, 3, 1, 2),
        (Is::Refunded, 1, 1, 1, 0),
        (Is::Refunded, 2, 2, 2, 0),
    ]
};

fn payments_of(shapes: &[Shape]) -> Vec<Payment> {
    let (_, first) = created_payment();
    let payment = |(n, shape): (usize, &Shape)| Payment {
        id: payment_id(n),
        status: shape.0,
        amount_authorized: shape.1,
        amount_captured: shape.2,
        amount_refunded: shape.3,
        amount_refund_pending: shape.4,
        ..first.clone()
    };
    shapes.iter().enumerate().map(payment).collect()
}

/// All lists of up to three shapes.
fn lists() -> Vec<Vec<Shape>> {
    let mut lists = vec![Vec::new()];
    let mut longest = lists.clone();
    for _ in 0..3 {
        longest = longest
            .iter()
            .flat_map(|list| SHAPES.iter().map(|shape| list.iter().copied().chain([*shape]).collect()))
            .collect();
        lists.extend(longest.iter().cloned());
    }
    lists
}

#[test]
fn derive_is_the_first_row_that_holds_for_every_small_combination() {
    let mut reached = BTreeSet::new();
    let lists = lists();
    assert_eq!(lists.len(), 1 + 15 + 15 * 15 + 15 * 15 * 15);
    for shapes in &lists {
        let payments = payments_of(shapes);
        for total in 0..=3 {
            for order in OrderStatus::ALL {
                let found = derive(total, *order, &payments);
                let expected = tables::payment_status(total, *order, &payments);
                assert_eq!(found.as_str(), expected, "total {total}, {order}, {shapes:?}");
                reached.insert(found);
            }
        }
    }
    assert_eq!(reached.into_iter().collect::<Vec<_>>(), PaymentStatus::ALL, "every value is reached");
}

#[test]
fn the_summary_adds_up_for_every_small_combination() {
    for shapes in &lists() {
        let payments = payments_of(shapes);
        for total in 0..=3 {
            let summary = PaymentSummary::of(total, &payments);
            let mut expected = [0; 5];
            for (status, authorized, captured, refunded, pending) in shapes {
                let reserved = if *status == payment::PaymentStatus::Authorized { *authorized } else { 0 };
                let parts = [reserved, *captured, *refunded, *pending, captured - refunded - pending];
                expected.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
            }
            let [authorized, captured, refunded, refund_pending, refundable] = expected;
            let open = total - captured - authorized;
            let due = if open > 0 { open } else { 0 };
            let expected = PaymentSummary { authorized, captured, refunded, refund_pending, refundable, due };
            assert_eq!(summary, expected, "total {total}, {shapes:?}");
        }
    }
}
