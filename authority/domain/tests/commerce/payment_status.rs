//! `payment_status::derive` and the summary against contract 3.2 and 2.2, said again in other words, over every small
//! combination of a total, an order status and up to three payments.

use std::collections::BTreeSet;

use authority_domain::order::payment_status::{PaymentStatus, PaymentSummary, derive};
use authority_domain::parts::Money;
use authority_domain::{OrderStatus, Payment, payment};

use crate::fixtures::{created_payment, payment_id};

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

/// Contract 3.2, row by row: the rows that hold, in order.
fn rows_that_hold(total: Money, order: OrderStatus, shapes: &[Shape]) -> Vec<PaymentStatus> {
    use payment::PaymentStatus as Is;
    let sum = |part: fn(&Shape) -> Money| shapes.iter().map(part).sum::<Money>();
    let t = total;
    let a = sum(|shape| if shape.0 == Is::Authorized { shape.1 } else { 0 });
    let c = sum(|shape| shape.2);
    let r = sum(|shape| shape.3);
    let newest_is = |status| shapes.last().is_some_and(|newest| newest.0 == status);
    let rows = [
        (c > 0 && r == c, PaymentStatus::Refunded),
        (r > 0 && c >= t, PaymentStatus::PartiallyRefunded),
        (c > 0 && c >= t, PaymentStatus::Paid),
        (c > 0, PaymentStatus::PartiallyPaid),
        (t == 0 && order != OrderStatus::Pending, PaymentStatus::Paid),
        (a > 0 && a >= t, PaymentStatus::Authorized),
        (shapes.iter().any(|shape| [Is::Pending, Is::Created].contains(&shape.0)), PaymentStatus::Pending),
        (newest_is(Is::Failed), PaymentStatus::Failed),
        (newest_is(Is::Cancelled), PaymentStatus::Voided),
        (true, PaymentStatus::Unpaid),
    ];
    rows.into_iter().filter_map(|(holds, status)| holds.then_some(status)).collect()
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
                let expected = rows_that_hold(total, *order, shapes)[0];
                assert_eq!(derive(total, *order, &payments), expected, "total {total}, {order}, {shapes:?}");
                reached.insert(expected);
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
            let mut expected = PaymentSummary {
                authorized: 0,
                captured: 0,
                refunded: 0,
                refund_pending: 0,
                refundable: 0,
                due: 0,
            };
            for (status, authorized, captured, refunded, pending) in shapes {
                if *status == payment::PaymentStatus::Authorized {
                    expected.authorized += authorized;
                }
                expected.captured += captured;
                expected.refunded += refunded;
                expected.refund_pending += pending;
                expected.refundable += captured - refunded - pending;
            }
            let open = total - expected.captured - expected.authorized;
            expected.due = if open > 0 { open } else { 0 };
            assert_eq!(summary, expected, "total {total}, {shapes:?}");
        }
    }
}
