//! The operations: what they are called, how they are asked for, what they take and give. How programs see them is in
//! `interfaces`.
//!
//! A name is the document's: the operation `refundsRequest` with the tag `refunds` is `refunds.request`, and
//! `sandboxOrdersIngest` is `sandbox.orders.ingest`.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use authority_schema::typescript::capitalised;
use serde_json::Value;

use super::{ANSWERS, GENERATED};
use crate::samples::placeholder;

/// One operation of the document.
pub(crate) struct Operation {
    /// The groups that it is in, from the outside in: one, or two where the sandbox has several of a kind.
    pub(super) groups: Vec<String>,
    pub(super) verb: String,
    pub(super) method: String,
    path: String,
    pub(super) written: Value,
    /// The schemas of its successful answers.
    pub(super) answers: Value,
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
    pub(super) fn item(&self) -> Option<&Value> {
        Some(&self.answers[0]["properties"]["data"]["items"]).filter(|items| !items.is_null())
    }

    pub(super) fn parameters(&self, place: &str) -> impl Iterator<Item = &Value> {
        let parameters = self.written["parameters"].as_array().map_or(&[][..], Vec::as_slice);
        parameters.iter().filter(move |parameter| parameter["in"] == place)
    }

    /// The names of all types in its signature.
    pub(super) fn types(&self) -> Result<BTreeSet<String>> {
        let mut names: BTreeSet<String> = self.body().map(str::to_owned).into_iter().collect();
        for name in ANSWERS.references(&self.answers) {
            names.insert(if name == "Event" { "WebhookEvent".to_owned() } else { name });
        }
        Ok(names)
    }

    pub(super) fn takes_if_match(&self) -> bool {
        self.parameters("header").any(|parameter| parameter["name"] == "If-Match")
    }
}

/// `order_shares` is `orderShares`.
fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| name + &capitalised(word))
}

fn lower_first(word: &str) -> String {
    let (first, rest) = word.split_at(word.len().min(1));
    first.to_ascii_lowercase() + rest
}
