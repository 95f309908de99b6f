//! Shipping against contract 3.7, 3.9 rows 10 and 11, and 4.7.

use authority_domain::order::ConfirmedBy;
use authority_domain::shipment::{NewShipment, SHIPMENTS_MAX, ShipmentLine, ShipmentStatus};
use authority_domain::transitions::shipment::create;
use authority_domain::{
    Change, ErrorCode, FulfillmentStatus, LineItemId, Order, OrderStatus, Result, Shipment, ShipmentId,
};

use crate::fixtures::{dice, event_names, last_order, new_shipment, noon, paid_order};
use crate::refused_bodies::errors;

/// The lines of [`paid_order`] that ship, and how much of each.
const SHIRT: usize = 0;
const STICKER: usize = 1;
const GUIDE: usize = 2;

fn lines(order: &Order, quantities: &[(usize, i64)]) -> Option<Vec<ShipmentLine>> {
    let line = |(index, quantity): &(usize, i64)| ShipmentLine {
        line_item_id: order.line_items[*index].id.clone(),
        quantity: *quantity,
    };
    Some(quantities.iter().map(line).collect())
}

fn ship(order: &Order, existing: &[Shipment], new: NewShipment) -> Result<(Shipment, Vec<Change>)> {
    let id = ShipmentId::generate(noon(), &mut dice());
    create(order.clone(), existing, ConfirmedBy::Payments, id, new, noon().plus_ms(1))
}

/// (fulfilled, shipped, delivered) of each line.
fn quantities(order: &Order) -> Vec<(i64, i64, i64)> {
    let of = |line: &authority_domain::parts::OrderLine| {
        (line.fulfilled_quantity, line.shipped_quantity, line.delivered_quantity)
    };
    order.line_items.iter().map(of).collect()
}

#[test]
fn everything_in_one_parcel() {
    let mut order = paid_order();
    // The digital line is ready, so that the parcel is all that is missing.
    order.line_items[GUIDE].fulfilled_quantity = 1;
    let (made, changes) = ship(&order, &[], new_shipment(None)).unwrap();
    assert_eq!(event_names(&changes), ["shipment.created", "order.shipped"]);
    assert_eq!(Some(made.line_items), lines(&order, &[(SHIRT, 2), (STICKER, 3)]));
    let shipped = last_order(&changes).unwrap();
    assert_eq!(quantities(&shipped), [(2, 2, 0), (3, 3, 0), (1, 0, 0)]);
    assert_eq!(shipped.fulfillment_status, FulfillmentStatus::Shipped);
    assert_eq!(shipped.resource_version, order.resource_version + 1);
    let at = Some(noon().plus_ms(1));
    assert_eq!((shipped.fulfilled_at, shipped.shipped_at, shipped.delivered_at), (at, at, None));
    assert_eq!(shipped.status, OrderStatus::Confirmed);
}

#[test]
fn a_digital_line_that_is_not_ready_keeps_the_order_partially_shipped() {
    let order = paid_order();
    let (_, changes) = ship(&order, &[], new_shipment(None)).unwrap();
    assert_eq!(event_names(&changes), ["shipment.created", "order.updated"]);
    let shipped = last_order(&changes).unwrap();
    assert_eq!(shipped.fulfillment_status, FulfillmentStatus::PartiallyShipped);
    assert_eq!((shipped.fulfilled_at, shipped.shipped_at), (None, None));
}

#[test]
fn part_by_part_until_nothing_is_left() {
    let mut order = paid_order();
    order.line_items[GUIDE].fulfilled_quantity = 1;
    let (first, changes) = ship(&order, &[], new_shipment(lines(&order, &[(STICKER, 1)]))).unwrap();
    assert_eq!(event_names(&changes), ["shipment.created", "order.updated"]);
    let order = last_order(&changes).unwrap();
    assert_eq!(quantities(&order), [(0, 0, 0), (1, 1, 0), (1, 0, 0)]);

    let refusal =
        ship(&order, std::slice::from_ref(&first), new_shipment(lines(&order, &[(STICKER, 3)]))).unwrap_err();
    assert_eq!(refusal.code, ErrorCode::QuantityExceeded);
    let line = order.line_items[STICKER].id.as_str();
    assert_eq!(refusal.extra, [("line_item_id", line.into()), ("shippable", 2.into())]);

    let (second, changes) = ship(&order, std::slice::from_ref(&first), new_shipment(None)).unwrap();
    assert_eq!(event_names(&changes), ["shipment.created", "order.shipped"]);
    assert_eq!(Some(second.line_items.clone()), lines(&order, &[(SHIRT, 2), (STICKER, 2)]));
    let order = last_order(&changes).unwrap();
    assert_eq!(quantities(&order), [(2, 2, 0), (3, 3, 0), (1, 0, 0)]);

    for asked in [None, lines(&order, &[(SHIRT, 1)])] {
        let refusal = ship(&order, &[first.clone(), second.clone()], new_shipment(asked)).unwrap_err();
        assert_eq!(refusal.code, ErrorCode::NothingToShip);
    }
}

#[test]
fn a_parcel_for_what_was_already_marked_shipped_changes_no_quantity() {
    let mut order = paid_order();
    for line in &mut order.line_items {
        line.fulfilled_quantity = line.quantity;
        line.shipped_quantity = if line.requires_shipping { line.quantity } else { 0 };
    }
    let (made, changes) = ship(&order, &[], new_shipment(lines(&order, &[(SHIRT, 2)]))).unwrap();
    assert_eq!(event_names(&changes), ["shipment.created"]);
    assert_eq!(made.line_items.len(), 1);
}

#[test]
fn what_was_in_a_cancelled_parcel_can_be_shipped_again() {
    let order = paid_order();
    let (mut cancelled, _) = ship(&order, &[], new_shipment(None)).unwrap();
    cancelled.status = ShipmentStatus::Cancelled;
    let (again, _) = ship(&order, &[cancelled], new_shipment(None)).unwrap();
    assert_eq!(Some(again.line_items), lines(&order, &[(SHIRT, 2), (STICKER, 3)]));
}

#[test]
fn one_parcel_is_recorded_once() {
    let order = paid_order();
    let tracked = |carrier: &str, number: Option<&str>| NewShipment {
        carrier: carrier.into(),
        tracking_number: number.map(str::to_owned),
        ..new_shipment(lines(&order, &[(STICKER, 1)]))
    };
    let (first, _) = ship(&order, &[], tracked("dhl", Some("T-1"))).unwrap();
    let existing = [first.clone()];
    let refusal = ship(&order, &existing, tracked("dhl", Some("T-1"))).unwrap_err();
    assert_eq!(refusal.code, ErrorCode::ShipmentExists);
    assert_eq!(refusal.extra, [("shipment_id", first.id.as_str().into())]);
    let stored_before = [Shipment { carrier: "DHL ".into(), ..first.clone() }];
    let refusal = ship(&order, &stored_before, tracked("dhl", Some("T-1"))).unwrap_err();
    assert_eq!(refusal.code, ErrorCode::ShipmentExists, "names are compared without case and outer blanks");
    for other in [tracked("ups", Some("T-1")), tracked("dhl", Some("T-2")), tracked("dhl", None)] {
        assert!(ship(&order, &existing, other).is_ok());
    }
    let (untracked, _) = ship(&order, &[], tracked("dhl", None)).unwrap();
    assert!(ship(&order, &[untracked], tracked("dhl", None)).is_ok(), "no number is no identity");
}

#[test]
fn an_order_has_at_most_200_parcels_whatever_became_of_them() {
    let order = paid_order();
    let (parcel, _) = ship(&order, &[], new_shipment(lines(&order, &[(STICKER, 1)]))).unwrap();
    let mut parcels = vec![Shipment { status: ShipmentStatus::Cancelled, ..parcel }; SHIPMENTS_MAX];
    let refusal = ship(&order, &parcels, new_shipment(None)).unwrap_err();
    assert_eq!((refusal.code, errors(&refusal)), (ErrorCode::ValidationFailed, vec![" too_long".to_owned()]));
    // What is wrong with the parcel itself is said first.
    let too_many = new_shipment(lines(&order, &[(STICKER, 4)]));
    assert_eq!(ship(&order, &parcels, too_many).unwrap_err().code, ErrorCode::QuantityExceeded);
    parcels.pop();
    assert_eq!(parcels.len(), 199);
    assert!(ship(&order, &parcels, new_shipment(None)).is_ok());
}

#[test]
fn lines_that_cannot_be_meant_are_refused_by_pointer() {
    let order = paid_order();
    let unknown = ShipmentLine { line_item_id: LineItemId::from_store("li_other".into()), quantity: 1 };
    let table = [
        (vec![unknown], "/line_items/0/line_item_id unknown_reference"),
        (
            lines(&order, &[(SHIRT, 1), (STICKER, 1), (SHIRT, 1)]).unwrap(),
            "/line_items/2/line_item_id duplicate",
        ),
        (lines(&order, &[(GUIDE, 1)]).unwrap(), "/line_items/0/line_item_id inconsistent"),
    ];
    for (asked, error) in table {
        let refusal = ship(&order, &[], new_shipment(Some(asked))).unwrap_err();
        assert_eq!(refusal.code, ErrorCode::ValidationFailed);
        assert_eq!(errors(&refusal), [error]);
    }
}

#[test]
fn only_a_confirmed_order_ships() {
    for status in OrderStatus::ALL {
        let mut order = paid_order();
        order.status = *status;
        let shipped = ship(&order, &[], new_shipment(None));
        match status {
            OrderStatus::Confirmed | OrderStatus::Completed => assert!(shipped.is_ok(), "{status}"),
            OrderStatus::Pending | OrderStatus::Cancelled => {
                let refusal = shipped.unwrap_err();
                assert_eq!(refusal.code, ErrorCode::OrderNotFulfillable);
                assert_eq!(refusal.extra, [("current_status", status.as_str().into())]);
            }
        }
    }
}

#[test]
fn what_no_money_will_come_for_ships_when_the_operator_confirmed_it() {
    use authority_domain::order::payment_status::PaymentStatus;
    for payment_status in PaymentStatus::ALL {
        let order = Order { payment_status: *payment_status, ..paid_order() };
        let given_up = matches!(payment_status, PaymentStatus::Failed | PaymentStatus::Voided);
        let ship = |confirmed_by| {
            let id = ShipmentId::generate(noon(), &mut dice());
            create(order.clone(), &[], confirmed_by, id, new_shipment(None), noon())
        };
        assert!(ship(ConfirmedBy::Operator).is_ok(), "{payment_status}");
        match ship(ConfirmedBy::Payments) {
            Ok(_) => assert!(!given_up, "{payment_status}"),
            Err(refusal) => {
                assert_eq!((refusal.code, given_up), (ErrorCode::OrderNotFulfillable, true));
                let facts = [("current_status", "confirmed"), ("payment_status", payment_status.as_str())];
                assert_eq!(refusal.extra, facts.map(|(name, status)| (name, status.into())));
            }
        }
    }
}

#[test]
fn a_parcel_is_shipped_now_unless_somebody_says_otherwise() {
    let order = paid_order();
    let (made, _) = ship(&order, &[], new_shipment(None)).unwrap();
    assert_eq!((made.shipped_at, made.created_at), (noon().plus_ms(1), noon().plus_ms(1)));
    let earlier = noon().plus_ms(-3_600_000);
    let (made, _) =
        ship(&order, &[], NewShipment { shipped_at: Some(earlier), ..new_shipment(None) }).unwrap();
    assert_eq!((made.shipped_at, made.created_at), (earlier, noon().plus_ms(1)));
}
