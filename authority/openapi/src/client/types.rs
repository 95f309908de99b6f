//! The types that operations name: those of the package, and those that are written for the client.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use authority_schema::typescript::{Notation, listing};
use serde_json::Value;

use super::operations::Operation;
use super::{ANSWERS, BODIES, GENERATED, definition};

/// Every type, by where it is.
pub(super) struct Types {
    /// The names of the package's own records and their parts.
    package: BTreeSet<String>,
    /// What the service answers and no event carries.
    records: BTreeMap<String, Value>,
    /// What callers send.
    requests: BTreeMap<String, Value>,
}

impl Types {
    /// What `operations` reach.
    pub(super) fn of(document: &Value, operations: &[Operation], package: BTreeSet<String>) -> Result<Self> {
        let mut types = Self { package, records: BTreeMap::new(), requests: BTreeMap::new() };
        for operation in operations {
            if let Some(body) = operation.body() {
                types.requests.insert(body.to_owned(), definition(document, body)?.clone());
            }
        }
        let mut waiting: Vec<String> =
            operations.iter().flat_map(|operation| ANSWERS.references(&operation.answers)).collect();
        waiting.extend(types.requests.values().flat_map(|schema| ANSWERS.references(schema)));
        while let Some(name) = waiting.pop() {
            if name == "Event" || types.package.contains(&name) || types.records.contains_key(&name) {
                continue;
            }
            let definition = definition(document, &name)?.clone();
            waiting.extend(ANSWERS.references(&definition));
            types.records.insert(name, definition);
        }
        Ok(types)
    }

    /// `records.ts`.
    pub(super) fn records(&self) -> Result<String> {
        let opens = self.records.values().any(|definition| definition.get("enum").is_some());
        let extra = opens.then_some("Unlisted");
        self.file("What the service answers and no event carries", &self.records, ANSWERS, extra)
    }

    /// `requests.ts`.
    pub(super) fn requests(&self) -> Result<String> {
        self.file("The bodies of requests", &self.requests, BODIES, None)
    }

    /// The imports of a file that names `used`. `own` is the file's own name, which it does not import.
    pub(super) fn imports(&self, used: &BTreeSet<String>, own: &str) -> String {
        let import = |file: &str, has: &dyn Fn(&str) -> bool| {
            let names: Vec<&str> = used.iter().map(String::as_str).filter(|name| has(name)).collect();
            if names.is_empty() { String::new() } else { listing("import", &names, file) }
        };
        let mut text = import("../events.js", &|name| name == "WebhookEvent");
        text.push_str(&import("../records/index.js", &|name| self.package.contains(name)));
        if own != "records" {
            text.push_str(&import("./records.js", &|name| self.records.contains_key(name)));
        }
        if own != "requests" {
            text.push_str(&import("./requests.js", &|name| self.requests.contains_key(name)));
        }
        text
    }

    fn file(
        &self,
        story: &str,
        definitions: &BTreeMap<String, Value>,
        notation: Notation,
        extra: Option<&str>,
    ) -> Result<String> {
        let mut used: BTreeSet<String> = definitions
            .values()
            .flat_map(|schema| ANSWERS.references(schema))
            .map(|name| if name == "Event" { "WebhookEvent".to_owned() } else { name })
            .collect();
        let mut package = self.package.clone();
        if let Some(extra) = extra {
            used.insert(extra.to_owned());
            package.insert(extra.to_owned());
        }
        let own = if notation == ANSWERS { "records" } else { "requests" };
        let view = Self { package, records: self.records.clone(), requests: self.requests.clone() };
        let mut text = format!("// {story}, {GENERATED}.\n");
        let imports = view.imports(&used, own);
        if !imports.is_empty() {
            text.push('\n');
            text.push_str(&imports);
        }
        for (name, definition) in definitions {
            text.push('\n');
            text.push_str(&notation.declaration(name, definition)?);
        }
        Ok(text)
    }
}
