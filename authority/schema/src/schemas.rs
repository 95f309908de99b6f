//! The definitions of everything that is issued, as one JSON Schema document (draft 2020-12).
//!
//! The generator collects a definition per struct. Records are tagged (`object`), which serde writes and the derive
//! does not know: it calls their definitions after the tag, by which they are found here, given the member, and
//! renamed (`webhook_endpoint` is `WebhookEndpoint`). An event is the envelope, made narrower by [`events`].
//! Everything says what is written, not what is read: a nullable member is required, and an optional one is not
//! nullable.

use authority_domain::audit_log::AuditEntry;
use authority_domain::delivery::{Delivery, DeliveryWithAttempts};
use authority_domain::event::{Recipient, envelope_schema};
use authority_domain::integration_health::IntegrationHealth;
use authority_domain::partner::connection::SeenConnection;
use authority_domain::partner::order_view::{PartnerOrder, SharedShipment};
use authority_domain::partner::share::OrderShare;
use authority_domain::recovery::Recovery;
use authority_domain::recovery::undelivered::UndeliveredEvent;
use authority_domain::schema::RulesByName;
use authority_domain::sync::checkpoint::SeenCheckpoint;
use authority_domain::sync::order_feed::StoredChange;
use authority_domain::{Endpoint, Merchant};
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use verify_core::EventType;

use crate::catalog::Subject;
use crate::events;

/// Where a reference to a definition begins.
pub(crate) const REFERENCE: &str = "#/$defs/";

/// Every definition, by its name.
#[derive(Clone, Debug)]
pub struct Schemas {
    definitions: Map<String, Value>,
}

impl Schemas {
    /// Derives them.
    #[must_use]
    pub fn of_everything() -> Self {
        Self::and(|_| {}, &[])
    }

    /// Derives them and what `define` adds, whose tags are `tags`, by the names of the definitions.
    #[must_use]
    pub fn and(define: fn(&mut SchemaGenerator), tags: &[(&str, &str)]) -> Self {
        let settings = SchemaSettings::draft2020_12().for_serialize().with_transform(RulesByName);
        let mut generator = settings.into_generator();
        envelope_schema(&mut generator);
        for subject in Subject::ALL {
            subject.schema(&mut generator);
        }
        generator.subschema_for::<OrderShare>();
        generator.subschema_for::<Recipient>();
        generator.subschema_for::<SharedShipment>();
        records_without_events(&mut generator);
        define(&mut generator);
        let mut definitions = Map::new();
        for (name, mut definition) in generator.take_definitions(true) {
            rename_references(&mut definition);
            never_null_where_optional(&mut definition);
            if name.starts_with(|first: char| first.is_ascii_lowercase()) {
                tag(&mut definition, &name);
            }
            definitions.insert(public_name(&name), definition);
        }
        // The derive does not see the tag of the first, which has the members of a delivery; the others are named after
        // whom they are for, and are records of those types all the same.
        let own =
            [("DeliveryWithAttempts", "delivery"), ("SharedOrder", "order"), ("SharedShipment", "shipment")];
        for (name, object) in tags.iter().chain(&own) {
            if let Some(definition) = definitions.get_mut(*name) {
                tag(definition, object);
            }
        }
        Self { definitions }
    }

    /// The definitions by name.
    #[must_use]
    pub fn definitions(&self) -> &Map<String, Value> {
        &self.definitions
    }

    /// A document by which a value can be checked that the definition `name` describes.
    #[must_use]
    pub fn document_of(&self, name: &str) -> Value {
        self.document(reference(name))
    }

    /// A document by which an event of this type can be checked, as the merchant gets it whose record it tells of.
    #[must_use]
    pub fn document_of_event(&self, event_type: EventType) -> Value {
        self.document(events::own(event_type))
    }

    /// The same of a partner's copy; `None` where partners get none.
    #[must_use]
    pub fn document_of_copy(&self, event_type: EventType) -> Option<Value> {
        events::copy(event_type).map(|schema| self.document(schema))
    }

    fn document(&self, mut schema: Value) -> Value {
        if let Some(members) = schema.as_object_mut() {
            members.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
            members.insert("$defs".to_owned(), json!(self.definitions));
        }
        schema
    }
}

/// What merchants and operators read and no event tells of.
fn records_without_events(generator: &mut SchemaGenerator) {
    generator.subschema_for::<Merchant>();
    generator.subschema_for::<Endpoint>();
    generator.subschema_for::<Delivery>();
    generator.subschema_for::<DeliveryWithAttempts>();
    generator.subschema_for::<UndeliveredEvent>();
    generator.subschema_for::<Recovery>();
    generator.subschema_for::<IntegrationHealth>();
    generator.subschema_for::<StoredChange>();
    generator.subschema_for::<SeenCheckpoint>();
    generator.subschema_for::<AuditEntry>();
    generator.subschema_for::<SeenConnection>();
    generator.subschema_for::<PartnerOrder>();
}

/// Puts the member that names the record's type first.
fn tag(definition: &mut Value, object: &str) {
    if let Some(properties) = definition.get_mut("properties").and_then(Value::as_object_mut) {
        let member = json!({ "type": "string", "const": object, "description": "The type of the record." });
        properties.insert("object".to_owned(), member);
    }
    if let Some(required) = definition.get_mut("required").and_then(Value::as_array_mut) {
        required.insert(0, json!("object"));
    }
}

pub(crate) fn reference(name: &str) -> Value {
    json!({ "$ref": format!("{REFERENCE}{name}") })
}

/// `webhook_endpoint` becomes `WebhookEndpoint`; a name in that form stays as it is.
fn public_name(name: &str) -> String {
    name.split('_')
        .map(|word| {
            let mut letters = word.chars();
            letters
                .next()
                .map_or_else(String::new, |first| first.to_uppercase().collect::<String>() + letters.as_str())
        })
        .collect()
}

/// What may be left out is never null (contract 1); of an `Option` the derive lets both pass.
fn never_null_where_optional(definition: &mut Value) {
    let required = definition.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let members = definition.get_mut("properties").and_then(Value::as_object_mut);
    for (name, member) in members.into_iter().flatten() {
        if let Some(member) = member.as_object_mut().filter(|_| !required.contains(&json!(name))) {
            never_null(member);
        }
    }
}

fn never_null(member: &mut Map<String, Value>) {
    for keyword in ["type", "anyOf"] {
        let Some(kinds) = member.get_mut(keyword).and_then(Value::as_array_mut) else { continue };
        kinds.retain(|kind| *kind != "null" && *kind != json!({ "type": "null" }));
        let [only] = kinds.as_slice() else { continue };
        match only.clone() {
            Value::Object(only) => {
                member.remove(keyword);
                member.extend(only);
            }
            only => {
                member.insert(keyword.to_owned(), only);
            }
        }
    }
}

fn rename_references(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            for (keyword, value) in members {
                match value {
                    Value::String(target) if keyword == "$ref" => {
                        if let Some(name) = target.strip_prefix(REFERENCE) {
                            *target = format!("{REFERENCE}{}", public_name(name));
                        }
                    }
                    _ => rename_references(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(rename_references),
        _ => {}
    }
}
