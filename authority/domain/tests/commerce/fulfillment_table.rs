//! Every cell of the table of targets of contract 3.3, with and without lines.

use authority_domain::order::{TARGETS, fulfillment_status};
use authority_domain::transitions::fulfillment::Updated;
use authority_domain::{ErrorCode, FulfillmentStatus, Result};

use crate::fixtures::event_names;
use crate::fulfillment::{asked, lines, order_at, run};
use crate::refused_bodies::errors;

/// The table as contract 3.3 has it: rows are present statuses, columns are [`TARGETS`]; `l` needs lines.
const TABLE: [(FulfillmentStatus, &str); 7] = [
    (FulfillmentStatus::Unfulfilled, "= l y y y"),
    (FulfillmentStatus::PartiallyFulfilled, "y l y y y"),
    (FulfillmentStatus::Fulfilled, "y l = y y"),
    (FulfillmentStatus::PartiallyShipped, "- - - y y"),
    (FulfillmentStatus::Shipped, "- - - = y"),
    (FulfillmentStatus::PartiallyDelivered, "- - - - y"),
    (FulfillmentStatus::Delivered, "- - - - ="),
];

/// What came of it, in one word.
fn outcome(from: FulfillmentStatus, result: Result<Updated>) -> String {
    match result {
        Ok(updated) if updated.changes.is_empty() => {
            assert_eq!(updated.order.resource_version, 2, "nothing changed");
            "same".to_owned()
        }
        Ok(updated) => {
            let order = &updated.order;
            assert_eq!(order.resource_version, 3);
            assert_eq!(order.fulfillment_status, fulfillment_status::derive(&order.line_items));
            format!("{} {}", order.fulfillment_status, event_names(&updated.changes).join(" "))
        }
        Err(refusal) if refusal.code == ErrorCode::InvalidStateTransition => {
            assert_eq!(refusal.extra[0], ("current_status", from.as_str().into()));
            "refused".to_owned()
        }
        Err(refusal) => {
            assert_eq!(refusal.code, ErrorCode::ValidationFailed, "{refusal}");
            errors(&refusal).join(" ")
        }
    }
}

fn reached(target: FulfillmentStatus, from: FulfillmentStatus) -> String {
    let event = match target {
        FulfillmentStatus::Fulfilled if target > from => "order.fulfilled",
        FulfillmentStatus::Shipped => "order.shipped",
        FulfillmentStatus::Delivered => "order.delivered",
        _ => "order.updated",
    };
    format!("{target} {event}")
}

#[test]
fn every_cell_of_the_table_without_lines() {
    for (from, row) in TABLE {
        for (target, cell) in TARGETS.into_iter().zip(row.split(' ')) {
            let expected = match cell {
                "=" => "same".to_owned(),
                "y" => reached(target, from),
                "l" => "/line_items required".to_owned(),
                _ => "refused".to_owned(),
            };
            let found = outcome(from, run(&order_at(from), &asked(Some(target), None)));
            assert_eq!(found, expected, "{from} to {target}");
        }
    }
}

#[test]
fn every_cell_of_the_table_with_lines() {
    type Share = fn(i64) -> i64;
    let shares: [Share; 3] = [|_| 0, |quantity| quantity - 1, |quantity| quantity];
    let mut agreed = 0;
    for (from, row) in TABLE {
        for (target, cell) in TARGETS.into_iter().zip(row.split(' ')) {
            for share in shares {
                let order = order_at(from);
                let given = lines(&order, share);
                let mut then = order.clone();
                for (line, given) in then.line_items.iter_mut().zip(&given) {
                    line.fulfilled_quantity = given.fulfilled_quantity;
                }
                let results = fulfillment_status::derive(&then.line_items);
                let expected = match cell {
                    "-" => "refused".to_owned(),
                    _ if results != target => "/fulfillment_status inconsistent".to_owned(),
                    _ if then.line_items == order.line_items => "same".to_owned(),
                    _ => reached(target, from),
                };
                agreed += usize::from(cell != "-" && results == target);
                let found = outcome(from, run(&order, &asked(Some(target), Some(given))));
                assert_eq!(found, expected, "{from} to {target}");
            }
        }
    }
    // Nine in the first three rows; in the others the guide completes what was partly there, or all stays as it is.
    assert_eq!(agreed, 13);
}
