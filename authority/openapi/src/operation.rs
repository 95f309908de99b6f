//! One operation as OpenAPI writes it.

use anyhow::{Context as _, Result};
use authority::http::operation::{Access, BodyRule, Operation, Verb};
use authority_domain::{OperatorScope, Scope};
use serde_json::{Value, json};

use crate::definitions::{Definitions, REFERENCE};
use crate::parameters;
use crate::responses::Refusals;

/// The operation at `path`.
pub(crate) fn written(
    path: &str,
    operation: &Operation,
    definitions: &Definitions,
    refusals: &mut Refusals,
) -> Result<Value> {
    let mut written = json!({
        "operationId": operation_id(operation.name),
        "summary": operation.summary,
        "tags": [tag(operation)],
        "parameters": parameters::of(path, operation)?,
        "responses": refusals.answers_of(operation, definitions)?,
    });
    if !operation.details.is_empty() {
        written["description"] = json!(operation.details);
    }
    if let Some(body) = operation.body {
        definitions.get(body.shape).with_context(|| format!("the body {} is not defined", body.shape))?;
        let example: Value = serde_json::from_str(body.example)
            .with_context(|| format!("the example of the body of {}", operation.name))?;
        let media = json!({ "schema": { "$ref": format!("{REFERENCE}{}", body.shape) }, "example": example });
        written["requestBody"] = json!({
            "required": body.rule == BodyRule::Required,
            "content": { "application/json": media },
        });
        if operation.verb == Verb::Patch {
            written["requestBody"]["content"]["application/merge-patch+json"] =
                json!({ "schema": { "$ref": format!("{REFERENCE}{}", body.shape) }, "example": example });
        }
    }
    written["security"] = security(operation);
    if let Some(scopes) = scopes(operation) {
        written["x-any-of-scopes"] = json!(scopes);
    }
    Ok(written)
}

/// The group it is listed in.
pub(crate) fn tag(operation: &Operation) -> String {
    match operation.access {
        Access::Everybody => "service".to_owned(),
        Access::TestKey => "sandbox".to_owned(),
        _ => operation.name.split('.').next().unwrap_or_default().to_owned(),
    }
}

/// Any of the scopes suffices, so each is an alternative.
fn security(operation: &Operation) -> Value {
    match operation.access {
        Access::Everybody => json!([]),
        Access::TestKey => json!([{ "testKey": [] }]),
        Access::Merchant(any_of) => {
            any_of.iter().map(|scope: &Scope| json!({ "merchantKey": [scope.as_str()] })).collect()
        }
        Access::Operator(any_of) => {
            any_of.iter().map(|scope: &OperatorScope| json!({ "operatorKey": [scope.as_str()] })).collect()
        }
    }
}

fn scopes(operation: &Operation) -> Option<Vec<&'static str>> {
    match operation.access {
        Access::Everybody | Access::TestKey => None,
        Access::Merchant(any_of) => Some(any_of.iter().map(|scope| scope.as_str()).collect()),
        Access::Operator(any_of) => Some(any_of.iter().map(|scope| scope.as_str()).collect()),
    }
}

/// `endpoints.rotate_secret` becomes `endpointsRotateSecret`: a name in every language.
fn operation_id(name: &str) -> String {
    let mut id = String::new();
    for (n, word) in name.split(['.', '_']).enumerate() {
        let mut letters = word.chars();
        match letters.next() {
            Some(first) if n > 0 => id.push(first.to_ascii_uppercase()),
            Some(first) => id.push(first),
            None => {}
        }
        id.push_str(letters.as_str());
    }
    id
}
