//! Whether what the service wrote is what its schemas say, and so what the package's types promise.
//!
//! Stricter than the schemas themselves, which let further members pass: a record that has a member which no schema
//! knows is a schema that was not kept up.

use std::collections::BTreeMap;

use authority_schema::Schemas;
use jsonschema::Validator;
use serde_json::{Value, json};
use verify_core::EventType;

/// Checks events and records; made once, used for many.
pub struct Promise {
    schemas: Schemas,
    events: BTreeMap<&'static str, Validator>,
    copies: BTreeMap<&'static str, Validator>,
    records: BTreeMap<String, Validator>,
}

impl Default for Promise {
    fn default() -> Self {
        Self {
            schemas: Schemas::of_everything(),
            events: BTreeMap::new(),
            copies: BTreeMap::new(),
            records: BTreeMap::new(),
        }
    }
}

impl Promise {
    /// Fails unless the event is as its type promises.
    pub fn keeps_event(&mut self, event: &Value) {
        let name = event["type"].as_str().expect("an event has a type");
        let event_type = EventType::parse(name).expect("a type of the catalog");
        let schemas = &self.schemas;
        let make = || validator(schemas.document_of_event(event_type));
        assert_valid(self.events.entry(event_type.as_str()).or_insert_with(make), event);
    }

    /// Fails unless the event is as a partner's copy of its type promises.
    pub fn keeps_copy(&mut self, event: &Value) {
        let name = event["type"].as_str().expect("an event has a type");
        let event_type = EventType::parse(name).expect("a type of the catalog");
        let schemas = &self.schemas;
        let make = || validator(schemas.document_of_copy(event_type).expect("a type that partners get"));
        assert_valid(self.copies.entry(event_type.as_str()).or_insert_with(make), event);
    }

    /// Fails unless the record is as the definition `name` says.
    pub fn keeps_record(&mut self, name: &str, record: &Value) {
        let schemas = &self.schemas;
        let make = || validator(schemas.document_of(name));
        assert_valid(self.records.entry(name.to_owned()).or_insert_with(make), record);
    }
}

pub(crate) fn assert_valid(validator: &Validator, value: &Value) {
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?} in {value:#}");
}

fn validator(mut document: Value) -> Validator {
    nothing_further(&mut document["$defs"]);
    jsonschema::validator_for(&document).expect("a schema")
}

/// Lets no definition pass a member that it does not know. The envelope and its data are narrowed from outside, so they
/// may have further members.
pub(crate) fn nothing_further(definitions: &mut Value) {
    for (name, definition) in definitions.as_object_mut().expect("definitions") {
        let narrowed = definition.get("allOf").is_some() || ["Event", "EventData"].contains(&name.as_str());
        if definition.get("properties").is_some() && !narrowed {
            definition["additionalProperties"] = json!(false);
        }
    }
}
