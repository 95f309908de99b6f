//! The schemas that operations refer to by name: records, results, bodies, pages, problems.

use std::collections::BTreeSet;

use authority::app::views;
use authority_domain::body_shapes::{Shape, shapes};
use authority_domain::{ErrorCode, MemberCode};
use authority_schema::catalog::Subject;
use authority_schema::typescript::references;
use authority_schema::{Schemas, events};
use serde_json::{Map, Value, json};
use verify_core::EventType;

use crate::meanings;

/// Where a reference to a definition begins.
pub(crate) const REFERENCE: &str = "#/components/schemas/";

/// Every definition, by its name.
#[derive(Clone, Debug)]
pub struct Definitions(Map<String, Value>);

impl Definitions {
    /// Puts them together.
    #[must_use]
    pub fn of_everything() -> Self {
        let schemas = Schemas::and(views::define, &views::TAGS);
        let mut definitions = Self(schemas.definitions().clone());
        definitions.with_and_without("ApiKey", "key", "IssuedApiKey");
        definitions.with_and_without("OperatorDelivery", "attempts", "OperatorDeliveryWithAttempts");
        definitions.endpoints_of_the_platform();
        definitions.subjects_of_events();
        definitions.events();
        for shape in shapes() {
            definitions.add_shape(shape);
        }
        definitions.add("Problem", problem());
        for definition in definitions.0.values_mut() {
            refer_to_components(definition);
        }
        definitions
    }

    /// A definition.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Those that `roots` refer to, and so on.
    #[must_use]
    pub fn reached_from(&self, roots: &Value) -> Map<String, Value> {
        let mut reached = BTreeSet::new();
        let mut waiting = references(roots, REFERENCE);
        while let Some(name) = waiting.pop() {
            if let Some(definition) = self.0.get(&name)
                && reached.insert(name)
            {
                waiting.extend(references(definition, REFERENCE));
            }
        }
        let known = |name: String| Some((name.clone(), self.0.get(&name)?.clone()));
        reached.into_iter().filter_map(known).collect()
    }

    fn add(&mut self, name: &str, definition: Value) {
        self.0.insert(name.to_owned(), definition);
    }

    /// `member` of the definition `name` is there in `other` and not in the rest.
    fn with_and_without(&mut self, name: &str, member: &str, other: &str) {
        let Some(definition) = self.0.get_mut(name) else { return };
        let mut with = definition.clone();
        if let Some(properties) = definition.get_mut("properties").and_then(Value::as_object_mut) {
            properties.remove(member);
        }
        require(&mut with, member);
        self.add(other, with);
    }

    /// An endpoint as the operator sees it, and the platform's own, which is nobody's and has no mode.
    fn endpoints_of_the_platform(&mut self) {
        let livemode = json!({ "type": ["boolean", "null"],
            "description": "Whether it is for live data; null for the platform's own endpoint." });
        let mut seen = self.0.get("WebhookEndpoint").cloned().unwrap_or_default();
        seen["properties"]["livemode"] = livemode;
        seen["properties"]["merchant_id"] = json!({ "type": ["string", "null"],
            "pattern": "^mer_[0-7][0-9a-hjkmnp-tv-z]{25}$",
            "description": "Whose it is; null for the platform's own endpoint." });
        seen["properties"]["deleted_at"] = json!({ "type": ["string", "null"], "format": "date-time",
            "description": "When it was deleted." });
        for member in ["merchant_id", "deleted_at"] {
            require(&mut seen, member);
        }
        self.add("OperatorEndpoint", seen);
        for (name, of) in [("Sink", "WebhookEndpoint"), ("SinkWithSecret", "WebhookEndpointWithSecret")] {
            let mut sink = self.0.get(of).cloned().unwrap_or_default();
            sink["properties"]["livemode"] =
                json!({ "type": "null", "description": "The platform's endpoint has no mode." });
            sink["description"] = json!("The platform's own webhook endpoint.");
            self.add(name, sink);
        }
    }

    /// The record that an event carries is one of these.
    fn subjects_of_events(&mut self) {
        let any: Vec<Value> = Subject::ALL
            .iter()
            .map(|subject| subject.definition())
            .chain(["SharedShipment"])
            .map(|definition| json!({ "$ref": format!("{REFERENCE}{definition}") }))
            .collect();
        let object = self.0.get_mut("EventData").and_then(|data| data.pointer_mut("/properties/object"));
        if let Some(object) = object {
            let description = object.get("description").cloned().unwrap_or_default();
            *object = json!({ "anyOf": any, "description": description });
        }
    }

    /// An event of each type. Of some types partners get copies, which look different.
    fn events(&mut self) {
        for event_type in EventType::ALL {
            let mut schema = events::own(event_type);
            if let Some(mut copy) = events::copy(event_type) {
                let description = schema["description"].take();
                schema["description"] = json!("What the merchant gets whose order it is.");
                copy["description"] = json!("What a partner gets with whom the order is shared.");
                schema = json!({ "description": description, "anyOf": [schema, copy] });
            }
            self.add(&events::name(event_type), schema);
        }
    }

    /// A body; what its members mean is what those of the record mean.
    fn add_shape(&mut self, shape: Shape) {
        let Shape { name, record, mut schema } = shape;
        schema["description"] = json!(meanings::of_body(name));
        self.describe(&mut schema, &self.0.get(record).cloned().unwrap_or_default());
        finish_forms(&mut schema);
        self.add(name, schema);
    }

    fn describe(&self, schema: &mut Value, like: &Value) {
        let like = self.resolved(like);
        let members = schema.get_mut("properties").and_then(Value::as_object_mut);
        for (name, member) in members.into_iter().flatten() {
            let same = like.pointer(&format!("/properties/{name}")).cloned().unwrap_or_default();
            let told = meanings::of_member(name).or_else(|| same.get("description").and_then(Value::as_str));
            if let Some(told) = told
                && member.get("description").is_none()
            {
                member["description"] = json!(told);
            }
            self.describe(member, &same);
            let items = self.resolved(&same).get("items").cloned().unwrap_or_default();
            if let Some(item) = member.get_mut("items") {
                self.describe(item, &items);
            }
            for either in member.get_mut("anyOf").and_then(Value::as_array_mut).into_iter().flatten() {
                self.describe(either, &same);
            }
        }
    }

    /// What a schema refers to, also where it may be null instead.
    fn resolved<'a>(&'a self, schema: &'a Value) -> &'a Value {
        let own = schema.get("$ref");
        let either = schema.get("anyOf").and_then(Value::as_array).into_iter().flatten();
        let target = own.into_iter().chain(either.filter_map(|one| one.get("$ref"))).find_map(Value::as_str);
        target.and_then(|target| self.0.get(target.rsplit('/').next()?)).unwrap_or(schema)
    }
}

/// What the readers note about a form and JSON Schema says otherwise.
fn finish_forms(schema: &mut Value) {
    if let Some(what) = schema.as_object_mut().and_then(|keywords| keywords.remove("x-must-be")) {
        let pattern = match what.as_str().unwrap_or_default() {
            "an order number" => "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$",
            "a checkout id" => "^chk_[0-7][0-9a-hjkmnp-tv-z]{25}$",
            "a subscription id" => "^sub_[0-7][0-9a-hjkmnp-tv-z]{25}$",
            "a line item id" => "^li_[0-7][0-9a-hjkmnp-tv-z]{25}$",
            "a lower-case letter or digit, then up to 63 of a-z, 0-9, '.', '_' and '-'" => {
                "^[a-z0-9][a-z0-9._-]{0,63}$"
            }
            "a supported version" => "^2026-09-01$",
            "1 to 63 of a-z, 0-9 and inner hyphens" => "^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$",
            _ => "",
        };
        if !pattern.is_empty() {
            schema["pattern"] = json!(pattern);
        }
    }
    match schema {
        Value::Object(keywords) => keywords.values_mut().for_each(finish_forms),
        Value::Array(items) => items.iter_mut().for_each(finish_forms),
        _ => {}
    }
}

/// A refusal (contract 5.1).
fn problem() -> Value {
    // One code may stand under two statuses.
    let mut known = BTreeSet::new();
    let codes: Vec<&str> =
        ErrorCode::ALL.iter().map(|code| code.as_str()).filter(|code| known.insert(*code)).collect();
    let member_codes: Vec<&str> = MemberCode::ALL.iter().map(|code| code.as_str()).collect();
    json!({
        "type": "object",
        "description": "Why a request was refused (RFC 9457). Branch on `code` and on nothing else. Further members give \
                        the facts that go with a code.",
        "required": ["type", "title", "status", "code", "detail", "request_id"],
        "properties": {
            "type": { "type": "string", "pattern": "^(urn:service:error:|https?://.+/)[a-z_]+$", "description": "A URN that ends with the code, or, where the platform documents the codes, an address that ends with it." },
            "title": { "type": "string", "description": "A fixed text per code." },
            "status": { "type": "integer", "minimum": 400, "maximum": 599, "description": "The HTTP status." },
            "code": { "type": "string", "enum": codes, "description": "What to branch on." },
            "detail": { "type": "string", "description": "For people; its wording is not stable." },
            "request_id": { "type": "string", "pattern": "^req_[0-7][0-9a-hjkmnp-tv-z]{25}$", "description": "As in `Service-Request-Id`." },
            "param": { "type": "string", "description": "The query parameter or header that is wrong." },
            "errors": {
                "type": "array",
                "maxItems": 50,
                "description": "The members of the body that are wrong.",
                "items": {
                    "type": "object",
                    "required": ["pointer", "code", "detail"],
                    "properties": {
                        "pointer": { "type": "string", "description": "Where, as RFC 6901 writes it; empty for the body itself." },
                        "code": { "type": "string", "enum": member_codes, "description": "What is wrong." },
                        "detail": { "type": "string", "description": "For people." },
                    },
                },
            },
        },
    })
}

fn require(definition: &mut Value, member: &str) {
    if let Some(required) = definition.get_mut("required").and_then(Value::as_array_mut) {
        required.push(json!(member));
    }
}

fn refer_to_components(schema: &mut Value) {
    match schema {
        Value::Object(keywords) => {
            for (keyword, value) in keywords {
                match value {
                    Value::String(target) if keyword == "$ref" => {
                        *target = target.replace("#/$defs/", REFERENCE);
                    }
                    _ => refer_to_components(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(refer_to_components),
        _ => {}
    }
}
