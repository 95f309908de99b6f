//! The fulfilment update against contract 3.3 and 4.6: every cell of the table of targets, with and without lines, and
//! what an update does to lines, parcels, times and marks.

use authority_domain::error_code::ErrorCode;
use authority_domain::order::fulfillment::{FulfillmentUpdate, LineTarget, TARGETS, Updated, update};
use authority_domain::order::fulfillment_status::FulfillmentStatus;
use authority_domain::order::line_quantities::LineMarks;
use authority_domain::order::payment_status::PaymentStatus;
use authority_domain::order::{ConfirmedBy, FulfillmentRequest, Order, OrderStatus, fulfillment_status};
use authority_domain::refusal::Refusal;
use authority_domain::shipment::ShipmentStatus;
use serde_json::{Value, json};

use crate::fixtures::{event_names, noon, paid_order};
use crate::refused_bodies::Edit::{Drop, Set};
use crate::refused_bodies::{check, errors};

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

/// A confirmed order, not yet paid so that nothing completes it, that shows `status`. Of the partial ones, only the
/// digital guide is missing.
fn order_at(status: FulfillmentStatus) -> Order {
    let mut order = paid_order();
    order.payment_status = PaymentStatus::Unpaid;
    let step = FulfillmentStatus::ALL.iter().position(|known| *known == status).unwrap();
    for line in &mut order.line_items {
        let complete = line.requires_shipping || matches!(step, 0 | 2 | 4 | 6);
        line.fulfilled_quantity = if step >= 1 && complete { line.quantity } else { 0 };
        line.shipped_quantity = if step >= 3 && line.requires_shipping { line.quantity } else { 0 };
        line.delivered_quantity = if step >= 5 && line.requires_shipping { line.quantity } else { 0 };
    }
    order.fulfillment_status = fulfillment_status::derive(&order.line_items);
    assert_eq!(order.fulfillment_status, status);
    order
}

fn asked(target: Option<FulfillmentStatus>, lines: Option<Vec<LineTarget>>) -> FulfillmentUpdate {
    FulfillmentUpdate { target, line_items: lines, note: None }
}

/// Every line of the order, fulfilled up to `of` its quantity, but never below what is shipped.
fn lines(order: &Order, of: impl Fn(i64) -> i64) -> Vec<LineTarget> {
    let line = |line: &authority_domain::parts::OrderLine| LineTarget {
        id: line.id.clone(),
        fulfilled_quantity: of(line.quantity).max(line.shipped_quantity),
    };
    order.line_items.iter().map(line).collect()
}

fn run(order: &Order, asked: &FulfillmentUpdate) -> Result<Updated, Refusal> {
    update(order.clone(), &[], LineMarks::new(), ConfirmedBy::Payments, asked, noon().plus_ms(1))
}

/// What came of it, in one word.
fn outcome(from: FulfillmentStatus, result: Result<Updated, Refusal>) -> String {
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

#[test]
fn lines_alone_set_what_they_name() {
    let order = order_at(FulfillmentStatus::Unfulfilled);
    let one = |index: usize, quantity| {
        vec![LineTarget { id: order.line_items[index].id.clone(), fulfilled_quantity: quantity }]
    };
    let updated = run(&order, &asked(None, Some(one(0, 1)))).unwrap();
    assert_eq!(event_names(&updated.changes), ["order.updated"]);
    let quantities: Vec<i64> = updated.order.line_items.iter().map(|line| line.fulfilled_quantity).collect();
    assert_eq!(quantities, [1, 0, 0]);
    let again = run(&updated.order, &asked(None, Some(one(0, 1)))).unwrap();
    assert!(again.changes.is_empty());

    let shipped = order_at(FulfillmentStatus::Shipped);
    let mut wrong = lines(&shipped, |quantity| quantity + 1);
    wrong[1].fulfilled_quantity = 2;
    wrong.push(LineTarget { id: shipped.line_items[2].id.clone(), fulfilled_quantity: 1 });
    let refusal = run(&shipped, &asked(None, Some(wrong.clone()))).unwrap_err();
    assert_eq!(errors(&refusal), ["/line_items/3/id duplicate"]);
    wrong[3].id = authority_domain::id::LineItemId::from_store("li_other".into());
    let refusal = run(&shipped, &asked(None, Some(wrong.clone()))).unwrap_err();
    assert_eq!(errors(&refusal), ["/line_items/3/id unknown_reference"]);
    wrong.pop();
    let refusal = run(&shipped, &asked(None, Some(wrong))).unwrap_err();
    let out_of_range = |line: usize| format!("/line_items/{line}/fulfilled_quantity out_of_range");
    assert_eq!(errors(&refusal), [out_of_range(0), out_of_range(1), out_of_range(2)]);
}

#[test]
fn times_of_states_are_kept_while_they_hold_and_cleared_when_they_are_left() {
    let order = order_at(FulfillmentStatus::Unfulfilled);
    let at = |ms: i64| noon().plus_ms(ms);
    let set = |order: Order, target, ms| {
        let asked = asked(Some(target), None);
        update(order, &[], LineMarks::new(), ConfirmedBy::Payments, &asked, at(ms)).unwrap().order
    };
    let times = |order: &Order| (order.fulfilled_at, order.shipped_at, order.delivered_at);
    let fulfilled = set(order, FulfillmentStatus::Fulfilled, 1);
    assert_eq!(times(&fulfilled), (Some(at(1)), None, None));
    let back = set(fulfilled.clone(), FulfillmentStatus::Unfulfilled, 2);
    assert_eq!(times(&back), (None, None, None));
    let shipped = set(fulfilled, FulfillmentStatus::Shipped, 3);
    assert_eq!(times(&shipped), (Some(at(1)), Some(at(3)), None));
    let delivered = set(shipped, FulfillmentStatus::Delivered, 4);
    assert_eq!(times(&delivered), (Some(at(1)), Some(at(3)), Some(at(4))));
    let guide = vec![LineTarget { id: delivered.line_items[2].id.clone(), fulfilled_quantity: 0 }];
    let corrected =
        update(delivered, &[], LineMarks::new(), ConfirmedBy::Payments, &asked(None, Some(guide)), at(5))
            .unwrap()
            .order;
    assert_eq!(corrected.fulfillment_status, FulfillmentStatus::PartiallyDelivered);
    assert_eq!(times(&corrected), (None, None, None));
}

#[test]
fn the_note_is_kept_cleared_or_left_alone() {
    let order = order_at(FulfillmentStatus::Unfulfilled);
    let note = |note: Option<&str>| FulfillmentUpdate {
        target: None,
        line_items: None,
        note: Some(note.map(str::to_owned)),
    };
    let noted = run(&order, &note(Some("left at the door"))).unwrap();
    assert_eq!(event_names(&noted.changes), ["order.updated"]);
    assert_eq!(noted.order.fulfillment_note.as_deref(), Some("left at the door"));
    assert!(run(&noted.order, &note(Some("left at the door"))).unwrap().changes.is_empty());
    let moved = run(&noted.order, &asked(Some(FulfillmentStatus::Fulfilled), None)).unwrap().order;
    assert_eq!(moved.fulfillment_note.as_deref(), Some("left at the door"));
    assert_eq!(run(&moved, &note(None)).unwrap().order.fulfillment_note, None);
}

#[test]
fn an_order_without_anything_to_ship_is_never_shipped() {
    let mut order = order_at(FulfillmentStatus::Unfulfilled);
    order.line_items.retain(|line| !line.requires_shipping);
    for target in [FulfillmentStatus::Shipped, FulfillmentStatus::Delivered] {
        let refusal = run(&order, &asked(Some(target), None)).unwrap_err();
        assert_eq!(refusal.code, ErrorCode::InvalidStateTransition);
    }
    let updated = run(&order, &asked(Some(FulfillmentStatus::Fulfilled), None)).unwrap();
    assert_eq!(event_names(&updated.changes), ["order.fulfilled"]);
    assert_eq!(updated.order.status, OrderStatus::Confirmed, "it is not paid");
    order.payment_status = PaymentStatus::Paid;
    let updated = run(&order, &asked(Some(FulfillmentStatus::Fulfilled), None)).unwrap();
    assert_eq!(updated.order.status, OrderStatus::Completed);
}

#[test]
fn only_a_confirmed_order_is_fulfilled_and_a_completed_one_takes_what_changes_nothing() {
    for status in [OrderStatus::Pending, OrderStatus::Cancelled] {
        let mut order = order_at(FulfillmentStatus::Unfulfilled);
        order.status = status;
        let refusal = run(&order, &asked(Some(FulfillmentStatus::Unfulfilled), None)).unwrap_err();
        assert_eq!(refusal.code, ErrorCode::OrderNotFulfillable);
        assert_eq!(refusal.extra, [("current_status", status.as_str().into())]);
    }
    let mut order = order_at(FulfillmentStatus::Delivered);
    order.status = OrderStatus::Completed;
    for target in TARGETS {
        let result = run(&order, &asked(Some(target), None));
        match target {
            FulfillmentStatus::Delivered => assert!(result.unwrap().changes.is_empty()),
            FulfillmentStatus::PartiallyFulfilled
            | FulfillmentStatus::Unfulfilled
            | FulfillmentStatus::Fulfilled
            | FulfillmentStatus::Shipped => {
                assert_eq!(result.unwrap_err().code, ErrorCode::OrderNotFulfillable);
            }
            other => panic!("{other} is no target"),
        }
    }
    let note = FulfillmentUpdate { target: None, line_items: None, note: Some(Some("late".into())) };
    assert_eq!(run(&order, &note).unwrap_err().code, ErrorCode::OrderNotFulfillable);
}

#[test]
fn delivering_an_order_delivers_its_open_parcels() {
    use authority_domain::shipment::{NewShipment, ShipmentLine};
    let order = order_at(FulfillmentStatus::Unfulfilled);
    let mut parcels = Vec::new();
    for (n, status) in
        [ShipmentStatus::Created, ShipmentStatus::Returned, ShipmentStatus::Exception].into_iter().enumerate()
    {
        let id = authority_domain::id::ShipmentId::from_store(format!("shp_{n:026}"));
        let new = NewShipment {
            carrier: "dhl".into(),
            service_level: None,
            tracking_number: None,
            tracking_url: None,
            line_items: Some(vec![ShipmentLine {
                line_item_id: order.line_items[1].id.clone(),
                quantity: 1,
            }]),
            shipped_at: None,
            estimated_delivery_at: None,
            metadata: Default::default(),
        };
        let (mut parcel, _) = authority_domain::shipment::flow::create(
            order.clone(),
            &[],
            ConfirmedBy::Payments,
            id,
            new,
            noon(),
        )
        .unwrap();
        parcel.status = status;
        parcels.push(parcel);
    }
    let asked = asked(Some(FulfillmentStatus::Delivered), None);
    let updated =
        update(order, &parcels, LineMarks::new(), ConfirmedBy::Payments, &asked, noon().plus_ms(9)).unwrap();
    assert_eq!(
        event_names(&updated.changes),
        ["shipment.delivered", "shipment.delivered", "order.delivered"]
    );
    let told: Vec<&str> = updated.changes.iter().map(|change| change.record.resource_id()).collect();
    assert_eq!(told, [parcels[0].id.as_str(), parcels[2].id.as_str(), "ORD-100001"]);
    assert_eq!(
        updated.marked.values().map(|marks| marks.shipped).sum::<i64>(),
        5,
        "all that ships is marked"
    );
}

#[test]
fn bodies() {
    let good = json!({"fulfillment_status": "fulfilled", "note": "a\nb",
                      "line_items": [{"id": "li_1", "fulfilled_quantity": 0}]});
    let table = [
        (Drop("/fulfillment_status"), &[][..]),
        (Drop("/line_items"), &[]),
        (Set("/note", Value::Null), &[]),
        (Set("/note", json!("x".repeat(501))), &["/note too_long"]),
        (Set("/fulfillment_status", Value::Null), &["/fulfillment_status required"]),
        (Set("/fulfillment_status", json!("partially_shipped")), &["/fulfillment_status invalid_value"]),
        (Set("/fulfillment_status", json!("partially_delivered")), &["/fulfillment_status invalid_value"]),
        (Set("/fulfillment_status", json!("lost")), &["/fulfillment_status invalid_value"]),
        (Set("/line_items", json!([])), &["/line_items too_short"]),
        (Set("/line_items", Value::Null), &["/line_items required"]),
        (Set("/line_items/0", json!({"id": "li_1"})), &["/line_items/0/fulfilled_quantity required"]),
        (
            Set("/line_items/0/fulfilled_quantity", json!(-1)),
            &["/line_items/0/fulfilled_quantity out_of_range"],
        ),
        (
            Set("/line_items/0/shipped_quantity", json!(1)),
            &["/line_items/0/shipped_quantity field_not_writable"],
        ),
        (Set("/line_items/0/colour", json!("red")), &["/line_items/0/colour unknown_field"]),
        (Set("/colour", json!("red")), &["/colour unknown_field"]),
    ];
    check(&good, FulfillmentRequest::read, &table);
    let refusal = FulfillmentRequest::read(&json!({})).unwrap_err();
    assert_eq!(errors(&refusal), [" required"]);
}

#[test]
fn every_member_of_the_record_is_known_and_only_three_things_can_be_written() {
    let record = serde_json::to_value(paid_order()).unwrap();
    let not_writable = |object: &Value, writable: [&str; 2], path: &str| -> Vec<String> {
        let names = object.as_object().unwrap().keys();
        names
            .filter(|name| !writable.contains(&name.as_str()))
            .map(|name| format!("{path}/{name} field_not_writable"))
            .collect()
    };
    let mut body = record.clone();
    body["line_items"] = json!([{"id": "li_1", "fulfilled_quantity": 1}]);
    body["note"] = json!("x");
    body["colour"] = json!("red");
    let refusal = FulfillmentRequest::read(&body).unwrap_err();
    assert_eq!(refusal.code, ErrorCode::FieldNotWritable);
    let mut expected = not_writable(&record, ["fulfillment_status", "line_items"], "");
    assert_eq!(expected.len(), 29);
    expected.push("/colour unknown_field".into());
    let (mut found, line) = (errors(&refusal), &record["line_items"][0]);
    found.sort();
    expected.sort();
    assert_eq!(found, expected);

    let mut found = errors(&FulfillmentRequest::read(&json!({"line_items": [line]})).unwrap_err());
    let mut expected = not_writable(line, ["id", "fulfilled_quantity"], "/line_items/0");
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}
