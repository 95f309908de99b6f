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
pub(crate) struct RawString<'t> {
    text: &'t str,
    escaped: bool,
}

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// A high bit for each `"`, `\` and control character among eight bytes of text, first byte lowest. Bits above
/// the lowest set one may be wrong; the search for the first does not ask them.
#[inline]
fn specials(word: u64) -> u64 {
    // x - n borrows into the high bit where x < n. Flipping bit 1 swaps `"` (0x22) with the blank (0x20) and
    // leaves control characters among themselves, so that "below 0x21" finds both in one subtraction.
    let quote_or_control = (word ^ (LOW * 0x02)).wrapping_sub(LOW * 0x21);
    let backslash = (word ^ (LOW * b'\\' as u64)).wrapping_sub(LOW);
    (quote_or_control | backslash) & !word & HIGH
}

/// Passes over the rest of a string whose opening quotation mark is read. What follows the closing one, and
/// whether there was an escape.
#[inline(always)] // The loop of the common string belongs into the caller's registers.
pub(super) fn scan_tail(mut text: &[u8]) -> Result<(&[u8], bool), Malformed> {
    while let Some((chunk, after)) = text.split_first_chunk() {
        let hits = specials(u64::from_le_bytes(*chunk));
        if hits != 0 {
            return match text.get(hits.trailing_zeros() as usize / 8..) {
                Some([b'"', rest @ ..]) => Ok((rest, false)),
                Some(rest) => scan_tail_slowly(rest),
                None => Err(Malformed::Syntax),
            };
        }
        text = after;
    }
    scan_tail_slowly(text)
}

/// The same for what the common string does not have: escapes, and the last bytes of the text.
#[inline(never)]
fn scan_tail_slowly(mut text: &[u8]) -> Result<(&[u8], bool), Malformed> {
    let mut escaped = false;
    loop {
        match skip_plain(text) {
            [b'"', rest @ ..] => return Ok((rest, escaped)),
            [b'\\', rest @ ..] => {
                let length = scan_escape(rest)?;
                text = rest.get(length..).ok_or(Malformed::Syntax)?;
                escaped = true;
            }
            _ => return Err(Malformed::Syntax),
        }
    }
}

/// `text` from its first `"`, `\` or control character on.
fn skip_plain(mut text: &[u8]) -> &[u8] {
    while let Some((chunk, after)) = text.split_first_chunk() {
        let hits = specials(u64::from_le_bytes(*chunk));
        if hits != 0 {
            return text.get(hits.trailing_zeros() as usize / 8..).unwrap_or_default();
        }
        text = after;
    }
    let plain = text.iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..0x20)).count();
    text.get(plain..).unwrap_or_default()
}

/// Checks the escape behind a backslash and returns its length in bytes without the backslash.
fn scan_escape(text: &[u8]) -> Result<usize, Malformed> {
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
    /// The string of `text` that begins where `from` does and whose closing quotation mark is the last byte
    /// before `rest`; both are tails of `text`.
    #[inline]
    pub(super) fn between(text: &'t str, from: &[u8], rest: &[u8], escaped: bool) -> Self {
        let start = text.len() - from.len();
        let end = text.len() - rest.len() - 1;
        // A string begins and ends beside quotation marks, so the bounds are always character boundaries.
        Self { text: text.get(start..end).unwrap_or_default(), escaped }
    }

    /// The string that is meant: borrowed when nothing is escaped.
    #[inline]
    pub(crate) fn unescape(self) -> Cow<'t, str> {
        if self.escaped { Cow::Owned(unescape(self.text)) } else { Cow::Borrowed(self.text) }
    }
}

/// Resolves the escapes of a checked string.
#[cold]
fn unescape(text: &str) -> String {
    let mut meant = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((plain, escape)) = next_escape(rest) {
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

/// What stands before the first backslash, and what behind it.
fn next_escape(text: &str) -> Option<(&str, &str)> {
    let (plain, escape) = text.split_at_checked(text.bytes().position(|byte| byte == b'\\')?)?;
    Some((plain, escape.get(1..)?))
}
