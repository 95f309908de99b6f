//! The slow reference of the differential tests: `serde_json` for the grammar into a tree that keeps duplicates,
//! regular expressions and `jiff` for the members.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::LazyLock;

use regex::Regex;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A JSON value that still knows every member it was written with.
#[derive(Debug)]
pub(crate) enum Node {
    Null,
    Bool,
    Number(f64),
    String(String),
    Array(Vec<Node>),
    Object(Vec<(String, Node)>),
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }
    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }
    fn visit_bool<E>(self, _: bool) -> Result<Node, E> {
        Ok(Node::Bool)
    }
    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Number(value as f64))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Number(value as f64))
    }
    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Number(value))
    }
    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::String(value.to_owned()))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Node::Array(items))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Node::Object(members))
    }
}

impl Node {
    fn get(&self, name: &str) -> Option<&Node> {
        match self {
            Self::Object(members) => members.iter().find(|(known, _)| known == name).map(|(_, value)| value),
            _ => None,
        }
    }
    fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }
    fn repeats(&self) -> bool {
        match self {
            Self::Object(members) => {
                members.iter().map(|(name, _)| name).collect::<BTreeSet<_>>().len() < members.len()
            }
            _ => false,
        }
    }
    pub(crate) fn repeats_anywhere(&self) -> bool {
        self.repeats()
            || match self {
                Self::Object(members) => members.iter().any(|(_, value)| value.repeats_anywhere()),
                Self::Array(items) => items.iter().any(Self::repeats_anywhere),
                _ => false,
            }
    }
    fn matches(value: Option<&Self>, pattern: &Regex) -> bool {
        matches!(value, Some(Self::String(text)) if pattern.is_match(text))
    }
}

macro_rules! pattern {
    ($name:ident = $pattern:literal) => {
        static $name: LazyLock<Regex> = LazyLock::new(|| Regex::new($pattern).unwrap());
    };
}

pattern!(EVENT_ID = r"\Aevt_[0-9A-Za-z_-]{1,124}\z");
pattern!(MERCHANT_ID = r"\Amer_[0-9A-Za-z_-]{1,124}\z");
pattern!(EVENT_TYPE = r"\A[a-z][a-z0-9_]*(\.[a-z0-9_]+)+\z");
pattern!(DATE = r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}\z");
pattern!(TIME = r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z\z");
pattern!(SLUG = r"\A[^\p{Cc}]{1,128}\z");

fn is_real_date(value: Option<&Node>) -> bool {
    let Some(Node::String(text)) = value else { return false };
    let mut parts = text[..10].split('-').map(|part| part.parse::<i16>().unwrap());
    let (year, month, day) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
    year >= 1 && jiff::civil::Date::new(year, month as i8, day as i8).is_ok()
}

/// The verdict on a text, by the rules one after the other.
pub(crate) fn reference(text: &[u8]) -> &'static str {
    let Ok(root) =
        std::str::from_utf8(text).map_err(drop).and_then(|text| serde_json::from_str(text).map_err(drop))
    else {
        return "invalid_json";
    };
    let root: Node = root;
    let member = |name| root.get(name);
    let nested = |outer, inner| root.get(outer).and_then(|object| object.get(inner));
    let null = |value: Option<&Node>| matches!(value, None | Some(Node::Null));
    let counter = |value| {
        null(value)
            || matches!(value, Some(Node::Number(n)) if n.fract() == 0.0 && (0.0..=9_007_199_254_740_991.0).contains(n))
    };
    let rules: [(&str, bool); 12] = [
        ("invalid_payload", root.is_object()),
        ("invalid_payload", !root.repeats()),
        ("invalid_payload", !member("merchant").is_some_and(Node::repeats)),
        ("invalid_payload", !member("data").is_some_and(Node::repeats)),
        ("invalid_payload", counter(member("sequence")) && counter(member("resource_version"))),
        ("invalid_payload", null(member("livemode")) || matches!(member("livemode"), Some(Node::Bool))),
        (
            "invalid_payload",
            ["recipient", "links"]
                .iter()
                .all(|name| null(member(name)) || member(name).is_some_and(Node::is_object)),
        ),
        ("invalid_event_id", Node::matches(member("id"), &EVENT_ID)),
        (
            "invalid_event_type",
            Node::matches(member("type"), &EVENT_TYPE)
                && matches!(member("type"), Some(Node::String(text)) if text.len() <= 128),
        ),
        (
            "invalid_api_version",
            Node::matches(member("api_version"), &DATE) && is_real_date(member("api_version")),
        ),
        (
            "invalid_created_at",
            Node::matches(member("created_at"), &TIME) && is_real_date(member("created_at")),
        ),
        (
            "invalid_merchant",
            Node::matches(nested("merchant", "id"), &MERCHANT_ID)
                && Node::matches(nested("merchant", "slug"), &SLUG),
        ),
    ];
    match rules.iter().find(|(_, holds)| !holds) {
        Some((code, _)) => code,
        None if !nested("data", "object").is_some_and(Node::is_object) => "invalid_data",
        None => "ok",
    }
}
