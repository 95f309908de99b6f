//! `fulfillment_status::derive` against contract 3.3, said again in other words, over every small combination of up to
//! three lines.

use std::collections::BTreeSet;

use authority_domain::FulfillmentStatus;
use authority_domain::order::fulfillment_status::derive;
use authority_domain::parts::OrderLine;

use crate::fixtures::paid_order;

/// (ships, quantity, fulfilled, shipped, delivered) with delivered ≤ shipped ≤ fulfilled ≤ quantity (I5).
type Shape = (bool, i64, i64, i64, i64);

fn shapes() -> Vec<Shape> {
    let mut shapes = Vec::new();
    for quantity in 1..=2 {
        for fulfilled in 0..=quantity {
            shapes.push((false, quantity, fulfilled, 0, 0));
            for shipped in 0..=fulfilled {
                for delivered in 0..=shipped {
                    shapes.push((true, quantity, fulfilled, shipped, delivered));
                }
            }
        }
    }
    shapes
}

fn line(like: &OrderLine, (ships, quantity, fulfilled, shipped, delivered): Shape) -> OrderLine {
    OrderLine {
        requires_shipping: ships,
        quantity,
        fulfilled_quantity: fulfilled,
        shipped_quantity: shipped,
        delivered_quantity: delivered,
        ..like.clone()
    }
}

/// Contract 3.3, told by what is not yet done instead of by sums that are equal.
fn expected(lines: &[Shape]) -> FulfillmentStatus {
    let any = |part: fn(&Shape) -> bool| lines.iter().any(part);
    let ships = any(|line| line.0);
    let prepared = !any(|line| line.2 < line.1);
    let some_not_shipped = any(|line| line.0 && line.3 < line.1);
    let some_not_delivered = any(|line| line.0 && line.4 < line.1);
    match () {
        () if ships && prepared && !some_not_delivered => FulfillmentStatus::Delivered,
        () if any(|line| line.4 > 0) => FulfillmentStatus::PartiallyDelivered,
        () if ships && prepared && !some_not_shipped => FulfillmentStatus::Shipped,
        () if any(|line| line.3 > 0) => FulfillmentStatus::PartiallyShipped,
        () if prepared => FulfillmentStatus::Fulfilled,
        () if any(|line| line.2 > 0) => FulfillmentStatus::PartiallyFulfilled,
        () => FulfillmentStatus::Unfulfilled,
    }
}

#[test]
fn derive_is_the_first_row_that_holds_for_every_small_combination() {
    let like = paid_order().line_items[0].clone();
    let shapes = shapes();
    assert_eq!(shapes.len(), 19);
    let mut reached = BTreeSet::new();
    let mut check = |lines: &[Shape]| {
        let order_lines: Vec<OrderLine> = lines.iter().map(|shape| line(&like, *shape)).collect();
        assert_eq!(derive(&order_lines), expected(lines), "{lines:?}");
        reached.insert(expected(lines));
    };
    for first in &shapes {
        check(&[*first]);
        for second in &shapes {
            check(&[*first, *second]);
            for third in &shapes {
                check(&[*first, *second, *third]);
            }
        }
    }
    assert_eq!(reached.into_iter().collect::<Vec<_>>(), FulfillmentStatus::ALL, "every value is reached");
}
