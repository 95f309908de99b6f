//! A JSON text as a tree that knows where each value stands: to write it again, and to point at what is wrong.
//!
//! Not a second judge: numbers and strings are given to the core's own reader, verdicts come from the core alone, and
//! whoever asks has one already. A property test holds this reader to the same verdict on any text.
//! Containers nest at most as deep as the core allows, which bounds the recursion.

use alloc::string::String;
use alloc::vec::Vec;

use verify_core::json::{self, Duplicates, MAX_DEPTH, Malformed};

/// A value and where it begins.
pub(crate) struct Node<'t> {
    /// Offset of its first byte.
    pub(crate) at: usize,
    /// The value as it is written.
    pub(crate) raw: &'t str,
    pub(crate) kind: Kind<'t>,
}

pub(crate) enum Kind<'t> {
    Null,
    Boolean,
    Number,
    String,
    Array(Vec<Node<'t>>),
    Object(Vec<Member<'t>>),
}

/// A member of an object.
pub(crate) struct Member<'t> {
    /// Offset of its name.
    pub(crate) at: usize,
    /// The name as it is written, with its quotation marks.
    pub(crate) name: &'t str,
    pub(crate) value: Node<'t>,
}

/// Where a text stops being JSON, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Offset in bytes.
    pub(crate) at: usize,
    pub(crate) why: Why,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// The text ends where something must follow.
    CutOff,
    /// Something follows the value.
    Trailing,
    /// Any other reason, as the core names them.
    Malformed(Malformed),
}

/// Reads the whole text.
pub(crate) fn read(text: &[u8]) -> Result<Node<'_>, Fault> {
    let text = core::str::from_utf8(text)
        .map_err(|error| Fault { at: error.valid_up_to(), why: Why::Malformed(Malformed::Utf8) })?;
    let mut reader = Reader { text, at: 0, depth: 0 };
    let root = reader.value()?;
    reader.blanks();
    if reader.at == text.len() { Ok(root) } else { Err(Fault { at: reader.at, why: Why::Trailing }) }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: u8,
}

impl<'t> Reader<'t> {
    fn value(&mut self) -> Result<Node<'t>, Fault> {
        self.blanks();
        let at = self.at;
        let kind = match self.peek() {
            Some(b'{') => Kind::Object(self.container(b'}', Self::member)?),
            Some(b'[') => Kind::Array(self.container(b']', Self::value)?),
            Some(b'"') => {
                self.string()?;
                Kind::String
            }
            Some(b'-' | b'0'..=b'9') => {
                self.number()?;
                Kind::Number
            }
            _ => self.literal()?,
        };
        Ok(Node { at, raw: self.since(at), kind })
    }

    /// The items between the bracket that comes next and the closing one.
    fn container<T>(&mut self, end: u8, item: fn(&mut Self) -> Result<T, Fault>) -> Result<Vec<T>, Fault> {
        if self.depth == MAX_DEPTH {
            return Err(Fault { at: self.at, why: Why::Malformed(Malformed::Depth) });
        }
        self.depth += 1;
        self.at += 1;
        let mut items = Vec::new();
        self.blanks();
        if !self.skip(end) {
            loop {
                items.push(item(self)?);
                self.blanks();
                if self.skip(end) {
                    break;
                }
                self.expect(b',')?;
            }
        }
        self.depth -= 1;
        Ok(items)
    }

    fn member(&mut self) -> Result<Member<'t>, Fault> {
        self.blanks();
        if self.peek() != Some(b'"') {
            return Err(self.unexpected());
        }
        let at = self.at;
        self.string()?;
        let name = self.since(at);
        self.blanks();
        self.expect(b':')?;
        Ok(Member { at, name, value: self.value()? })
    }

    fn string(&mut self) -> Result<(), Fault> {
        let at = self.at;
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => break,
                // Whatever is escaped cannot end the string; the core looks at it below.
                Some(b'\\') if self.at + 1 < self.text.len() => self.at += 1,
                Some(0x20..=b'[' | b']'..) => {}
                Some(b'\\') => return Err(Fault { at: self.text.len(), why: Why::CutOff }),
                _ => return Err(self.unexpected()),
            }
            self.at += 1;
            while !self.text.is_char_boundary(self.at) {
                self.at += 1;
            }
        }
        self.at += 1;
        self.ask_the_core(at)
    }

    fn number(&mut self) -> Result<(), Fault> {
        let at = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')) {
            self.at += 1;
        }
        self.ask_the_core(at)
    }

    fn literal(&mut self) -> Result<Kind<'t>, Fault> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        for (word, kind) in [("null", Kind::Null), ("true", Kind::Boolean), ("false", Kind::Boolean)] {
            if rest.starts_with(word) {
                self.at += word.len();
                return Ok(kind);
            }
            if !rest.is_empty() && word.starts_with(rest) {
                self.at = self.text.len();
            }
        }
        Err(self.unexpected())
    }

    /// Whether the string or number that began at `at` is one.
    fn ask_the_core(&self, at: usize) -> Result<(), Fault> {
        match json::check(self.since(at).as_bytes(), 0, Duplicates::Allowed) {
            Ok(_) => Ok(()),
            Err(why) => Err(Fault { at, why: Why::Malformed(why) }),
        }
    }

    fn expect(&mut self, byte: u8) -> Result<(), Fault> {
        if self.skip(byte) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn skip(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn since(&self, at: usize) -> &'t str {
        self.text.get(at..self.at).unwrap_or_default()
    }

    fn unexpected(&self) -> Fault {
        let why = if self.at >= self.text.len() { Why::CutOff } else { Why::Malformed(Malformed::Syntax) };
        Fault { at: self.at, why }
    }
}

impl<'t> Node<'t> {
    /// The members of an object; of anything else none.
    pub(crate) fn members(&self) -> &[Member<'t>] {
        match &self.kind {
            Kind::Object(members) => members,
            _ => &[],
        }
    }

    /// The value of the member with this name.
    pub(crate) fn get(&self, name: &str) -> Option<&Node<'t>> {
        self.members().iter().find(|member| member.is_named(name)).map(|member| &member.value)
    }

    /// What kind of value this is, with its article.
    pub(crate) fn kind_name(&self) -> &'static str {
        match self.kind {
            Kind::Null => "null",
            Kind::Boolean => "a boolean",
            Kind::Number => "a number",
            Kind::String => "a string",
            Kind::Array(_) => "an array",
            Kind::Object(_) => "an object",
        }
    }
}

impl Member<'_> {
    /// Whether the name, escapes resolved, is this one.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        unquoted(self.name) == name || self.name.contains('\\') && unescape(self.name) == name
    }
}

fn unquoted(raw: &str) -> &str {
    raw.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or_default()
}

/// The text that a string means; `raw` has its quotation marks and has been checked.
pub(crate) fn unescape(raw: &str) -> String {
    let mut units = Vec::new();
    let mut meant = String::with_capacity(raw.len());
    let mut rest = unquoted(raw).chars();
    while let Some(character) = rest.next() {
        let escaped = if character == '\\' { rest.next() } else { None };
        if let Some('u') = escaped {
            let digits: String = rest.by_ref().take(4).collect();
            units.push(u16::from_str_radix(&digits, 16).unwrap_or(0xfffd));
            continue;
        }
        push_units(&mut meant, &mut units);
        meant.push(match escaped {
            None => character,
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some(itself) => itself,
        });
    }
    push_units(&mut meant, &mut units);
    meant
}

fn push_units(meant: &mut String, units: &mut Vec<u16>) {
    meant.extend(char::decode_utf16(units.drain(..)).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)));
}
