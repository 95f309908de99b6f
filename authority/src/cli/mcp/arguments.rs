//! The arguments of tools: declared once, as a table, from which the input schema is written and by which arguments are
//! checked.
//!
//! An error names the argument and its rule, never the value: whatever a model puts into an argument is not repeated.

use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};

use super::outcome::ToolError;

/// One argument.
pub(super) struct Parameter {
    /// Its name.
    pub(super) name: &'static str,
    /// What it is for.
    pub(super) about: &'static str,
    /// What it may be.
    pub(super) kind: Kind,
    /// Whether it may be left out.
    pub(super) required: bool,
}

/// An argument that may be left out.
pub(super) const fn optional(name: &'static str, kind: Kind, about: &'static str) -> Parameter {
    Parameter { name, about, kind, required: false }
}

/// An argument that must be there.
pub(super) const fn required(name: &'static str, kind: Kind, about: &'static str) -> Parameter {
    Parameter { name, about, kind, required: true }
}

/// What an argument may be.
pub(super) enum Kind {
    /// Text of at most so many bytes; may be empty where that is said.
    Text { min: usize, max: usize },
    /// One of these words.
    Word(fn() -> Vec<&'static str>),
    /// A whole number within these bounds.
    Integer { min: i64, max: i64 },
    /// Names with values: text, numbers, booleans, or lists of texts.
    Values { max: usize },
    /// Names with texts.
    Texts { max: usize },
}

/// The longest text among [`Kind::Values`] and [`Kind::Texts`], in bytes.
const MEMBER_MAX: usize = 8 * 1024;

/// The input schema of a tool.
pub(super) fn schema(parameters: &[Parameter]) -> JsonObject {
    let member = |parameter: &Parameter| {
        let mut schema = parameter.kind.schema();
        schema.insert("description".to_owned(), parameter.about.into());
        (parameter.name.to_owned(), Value::Object(schema))
    };
    let required = parameters.iter().filter(|parameter| parameter.required).map(|parameter| parameter.name);
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), Value::Object(parameters.iter().map(member).collect()));
    schema.insert("required".to_owned(), required.collect::<Vec<_>>().into());
    schema.insert("additionalProperties".to_owned(), false.into());
    schema
}

impl Kind {
    fn schema(&self) -> Map<String, Value> {
        let schema = match self {
            Self::Text { min, max } => json!({ "type": "string", "minLength": min, "maxLength": max }),
            Self::Word(words) => json!({ "type": "string", "enum": words() }),
            Self::Integer { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
            Self::Values { max } => json!({
                "type": "object", "maxProperties": max,
                "additionalProperties": {
                    "type": ["string", "number", "boolean", "array"],
                    "maxLength": MEMBER_MAX, "items": { "type": "string" },
                },
            }),
            Self::Texts { max } => json!({
                "type": "object", "maxProperties": max,
                "additionalProperties": { "type": "string", "maxLength": MEMBER_MAX },
            }),
        };
        match schema {
            Value::Object(schema) => schema,
            _ => Map::new(),
        }
    }

    /// The rule that `value` breaks.
    fn broken(&self, value: &Value) -> Option<String> {
        let fine = match (self, value) {
            (Self::Text { min, max }, Value::String(text)) => (*min..=*max).contains(&text.len()),
            (Self::Word(words), Value::String(word)) => words().contains(&word.as_str()),
            (Self::Integer { min, max }, Value::Number(number)) => {
                number.as_i64().is_some_and(|number| (*min..=*max).contains(&number))
            }
            (Self::Values { max }, Value::Object(members)) => {
                members.len() <= *max && members.values().all(is_filter)
            }
            (Self::Texts { max }, Value::Object(members)) => {
                members.len() <= *max && members.values().all(is_short_text)
            }
            _ => false,
        };
        (!fine).then(|| self.rule())
    }

    fn rule(&self) -> String {
        match self {
            Self::Text { min, max } => format!("must be text of {min} to {max} bytes"),
            Self::Word(words) => format!("must be one of {}", words().join(", ")),
            Self::Integer { min, max } => format!("must be a whole number from {min} to {max}"),
            Self::Values { max } => format!(
                "must be an object of at most {max} members: text of at most {MEMBER_MAX} bytes, numbers, booleans or \
                 lists of texts"
            ),
            Self::Texts { max } => {
                format!("must be an object of at most {max} members: text of at most {MEMBER_MAX} bytes")
            }
        }
    }
}

fn is_short_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.len() <= MEMBER_MAX)
}

fn is_filter(value: &Value) -> bool {
    let list = |items: &Vec<Value>| items.len() <= 64 && items.iter().all(is_short_text);
    value.is_boolean() || value.is_number() || is_short_text(value) || value.as_array().is_some_and(list)
}

/// Arguments that fit their table.
pub(super) struct Arguments(JsonObject);

impl Arguments {
    /// Checks the arguments of a call. A member that is `null` counts as left out.
    ///
    /// # Errors
    /// [`ToolError`] with the first argument that does not fit.
    pub(super) fn check(given: Option<JsonObject>, parameters: &[Parameter]) -> Result<Self, ToolError> {
        let mut given = given.unwrap_or_default();
        given.retain(|_, value| !value.is_null());
        let known = |name: &String| parameters.iter().any(|parameter| parameter.name == *name);
        if !given.keys().all(known) {
            let names: Vec<&str> = parameters.iter().map(|parameter| parameter.name).collect();
            return Err(ToolError::new(
                "invalid_arguments",
                format!("There is an argument that this tool does not have. It has {}.", names.join(", ")),
            ));
        }
        for Parameter { name, kind, required, .. } in parameters {
            match given.get(*name) {
                None if *required => return Err(ToolError::argument(name, "is required")),
                None => {}
                Some(value) => {
                    if let Some(rule) = kind.broken(value) {
                        return Err(ToolError::argument(name, rule));
                    }
                }
            }
        }
        Ok(Self(given))
    }

    /// A text, or a word.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// A text that is required, so that it is there.
    pub(super) fn required(&self, name: &str) -> &str {
        self.text(name).unwrap_or_default()
    }

    /// A number.
    pub(super) fn integer(&self, name: &str) -> Option<i64> {
        self.0.get(name)?.as_i64()
    }

    /// The members of an object; none when it was left out.
    pub(super) fn members(&self, name: &str) -> impl Iterator<Item = (&String, &Value)> {
        self.0.get(name).and_then(Value::as_object).into_iter().flatten()
    }

    /// Whether it was given.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}
