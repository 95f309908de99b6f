//! Every event type has its webhook, and what that says is true of the events that a running service sent: each
//! example is an event of its own type and of no other.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeSet;

use authority_openapi::documents;
use jsonschema::Validator;
use serde_json::{Value, json};
use verify_core::EventType;

/// The headers of a traced delivery, and those that only endpoints with the profile `standard-webhooks` get.
const OPTIONAL_HEADERS: [&str; 4] = ["traceparent", "webhook-id", "webhook-timestamp", "webhook-signature"];

fn merchant() -> Value {
    documents().unwrap().remove(0).content
}

fn resolved<'d>(document: &'d Value, reference: &Value) -> &'d Value {
    document.pointer(reference["$ref"].as_str().unwrap().trim_start_matches('#')).unwrap()
}

fn validator(document: &Value, webhook: &Value) -> Validator {
    let mut schema = webhook["requestBody"]["content"]["application/json"]["schema"].clone();
    schema["components"] = document["components"].clone();
    jsonschema::validator_for(&schema).unwrap()
}

#[test]
fn every_event_type_has_its_webhook_and_nothing_else_has_one() {
    let document = merchant();
    let described: BTreeSet<&str> =
        document["webhooks"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(described, EventType::ALL.iter().map(|event| event.as_str()).collect());
    let mut ids = BTreeSet::new();
    for (name, webhook) in document["webhooks"].as_object().unwrap() {
        assert_eq!(webhook.as_object().unwrap().keys().collect::<Vec<_>>(), ["post"], "{name}");
        let webhook = &webhook["post"];
        assert!(ids.insert(webhook["operationId"].as_str().unwrap().to_owned()), "{name}");
        for text in ["summary", "description"] {
            assert!(webhook[text].as_str().unwrap().ends_with('.'), "{name}: {text}");
        }
        let headers: Vec<&Value> = webhook["parameters"].as_array().unwrap().iter().collect();
        let headers: Vec<&Value> = headers.iter().map(|header| resolved(&document, header)).collect();
        assert!(headers.iter().all(|header| header["in"] == "header"), "{name}");
        let (always, sometimes): (Vec<&Value>, Vec<&Value>) =
            headers.into_iter().partition(|header| header["required"] == true);
        let sometimes: Vec<&str> = sometimes.iter().map(|header| header["name"].as_str().unwrap()).collect();
        assert_eq!((always.len(), sometimes), (8, OPTIONAL_HEADERS.to_vec()), "{name}");
        let answers: Vec<&String> = webhook["responses"].as_object().unwrap().keys().collect();
        let expected = ["2XX", "408", "409", "410", "425", "429", "503", "5XX", "default"];
        assert_eq!(answers, expected, "{name}");
    }
    assert_eq!(documents().unwrap().remove(1).content.get("webhooks"), None);
}

#[test]
fn an_example_is_an_event_of_its_own_type_and_of_no_other() {
    let document = merchant();
    let webhooks: Vec<(&String, &Value)> = document["webhooks"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, webhook)| (name, &webhook["post"]))
        .collect();
    let validators: Vec<Validator> =
        webhooks.iter().map(|(_, webhook)| validator(&document, webhook)).collect();
    for (name, webhook) in &webhooks {
        let examples = webhook["requestBody"]["content"]["application/json"]["examples"].as_object().unwrap();
        let partners = authority_schema::catalog::seen_by_partner(EventType::parse(name).unwrap()).is_some();
        let readers: &[&str] = if partners { &["owner", "partner"] } else { &["owner"] };
        assert_eq!(examples.keys().collect::<Vec<_>>(), readers, "{name}");
        for example in examples.values() {
            let takers: Vec<&str> = webhooks
                .iter()
                .zip(&validators)
                .filter(|(_, validator)| validator.is_valid(&example["value"]))
                .map(|((taker, _), _)| taker.as_str())
                .collect();
            assert_eq!(takers, [name.as_str()], "{example}");
        }
    }
}

#[test]
fn an_event_that_is_not_as_described_is_refused() {
    let document = merchant();
    let webhook = &document["webhooks"]["order.confirmed"]["post"];
    let validator = validator(&document, webhook);
    let examples = &webhook["requestBody"]["content"]["application/json"]["examples"];
    let (own, copy) = (&examples["owner"]["value"], &examples["partner"]["value"]);
    let mut with_further = own.clone();
    with_further["data"]["object"]["loyalty_points"] = json!(3);
    assert!(validator.is_valid(&with_further), "later versions may say more");
    // A copy has a recipient, and what the owner gets has none.
    let mut altered = own.clone();
    altered["recipient"] = copy["recipient"].clone();
    assert!(validator.is_valid(copy) && validator.is_valid(own));
    for member in ["links", "resource_version"] {
        let mut without = own.clone();
        without.as_object_mut().unwrap().remove(member);
        assert!(!validator.is_valid(&without), "{member}");
        without[member] = Value::Null;
        assert!(!validator.is_valid(&without), "{member}");
    }
    altered["data"]["object"]["amounts"] = json!(null);
    assert!(!validator.is_valid(&altered));
}
