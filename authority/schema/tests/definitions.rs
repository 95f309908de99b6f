//! The schemas say what the authority writes, and refuse what it does not. That real events of every type pass is
//! checked where they are made, in the acceptance tests.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use authority_domain::event::NewEvent;
use authority_domain::event::change::{Record, WebhookTest};
use authority_domain::tenant::MerchantContext;
use authority_domain::{Change, EndpointId, EventId, MerchantId, Timestamp};
use authority_schema::{Schemas, catalog};
use serde_json::{Value, json};
use verify_core::EventType;

fn tested() -> Value {
    let record = Record::WebhookTest(WebhookTest {
        endpoint_id: EndpointId::from_store("we_01k3zqf3m2c8d4s6t9v1x7y0za".into()),
        message: None,
        requested_by: "key_01k3zqb1h5j7k9m2n4p6q8r0st".into(),
    });
    let merchant = MerchantContext {
        id: MerchantId::from_store("mer_01k3zq9x5te3s8j6f2m4a7d0bg".into()),
        slug: "acme".into(),
    };
    let change = Change { event_type: EventType::WebhookTest, record };
    let id = EventId::from_store("evt_01k3zqa7t0e9h8w8r1v0c2n5xk".into());
    let noon = Timestamp::from_ms(1_788_264_000_000);
    let event = NewEvent::render(&change, id, 17, noon, false, &merchant).unwrap();
    serde_json::from_str(&event.body).unwrap()
}

#[test]
fn an_event_as_it_is_written_passes_and_any_other_is_refused() {
    let document = Schemas::of_everything().document_of_event(EventType::WebhookTest);
    let validator = jsonschema::validator_for(&document).unwrap();
    let event = tested();
    assert_eq!(validator.iter_errors(&event).map(|error| error.to_string()).collect::<Vec<_>>(), [""; 0]);
    for (pointer, value) in [
        ("/id", json!("evt_1")),
        ("/type", json!("order.created")),
        ("/api_version", Value::Null),
        ("/created_at", json!("2026-09-01T12:00:00Z")),
        ("/sequence", json!(0)),
        ("/sequence", json!(1.5)),
        ("/livemode", json!("false")),
        ("/merchant/slug", json!("-acme")),
        ("/data/object/object", json!("webhook_endpoint")),
        ("/data/object/endpoint_id", json!("mer_01k3zq9x5te3s8j6f2m4a7d0bg")),
        ("/data/object/message", json!("x".repeat(201))),
        ("/links/resource", json!(1)),
    ] {
        let mut altered = event.clone();
        *altered.pointer_mut(pointer).unwrap() = value;
        assert!(!validator.is_valid(&altered), "{pointer}: {altered}");
    }
    for (parent, member) in [("", "links"), ("", "data"), ("/data", "object"), ("/data/object", "message")] {
        let mut altered = event.clone();
        altered.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(member);
        assert!(!validator.is_valid(&altered), "{parent}/{member}: {altered}");
    }
}

#[test]
fn every_type_has_a_document_that_is_json_schema() {
    let schemas = Schemas::of_everything();
    for event_type in EventType::ALL {
        let document = schemas.document_of_event(event_type);
        assert!(jsonschema::meta::is_valid(&document), "{event_type}");
        let definition = catalog::subject(event_type).definition();
        assert!(schemas.definitions().contains_key(definition), "{event_type}: {definition}");
        jsonschema::validator_for(&document).unwrap();
        if let Some(document) = schemas.document_of_copy(event_type) {
            assert!(jsonschema::meta::is_valid(&document), "{event_type}");
            jsonschema::validator_for(&document).unwrap();
        }
    }
}

/// The names of the catalog and of the records say the same (contract 3.10).
#[test]
fn every_type_tells_of_the_record_that_its_name_says() {
    let schemas = Schemas::of_everything();
    for event_type in EventType::ALL {
        let definition = &schemas.definitions()[catalog::subject(event_type).definition()];
        let expected = match event_type.as_str() {
            "webhook.test" => "webhook_test",
            _ => event_type.category(),
        };
        assert_eq!(definition["properties"]["object"]["const"], expected, "{event_type}");
        let versions = definition["properties"].get("resource_version").is_some();
        assert_eq!(catalog::subject(event_type).has_versions(), versions, "{event_type}");
    }
}

/// The tag that serde writes is found by the definitions' names; a record that lost it would be one of the parts.
#[test]
fn the_records_say_what_they_are() {
    let schemas = Schemas::of_everything();
    let constant =
        |definition: &Value| definition["properties"]["object"]["const"].as_str().map(str::to_owned);
    let records: Vec<(&str, String)> = schemas
        .definitions()
        .iter()
        .filter_map(|(name, definition)| Some((name.as_str(), constant(definition)?)))
        .collect();
    let expected = [
        ("AuditEntry", "audit_entry"),
        ("Checkout", "checkout"),
        ("Checkpoint", "checkpoint"),
        ("Delivery", "delivery"),
        ("DeliveryAttempt", "delivery_attempt"),
        ("DeliveryWithAttempts", "delivery"),
        ("EndpointRecovery", "endpoint_recovery"),
        ("IntegrationHealth", "integration_health"),
        ("Merchant", "merchant"),
        ("Order", "order"),
        ("OrderChange", "order_change"),
        ("OrderShare", "order_share"),
        ("PartnerConnection", "partner_connection"),
        ("PartnerOrder", "partner_order"),
        ("Payment", "payment"),
        ("Refund", "refund"),
        ("SharedOrder", "order"),
        ("SharedShipment", "shipment"),
        ("Shipment", "shipment"),
        ("Subscription", "subscription"),
        ("UndeliveredEvent", "undelivered_event"),
        ("WebhookEndpoint", "webhook_endpoint"),
        ("WebhookTest", "webhook_test"),
    ];
    assert_eq!(records, expected.map(|(name, object)| (name, object.to_owned())));
}

#[test]
fn everything_is_described() {
    for (name, definition) in Schemas::of_everything().definitions() {
        assert!(definition["description"].is_string(), "{name}");
        for (member, schema) in definition["properties"].as_object().into_iter().flatten() {
            assert!(schema["description"].is_string(), "{name}.{member}");
        }
        if let Some(required) = definition["required"].as_array() {
            let properties = definition["properties"].as_object().unwrap();
            assert!(
                required.iter().all(|member| properties.contains_key(member.as_str().unwrap())),
                "{name}"
            );
        }
    }
}
