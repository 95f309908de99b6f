//! JSON Schema in words: the type of a member in a few characters, and the members of a record as a list.

use serde_json::{Map, Value};

/// Patterns longer than this say less than the description of the member.
const PATTERN_MAX: usize = 40;

/// The type that `schema` allows, such as "string (1–255) or null".
pub(crate) fn type_of(schema: &Value) -> String {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        return last_part(name).to_owned();
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(Value::Array(choices)) = schema.get(key) {
            return choices.iter().map(type_of).collect::<Vec<_>>().join(" or ");
        }
    }
    if let Some(value) = schema.get("const") {
        return format!("`{}`", plain(value));
    }
    if let Some(Value::Array(values)) = schema.get("enum") {
        return values.iter().map(|value| format!("`{}`", plain(value))).collect::<Vec<_>>().join(", ");
    }
    match schema.get("type") {
        Some(Value::Array(types)) => {
            let one = |kind: &Value| simple(schema, kind.as_str().unwrap_or_default());
            types.iter().map(one).collect::<Vec<_>>().join(" or ")
        }
        Some(Value::String(kind)) => simple(schema, kind),
        _ => "any".to_owned(),
    }
}

fn simple(schema: &Value, kind: &str) -> String {
    let bounds = |low, high| bounds(schema.get(low), schema.get(high));
    match kind {
        "string" => text(schema) + &bounds("minLength", "maxLength"),
        "integer" => format!("integer{}", bounds("minimum", "maximum")),
        "array" => {
            let item = schema.get("items").map_or_else(|| "any".to_owned(), type_of);
            format!("list of {item}{}", bounds("minItems", "maxItems"))
        }
        "object" => match schema.get("additionalProperties") {
            Some(values @ Value::Object(_)) => format!("map of {}", type_of(values)),
            _ => "object".to_owned(),
        },
        other => other.to_owned(),
    }
}

fn text(schema: &Value) -> String {
    match schema.get("format").and_then(Value::as_str) {
        Some("date-time") => return "time".to_owned(),
        Some(format) => return format.to_owned(),
        None => {}
    }
    let Some(pattern) = schema.get("pattern").and_then(Value::as_str) else { return "string".to_owned() };
    // The pattern of an id: its prefix and 26 characters.
    if let Some((prefix, _)) = pattern.trim_start_matches('^').split_once("[0-7][0-9a-hjkmnp-tv-z]{25}") {
        return format!("id `{prefix}…`");
    }
    // What all texts have in common, no control characters, is said once.
    if pattern.starts_with("^[^\\u") || pattern.len() > PATTERN_MAX {
        return "string".to_owned();
    }
    format!("string `{pattern}`")
}

fn bounds(low: Option<&Value>, high: Option<&Value>) -> String {
    match (low, high) {
        (None, None) => String::new(),
        (Some(low), None) => format!(" (from {low})"),
        (low, Some(high)) => format!(" ({}–{high})", low.map_or_else(|| "0".to_owned(), Value::to_string)),
    }
}

/// The members of an object as a Markdown list, those of objects inside indented below.
pub(crate) fn members(schema: &Value) -> String {
    let mut list = String::new();
    add_members(schema, 0, &mut list);
    list
}

fn add_members(schema: &Value, depth: usize, list: &mut String) {
    let none = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let required: Vec<&str> = texts(schema.get("required"));
    // Those that are required are listed in the order of the record.
    let mut names: Vec<&str> =
        required.iter().copied().filter(|name| properties.contains_key(*name)).collect();
    names.extend(properties.keys().map(String::as_str).filter(|name| !required.contains(name)));
    for name in names {
        let Some(member) = properties.get(name).filter(|member| !member.is_boolean()) else { continue };
        let optional = if required.contains(&name) { "" } else { "?" };
        let about = describe(member);
        let about = if about.is_empty() { about } else { format!(": {about}") };
        list.push_str(&format!("{}- `{name}`{optional} {}{about}\n", "  ".repeat(depth), type_of(member)));
        add_members(member, depth + 1, list);
        if let Some(items) = member.get("items") {
            add_members(items, depth + 1, list);
        }
    }
}

/// The description in one line.
pub(crate) fn describe(schema: &Value) -> String {
    schema.get("description").and_then(Value::as_str).map(one_line).unwrap_or_default()
}

/// `text` without line breaks.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The texts in an array.
pub(crate) fn texts(array: Option<&Value>) -> Vec<&str> {
    array.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The last part of a JSON pointer.
pub(crate) fn last_part(pointer: &str) -> &str {
    pointer.rsplit('/').next().unwrap_or_default()
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
