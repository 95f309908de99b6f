//! `operations.ts`: what programs see of the operations.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use authority_schema::typescript::{capitalised, comment};
use serde_json::Value;

use super::operations::Operation;
use super::types::Types;
use super::{ANSWERS, BODIES, GENERATED};

/// The interface of each group, and the filter of each list.
pub(super) fn write(operations: &[Operation], types: &Types) -> Result<String> {
    let mut used = BTreeSet::new();
    let mut groups: BTreeMap<&[String], Vec<&Operation>> = BTreeMap::new();
    for operation in operations {
        groups.entry(&operation.groups).or_default().push(operation);
        used.extend(operation.types()?);
    }
    let mut text = format!("// The operations of the merchant API and the sandbox, {GENERATED}.\n\n");
    text.push_str(&types.imports(&used, "operations"));
    text.push_str(
        "import type { ConditionalWriteOptions, RequestOptions, WriteOptions } from \"./options.js\";\n",
    );
    text.push_str("import type { Pages } from \"./pages.js\";\n");
    for operation in operations.iter().filter(|operation| operation.item().is_some()) {
        text.push_str(&operation.filter()?);
    }
    for (path, operations) in &groups {
        text.push_str(&format!(
            "\n/** `client.{}`. */\nexport interface {} {{\n",
            path.join("."),
            interface(path)
        ));
        for operation in operations {
            text.push_str(&operation.signature()?);
        }
        let inner = groups
            .keys()
            .filter(|other| other.len() == 2 && path.len() == 1 && other.first() == path.first());
        for other in inner {
            text.push_str(&member(other));
        }
        text.push_str("}\n");
    }
    text.push_str("\n/** Every operation, by its group. */\nexport interface Operations {\n");
    for path in groups.keys().filter(|path| path.len() == 1) {
        text.push_str(&member(path));
    }
    text.push_str("}\n");
    Ok(text)
}

/// A group as a member of what holds it.
fn member(path: &[String]) -> String {
    let name = path.last().map(String::as_str).unwrap_or_default();
    format!("  readonly {name}: {};\n", interface(path))
}

/// `["sandbox", "orders"]` is `SandboxOrdersOperations`.
fn interface(path: &[String]) -> String {
    path.iter().map(|group| capitalised(group)).collect::<String>() + "Operations"
}

impl Operation {
    fn filter_name(&self) -> String {
        format!(
            "{}{}Filter",
            self.groups.iter().map(|group| capitalised(group)).collect::<String>(),
            capitalised(&self.verb)
        )
    }

    /// What a list can be asked for.
    fn filter(&self) -> Result<String> {
        let mut text = format!(
            "\n/** What `{}` is asked for. */\nexport interface {} {{\n",
            self.name(),
            self.filter_name()
        );
        for parameter in self.parameters("query") {
            let name = parameter["name"].as_str().context("a name")?;
            let described = parameter["description"].as_str().context("a description")?;
            let schema = &parameter["schema"];
            let kind = match &schema["items"] {
                Value::Null => BODIES.of(schema, 2)?,
                items => {
                    let item = BODIES.of(items, 2)?;
                    format!("{item} | readonly ({item})[]")
                }
            };
            text.push_str(&format!("  {}\n  {name}?: {kind};\n", comment(described, 2)));
        }
        let (limit, cursor) = (
            "Items per page, 1 to 100.",
            "Where to begin: `next_cursor` or `resume_cursor` of an earlier page.",
        );
        text.push_str(&format!("  {}\n  limit?: number | undefined;\n", comment(limit, 2)));
        text.push_str(&format!("  {}\n  cursor?: string | null | undefined;\n}}\n", comment(cursor, 2)));
        Ok(text)
    }

    /// The method of the group's interface, below its description and an example.
    fn signature(&self) -> Result<String> {
        let mut takes: Vec<String> = self
            .parameters("path")
            .map(|parameter| format!("{}: string", parameter["name"].as_str().unwrap_or_default()))
            .collect();
        if let Some(body) = self.body() {
            let mark = if self.written["requestBody"]["required"] == true { "" } else { "?" };
            takes.push(format!("body{mark}: {body}"));
        }
        let gives = match self.item() {
            Some(item) => {
                takes.push(format!("filter?: {}", self.filter_name()));
                format!("Pages<{}>", ANSWERS.type_name(&item["$ref"])?)
            }
            None => {
                let answers = self.answers.as_array().context("answers")?;
                let names = answers
                    .iter()
                    .map(|answer| ANSWERS.type_name(&answer["$ref"]))
                    .collect::<Result<Vec<_>>>()?;
                format!("Promise<{}>", names.join(" | "))
            }
        };
        takes.push(format!("options?: {}", self.options()));
        let documentation = comment(&self.documentation()?, 2);
        let line = format!("  {}({}): {gives};\n", self.verb, takes.join(", "));
        let wrapped = format!("  {}(\n    {},\n  ): {gives};\n", self.verb, takes.join(",\n    "));
        let signature = if line.len() <= authority_schema::typescript::LINE_LENGTH { line } else { wrapped };
        Ok(format!("  {documentation}\n{signature}"))
    }

    fn options(&self) -> &'static str {
        if self.method == "GET" {
            "RequestOptions"
        } else if self.takes_if_match() {
            "ConditionalWriteOptions"
        } else {
            "WriteOptions"
        }
    }

    fn documentation(&self) -> Result<String> {
        let summary = self.written["summary"].as_str().context("a summary")?;
        let mut text = summary.to_owned();
        if let Some(description) = self.written["description"].as_str().filter(|text| !text.is_empty()) {
            text.push_str(&format!("\n\n{description}"));
        }
        let scopes = self.written["x-any-of-scopes"].as_array().map_or(&[][..], Vec::as_slice);
        let scopes: Vec<String> =
            scopes.iter().filter_map(Value::as_str).map(|scope| format!("`{scope}`")).collect();
        if !scopes.is_empty() {
            text.push_str(&format!("\n\nScope: {}.", scopes.join(" or ")));
        }
        text.push_str(&format!("\n\n@example\n```ts\n{}\n```", self.example()?));
        Ok(text)
    }

    /// A call with the document's own example.
    fn example(&self) -> Result<String> {
        let mut given: Vec<String> = self.placeholders().iter().map(|id| format!("\"{id}\"")).collect();
        if self.body().is_some() {
            let example = &self.written["requestBody"]["content"]["application/json"]["example"];
            if !example.is_null() {
                given.push(serde_json::to_string_pretty(example)?);
            }
        }
        let call = format!("client.{}({})", self.name(), given.join(", "));
        if self.item().is_some() {
            return Ok(format!("for await (const item of {call}) console.log(item.object);").replace(
                "item.object",
                if self.groups == ["events"] { "item.type" } else { "item.object" },
            ));
        }
        Ok(format!("await {call};"))
    }
}
