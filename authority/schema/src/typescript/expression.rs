//! One schema as one TypeScript type, and an object's schema as an interface.
//!
//! Only what the records use is known; anything else is an error of the generator and not a type that says too little.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, bail};
use serde_json::{Map, Value};

use super::comment;
use crate::schemas::REFERENCE;

/// The type of a value that `schema` describes.
pub(super) fn of(schema: &Value) -> Result<String> {
    let Value::Object(schema) = schema else {
        return Ok("unknown".to_owned());
    };
    if let Some(target) = schema.get("$ref") {
        return Ok(target
            .as_str()
            .and_then(|target| target.strip_prefix(REFERENCE))
            .context("a reference")?
            .to_owned());
    }
    if let Some(Value::String(text)) = schema.get("const") {
        return Ok(format!("\"{text}\""));
    }
    if let Some(Value::Array(alternatives)) = schema.get("anyOf") {
        let types = alternatives.iter().map(of).collect::<Result<Vec<_>>>()?;
        return Ok(types.join(" | "));
    }
    match schema.get("type") {
        Some(Value::String(name)) => of_type(name, schema),
        Some(Value::Array(names)) => {
            let names = names.iter().filter_map(Value::as_str);
            let types = names.map(|name| of_type(name, schema)).collect::<Result<Vec<_>>>()?;
            Ok(types.join(" | "))
        }
        _ => bail!("no type can be written for {}", Value::Object(schema.clone())),
    }
}

fn of_type(name: &str, schema: &Map<String, Value>) -> Result<String> {
    Ok(match name {
        "string" => "string".to_owned(),
        "integer" | "number" => "number".to_owned(),
        "boolean" => "boolean".to_owned(),
        "null" => "null".to_owned(),
        "array" => {
            let item = of(schema.get("items").unwrap_or(&Value::Bool(true)))?;
            if item.contains(' ') { format!("({item})[]") } else { format!("{item}[]") }
        }
        "object" => match schema.get("additionalProperties") {
            Some(values @ Value::Object(_)) => format!("{{ [name: string]: {} }}", of(values)?),
            _ => "{ [name: string]: unknown }".to_owned(),
        },
        other => bail!("no type can be written for {other}"),
    })
}

/// The members of an object in the order in which they are written, each with its comment, indented.
pub(super) fn members(schema: &Value) -> Result<Vec<String>> {
    let properties =
        schema.get("properties").and_then(Value::as_object).context("an object without properties")?;
    let required: Vec<&str> = schema.get("required").into_iter().flat_map(strings).collect();
    let optional = properties.keys().map(String::as_str).filter(|name| !required.contains(name));
    let mut members = Vec::new();
    for name in required.iter().copied().chain(optional) {
        let member = properties.get(name).with_context(|| format!("{name} is required and not described"))?;
        if let Some(Value::String(text)) = member.get("description") {
            members.push(format!("  {}", comment(text, 2)));
        }
        let mark = if required.contains(&name) { "" } else { "?" };
        members.push(format!("  {name}{mark}: {};", of(member)?));
    }
    Ok(members)
}

/// The names of the definitions that `schema` refers to.
pub(super) fn references(schema: &Value) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    collect(schema, &mut names);
    names
}

fn collect(schema: &Value, names: &mut BTreeSet<String>) {
    match schema {
        Value::Object(members) => {
            let target = members.get("$ref").and_then(Value::as_str);
            names.extend(target.and_then(|target| target.strip_prefix(REFERENCE)).map(str::to_owned));
            members.values().for_each(|value| collect(value, names));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, names)),
        _ => {}
    }
}

/// The texts of an array.
pub(super) fn strings(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_kind_of_member_has_its_type() {
        for (schema, expected) in [
            (json!(true), "unknown"),
            (json!({ "type": "string", "pattern": "^a$" }), "string"),
            (json!({ "type": ["string", "null"] }), "string | null"),
            (json!({ "type": ["integer", "null"], "minimum": 0 }), "number | null"),
            (json!({ "type": "boolean" }), "boolean"),
            (json!({ "type": "string", "const": "order" }), "\"order\""),
            (json!({ "$ref": "#/$defs/Address", "description": "x" }), "Address"),
            (json!({ "anyOf": [{ "$ref": "#/$defs/Address" }, { "type": "null" }] }), "Address | null"),
            (json!({ "type": "array", "items": { "$ref": "#/$defs/OrderLine" } }), "OrderLine[]"),
            (json!({ "type": "array", "items": { "type": ["string", "null"] } }), "(string | null)[]"),
            (
                json!({ "type": "object", "additionalProperties": { "type": "string" } }),
                "{ [name: string]: string }",
            ),
            (json!({ "type": "object", "additionalProperties": true }), "{ [name: string]: unknown }"),
        ] {
            assert_eq!(of(&schema).unwrap(), expected, "{schema}");
        }
        for unknown in [json!({ "type": "tuple" }), json!({ "not": {} }), json!({ "$ref": "elsewhere" })] {
            assert!(of(&unknown).is_err(), "{unknown}");
        }
    }

    #[test]
    fn members_stand_in_the_order_in_which_they_are_written() {
        let schema = json!({
            "required": ["object", "b"],
            "properties": {
                "a": { "type": "string" },
                "b": { "type": "integer", "description": "Counts." },
                "object": { "type": "string", "const": "thing" },
            },
        });
        let expected = ["  object: \"thing\";", "  /** Counts. */", "  b: number;", "  a?: string;"];
        assert_eq!(members(&schema).unwrap(), expected);
        assert!(members(&json!({ "required": ["c"], "properties": {} })).is_err());
    }
}
