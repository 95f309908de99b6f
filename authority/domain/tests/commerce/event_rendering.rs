//! Events as bytes: contract 2.2, 2.3, 2.5, 2.7, 2.10, 3.10 and 9, and the receivers' own verifier.

use authority_domain::bounds::EVENT_BYTES_MAX;
use authority_domain::event::NewEvent;
use authority_domain::event::change::{Record, WebhookTest};
use authority_domain::order::ConfirmedBy;
use authority_domain::tenant::MerchantContext;
use authority_domain::{
    Change, ConfirmOn, EndpointId, ErrorCode, EventId, MerchantId, PaymentStatus, Result, ShipmentId,
    transitions,
};
use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::json;
use verify_core::sign::signature_header;
use verify_core::{EventType, Headers, Secret, Tolerance, Verifier};

use crate::fixtures::{
    checkout_body, checkout_of, completed, created_payment, dice, last_order, new_payment, new_shipment,
    noon, paid_order,
};

const EVENT_ID: &str = "evt_01k3zqa7t0e9h8w8r1v0c2n5xk";

fn merchant() -> MerchantContext {
    MerchantContext {
        id: MerchantId::from_store("mer_01k3zq9x5te3s8j6f2m4a7d0bg".into()),
        slug: "acme".into(),
    }
}

fn render(change: &Change) -> Result<NewEvent> {
    let id = EventId::from_store(EVENT_ID.into());
    NewEvent::render(change, id, 17, noon().plus_ms(120), false, &merchant())
}

fn webhook_test() -> Change {
    let endpoint_id = EndpointId::from_store("we_01k3zqf3m2c8d4s6t9v1x7y0za".into());
    let test = WebhookTest {
        endpoint_id,
        message: Some("Grüße, 世界 \"1\"\n".into()),
        requested_by: "key_01k3zqb1h5j7k9m2n4p6q8r0st".into(),
    };
    Change { event_type: EventType::WebhookTest, record: Record::WebhookTest(test) }
}

/// One change of every kind of record that has one.
fn changes() -> Vec<Change> {
    let (checkout, payment) = created_payment();
    let mut changes = vec![Change::checkout(EventType::CheckoutCreated, &checkout)];
    changes.extend(completed(&checkout, &payment, PaymentStatus::Succeeded, ConfirmOn::Paid, noon()));
    let new = new_shipment(None);
    let id = ShipmentId::generate(noon(), &mut dice());
    changes.extend(
        transitions::shipment::create(paid_order(), &[], ConfirmedBy::Payments, id, new, noon()).unwrap().1,
    );
    changes.extend(crate::refunds::requested().changes);
    changes.push(webhook_test());
    changes
}

#[test]
fn the_golden_event() {
    let event = render(&webhook_test()).unwrap();
    let expected = concat!(
        r#"{"id":"evt_01k3zqa7t0e9h8w8r1v0c2n5xk","type":"webhook.test","api_version":"2026-09-01","#,
        r#""created_at":"2026-09-01T12:00:00.120Z","sequence":17,"livemode":false,"#,
        r#""merchant":{"id":"mer_01k3zq9x5te3s8j6f2m4a7d0bg","slug":"acme"},"#,
        r#""data":{"object":{"object":"webhook_test","endpoint_id":"we_01k3zqf3m2c8d4s6t9v1x7y0za","#,
        r#""message":"Grüße, 世界 \"1\"\n","requested_by":"key_01k3zqb1h5j7k9m2n4p6q8r0st"}},"#,
        r#""links":{"resource":"/v1/merchant/webhook-endpoints/we_01k3zqf3m2c8d4s6t9v1x7y0za"}}"#,
    );
    assert_eq!(event.body, expected);
    assert_eq!(event.resource_id, "we_01k3zqf3m2c8d4s6t9v1x7y0za");
    assert_eq!((event.sequence, event.created_at), (17, noon().plus_ms(120)));
}

#[test]
fn the_golden_payment_event() {
    let checkout = checkout_of(&checkout_body());
    let mut new = new_payment(&checkout);
    new.id = authority_domain::id::PaymentId::from_store("pay_01k3zqc4e6g8j0m2p4r6t8v0wx".into());
    let checkout_id = authority_domain::id::CheckoutId::from_store("chk_01k3zqd5f7h9k1n3q5s7t9v1wy".into());
    new.target = authority_domain::payment::PaymentTarget::Checkout(checkout_id);
    new.metadata.insert("b".into(), "2".into());
    new.metadata.insert("a".into(), "1".into());
    let payment = authority_domain::payment::Payment::create(new, false, noon());
    let event = render(&Change::payment(EventType::PaymentCreated, &payment)).unwrap();
    let expected = concat!(
        r#"{"id":"evt_01k3zqa7t0e9h8w8r1v0c2n5xk","type":"payment.created","api_version":"2026-09-01","#,
        r#""created_at":"2026-09-01T12:00:00.120Z","sequence":17,"resource_version":1,"livemode":false,"#,
        r#""merchant":{"id":"mer_01k3zq9x5te3s8j6f2m4a7d0bg","slug":"acme"},"#,
        r#""data":{"object":{"object":"payment","id":"pay_01k3zqc4e6g8j0m2p4r6t8v0wx","status":"created","#,
        r#""order_number":null,"checkout_id":"chk_01k3zqd5f7h9k1n3q5s7t9v1wy","subscription_id":null,"#,
        r#""currency":"USD","amount":6200,"amount_authorized":0,"amount_captured":0,"amount_refunded":0,"#,
        r#""amount_refund_pending":0,"late":false,"capture_method":"automatic","#,
        r#""method":{"type":"card","brand":"visa","last4":"4242"},"#,
        r#""processor":{"name":"acme-pay","reference":"ch_1"},"failure":null,"authorized_at":null,"#,
        r#""captured_at":null,"failed_at":null,"cancelled_at":null,"metadata":{"a":"1","b":"2"},"#,
        r#""resource_version":1,"livemode":false,"created_at":"2026-09-01T12:00:00.000Z","#,
        r#""updated_at":"2026-09-01T12:00:00.000Z"}},"#,
        r#""links":{"resource":"/v1/merchant/payments/pay_01k3zqc4e6g8j0m2p4r6t8v0wx"}}"#,
    );
    assert_eq!(event.body, expected);
}

/// The member names of an object in their order, one that stands there twice as well.
fn names(object: &str) -> Vec<String> {
    struct InOrder;
    impl<'de> Visitor<'de> for InOrder {
        type Value = Vec<String>;
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<String>, A::Error> {
            let mut names = Vec::new();
            while let Some((name, IgnoredAny)) = map.next_entry()? {
                names.push(name);
            }
            Ok(names)
        }
    }
    serde_json::Deserializer::from_str(object).deserialize_map(InOrder).unwrap()
}

#[test]
fn every_record_has_the_members_of_its_table_in_that_order() {
    const CHECKOUT: &str = "object id status mode currency amounts line_items customer billing_address \
        shipping_address order_number payment_id payment_attempts last_payment_error success_url cancel_url \
        expires_at completed_at expired_at cancelled_at metadata resource_version livemode created_at updated_at";
    const PAYMENT: &str = "object id status order_number checkout_id subscription_id currency amount \
        amount_authorized amount_captured amount_refunded amount_refund_pending late capture_method method \
        processor failure authorized_at captured_at failed_at cancelled_at metadata resource_version livemode created_at \
        updated_at";
    const ORDER: &str = "object order_number status payment_status fulfillment_status currency amounts \
        payment_summary line_items customer billing_address shipping_address external_references checkout_id \
        subscription_id payment_ids source fulfillment_note cancel_reason placed_at confirmed_at fulfilled_at \
        shipped_at delivered_at completed_at cancelled_at metadata resource_version livemode created_at updated_at";
    const SHIPMENT: &str = "object id order_number status carrier service_level tracking_number tracking_url \
        line_items shipped_at estimated_delivery_at delivered_at exception metadata resource_version livemode \
        created_at updated_at";
    const REFUND: &str = "object id status order_number payment_id amount currency reason note line_items \
        requested_by processor_reference failure processing_at completed_at failed_at metadata resource_version \
        livemode created_at updated_at";
    const SUBSCRIPTION: &str = "object id status customer currency amount items interval interval_count \
        current_period_start current_period_end trial_end cancel_at_period_end cancelled_at cancel_reason \
        latest_order_number metadata resource_version livemode created_at updated_at";
    for change in changes() {
        let expected = match &change.record {
            Record::Checkout(_) => CHECKOUT,
            Record::Payment(_) => PAYMENT,
            Record::Order(_) | Record::Share(_) => ORDER,
            Record::Shipment(_) => SHIPMENT,
            Record::Refund(_) => REFUND,
            Record::Subscription(_) => SUBSCRIPTION,
            Record::WebhookTest(_) => "object endpoint_id message requested_by",
        };
        let record = serde_json::to_string(&change.record).unwrap();
        assert_eq!(names(&record).join(" "), expected);

        let mut members = vec!["id", "type", "api_version", "created_at", "sequence"];
        members.extend(change.record.resource_version().map(|_| "resource_version"));
        members.extend(["livemode", "merchant", "data"]);
        members.extend(change.record.link().map(|_| "links"));
        assert_eq!(names(&render(&change).unwrap().body), members);
    }
}

#[test]
fn every_event_verifies_once_signed_and_not_otherwise() {
    let texts = ["whsec_new", "whsec_old"];
    let secrets = texts.map(|text| Secret::parse(text).unwrap());
    for change in changes() {
        let event = render(&change).unwrap();
        let body = event.body.as_bytes();
        let timestamp = noon().as_unix_seconds().to_string();
        let signature = signature_header(&secrets, &timestamp, body);
        let headers = Headers {
            timestamp: Some(timestamp.as_bytes()),
            signature: Some(signature.as_bytes()),
            event_id: Some(EVENT_ID.as_bytes()),
        };
        for text in texts {
            let verifier = Verifier::new(&[text], Tolerance::default()).unwrap();
            let envelope = verifier.verify(Some(body), &headers, noon().as_unix_seconds()).unwrap();
            assert_eq!(envelope.event_type, change.event_type.as_str());
            assert_eq!(envelope.sequence, Some(17));
            let version = change.record.resource_version().map(|version| u64::try_from(version).unwrap());
            assert_eq!(envelope.resource_version, version);
            assert_eq!((&*envelope.merchant_slug, envelope.livemode), ("acme", Some(false)));
            let altered = event.body.replacen("acme", "acne", 1);
            assert!(verifier.verify(Some(altered.as_bytes()), &headers, noon().as_unix_seconds()).is_err());
        }
    }
}

#[test]
fn links_lead_to_the_record_and_a_checkout_has_none() {
    let links: Vec<Option<String>> = changes().iter().map(|change| change.record.link()).collect();
    let id = |change: &Change| {
        let record = serde_json::to_value(&change.record).unwrap();
        let id = ["id", "order_number", "endpoint_id"].iter().find_map(|name| record[*name].as_str());
        id.unwrap().to_owned()
    };
    let ids: Vec<String> = changes().iter().map(id).collect();
    let path = |collection: &str, index: usize| Some(format!("/v1/merchant/{collection}/{}", ids[index]));
    assert_eq!(
        links,
        [
            None,
            None,
            path("orders", 2),
            path("payments", 3),
            path("orders", 4),
            path("shipments", 5),
            path("orders", 6),
            path("refunds", 7),
            path("orders", 8),
            path("webhook-endpoints", 9),
        ]
    );
    assert_eq!(ids[2], "ORD-100001");
}

#[test]
fn an_event_of_exactly_the_limit_is_made_and_one_byte_more_is_refused() {
    let with_note_of = |bytes: usize| {
        let mut test = webhook_test();
        let Record::WebhookTest(record) = &mut test.record else { panic!("made as one") };
        record.message = Some("x".repeat(bytes));
        test
    };
    let frame = render(&with_note_of(0)).unwrap().body.len();
    let largest = render(&with_note_of(EVENT_BYTES_MAX - frame)).unwrap();
    assert_eq!(largest.body.len(), 262_144);
    let refusal = render(&with_note_of(EVENT_BYTES_MAX - frame + 1)).unwrap_err();
    assert_eq!(refusal.code, ErrorCode::PayloadTooLarge);
}

/// An order that is taken in can be paid: its money's reports are not refused for its size.
#[test]
fn the_largest_order_leaves_room_for_its_payments() {
    let made = paid_order();
    let sized = |event: EventType, bytes: usize| {
        let mut order = made.clone();
        order.metadata.insert("padding".into(), String::new());
        let frame = render(&Change::order(event, &order)).unwrap().body.len();
        order.metadata.insert("padding".into(), "x".repeat(bytes - frame));
        render(&Change::order(event, &order))
    };
    let largest = 216 * 1024;
    assert_eq!(sized(EventType::OrderCreated, largest).unwrap().body.len(), largest);
    assert_eq!(sized(EventType::OrderCreated, largest + 1).unwrap_err().code, ErrorCode::PayloadTooLarge);
    assert_eq!(sized(EventType::OrderConfirmed, EVENT_BYTES_MAX).unwrap().body.len(), EVENT_BYTES_MAX);
}

/// A checkout that is taken can be paid and shipped to its end: none of its events is too large to be sent.
#[test]
fn the_largest_checkout_leaves_room_for_what_becomes_of_it() {
    let line =
        json!({"name": "x".repeat(255), "sku": "y".repeat(255), "quantity": 100_000, "unit_amount": 99_999});
    let mut checkout = checkout_of(&json!({"currency": "USD", "line_items": vec![line; 100]}));
    let mut created = |padding: usize| {
        checkout.metadata.insert("padding".into(), "x".repeat(padding));
        (checkout.clone(), Change::checkout(EventType::CheckoutCreated, &checkout))
    };
    let frame = render(&created(0).1).unwrap().body.len();
    let largest = 192 * 1024 - frame;
    assert_eq!(render(&created(largest + 1).1).unwrap_err().code, ErrorCode::PayloadTooLarge);
    let (checkout, opened) = created(largest);
    assert_eq!(render(&opened).unwrap().body.len(), 192 * 1024);

    let started = transitions::payment::start(&checkout, false, new_payment(&checkout), noon()).unwrap();
    let Record::Payment(payment) = &started.record else { panic!("a payment") };
    let sold = completed(&checkout, payment, PaymentStatus::Succeeded, ConfirmOn::Paid, noon());
    let order = last_order(&sold).unwrap();
    let new = new_shipment(None);
    let id = ShipmentId::generate(noon(), &mut dice());
    let (_, shipped) =
        transitions::shipment::create(order, &[], ConfirmedBy::Payments, id, new, noon()).unwrap();
    for change in sold.iter().chain(&shipped) {
        render(change).unwrap();
    }
}
