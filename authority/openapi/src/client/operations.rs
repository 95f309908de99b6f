//! The operations: what they are called, how they are asked for, what they take and give.
//!
//! A name is the document's: the operation `refundsRequest` with the tag `refunds` is `refunds.request`, and
//! `sandboxOrdersIngest` is `sandbox.orders.ingest`.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use authority_schema::typescript::comment;
use serde_json::Value;

use super::GENERATED;
use super::expression::{self, Writer, type_name};
use super::types::Types;
use crate::samples::placeholder;

/// One operation of the document.
pub(crate) struct Operation {
    /// The groups that it is in, from the outside in: one, or two where the sandbox has several of a kind.
    groups: Vec<String>,
    verb: String,
    method: String,
    path: String,
    written: Value,
    /// The schemas of its successful answers.
    answers: Value,
}

/// Every operation below `/v1/`, in the order of the document.
pub(super) fn of(document: &Value) -> Result<Vec<Operation>> {
    let mut operations = Vec::new();
    for (path, methods) in document["paths"].as_object().context("paths")? {
        for (method, written) in methods.as_object().context("methods")? {
            if path.starts_with("/v1/") {
                let operation = Operation::new(path, method, written);
                operations.push(operation.with_context(|| format!("{method} {path}"))?);
            }
        }
    }
    Ok(operations)
}

/// `operation-table.ts`: what the client makes its requests of.
pub(super) fn table(operations: &[Operation]) -> String {
    let mut text = format!("// How each operation is asked for, {GENERATED}.\n\n");
    text.push_str(
        "/** Method and path; `list` where it has pages, `body` and `if-match` where it takes them. */\n",
    );
    text.push_str("export const OPERATIONS: { readonly [name: string]: string } = {\n");
    for operation in operations {
        let (name, method, path) = (operation.name(), &operation.method, &operation.path);
        let mut how = format!("{method} {path}");
        for (trait_name, holds) in [
            (" list", operation.item().is_some()),
            (" body", operation.body().is_some()),
            (" if-match", operation.takes_if_match()),
        ] {
            how.push_str(if holds { trait_name } else { "" });
        }
        text.push_str(&format!("  \"{name}\": \"{how}\",\n"));
    }
    text.push_str("};\n");
    text
}

/// `operations.ts`: what programs see of them.
pub(super) fn interfaces(operations: &[Operation], types: &Types) -> Result<String> {
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
    /// The operation that the document has as `written`.
    pub(crate) fn new(path: &str, method: &str, written: &Value) -> Result<Self> {
        let id = written["operationId"].as_str().context("an operationId")?;
        let tag = camel_case(written["tags"][0].as_str().context("a tag")?);
        let rest =
            id.strip_prefix(&tag).with_context(|| format!("{id} does not begin with its tag {tag}"))?;
        let last = rest.rfind(char::is_uppercase).with_context(|| format!("{id} has no verb"))?;
        let (noun, verb) = rest.split_at(last);
        let mut groups = vec![tag];
        groups.extend((!noun.is_empty() && groups == ["sandbox"]).then(|| lower_first(noun)));
        let verb = if groups.len() == 1 { lower_first(rest) } else { lower_first(verb) };
        let answers = written["responses"]
            .as_object()
            .context("responses")?
            .iter()
            .filter(|(status, _)| status.starts_with('2'))
            .map(|(_, response)| response["content"]["application/json"]["schema"].clone())
            .collect();
        Ok(Self {
            groups,
            verb,
            method: method.to_ascii_uppercase(),
            path: path.to_owned(),
            written: written.clone(),
            answers: Value::Array(answers),
        })
    }

    /// `refunds.request`.
    pub(crate) fn name(&self) -> String {
        format!("{}.{}", self.groups.join("."), self.verb)
    }

    /// The schemas of its successful answers.
    pub(super) fn answers(&self) -> &Value {
        &self.answers
    }

    /// The name of the definition of its body.
    pub(super) fn body(&self) -> Option<&str> {
        let schema = &self.written["requestBody"]["content"]["application/json"]["schema"];
        let name = schema["$ref"].as_str()?.rsplit('/').next();
        // An object that can have no members is left out.
        name.filter(|name| *name != "NoMembers")
    }

    /// Whether its answers are pages.
    pub(crate) fn is_list(&self) -> bool {
        self.item().is_some()
    }

    /// Something that each of its path parameters may be.
    pub(crate) fn placeholders(&self) -> Vec<String> {
        self.parameters("path").map(placeholder).collect()
    }

    /// The schema of a list's items.
    fn item(&self) -> Option<&Value> {
        Some(&self.answers[0]["properties"]["data"]["items"]).filter(|items| !items.is_null())
    }

    fn parameters(&self, place: &str) -> impl Iterator<Item = &Value> {
        let parameters = self.written["parameters"].as_array().map_or(&[][..], Vec::as_slice);
        parameters.iter().filter(move |parameter| parameter["in"] == place)
    }

    /// The names of all types in its signature.
    fn types(&self) -> Result<BTreeSet<String>> {
        let mut names: BTreeSet<String> = self.body().map(str::to_owned).into_iter().collect();
        for name in expression::references(&self.answers) {
            names.insert(if name == "Event" { "WebhookEvent".to_owned() } else { name });
        }
        Ok(names)
    }

    fn takes_if_match(&self) -> bool {
        self.parameters("header").any(|parameter| parameter["name"] == "If-Match")
    }

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
                Value::Null => expression::of(schema, Writer::Caller, 2)?,
                items => {
                    let item = expression::of(items, Writer::Caller, 2)?;
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
                format!("Pages<{}>", type_name(&item["$ref"])?)
            }
            None => {
                let answers = self.answers.as_array().context("answers")?;
                let names =
                    answers.iter().map(|answer| type_name(&answer["$ref"])).collect::<Result<Vec<_>>>()?;
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

/// `order_shares` is `orderShares`.
fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| name + &capitalised(word))
}

fn capitalised(word: &str) -> String {
    let (first, rest) = word.split_at(word.len().min(1));
    first.to_ascii_uppercase() + rest
}

fn lower_first(word: &str) -> String {
    let (first, rest) = word.split_at(word.len().min(1));
    first.to_ascii_lowercase() + rest
}
