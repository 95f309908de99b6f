//! The same JSON, written in other ways: what parsers and writers in between make of a body.
//!
//! A body that was parsed and written again has the same values in the same order, and other blanks, other escapes, a
//! line feed more or less. The usual writers are few, so the bytes that were signed can be tried: five ways of spacing,
//! four ways of writing strings, with and without a line feed at the end; then the same with the numbers in other ways
//! (`numbers.rs`). What cannot be undone (numbers that were rounded, members that were sorted) is left to
//! [`crate::body_shape`].

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::BODY_LIMIT;
use crate::cause::Cause;
use crate::numbers::{ALL_AT_ONCE, Numbers, SINGLE_FORMS};
use crate::report::Finding;
use crate::search::Fits;
use crate::tree::{self, Kind, Node, unescape};

/// Indenting can make a body many times as long. Beyond this it is given up.
const SIZE_MAX: usize = 4 * BODY_LIMIT;
/// In longer bodies other ways of writing numbers are not tried, and in no body those of more numbers one by one.
const NUMBERS_BODY_MAX: usize = 64 << 10;
const NUMBERS_MAX: usize = 64;

/// What stands between tokens.
#[derive(Clone, Copy)]
enum Spacing {
    Compact,
    /// A blank behind commas and colons, as Python writes.
    Blanks,
    /// Every item on a line of its own, indented by this.
    Lines(&'static str),
}

/// How the characters of strings are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strings {
    AsTheyAre,
    /// Escaped only where JSON demands it.
    Plain,
    /// Beyond ASCII everything is escaped, as Python writes.
    Ascii,
    /// As PHP writes: the same, and slashes.
    AsciiAndSlashes,
}

const SPACINGS: [(Spacing, &str); 5] = [
    (Spacing::Compact, "without blanks between its tokens"),
    (Spacing::Blanks, "with a blank behind every comma and colon"),
    (Spacing::Lines("  "), "indented by two blanks"),
    (Spacing::Lines("    "), "indented by four blanks"),
    (Spacing::Lines("\t"), "indented by tabs"),
];

const STRINGS: [(Strings, &str); 4] = [
    (Strings::AsTheyAre, ""),
    (Strings::Plain, ", with no more escapes than needed"),
    (Strings::Ascii, ", with \\u escapes for what is not ASCII"),
    (Strings::AsciiAndSlashes, ", with \\u escapes for what is not ASCII and escaped slashes"),
];

/// The way of writing the body's JSON that fits.
pub(crate) fn undone(body: &[u8], fits: Fits<'_>) -> Option<Finding> {
    let root = tree::read(body).ok()?;
    let mut attempt = Attempt { root: &root, text: Vec::new(), fits };
    for (strings, escapes) in STRINGS {
        for (spacing, blanks) in SPACINGS {
            if let Some(end) = attempt.fits(spacing, strings, Numbers::AsTheyAre) {
                return Some(found(blanks, escapes, "", end));
            }
        }
    }
    if body.len() <= NUMBERS_BODY_MAX { attempt.other_numbers() } else { None }
}

fn found(blanks: &str, escapes: &str, numbers: &str, end: &str) -> Finding {
    let evidence = format!("The signature is that of the same JSON {blanks}{escapes}{numbers}{end}.");
    Finding::new(Cause::BodyReserialized, evidence)
}

/// The body in one way of writing after the other.
struct Attempt<'a, 't> {
    root: &'a Node<'t>,
    text: Vec<u8>,
    fits: Fits<'a>,
}

impl Attempt<'_, '_> {
    /// Whether the body fits when it is written so, and if it does, how it ends.
    fn fits(&mut self, spacing: Spacing, strings: Strings, numbers: Numbers) -> Option<&'static str> {
        self.text.clear();
        let mut writer =
            Writer { spacing, strings, numbers, seen: 0, rewritten: false, text: &mut self.text };
        writer.value(self.root, 0)?;
        if numbers != Numbers::AsTheyAre && !writer.rewritten {
            return None;
        }
        if (self.fits)(&self.text) {
            return Some("");
        }
        self.text.push(b'\n');
        (self.fits)(&self.text).then_some(", with a line feed at its end")
    }

    fn other_numbers(&mut self) -> Option<Finding> {
        for (numbers, told) in ALL_AT_ONCE {
            for (strings, escapes) in STRINGS {
                for (spacing, blanks) in SPACINGS {
                    if let Some(end) = self.fits(spacing, strings, numbers) {
                        return Some(found(blanks, escapes, told, end));
                    }
                }
            }
        }
        let (spacing, blanks) = (Spacing::Compact, "without blanks between its tokens");
        for index in 0..NUMBERS_MAX {
            for form in 0..SINGLE_FORMS {
                if let Some(end) = self.fits(spacing, Strings::AsTheyAre, Numbers::One { index, form }) {
                    return Some(found(blanks, "", ", with one number written in another way", end));
                }
            }
        }
        None
    }
}

struct Writer<'w> {
    spacing: Spacing,
    strings: Strings,
    numbers: Numbers,
    /// Numbers so far.
    seen: usize,
    /// Whether one of them was written otherwise than it stands.
    rewritten: bool,
    text: &'w mut Vec<u8>,
}

impl Writer<'_> {
    /// Writes one value inside so many containers; `None` when the text becomes too long.
    fn value(&mut self, node: &Node<'_>, depth: usize) -> Option<()> {
        if self.text.len() > SIZE_MAX {
            return None;
        }
        match &node.kind {
            Kind::Array(items) => {
                self.container([b'[', b']'], items, depth, |writer, item| writer.value(item, depth + 1))
            }
            Kind::Object(members) => self.container([b'{', b'}'], members, depth, |writer, member| {
                writer.string(member.name);
                writer.push(if matches!(writer.spacing, Spacing::Compact) { ":" } else { ": " });
                writer.value(&member.value, depth + 1)
            }),
            Kind::String => {
                self.string(node.raw);
                Some(())
            }
            Kind::Number => {
                self.number(node.raw, depth);
                Some(())
            }
            Kind::Null | Kind::Boolean => {
                self.push(node.raw);
                Some(())
            }
        }
    }

    fn number(&mut self, raw: &str, depth: usize) {
        let other = self.numbers.rewritten(raw, self.seen, depth);
        self.seen += 1;
        self.rewritten |= other.is_some();
        self.push(other.as_deref().unwrap_or(raw));
    }

    fn container<T>(
        &mut self,
        [open, close]: [u8; 2],
        items: &[T],
        depth: usize,
        mut write: impl FnMut(&mut Self, &T) -> Option<()>,
    ) -> Option<()> {
        self.text.push(open);
        for (index, item) in items.iter().enumerate() {
            match (self.spacing, index) {
                (Spacing::Blanks, 1..) => self.push(", "),
                (_, 1..) => self.push(","),
                _ => {}
            }
            self.new_line(depth + 1);
            write(self, item)?;
        }
        if !items.is_empty() {
            self.new_line(depth);
        }
        self.text.push(close);
        Some(())
    }

    fn new_line(&mut self, depth: usize) {
        if let Spacing::Lines(indent) = self.spacing {
            self.push("\n");
            for _ in 0..depth {
                self.push(indent);
            }
        }
    }

    fn string(&mut self, raw: &str) {
        if self.strings == Strings::AsTheyAre {
            return self.push(raw);
        }
        self.push("\"");
        for character in unescape(raw).chars() {
            self.character(character);
        }
        self.push("\"");
    }

    fn character(&mut self, character: char) {
        match character {
            '"' => self.push("\\\""),
            '\\' => self.push("\\\\"),
            '\u{8}' => self.push("\\b"),
            '\u{c}' => self.push("\\f"),
            '\n' => self.push("\\n"),
            '\r' => self.push("\\r"),
            '\t' => self.push("\\t"),
            '/' if self.strings == Strings::AsciiAndSlashes => self.push("\\/"),
            '\0'..='\u{1f}' => self.unit(character as u16),
            '\u{80}'.. if self.strings != Strings::Plain => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    self.unit(*unit);
                }
            }
            _ => self.push(character.encode_utf8(&mut [0; 4])),
        }
    }

    fn unit(&mut self, unit: u16) {
        let escape: String = format!("\\u{unit:04x}");
        self.push(&escape);
    }

    fn push(&mut self, text: &str) {
        self.text.extend_from_slice(text.as_bytes());
    }
}
