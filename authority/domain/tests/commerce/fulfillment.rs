//! The fulfilment update against contract 3.3 and 4.6: what it does to lines, parcels, times and marks.

use authority_domain::order::line_quantities::LineMarks;
use authority_domain::order::payment_status::PaymentStatus;
use authority_domain::order::{ConfirmedBy, FulfillmentUpdate, LineTarget, TARGETS, fulfillment_status};
use authority_domain::shipment::{ShipmentLine, ShipmentStatus};
use authority_domain::transitions::fulfillment::{Updated, update};
use authority_domain::{ErrorCode, FulfillmentStatus, Order, OrderStatus, Result, transitions};

use crate::fixtures::{event_names, new_shipment, noon, paid_order};
use crate::refused_bodies::errors;

/// A confirmed order, not yet paid so that nothing completes it, that shows `status`. Of the partial ones, only the
/// digital guide is missing.
pub(crate) fn order_at(status: FulfillmentStatus) -> Order {
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

pub(crate) fn asked(target: Option<FulfillmentStatus>, lines: Option<Vec<LineTarget>>) -> FulfillmentUpdate {
    FulfillmentUpdate { target, line_items: lines, note: None }
}

/// Every line of the order, fulfilled up to `of` its quantity, but never below what is shipped.
pub(crate) fn lines(order: &Order, of: impl Fn(i64) -> i64) -> Vec<LineTarget> {
    let line = |line: &authority_domain::parts::OrderLine| LineTarget {
        id: line.id.clone(),
        fulfilled_quantity: of(line.quantity).max(line.shipped_quantity),
    };
    order.line_items.iter().map(line).collect()
}

pub(crate) fn run(order: &Order, asked: &FulfillmentUpdate) -> Result<Updated> {
    update(order.clone(), &[], LineMarks::new(), ConfirmedBy::Payments, asked, noon().plus_ms(1))
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
    let order = order_at(FulfillmentStatus::Unfulfilled);
    let mut parcels = Vec::new();
    for (n, status) in
        [ShipmentStatus::Created, ShipmentStatus::Returned, ShipmentStatus::Exception].into_iter().enumerate()
    {
        let id = authority_domain::id::ShipmentId::from_store(format!("shp_{n:026}"));
        let line = ShipmentLine { line_item_id: order.line_items[1].id.clone(), quantity: 1 };
        let (by, new) = (ConfirmedBy::Payments, new_shipment(Some(vec![line])));
        let (mut parcel, _) = transitions::shipment::create(order.clone(), &[], by, id, new, noon()).unwrap();
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
