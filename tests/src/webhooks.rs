//! Whether a delivery is what the service says of it in its own description: the webhooks of `/openapi.json`.
//!
//! A receiver may be made from that document and nothing else. So each header that it promises has to be there and to
//! be as it says, and the body has to be what it says of the event's type. As in [`crate::schemas`], a record with a
//! member that nothing describes is a failure.

use std::collections::BTreeMap;

use http::Method;
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::authority::Authority;
use crate::http::Api;
use crate::receiver::Arrival;
use crate::schemas::{assert_valid, nothing_further};

/// The webhooks as a running service describes them.
pub struct Webhooks {
    document: Value,
    bodies: BTreeMap<String, Validator>,
}

impl Webhooks {
    /// Asks the service.
    pub async fn described_by(authority: &Authority) -> Self {
        let root = format!("http://{}", authority.merchant_address());
        let document = Api::at(&root, "").with_key(None).get("/openapi.json").await.expect(200);
        Self { document, bodies: BTreeMap::new() }
    }

    /// The types of events that have one.
    #[must_use]
    pub fn types(&self) -> Vec<&str> {
        self.document["webhooks"].as_object().unwrap().keys().map(String::as_str).collect()
    }

    /// Fails unless the delivery is as described.
    pub fn promised(&mut self, arrival: &Arrival) {
        let event: Value = serde_json::from_slice(&arrival.body).unwrap();
        let name = event["type"].as_str().unwrap();
        let webhook = &self.document["webhooks"][name]["post"];
        assert_eq!(arrival.method, Method::POST);
        for parameter in webhook["parameters"].as_array().expect(name) {
            let parameter = self.named(parameter);
            let name = parameter["name"].as_str().unwrap();
            // Some are for endpoints of another profile.
            if parameter["required"] == false && arrival.header(name).is_empty() {
                continue;
            }
            let header = arrival.header(name);
            let number = header.parse::<i64>().ok().filter(|_| parameter["schema"]["type"] == "integer");
            let value = number.map_or_else(|| json!(header), Value::from);
            assert_valid(&jsonschema::validator_for(&parameter["schema"]).unwrap(), &value);
        }
        let content = &webhook["requestBody"]["content"][arrival.header("content-type")];
        let make = || {
            let mut schema =
                json!({ "components": self.document["components"], "allOf": [content["schema"]] });
            nothing_further(&mut schema["components"]["schemas"]);
            jsonschema::validator_for(&schema).unwrap()
        };
        assert_valid(self.bodies.entry(name.to_owned()).or_insert_with(make), &event);
    }

    /// What a reference is to.
    fn named(&self, reference: &Value) -> &Value {
        let pointer = reference["$ref"].as_str().unwrap().trim_start_matches('#');
        self.document.pointer(pointer).unwrap()
    }
}
