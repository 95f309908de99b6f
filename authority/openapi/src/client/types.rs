//! The types that operations name: those of the package, and those that are written for the client.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use authority_schema::typescript::{comment, union};
use serde_json::{Map, Value};

use super::expression::{self, Writer, literals, members};
use super::operations::Operation;
use super::{GENERATED, definition, import};

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
            operations.iter().flat_map(|operation| expression::references(operation.answers())).collect();
        waiting.extend(types.requests.values().flat_map(expression::references));
        while let Some(name) = waiting.pop() {
            if name == "Event" || types.package.contains(&name) || types.records.contains_key(&name) {
                continue;
            }
            let definition = definition(document, &name)?.clone();
            waiting.extend(expression::references(&definition));
            types.records.insert(name, definition);
        }
        Ok(types)
    }

    /// `records.ts`.
    pub(super) fn records(&self) -> Result<String> {
        let opens = self.records.values().any(|definition| definition.get("enum").is_some());
        let extra = opens.then_some("Unlisted");
        self.file("What the service answers and no event carries", &self.records, Writer::Service, extra)
    }

    /// `requests.ts`.
    pub(super) fn requests(&self) -> Result<String> {
        self.file("The bodies of requests", &self.requests, Writer::Caller, None)
    }

    /// The imports of a file that names `used`. `own` is the file's own name, which it does not import.
    pub(super) fn imports(&self, used: &BTreeSet<String>, own: &str) -> String {
        let here = |names: &dyn Fn(&str) -> bool| -> BTreeSet<&str> {
            used.iter().map(String::as_str).filter(|name| names(name)).collect()
        };
        let mut text = import(&here(&|name| name == "WebhookEvent"), "../events.js");
        text.push_str(&import(&here(&|name| self.package.contains(name)), "../records/index.js"));
        if own != "records" {
            text.push_str(&import(&here(&|name| self.records.contains_key(name)), "./records.js"));
        }
        if own != "requests" {
            text.push_str(&import(&here(&|name| self.requests.contains_key(name)), "./requests.js"));
        }
        text
    }

    fn file(
        &self,
        story: &str,
        definitions: &BTreeMap<String, Value>,
        writer: Writer,
        extra: Option<&str>,
    ) -> Result<String> {
        let mut used: BTreeSet<String> = definitions
            .values()
            .flat_map(expression::references)
            .map(|name| if name == "Event" { "WebhookEvent".to_owned() } else { name })
            .collect();
        let mut package = self.package.clone();
        if let Some(extra) = extra {
            used.insert(extra.to_owned());
            package.insert(extra.to_owned());
        }
        let own = if writer == Writer::Service { "records" } else { "requests" };
        let view = Self { package, records: self.records.clone(), requests: self.requests.clone() };
        let mut text = format!("// {story}, {GENERATED}.\n");
        let imports = view.imports(&used, own);
        if !imports.is_empty() {
            text.push('\n');
            text.push_str(&imports);
        }
        for (name, definition) in definitions {
            text.push('\n');
            text.push_str(&declaration(name, definition, writer).with_context(|| name.clone())?);
        }
        Ok(text)
    }
}

/// An interface for an object, a union for a set of names.
fn declaration(name: &str, definition: &Value, writer: Writer) -> Result<String> {
    let description = definition.get("description").and_then(Value::as_str).context("a description")?;
    let body = match definition.get("enum") {
        Some(values) => {
            let mut names: Vec<String> = literals(values).split(" | ").map(str::to_owned).collect();
            names.push("Unlisted".to_owned());
            union(name, &names)
        }
        None => {
            let members = members(definition.as_object().unwrap_or(&Map::new()), writer, 2)?;
            format!("export interface {name} {{\n{members}}}\n")
        }
    };
    Ok(format!("{}\n{body}", comment(description, 0)))
}
