//! Strings: where they end, and what their escapes mean.
//!
//! The common string has no escape and is borrowed from the text. Its end is searched eight bytes at a time:
//! a quotation mark, a backslash and a control character each show as a set high bit, and the lowest set bit
//! is the first of them.

use alloc::borrow::Cow;
use alloc::string::String;

use super::Malformed;

/// A string of the text, between its quotation marks, escapes checked but not resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawString<'t> {
    pub(super) text: &'t str,
    pub(super) escaped: bool,
}

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// The offset of the first `"`, `\` or control character in `text`.
pub(super) fn find_special(text: &[u8]) -> Option<usize> {
    let (chunks, tail) = text.as_chunks::<8>();
    for (index, chunk) in chunks.iter().enumerate() {
        let word = u64::from_le_bytes(*chunk);
        let quote = word ^ (LOW * b'"' as u64);
        let backslash = word ^ (LOW * b'\\' as u64);
        // x - n borrows into the high bit exactly where x < n, for the lowest such byte; higher bytes may be
        // wrong, which does not matter to the search for the first.
        let hits = (quote.wrapping_sub(LOW) & !quote
            | backslash.wrapping_sub(LOW) & !backslash
            | word.wrapping_sub(LOW * 0x20) & !word)
            & HIGH;
        if hits != 0 {
            return Some(index * 8 + hits.trailing_zeros() as usize / 8);
        }
    }
    let at = tail.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20))?;
    Some(chunks.len() * 8 + at)
}

/// Checks the escape behind a backslash and returns its length in bytes without the backslash.
pub(super) fn scan_escape(text: &[u8]) -> Result<usize, Malformed> {
    match text.first() {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(1),
        Some(b'u') => decode_unicode(text).map(|(_, length)| length),
        _ => Err(Malformed::Syntax),
    }
}

/// The character of a `uXXXX` escape or of a pair of them, and the length of what wrote it.
fn decode_unicode(text: &[u8]) -> Result<(char, usize), Malformed> {
    let first = decode_unit(text).ok_or(Malformed::Syntax)?;
    if let Some(character) = char::from_u32(first) {
        return Ok((character, 5));
    }
    if first >= 0xdc00 {
        return Err(Malformed::Surrogate);
    }
    // A high half: a low one must follow at once. A malformed escape there is refused either way.
    let second = text.get(5..).and_then(|rest| rest.strip_prefix(b"\\")).and_then(decode_unit);
    match second {
        Some(second @ 0xdc00..=0xdfff) => {
            let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            char::from_u32(code).map(|character| (character, 11)).ok_or(Malformed::Surrogate)
        }
        _ => Err(Malformed::Surrogate),
    }
}

/// The UTF-16 unit that `uXXXX` writes.
fn decode_unit(text: &[u8]) -> Option<u32> {
    let digits: &[u8; 4] = text.strip_prefix(b"u")?.first_chunk()?;
    digits.iter().try_fold(0, |value, byte| Some(value << 4 | char::from(*byte).to_digit(16)?))
}

impl<'t> RawString<'t> {
    /// The string that is meant: borrowed when nothing is escaped.
    #[must_use]
    pub fn unescape(self) -> Cow<'t, str> {
        if self.escaped { Cow::Owned(unescape(self.text)) } else { Cow::Borrowed(self.text) }
    }
}

/// Resolves the escapes of a checked string.
fn unescape(text: &str) -> String {
    let mut meant = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((plain, escape)) = rest.split_once('\\') {
        meant.push_str(plain);
        let (character, length) = match escape.as_bytes().first() {
            Some(b'b') => ('\u{8}', 1),
            Some(b'f') => ('\u{c}', 1),
            Some(b'n') => ('\n', 1),
            Some(b'r') => ('\r', 1),
            Some(b't') => ('\t', 1),
            Some(b'u') => decode_unicode(escape.as_bytes()).unwrap_or((char::REPLACEMENT_CHARACTER, 1)),
            Some(byte) => (char::from(*byte), 1),
            None => break,
        };
        meant.push(character);
        rest = escape.get(length..).unwrap_or_default();
    }
    meant.push_str(rest);
    meant
}
