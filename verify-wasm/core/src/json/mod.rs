//! A checking reader of JSON text: one pass, no document tree, no recursion.
//!
//! The text is first checked to be strict UTF-8 as a whole; then a [`Scanner`] walks it once. A caller that
//! wants to know some members ([`crate::event`]) steps through those objects itself and lets the scanner skip
//! the rest; a caller that only wants a verdict uses [`check`]. Either way every byte is held to RFC 8259 and
//! to the limits of contract 10.4: bounded nesting, no lone surrogate escape, no number beyond the range of a
//! double. Open containers are bits of one machine word, so the depth of an attacker's text costs no stack.
//!
//! Duplicate names are legal in RFC 8259 and readers disagree about what they mean. [`Names`] collects the
//! names of one object (or of all) and tells whether one repeats, compared after unescaping.
//!
//! Deliberately absent: values. Whoever needs them parses the checked text with a parser of their choice.

mod names;
mod number;
mod scanner;
mod string;

use core::fmt;

pub use names::Names;
pub use number::safe_integer;
pub use scanner::{Kind, Scanner};
pub use string::RawString;

/// The deepest nesting of containers that any limit may allow.
pub const MAX_DEPTH: u8 = 127;

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
    let mut scanner = Scanner::new(text, depth);
    match duplicates {
        Duplicates::Allowed => scanner.skip()?,
        Duplicates::Refused => scanner.skip_unique()?,
    }
    scanner.end()?;
    Ok(text)
}
