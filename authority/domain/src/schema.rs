//! Rules that a Rust type does not express but its JSON Schema should: patterns, ranges and lengths (contract 1, 2).
//!
//! The schemas are derived from the very records that are serialised, with their documentation as descriptions, so
//! that everything generated from them (TypeScript, API descriptions) matches what is sent. A record names the rules
//! of its members beside its `derive`; ids, times and closed sets of names have their own. Built only with the
//! feature `schema`. Deliberately absent: checking values. The readers of requests do that, and more strictly.

use schemars::transform::{Transform, transform_subschemas};
use schemars::{Schema, json_schema};
use serde_json::{Map, Value, json};

use crate::bounds::{METADATA_ENTRIES, MONEY_MAX};

/// A rule for the value of one member. Where the member is nullable, `null` passes.
#[derive(Clone, Copy)]
pub(crate) enum Rule {
    /// Minor units of the record's currency, `0 ..= MONEY_MAX`.
    Money,
    /// A payment or a refund is about something: `1 ..= MONEY_MAX`.
    MoneyAboveZero,
    /// A whole number from the first to the last.
    Between(i64, i64),
    /// A whole number that is at least 1.
    Positive,
    /// A text of at most so many characters.
    Text(u64),
    /// A text of this form.
    Pattern(&'static str),
    /// A date, `YYYY-MM-DD`.
    Date,
    /// A list of so many items, from the first to the last number.
    Items(u64, u64),
    /// Free key-value pairs.
    Metadata,
}

/// The rules of member names that mean the same in every record (contract 1, 2.16). A record's own rule takes
/// precedence.
const EVERYWHERE: [(&str, Rule); 8] = [
    ("api_version", Rule::Date),
    ("country", Rule::Pattern("^[A-Z]{2}$")),
    ("currency", Rule::Pattern("^[A-Z]{3}$")),
    ("default_currency", Rule::Pattern("^[A-Z]{3}$")),
    ("metadata", Rule::Metadata),
    ("resource_version", Rule::Positive),
    ("sequence", Rule::Positive),
    ("slug", Rule::Pattern("^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$")),
];

/// The largest integer that JavaScript reads exactly; nothing that is issued is larger (contract 1).
const INTEGER_MAX: i64 = (1 << 53) - 1;

/// The rules of a record's members, by name.
pub(crate) struct Members(pub(crate) &'static [(&'static str, Rule)]);

impl Transform for Members {
    fn transform(&mut self, schema: &mut Schema) {
        for (name, rule) in self.0 {
            let member = schema.pointer_mut(&format!("/properties/{name}")).and_then(Value::as_object_mut);
            assert!(member.is_some(), "there is no member {name} to have a rule");
            if let Some(member) = member {
                rule.apply(member);
            }
        }
    }
}

/// The rules that follow from the name or the type of a member, for every record and its parts. To be used as a
/// transform of the generator's settings.
#[derive(Clone, Debug)]
pub struct RulesByName;

impl Transform for RulesByName {
    fn transform(&mut self, schema: &mut Schema) {
        let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
        for (name, member) in properties.into_iter().flatten() {
            let Some(member) = member.as_object_mut() else { continue };
            let of_name = EVERYWHERE.iter().find(|(known, _)| known == name);
            if let Some((_, rule)) = of_name {
                rule.apply(member);
            }
            if is_integer(member) {
                member.remove("format");
                let unruled = !member.contains_key("minimum");
                if unruled && is_amount(name) {
                    Rule::Money.apply(member);
                } else if unruled {
                    Rule::Between(0, INTEGER_MAX).apply(member);
                }
                member.entry("maximum").or_insert_with(|| json!(INTEGER_MAX));
            }
        }
        transform_subschemas(self, schema);
    }
}

/// Of type `integer`, also beside `null`.
fn is_integer(member: &Map<String, Value>) -> bool {
    match member.get("type") {
        Some(Value::String(name)) => name == "integer",
        Some(Value::Array(names)) => names.iter().any(|name| name == "integer"),
        _ => false,
    }
}

/// The parts of an order's sums, and what is called an amount. In every record these names are money.
fn is_amount(name: &str) -> bool {
    const SUMS: &str =
        "subtotal discount shipping tax total authorized captured refunded refund_pending refundable due";
    name == "amount"
        || name.starts_with("amount_")
        || name.ends_with("_amount")
        || SUMS.split(' ').any(|sum| sum == name)
}

impl Rule {
    fn apply(self, member: &mut Map<String, Value>) {
        let keywords = match self {
            Self::Money => return Self::Between(0, MONEY_MAX).apply(member),
            Self::MoneyAboveZero => return Self::Between(1, MONEY_MAX).apply(member),
            Self::Between(first, last) => vec![("minimum", json!(first)), ("maximum", json!(last))],
            Self::Positive => vec![("minimum", json!(1))],
            Self::Text(length) => vec![("maxLength", json!(length))],
            Self::Pattern(pattern) => vec![("pattern", json!(pattern))],
            Self::Date => vec![("format", json!("date"))],
            Self::Items(fewest, most) => vec![("minItems", json!(fewest)), ("maxItems", json!(most))],
            Self::Metadata => vec![
                ("maxProperties", json!(METADATA_ENTRIES)),
                ("propertyNames", json!({ "pattern": "^[A-Za-z0-9_.-]{1,40}$" })),
                ("additionalProperties", json!({ "type": "string", "maxLength": 500 })),
            ],
        };
        member.extend(keywords.into_iter().map(|(keyword, value)| (keyword.to_owned(), value)));
    }
}

/// A closed set of names with what each of them means.
pub(crate) fn one_of_texts(doc: &str, values: &[(&str, &str)]) -> Schema {
    let texts: Vec<&str> = values.iter().map(|(text, _)| *text).collect();
    let mut description = doc.trim().to_owned();
    description.push('\n');
    for (text, meaning) in values {
        description.push_str(&format!("\n- `{text}`: {}", meaning.trim()));
    }
    json_schema!({ "type": "string", "enum": texts, "description": description })
}

/// An id as the authority issues it (contract 1.1).
pub(crate) fn issued_id(prefix: &str) -> Schema {
    json_schema!({ "type": "string", "pattern": format!("^{prefix}_[0-7][0-9a-hjkmnp-tv-z]{{25}}$") })
}

/// [`Members`] as an attribute of a record can have them: `members!("note": Text(500), …)`.
macro_rules! members {
    ($($name:literal: $rule:ident $(($($value:expr),+))?),+ $(,)?) => {
        $crate::schema::Members(&[$(($name, $crate::schema::Rule::$rule $(($($value),+))?)),+])
    };
}

/// Declares the schema of a type of texts, which stands wherever a member has the type.
macro_rules! inline_schema {
    ($name:ident, $schema:expr) => {
        impl ::schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                $schema
            }
        }
    };
}

/// Declares that a type is written as another one is.
macro_rules! written_as {
    ($name:ident, $shape:ty) => {
        impl ::schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                <$shape as ::schemars::JsonSchema>::inline_schema()
            }

            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                <$shape as ::schemars::JsonSchema>::schema_name()
            }

            fn schema_id() -> ::std::borrow::Cow<'static, str> {
                <$shape as ::schemars::JsonSchema>::schema_id()
            }

            fn json_schema(generator: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                <$shape as ::schemars::JsonSchema>::json_schema(generator)
            }
        }
    };
}

pub(crate) use {inline_schema, members, written_as};
