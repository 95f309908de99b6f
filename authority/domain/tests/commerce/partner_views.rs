//! What a partner sees of an order, by name: nothing that the contract does not list (contract 2.14), and copies of the
//! events that 3.10 lists.

use std::collections::BTreeSet;

use authority_domain::bounds::EVENT_BYTES_MAX;
use authority_domain::event::NewEvent;
use authority_domain::event::change::{SharedOrderView, Sharing};
use authority_domain::event::partner_copy::{PartnerCopy, is_copied};
use authority_domain::order::ConfirmedBy;
use authority_domain::partner::order_view::SharedOrder;
use authority_domain::partner::share::{OrderShare, ShareTerms};
use authority_domain::parts::{Address, Customer, Metadata};
use authority_domain::shipment::{NewShipment, ShipmentLine};
use authority_domain::{Change, ConnectionId, EventId, Order, ShareId, Shipment, ShipmentId, transitions};
use proptest::prelude::*;
use serde_json::Value;
use verify_core::catalog::EventType;

use super::fixtures::{dice, merchant, new_shipment, noon, paid_order};

const ORDER: &str = "object order_number status payment_status fulfillment_status currency amounts line_items customer \
    billing_address shipping_address shipments placed_at confirmed_at fulfilled_at shipped_at delivered_at completed_at \
    cancelled_at resource_version livemode created_at updated_at";
const LINE: &str = "id sku name quantity unit_amount subtotal_amount discount_amount tax_amount total_amount \
    fulfilled_quantity shipped_quantity delivered_quantity";

fn share(order: &Order, terms: ShareTerms) -> OrderShare {
    OrderShare::new(
        ShareId::generate(noon(), &mut dice()),
        ConnectionId::generate(noon(), &mut dice()),
        order.order_number.clone(),
        (merchant("owner"), merchant("partner")),
        terms,
        false,
        noon(),
    )
}

/// Every member holds something, and what no partner may see says so.
fn full_order() -> Order {
    let address = |phone: &str| Address {
        name: Some("Ada".into()),
        company: None,
        line1: "1 Main St".into(),
        line2: None,
        city: None,
        region: None,
        postal_code: None,
        country: "GB".into(),
        phone: Some(phone.into()),
    };
    let mut order = paid_order();
    let secret = || Metadata::from([("key".to_owned(), "secret".to_owned())]);
    order.metadata = secret();
    order.line_items[0].metadata = secret();
    order.fulfillment_note = Some("secret".into());
    order.customer = Some(Customer {
        reference: Some("secret".into()),
        email: Some("reach@example.com".into()),
        name: Some("Ada".into()),
        phone: Some("reach-1".into()),
        locale: Some("secret".into()),
    });
    order.billing_address = Some(address("reach-2"));
    order.shipping_address = Some(address("reach-3"));
    order
}

fn parcel(order: &Order, tracking_url: Option<String>) -> Shipment {
    let line = ShipmentLine { line_item_id: order.line_items[1].id.clone(), quantity: 1 };
    let metadata = Metadata::from([("key".to_owned(), "secret".to_owned())]);
    let new = NewShipment { tracking_url, metadata, ..new_shipment(Some(vec![line])) };
    let id = ShipmentId::generate(noon(), &mut dice());
    transitions::shipment::create(order.clone(), &[], ConfirmedBy::Payments, id, new, noon()).unwrap().0
}

fn names(record: &Value) -> BTreeSet<&str> {
    record.as_object().unwrap().keys().map(String::as_str).collect()
}

proptest! {
    #[test]
    fn nothing_is_shown_that_is_not_listed(include_customer: bool, include_amounts: bool, parcels in 0usize..3) {
        let order = full_order();
        let shipments = vec![parcel(&order, None); parcels];
        let share = share(&order, ShareTerms { include_customer, include_amounts });
        let seen = serde_json::to_value(SharedOrder::of(&order, &shipments, &share)).unwrap();
        let text = seen.to_string();
        prop_assert!(!text.contains("secret"));
        prop_assert_eq!(text.contains("reach"), include_customer);
        prop_assert_eq!(text.contains("amount") && seen["amounts"]["total"] == order.amounts.total, include_amounts);
        prop_assert_eq!(text.contains("_amount"), include_amounts);
        let allowed = |list: &'static str| {
            list.split_whitespace().filter(|name| include_amounts || !name.contains("amount")).collect::<BTreeSet<_>>()
        };
        prop_assert_eq!(names(&seen), allowed(ORDER));
        for line in seen["line_items"].as_array().unwrap() {
            prop_assert_eq!(names(line), allowed(LINE));
        }
        for shown in seen["shipments"].as_array().unwrap() {
            prop_assert!(!names(shown).contains("metadata"));
        }
        prop_assert_eq!(seen["shipments"].as_array().unwrap().len(), parcels);
        let read: SharedOrder = serde_json::from_value(seen).unwrap();
        prop_assert_eq!(read, SharedOrder::of(&order, &shipments, &share));
    }
}

#[test]
fn the_types_that_partners_hear_of_are_the_contract_s() {
    let heard: Vec<&str> =
        EventType::ALL.into_iter().filter(|event| is_copied(*event)).map(EventType::as_str).collect();
    assert_eq!(
        heard.join(" "),
        "order.confirmed order.updated order.cancelled order.fulfilled order.shipped order.delivered order.shared \
         order.share_revoked shipment.created shipment.updated shipment.delivered"
    );
}

#[test]
fn a_copy_is_the_partner_s_own_event() {
    let order = full_order();
    let share = share(&order, ShareTerms::default());
    let sharing = Sharing { share: share.clone(), order: order.clone(), shown: SharedOrderView::Present };
    let shared = Change::share(EventType::OrderShared, sharing);
    let copy = PartnerCopy::of(&shared, &share, &[]).unwrap();
    let id = EventId::from_store("evt_01k3zqa7t0e9h8w8r1v0c2n5xk".into());
    let event = NewEvent::render_copy(copy, id.clone(), 3, noon()).unwrap();
    assert_eq!(event.resource_id, share.id.as_str());
    let told: Value = serde_json::from_str(&event.body).unwrap();
    assert_eq!(told["merchant"]["slug"], "owner");
    assert_eq!(told["recipient"]["merchant"]["slug"], "partner");
    assert_eq!(told["recipient"]["type"], "partner");
    assert_eq!(told["data"]["share"]["id"], share.id.as_str());
    assert_eq!(told["links"]["resource"], format!("/v1/merchant/partner-orders/{}", share.id));
    assert_eq!(told["resource_version"], order.resource_version);
    // The owner's: the whole order, the same recipient, the order's own link.
    let own = NewEvent::render(&shared, id, 9, noon(), false, &merchant("owner")).unwrap();
    let own: Value = serde_json::from_str(&own.body).unwrap();
    assert_eq!((&own["recipient"], &own["data"]["share"]), (&told["recipient"], &told["data"]["share"]));
    assert_eq!(own["data"]["object"], serde_json::to_value(&order).unwrap());
    assert_eq!(own["links"]["resource"], format!("/v1/merchant/orders/{}", order.order_number));
    // What is never told to partners, and what cannot be shown any more.
    let created = Change::order(EventType::OrderCreated, &order);
    assert!(PartnerCopy::of(&created, &share, &[]).is_none());
    let gone = Sharing { share: share.clone(), order, shown: SharedOrderView::Nothing };
    assert!(PartnerCopy::of(&Change::share(EventType::OrderShareRevoked, gone), &share, &[]).is_none());
}

/// A carrier's long addresses cannot make an order's changes impossible.
#[test]
fn a_copy_that_would_be_too_large_has_the_newest_parcels() {
    let order = full_order();
    let share = share(&order, ShareTerms::default());
    let long = format!("https://example.com/{}", "x".repeat(2_000));
    let mut shipments = vec![parcel(&order, Some(long)); 300];
    for (n, shipment) in shipments.iter_mut().enumerate() {
        shipment.carrier = format!("carrier-{n}");
    }
    let change = Change::order(EventType::OrderUpdated, &order);
    let copy = PartnerCopy::of(&change, &share, &shipments).unwrap();
    let id = EventId::from_store("evt_01k3zqa7t0e9h8w8r1v0c2n5xk".into());
    let event = NewEvent::render_copy(copy, id, 3, noon()).unwrap();
    assert!(event.body.len() <= EVENT_BYTES_MAX);
    let told: Value = serde_json::from_str(&event.body).unwrap();
    let kept = told["data"]["object"]["shipments"].as_array().unwrap();
    assert!(kept.len() >= 70, "{} are kept", kept.len());
    assert_eq!(kept.last().unwrap()["carrier"], "carrier-299");
}
