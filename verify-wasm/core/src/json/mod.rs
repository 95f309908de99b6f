//! A checking reader of JSON text: one pass, no document tree, no recursion.
//!
//! The text is first checked to be strict UTF-8 as a whole; then it is walked once. A caller that only wants a
//! verdict uses [`check`]. The reader of events ([`crate::event`]) steps with a cursor through the objects it
//! knows and lets it walk over the rest. Either way every byte is held to RFC 8259 and to the limits of contract
//! 10.4: bounded nesting, no lone surrogate escape, no number beyond the range of a double.
//!
//! Duplicate names are legal in RFC 8259 and readers disagree about what they mean; where a caller cares, names
//! are collected and compared after unescaping.
//!
//! Deliberately absent: values. Whoever needs them parses the checked text with a parser of their choice.

mod borders;
mod cursor;
mod masks;
mod names;
mod number;
mod skim;
mod string;
mod walk;

use core::fmt;

pub(crate) use cursor::{Cursor, Value};
pub(crate) use names::Names;
pub(crate) use number::safe_integer;

/// The deepest nesting of containers that any limit may allow.
pub const MAX_DEPTH: u8 = 127;

/// How closely a reader looks at what it passes over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Diligence {
    /// Every rule.
    Alone,
    /// What a parser of RFC 8259 like `JSON.parse` would find is left to it. The verdict "accepted" holds only if that
    /// accepts the text as well; a refusal may have the wrong reason.
    BesideParser,
}

/// Why a text was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// Not strict UTF-8.
    Utf8,
    /// Not the grammar of RFC 8259, or not exactly one value.
    Syntax,
    /// More nested containers than allowed.
    Depth,
    /// A `\u` escape of half a surrogate pair.
    Surrogate,
    /// A number beyond the range of a double.
    Range,
    /// A name occurs twice in one object, where the caller asked for unique names.
    Duplicate,
}

impl Malformed {
    /// The reason as a phrase for people.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Utf8 => "not valid UTF-8",
            Self::Syntax => "not one JSON value",
            Self::Depth => "nested too deeply",
            Self::Surrogate => "a lone surrogate escape",
            Self::Range => "a number beyond the range of a double",
            Self::Duplicate => "a member name occurs twice",
        }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl core::error::Error for Malformed {}

/// Whether an object may hold a name twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Duplicates {
    /// As RFC 8259 has it.
    Allowed,
    /// In no object of the text.
    Refused,
}

/// Checks that `text` is exactly one JSON value, of any kind, with at most `depth` nested containers
/// (values above [`MAX_DEPTH`] count as [`MAX_DEPTH`]).
///
/// # Errors
///
/// The first reason met, in the order of the text; [`Malformed::Utf8`] before all others.
pub fn check(text: &[u8], depth: u8, duplicates: Duplicates) -> Result<&str, Malformed> {
    let text = core::str::from_utf8(text).map_err(|_| Malformed::Utf8)?;
    let depth = depth.min(MAX_DEPTH);
    let rest = match duplicates {
        Duplicates::Allowed => walk::skip(text.as_bytes(), depth)?,
        Duplicates::Refused => walk::skip_unique(text, depth)?,
    };
    if walk::skip_blanks(rest).is_empty() { Ok(text) } else { Err(Malformed::Syntax) }
}
