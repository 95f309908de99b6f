//! One schema as one TypeScript type, and a definition as an interface or a union.
//!
//! Only what the schemas use is known; anything else is an error of the generator and not a type that says too little.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, bail};
use serde_json::{Map, Value};

use super::{comment, union};

/// How the schemas of a document are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notation {
    /// Where a reference to a definition begins.
    pub reference: &'static str,
    /// Whether a program writes the values: a time may then be given as a `Date`, which is written in JSON as the
    /// service wants it.
    pub of_callers: bool,
}

impl Notation {
    /// The type of what `schema` describes, with the members of objects within it indented below `indent` columns.
    ///
    /// # Errors
    /// The schema has something that cannot be written in TypeScript here.
    pub fn of(self, schema: &Value, indent: usize) -> Result<String> {
        let schema = match schema {
            Value::Bool(true) => return Ok("unknown".to_owned()),
            schema => schema.as_object().context("a schema that is an object")?,
        };
        if let Some(target) = schema.get("$ref") {
            return Ok(self.type_name(target)?.to_owned());
        }
        if let Some(Value::String(text)) = schema.get("const") {
            return Ok(format!("\"{text}\""));
        }
        let types: Vec<String> = match (schema.get("anyOf"), schema.get("type")) {
            (Some(Value::Array(alternatives)), _) => {
                alternatives.iter().map(|one| self.of(one, indent)).collect::<Result<_>>()?
            }
            (_, Some(Value::String(name))) => vec![self.of_type(name, schema, indent)?],
            (_, Some(names @ Value::Array(_))) => {
                strings(names).map(|name| self.of_type(name, schema, indent)).collect::<Result<_>>()?
            }
            _ => bail!("no type can be written for {}", Value::Object(schema.clone())),
        };
        Ok(types.join(" | "))
    }

    fn of_type(self, name: &str, schema: &Map<String, Value>, indent: usize) -> Result<String> {
        Ok(match name {
            "string" => match (schema.get("enum"), schema.get("format").and_then(Value::as_str)) {
                (Some(values), _) => literals(values).join(" | "),
                (None, Some("date-time")) if self.of_callers => "string | Date".to_owned(),
                _ => "string".to_owned(),
            },
            "integer" | "number" => "number".to_owned(),
            "boolean" => "boolean".to_owned(),
            "null" => "null".to_owned(),
            "array" => {
                let item = self.of(schema.get("items").context("the items of an array")?, indent)?;
                let several = item.contains(" | ") && !item.starts_with('{');
                if several { format!("({item})[]") } else { format!("{item}[]") }
            }
            "object" => match (schema.get("properties"), schema.get("additionalProperties")) {
                (Some(_), _) => format!("{{\n{}{}}}", self.members(schema, indent + 2)?, " ".repeat(indent)),
                (None, Some(values @ Value::Object(_))) => {
                    format!("{{ [name: string]: {} }}", self.of(values, indent)?)
                }
                _ => "{ [name: string]: unknown }".to_owned(),
            },
            other => bail!("no type can be written for {other}"),
        })
    }

    /// The members of an object, one per line, each below its description; those that are required first.
    ///
    /// # Errors
    /// As [`Self::of`], and when a member that is required is not described.
    pub fn members(self, schema: &Map<String, Value>, indent: usize) -> Result<String> {
        let empty = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let required: Vec<&str> = schema.get("required").into_iter().flat_map(strings).collect();
        let optional = properties.keys().map(String::as_str).filter(|name| !required.contains(name));
        let margin = " ".repeat(indent);
        let mut text = String::new();
        for name in required.iter().copied().chain(optional) {
            let member = properties.get(name).with_context(|| format!("{name} is not described"))?;
            if let Some(description) = member.get("description").and_then(Value::as_str) {
                text.push_str(&format!("{margin}{}\n", comment(description, indent)));
            }
            let mark = if required.contains(&name) { "" } else { "?" };
            text.push_str(&format!("{margin}{name}{mark}: {};\n", self.of(member, indent)?));
        }
        Ok(text)
    }

    /// An interface for an object, a union for a set of names, which is open to its readers.
    ///
    /// # Errors
    /// As [`Self::members`], and when it has no description.
    pub fn declaration(self, name: &str, definition: &Value) -> Result<String> {
        let description = definition.get("description").and_then(Value::as_str);
        let description = description.with_context(|| format!("{name} is not described"))?;
        let body = match definition.get("enum") {
            Some(values) => {
                let mut names = literals(values);
                names.push("Unlisted".to_owned());
                union(name, &names)
            }
            None => {
                let schema = definition.as_object().with_context(|| format!("{name} is no object"))?;
                if !schema.contains_key("properties") {
                    bail!("{name} is an object without properties");
                }
                let members = self.members(schema, 2).with_context(|| name.to_owned())?;
                format!("export interface {name} {{\n{members}}}\n")
            }
        };
        Ok(format!("{}\n{body}", comment(description, 0)))
    }

    /// What the package calls the definition that a reference leads to.
    ///
    /// # Errors
    /// It is no reference.
    pub fn type_name(self, target: &Value) -> Result<&str> {
        let name = target.as_str().and_then(|target| target.strip_prefix(self.reference));
        // The package's type narrows by `type`, which a schema without alternatives cannot say.
        name.context("a reference").map(|name| if name == "Event" { "WebhookEvent" } else { name })
    }

    /// The names of the definitions that `schema` refers to.
    #[must_use]
    pub fn references(self, schema: &Value) -> BTreeSet<String> {
        references(schema, self.reference).into_iter().collect()
    }
}

/// What is referred to below `place`, by name, in the order of the text.
#[must_use]
pub fn references(value: &Value, place: &str) -> Vec<String> {
    match value {
        Value::Object(members) => members
            .iter()
            .flat_map(|(name, value)| match value.as_str().and_then(|target| target.strip_prefix(place)) {
                Some(target) if name == "$ref" => vec![target.to_owned()],
                _ => references(value, place),
            })
            .collect(),
        Value::Array(items) => items.iter().flat_map(|item| references(item, place)).collect(),
        _ => Vec::new(),
    }
}

/// The texts of an array.
fn strings(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// The names of a set.
fn literals(values: &Value) -> Vec<String> {
    strings(values).map(|value| format!("\"{value}\"")).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SERVICE: Notation = Notation { reference: "#/$defs/", of_callers: false };
    const CALLER: Notation = Notation { of_callers: true, ..SERVICE };

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
            (json!({ "$ref": "#/$defs/Event" }), "WebhookEvent"),
            (json!({ "anyOf": [{ "$ref": "#/$defs/Address" }, { "type": "null" }] }), "Address | null"),
            (json!({ "type": "array", "items": { "$ref": "#/$defs/OrderLine" } }), "OrderLine[]"),
            (json!({ "type": "array", "items": { "type": ["string", "null"] } }), "(string | null)[]"),
            (json!({ "type": "string", "enum": ["a", "b"] }), "\"a\" | \"b\""),
            (
                json!({ "type": "array", "items": { "type": "string", "enum": ["a", "b"] } }),
                "(\"a\" | \"b\")[]",
            ),
            (
                json!({ "type": "object", "additionalProperties": { "type": "string" } }),
                "{ [name: string]: string }",
            ),
            (json!({ "type": "object", "additionalProperties": true }), "{ [name: string]: unknown }"),
            (
                json!({ "type": "object", "required": ["b"],
                        "properties": { "a": { "type": "boolean" },
                                        "b": { "type": "integer", "description": "B." } } }),
                "{\n  /** B. */\n  b: number;\n  a?: boolean;\n}",
            ),
        ] {
            assert_eq!(SERVICE.of(&schema, 0).unwrap(), expected, "{schema}");
            assert_eq!(CALLER.of(&schema, 0).unwrap(), expected, "{schema}");
        }
        let time = json!({ "type": "string", "format": "date-time" });
        assert_eq!(SERVICE.of(&time, 0).unwrap(), "string");
        assert_eq!(CALLER.of(&time, 0).unwrap(), "string | Date");
        for unknown in [json!({ "type": "tuple" }), json!({ "not": {} }), json!({ "$ref": "elsewhere" })] {
            assert!(CALLER.of(&unknown, 0).is_err(), "{unknown}");
        }
    }

    #[test]
    fn members_stand_in_the_order_in_which_they_are_written() {
        let members = |schema: Value| SERVICE.members(schema.as_object().unwrap(), 2);
        let schema = json!({
            "required": ["object", "b"],
            "properties": {
                "a": { "type": "string" },
                "b": { "type": "integer", "description": "Counts." },
                "object": { "type": "string", "const": "thing" },
            },
        });
        let expected = "  object: \"thing\";\n  /** Counts. */\n  b: number;\n  a?: string;\n";
        assert_eq!(members(schema).unwrap(), expected);
        assert!(members(json!({ "required": ["c"], "properties": {} })).is_err());
    }
}
