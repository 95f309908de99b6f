//! The cursor: a position in a text, for a caller that wants some of its members.
//!
//! The caller enters an object, asks for one name after the other, and for each takes the value, enters it, or
//! walks over it. Every move either succeeds and stands behind what it read, or reports why the text is
//! malformed; after an error the cursor is of no further use.

use alloc::borrow::Cow;

use super::string::{self, RawString};
use super::{Diligence, Malformed, number, skim, walk};

/// A value as far as a rule could ask about it. What containers hold is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value<'t> {
    Null,
    Boolean(bool),
    Number(&'t str),
    String(RawString<'t>),
    Array,
    Object,
}

/// A position in a JSON text.
#[derive(Debug)]
pub(crate) struct Cursor<'t> {
    text: &'t str,
    rest: &'t [u8],
    /// How many more containers may be opened here.
    room: u8,
    /// Whether an object was just entered and none of its members taken yet.
    entered: bool,
    diligence: Diligence,
}

/// Below so many bytes of text it does not pay to look at blocks.
const SKIM_MIN: usize = 256;

impl<'t> Cursor<'t> {
    /// Stands before the first byte of `text`, in which at most `depth` containers may be nested.
    pub(crate) fn new(text: &'t str, depth: u8, diligence: Diligence) -> Self {
        Self { text, rest: text.as_bytes(), room: depth, entered: false, diligence }
    }

    /// Steps into an object, from whose name to name [`Cursor::member`] then leads. `false` when another value
    /// comes next, which stays.
    pub(crate) fn enter(&mut self) -> Result<bool, Malformed> {
        let [b'{', rest @ ..] = walk::skip_blanks(self.rest) else { return Ok(false) };
        self.rest = rest;
        self.room = self.room.checked_sub(1).ok_or(Malformed::Depth)?;
        self.entered = true;
        Ok(true)
    }

    /// The name of the next member of the innermost entered object, escapes resolved; the caller takes its
    /// value before asking again. `None` at the end of the object, which is then left.
    pub(crate) fn member(&mut self) -> Result<Option<Cow<'t, str>>, Malformed> {
        let first = core::mem::take(&mut self.entered);
        let quoted = match (walk::skip_blanks(self.rest), first) {
            ([b',', rest @ ..], false) => rest,
            ([b'}', rest @ ..], _) => {
                self.rest = rest;
                self.room = self.room.saturating_add(1);
                return Ok(None);
            }
            (rest, true) => rest,
            _ => return Err(Malformed::Syntax),
        };
        let from = walk::expect(quoted, b'"')?;
        let (rest, escaped) = string::scan_tail(from)?;
        self.rest = walk::expect(rest, b':')?;
        Ok(Some(RawString::between(self.text, from, rest, escaped).unescape()))
    }

    /// Steps into an array, from whose element to element [`Cursor::element`] then leads. `false` when another value
    /// comes next, which stays.
    pub(crate) fn enter_array(&mut self) -> Result<bool, Malformed> {
        let [b'[', rest @ ..] = walk::skip_blanks(self.rest) else { return Ok(false) };
        self.rest = rest;
        self.room = self.room.checked_sub(1).ok_or(Malformed::Depth)?;
        self.entered = true;
        Ok(true)
    }

    /// Whether the innermost entered array has another element, which the caller takes before asking again. At its end
    /// the array is left.
    pub(crate) fn element(&mut self) -> Result<bool, Malformed> {
        let first = core::mem::take(&mut self.entered);
        match (walk::skip_blanks(self.rest), first) {
            ([b']', rest @ ..], _) => {
                self.rest = rest;
                self.room = self.room.saturating_add(1);
                return Ok(false);
            }
            ([b',', rest @ ..], false) => self.rest = rest,
            (_, true) => {}
            _ => return Err(Malformed::Syntax),
        }
        Ok(true)
    }

    /// Takes one value of any kind, as it is written.
    pub(crate) fn take_text(&mut self) -> Result<&'t str, Malformed> {
        let start = self.text.len() - walk::skip_blanks(self.rest).len();
        self.take()?;
        self.text.get(start..self.text.len() - self.rest.len()).ok_or(Malformed::Syntax)
    }

    /// Takes one value of any kind.
    pub(crate) fn take(&mut self) -> Result<Value<'t>, Malformed> {
        let text = walk::skip_blanks(self.rest);
        let value;
        (value, self.rest) = match text {
            [b'"', from @ ..] => {
                let (rest, escaped) = string::scan_tail(from)?;
                (Value::String(RawString::between(self.text, from, rest, escaped)), rest)
            }
            [b'-' | b'0'..=b'9', ..] => {
                let rest = number::scan(text)?;
                let start = self.text.len() - text.len();
                let number = self.text.get(start..self.text.len() - rest.len());
                (Value::Number(number.ok_or(Malformed::Syntax)?), rest)
            }
            [b'{', ..] => (Value::Object, self.pass_over(text)?),
            [b'[', ..] => (Value::Array, self.pass_over(text)?),
            [b't', b'r', b'u', b'e', rest @ ..] => (Value::Boolean(true), rest),
            [b'f', b'a', b'l', b's', b'e', rest @ ..] => (Value::Boolean(false), rest),
            [b'n', b'u', b'l', b'l', rest @ ..] => (Value::Null, rest),
            _ => return Err(Malformed::Syntax),
        };
        Ok(value)
    }

    fn pass_over(&self, container: &'t [u8]) -> Result<&'t [u8], Malformed> {
        let is_long = container.len() >= SKIM_MIN;
        let skimmed = if is_long && self.diligence == Diligence::BesideParser {
            skim::container(container, self.room)
        } else {
            None
        };
        skimmed.map_or_else(|| walk::skip(container, self.room), Ok)
    }

    /// Only blanks may follow.
    pub(crate) fn end(self) -> Result<(), Malformed> {
        if walk::skip_blanks(self.rest).is_empty() { Ok(()) } else { Err(Malformed::Syntax) }
    }
}
