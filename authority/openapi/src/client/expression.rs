//! A schema of the document as a TypeScript type.
//!
//! Other than the records of events, bodies have objects and sets of names within them, and their times may be given as
//! a `Date`, which is written in JSON as the service wants it.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, bail};
use authority_schema::typescript::comment;
use serde_json::{Map, Value};

use crate::definitions::REFERENCE;

/// Who writes the value: the service, or the program that calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writer {
    Service,
    Caller,
}

/// The type of what `schema` describes, with the members of objects within it indented below `indent` columns.
pub(super) fn of(schema: &Value, writer: Writer, indent: usize) -> Result<String> {
    let schema = schema.as_object().context("a schema that is an object")?;
    if let Some(target) = schema.get("$ref") {
        return Ok(type_name(target)?.to_owned());
    }
    if let Some(Value::String(text)) = schema.get("const") {
        return Ok(format!("\"{text}\""));
    }
    if let Some(Value::Array(alternatives)) = schema.get("anyOf") {
        let types = alternatives.iter().map(|one| of(one, writer, indent)).collect::<Result<Vec<_>>>()?;
        return Ok(types.join(" | "));
    }
    let names: Vec<&str> = match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => bail!("no type can be written for {}", Value::Object(schema.clone())),
    };
    let types =
        names.into_iter().map(|name| of_type(name, schema, writer, indent)).collect::<Result<Vec<_>>>()?;
    Ok(types.join(" | "))
}

fn of_type(name: &str, schema: &Map<String, Value>, writer: Writer, indent: usize) -> Result<String> {
    Ok(match name {
        "string" => match (schema.get("enum"), schema.get("format").and_then(Value::as_str)) {
            (Some(values), _) => literals(values),
            (None, Some("date-time")) if writer == Writer::Caller => "string | Date".to_owned(),
            _ => "string".to_owned(),
        },
        "integer" | "number" => "number".to_owned(),
        "boolean" => "boolean".to_owned(),
        "null" => "null".to_owned(),
        "array" => {
            let item = of(schema.get("items").context("the items of an array")?, writer, indent)?;
            if item.contains(" | ") && !item.starts_with('{') {
                format!("({item})[]")
            } else {
                format!("{item}[]")
            }
        }
        "object" => match (schema.get("properties"), schema.get("additionalProperties")) {
            (Some(_), _) => format!("{{\n{}{}}}", members(schema, writer, indent + 2)?, " ".repeat(indent)),
            (None, Some(values @ Value::Object(_))) => {
                format!("{{ [name: string]: {} }}", of(values, writer, indent)?)
            }
            _ => "{ [name: string]: unknown }".to_owned(),
        },
        other => bail!("no type can be written for {other}"),
    })
}

/// The names of a set that is open to the service and closed to the caller.
pub(super) fn literals(values: &Value) -> String {
    let values = values.as_array().into_iter().flatten().filter_map(Value::as_str);
    values.map(|value| format!("\"{value}\"")).collect::<Vec<_>>().join(" | ")
}

/// The members of an object, one per line, each below its description; those that are required first.
pub(super) fn members(schema: &Map<String, Value>, writer: Writer, indent: usize) -> Result<String> {
    let empty = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let optional = properties.keys().map(String::as_str).filter(|name| !required.contains(name));
    let margin = " ".repeat(indent);
    let mut text = String::new();
    for name in required.iter().copied().chain(optional) {
        let member = properties.get(name).with_context(|| format!("{name} is not described"))?;
        if let Some(description) = member.get("description").and_then(Value::as_str) {
            text.push_str(&format!("{margin}{}\n", comment(description, indent)));
        }
        let mark = if required.contains(&name) { "" } else { "?" };
        text.push_str(&format!("{margin}{name}{mark}: {};\n", of(member, writer, indent)?));
    }
    Ok(text)
}

/// What the package calls a definition.
pub(super) fn type_name(target: &Value) -> Result<&str> {
    let name = target.as_str().and_then(|target| target.strip_prefix(REFERENCE)).context("a reference")?;
    // The package's type narrows by `type`, which a schema without alternatives cannot say.
    Ok(if name == "Event" { "WebhookEvent" } else { name })
}

/// The names that `schema` refers to.
pub(super) fn references(schema: &Value) -> BTreeSet<String> {
    crate::definitions::references(schema, REFERENCE).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_caller_may_give_a_date_and_must_name_what_is_listed() {
        for (schema, service, caller) in [
            (json!({ "type": "string", "format": "date-time" }), "string", "string | Date"),
            (json!({ "type": ["integer", "null"] }), "number | null", "number | null"),
            (json!({ "type": "string", "enum": ["a", "b"] }), "\"a\" | \"b\"", "\"a\" | \"b\""),
            (
                json!({ "type": "array", "items": { "type": "string", "enum": ["a", "b"] } }),
                "(\"a\" | \"b\")[]",
                "(\"a\" | \"b\")[]",
            ),
            (json!({ "$ref": "#/components/schemas/Event" }), "WebhookEvent", "WebhookEvent"),
            (
                json!({ "type": "object", "required": ["b"],
                        "properties": { "a": { "type": "boolean" }, "b": { "type": "integer", "description": "B." } } }),
                "{\n  /** B. */\n  b: number;\n  a?: boolean;\n}",
                "{\n  /** B. */\n  b: number;\n  a?: boolean;\n}",
            ),
        ] {
            assert_eq!(of(&schema, Writer::Service, 0).unwrap(), service, "{schema}");
            assert_eq!(of(&schema, Writer::Caller, 0).unwrap(), caller, "{schema}");
        }
        assert!(of(&json!({ "type": "tuple" }), Writer::Caller, 0).is_err());
    }
}
