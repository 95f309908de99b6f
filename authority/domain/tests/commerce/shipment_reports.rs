//! What carriers report against contract 3.7: every pair of statuses, tracking data, and what it does to the order.

use authority_domain::order::ConfirmedBy;
use authority_domain::order::line_quantities::{LineMarks, Marks};
use authority_domain::parts::Failure;
use authority_domain::shipment::{NewShipment, ShipmentLine, ShipmentReport, ShipmentStatus};
use authority_domain::{
    Change, ErrorCode, FulfillmentStatus, Order, OrderStatus, Result, Shipment, ShipmentId, transitions,
};
use serde_json::{Value, json};

use crate::fixtures::{check_machine, event_names, last_order, later, new_shipment, noon, paid_order};
use crate::refused_bodies::Edit::{Drop, Set};
use crate::refused_bodies::{check, errors};

/// A paid order whose guide is ready, and parcels of it: the two shirts and the three stickers.
fn shipped_order() -> (Order, Vec<Shipment>) {
    let mut order = paid_order();
    order.line_items[2].fulfilled_quantity = 1;
    let mut parcels: Vec<Shipment> = Vec::new();
    for (index, number) in [(0, "T-0"), (1, "T-1")] {
        let line = &order.line_items[index];
        let all = vec![ShipmentLine { line_item_id: line.id.clone(), quantity: line.quantity }];
        let new = NewShipment { tracking_number: Some(number.into()), ..new_shipment(Some(all)) };
        let id = ShipmentId::from_store(format!("shp_{index:026}"));
        let (made, changes) =
            transitions::shipment::create(order.clone(), &parcels, ConfirmedBy::Payments, id, new, noon())
                .unwrap();
        order = last_order(&changes).unwrap();
        parcels.push(made);
    }
    (order, parcels)
}

/// The guide was set as fulfilled; what else is was brought by the parcels.
fn guide_ready(order: &Order) -> LineMarks {
    LineMarks::from([(order.line_items[2].id.clone(), Marks { fulfilled: 1, shipped: 0 })])
}

fn says(status: ShipmentStatus) -> ShipmentReport {
    ShipmentReport { status: Some(status), ..ShipmentReport::default() }
}

/// A report on the parcel at `index`, where only the guide was set as fulfilled.
fn report(
    order: &Order,
    parcels: &[Shipment],
    index: usize,
    told: &ShipmentReport,
) -> Result<(Shipment, Vec<Change>)> {
    report_with(order, parcels, &guide_ready(order), index, told)
}

fn report_with(
    order: &Order,
    parcels: &[Shipment],
    marked: &LineMarks,
    index: usize,
    told: &ShipmentReport,
) -> Result<(Shipment, Vec<Change>)> {
    transitions::shipment::report(order.clone(), parcels, marked, parcels[index].clone(), told, later())
}

#[test]
fn every_pair_of_statuses() {
    // created in_transit exception delivered returned cancelled
    let table = [
        (ShipmentStatus::Created, "= c c c c c"),
        (ShipmentStatus::InTransit, "x = c c c x"),
        (ShipmentStatus::Exception, "x c = c c x"),
        (ShipmentStatus::Delivered, "x x x = x x"),
        (ShipmentStatus::Returned, "x x x x = x"),
        (ShipmentStatus::Cancelled, "x x x x x ="),
    ];
    let (order, parcels) = shipped_order();
    check_machine(&table, ErrorCode::InvalidStateTransition, |from, to| {
        let mut parcels = parcels.clone();
        parcels[0].status = from;
        let (parcel, changes) = report(&order, &parcels, 0, &says(to))?;
        if changes.is_empty() {
            assert_eq!(parcel, parcels[0]);
            return Ok("=");
        }
        let delivered = to == ShipmentStatus::Delivered;
        let event = if delivered { "shipment.delivered" } else { "shipment.updated" };
        assert_eq!((parcel.status, parcel.resource_version), (to, 2));
        assert_eq!((changes[0].event_type.as_str(), parcel.delivered_at.is_some()), (event, delivered));
        Ok("c")
    });
}

#[test]
fn the_last_parcel_delivers_the_order_and_completes_it() {
    let (order, mut parcels) = shipped_order();
    assert_eq!(order.fulfillment_status, FulfillmentStatus::Shipped);
    let at = noon().plus_ms(30_000);
    let told = ShipmentReport { occurred_at: Some(at), ..says(ShipmentStatus::Delivered) };
    let (first, changes) = report(&order, &parcels, 0, &told).unwrap();
    assert_eq!(event_names(&changes), ["shipment.delivered", "order.updated"]);
    assert_eq!(first.delivered_at, Some(at));
    let order = last_order(&changes).unwrap();
    assert_eq!(order.fulfillment_status, FulfillmentStatus::PartiallyDelivered);
    assert_eq!(order.line_items[0].delivered_quantity, 2);
    parcels[0] = first;
    let (_, changes) = report(&order, &parcels, 1, &told).unwrap();
    assert_eq!(event_names(&changes), ["shipment.delivered", "order.delivered"]);
    let order = last_order(&changes).unwrap();
    assert_eq!(order.status, OrderStatus::Completed);
    assert_eq!(order.delivered_at, Some(noon().plus_ms(60_000)), "when the authority came to know");
}

#[test]
fn what_is_reported_happened_about_when_there_was_a_parcel() {
    let (order, parcels) = shipped_order();
    for (ms, taken) in [(-86_400_000, true), (-86_400_001, false)] {
        let told =
            ShipmentReport { occurred_at: Some(noon().plus_ms(ms)), ..says(ShipmentStatus::Delivered) };
        match report(&order, &parcels, 0, &told) {
            Ok((parcel, _)) => assert_eq!((parcel.delivered_at, taken), (told.occurred_at, true)),
            Err(refusal) => {
                assert_eq!((errors(&refusal), taken), (vec!["/occurred_at out_of_range".into()], false))
            }
        }
    }
}

#[test]
fn a_returned_parcel_leaves_the_order_as_it_is() {
    let (order, parcels) = shipped_order();
    let told = says(ShipmentStatus::Returned);
    let (_, changes) = report(&order, &parcels, 0, &told).unwrap();
    assert_eq!(event_names(&changes), ["shipment.updated"]);
}

#[test]
fn cancelling_takes_back_what_the_parcel_brought() {
    let (order, parcels) = shipped_order();
    let shirts = order.line_items[0].id.clone();
    let told = says(ShipmentStatus::Cancelled);
    for ((fulfilled, shipped), left, events) in [
        ((0, 0), (0, 0), &["shipment.updated", "order.updated"][..]),
        ((1, 0), (1, 0), &["shipment.updated", "order.updated"]),
        ((2, 0), (2, 0), &["shipment.updated", "order.updated"]),
        ((0, 1), (1, 1), &["shipment.updated", "order.updated"]),
        ((2, 1), (2, 1), &["shipment.updated", "order.updated"]),
        ((2, 2), (2, 2), &["shipment.updated"]),
    ] {
        let mut marked = guide_ready(&order);
        marked.insert(shirts.clone(), Marks { fulfilled, shipped });
        let (_, changes) = report_with(&order, &parcels, &marked, 0, &told).unwrap();
        assert_eq!(event_names(&changes), events);
        let order = last_order(&changes).unwrap_or(order.clone());
        let line = &order.line_items[0];
        assert_eq!((line.fulfilled_quantity, line.shipped_quantity), left, "{fulfilled} {shipped}");
        assert_eq!(order.shipped_at.is_some(), left.1 == 2, "the time of a state that was left is cleared");
        assert_eq!(order.fulfilled_at.is_some(), left.0 == 2);
    }
    let all_set =
        order.line_items.iter().map(|line| (line.id.clone(), Marks { fulfilled: line.quantity, shipped: 0 }));
    let all_set: LineMarks = all_set.collect();
    // Falling back to a milestone is not reaching it.
    let (_, changes) = report_with(&order, &parcels, &all_set, 0, &says(ShipmentStatus::Cancelled)).unwrap();
    let order = last_order(&changes).unwrap();
    let mut rest = parcels;
    rest[0].status = ShipmentStatus::Cancelled;
    let (_, changes) = report_with(&order, &rest, &all_set, 1, &says(ShipmentStatus::Cancelled)).unwrap();
    assert_eq!(event_names(&changes), ["shipment.updated", "order.updated"]);
    assert_eq!(last_order(&changes).unwrap().fulfillment_status, FulfillmentStatus::Fulfilled);
}

#[test]
fn tracking_data_changes_until_the_end() {
    let (order, mut parcels) = shipped_order();
    let number =
        |text: &str| ShipmentReport { tracking_number: Some(Some(text.into())), ..ShipmentReport::default() };
    let (next, changes) = report(&order, &parcels, 0, &number("T-9")).unwrap();
    assert_eq!(event_names(&changes), ["shipment.updated"]);
    assert_eq!((next.tracking_number.as_deref(), next.status), (Some("T-9"), ShipmentStatus::Created));
    let same = report(&order, &parcels, 0, &number("T-0")).unwrap();
    assert!(same.1.is_empty());

    let refusal = report(&order, &parcels, 0, &number("T-1")).unwrap_err();
    assert_eq!(refusal.code, ErrorCode::ShipmentExists);
    assert_eq!(refusal.extra, [("shipment_id", parcels[1].id.as_str().into())]);
    let other = ShipmentReport { carrier: Some("ups".into()), ..number("T-1") };
    let (moved, _) = report(&order, &parcels, 0, &other).unwrap();
    assert_eq!((moved.carrier.as_str(), moved.tracking_number.as_deref()), ("ups", Some("T-1")));

    // Movement and correction in one report are one version.
    let both = ShipmentReport { status: Some(ShipmentStatus::InTransit), ..number("T-9") };
    let (next, changes) = report(&order, &parcels, 0, &both).unwrap();
    assert_eq!((event_names(&changes), next.resource_version), (vec!["shipment.updated"], 2));

    let early =
        ShipmentReport { estimated_delivery_at: Some(Some(noon().plus_ms(-1))), ..ShipmentReport::default() };
    let refusal = report(&order, &parcels, 0, &early).unwrap_err();
    assert_eq!(errors(&refusal), ["/estimated_delivery_at inconsistent"]);

    for end in [ShipmentStatus::Delivered, ShipmentStatus::Returned, ShipmentStatus::Cancelled] {
        parcels[0].status = end;
        let refusal = report(&order, &parcels, 0, &number("T-9")).unwrap_err();
        assert_eq!(refusal.code, ErrorCode::InvalidStateTransition);
        assert!(report(&order, &parcels, 0, &number("T-0")).unwrap().1.is_empty());
    }
}

#[test]
fn an_exception_stands_while_the_parcel_is_held_up() {
    let (order, mut parcels) = shipped_order();
    let damaged = || Some(Failure { code: "damaged".into(), message: None });
    let held = ShipmentReport { exception: damaged(), ..says(ShipmentStatus::Exception) };
    let (next, _) = report(&order, &parcels, 0, &held).unwrap();
    assert_eq!(next.exception, damaged());
    parcels[0] = next;
    // The status again, without a word about why: no news.
    let again = report(&order, &parcels, 0, &says(ShipmentStatus::Exception)).unwrap();
    assert!(again.1.is_empty());
    let lost = Some(Failure { code: "lost".into(), message: None });
    let more = ShipmentReport { exception: lost.clone(), ..ShipmentReport::default() };
    assert_eq!(report(&order, &parcels, 0, &more).unwrap().0.exception, lost);
    for status in [ShipmentStatus::InTransit, ShipmentStatus::Delivered, ShipmentStatus::Returned] {
        let (next, _) = report(&order, &parcels, 0, &says(status)).unwrap();
        assert_eq!(next.exception, None, "{status}");
        let odd = ShipmentReport { exception: damaged(), ..says(status) };
        let refusal = report(&order, &parcels, 0, &odd).unwrap_err();
        assert_eq!(errors(&refusal), ["/exception inconsistent"]);
    }
}

#[test]
fn bodies() {
    let good = json!({"status": "exception", "carrier": "ups", "service_level": "express",
        "tracking_number": "T-1", "tracking_url": "https://ups.example/T-1", "estimated_delivery_at": noon(),
        "exception": {"code": "damaged", "message": "Wet."}, "occurred_at": noon()});
    let table = [
        (Drop("/status"), ""),
        (Set("/status", json!("lost")), "invalid_value"),
        (Set("/carrier", Value::Null), "required"),
        (Set("/carrier", json!("x".repeat(65))), "too_long"),
        (Set("/service_level", Value::Null), ""),
        (Set("/tracking_number", Value::Null), ""),
        (Set("/tracking_number", json!("x".repeat(101))), "too_long"),
        (Set("/tracking_url", json!("http://ups.example")), "invalid_url"),
        (Set("/exception", json!({"message": "Wet."})), "/exception/code required"),
        (Set("/occurred_at", json!(noon().plus_ms(300_000))), ""),
        (Set("/occurred_at", json!(noon().plus_ms(300_001))), "out_of_range"),
        (Set("/line_items", json!([])), "field_not_writable"),
        (Set("/order_number", json!("ORD-1")), "field_not_writable"),
        (Set("/colour", json!("red")), "unknown_field"),
    ];
    check(&good, |body| ShipmentReport::read(body, noon()), &table);
    for nothing in [json!({}), json!({"occurred_at": noon()})] {
        assert_eq!(errors(&ShipmentReport::read(&nothing, noon()).unwrap_err()), [" required"]);
    }
}
