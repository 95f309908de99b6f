//! `fulfillment_status::derive` against contract 3.3, said again in other words ([`tables`]), over every small
//! combination of up to three lines.

use std::collections::BTreeSet;

use authority_domain::FulfillmentStatus;
use authority_domain::order::fulfillment_status::derive;
use authority_domain::parts::OrderLine;

use crate::fixtures::paid_order;
use crate::model::tables;

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

#[test]
fn derive_is_the_first_row_that_holds_for_every_small_combination() {
    let like = paid_order().line_items[0].clone();
    let shapes = shapes();
    assert_eq!(shapes.len(), 19);
    let mut reached = BTreeSet::new();
    let mut check = |lines: &[Shape]| {
        let order_lines: Vec<OrderLine> = lines.iter().map(|shape| line(&like, *shape)).collect();
        let found = derive(&order_lines);
        assert_eq!(found.as_str(), tables::fulfillment_status(&order_lines), "{lines:?}");
        reached.insert(found);
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
