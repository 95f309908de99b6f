//! A JSON text as a tree, by `serde_json`, that keeps every member it was written with: two of one name stay two.

use std::collections::BTreeSet;
use std::fmt;

use regex::bytes::Regex;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A JSON value that still knows every member it was written with.
#[derive(Debug)]
pub enum Node {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number, rounded to a double.
    Number(f64),
    /// A string, unescaped.
    String(String),
    /// An array.
    Array(Vec<Node>),
    /// An object: its members in their order.
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
    /// The tree of a text, if it is one JSON text in strict UTF-8.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<Self> {
        serde_json::from_str(std::str::from_utf8(text).ok()?).ok()
    }

    /// The first member of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Node> {
        match self {
            Self::Object(members) => members.iter().find(|(known, _)| known == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The text of the first member of this name, if that is a string.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(Self::String(text)) => Some(text),
            _ => None,
        }
    }

    /// How many containers are nested in each other, this one included.
    #[must_use]
    pub fn depth(&self) -> usize {
        match self {
            Self::Object(members) => 1 + members.iter().map(|(_, value)| value.depth()).max().unwrap_or(0),
            Self::Array(items) => 1 + items.iter().map(Self::depth).max().unwrap_or(0),
            _ => 0,
        }
    }

    pub(crate) fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    pub(crate) fn repeats(&self) -> bool {
        match self {
            Self::Object(members) => {
                members.iter().map(|(name, _)| name).collect::<BTreeSet<_>>().len() < members.len()
            }
            _ => false,
        }
    }

    /// Whether an object, this one or one within, has two members of one name.
    #[must_use]
    pub fn repeats_anywhere(&self) -> bool {
        self.repeats()
            || match self {
                Self::Object(members) => members.iter().any(|(_, value)| value.repeats_anywhere()),
                Self::Array(items) => items.iter().any(Self::repeats_anywhere),
                _ => false,
            }
    }

    pub(crate) fn matches(value: Option<&Self>, pattern: &Regex) -> bool {
        matches!(value, Some(Self::String(text)) if pattern.is_match(text.as_bytes()))
    }
}
