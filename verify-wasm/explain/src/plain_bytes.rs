//! Changes of a body that need no look at its JSON: line ends, byte order marks, blanks, character sets.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::cause::Cause;
use crate::report::Finding;
use crate::search::Fits;

const BOM: &[u8] = "\u{feff}".as_bytes();

/// What Windows-1252 has in 0x80 to 0x9F; where it has nothing, decoders keep the control character.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}',
    '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// The first of these changes that, undone, gives a body that fits.
pub(crate) fn undone(body: &[u8], fits: Fits<'_>) -> Option<Finding> {
    for (cause, state, changed) in guesses(body) {
        if changed != body && fits(&changed) {
            return Some(Finding::new(cause, format!("The signature is that of the body {state}.")));
        }
    }
    None
}

/// What undoes a change, where it can have happened.
type Undo = fn(&[u8]) -> Option<Vec<u8>>;

fn guesses(body: &[u8]) -> impl Iterator<Item = (Cause, &'static str, Vec<u8>)> {
    let guesses: [(Cause, &'static str, Undo); 14] = [
        (Cause::BodyNewline, "without the line feed at its end", |body| cut_end(body, b"\n")),
        (Cause::BodyNewline, "without the CR LF at its end", |body| cut_end(body, b"\r\n")),
        (Cause::BodyNewline, "with a line feed at its end", |body| Some([body, b"\n"].concat())),
        (Cause::BodyNewline, "with CR LF at its end", |body| Some([body, b"\r\n"].concat())),
        (Cause::BodyTrimmed, "without the blanks around it", |body| Some(body.trim_ascii().to_vec())),
        (Cause::BodyTrimmed, "without the zero bytes at its end", without_zeros),
        (Cause::BodyBom, "without the byte order mark", |body| body.strip_prefix(BOM).map(<[u8]>::to_vec)),
        (Cause::BodyBom, "with a byte order mark in front", |body| Some([BOM, body].concat())),
        (Cause::BodyLineEndings, "with LF where it has CR LF", lf),
        (Cause::BodyLineEndings, "with CR LF where it has LF", crlf),
        (Cause::BodyCharset, "before its UTF-8 was read as Latin-1", |body| from_latin1_text(body, latin1)),
        (Cause::BodyCharset, "before its UTF-8 was read as Windows-1252", |body| {
            from_latin1_text(body, windows_1252)
        }),
        (Cause::BodyCharset, "before it was written as Latin-1", to_utf8),
        (Cause::BodyCharset, "before it was written as UTF-16", from_utf16),
    ];
    guesses.into_iter().filter_map(|(cause, state, change)| Some((cause, state, change(body)?)))
}

fn cut_end(body: &[u8], end: &[u8]) -> Option<Vec<u8>> {
    body.strip_suffix(end).map(<[u8]>::to_vec)
}

fn without_zeros(body: &[u8]) -> Option<Vec<u8>> {
    let length = body.iter().rposition(|byte| *byte != 0)? + 1;
    body.get(..length).map(<[u8]>::to_vec)
}

fn lf(body: &[u8]) -> Option<Vec<u8>> {
    let mut changed = Vec::with_capacity(body.len());
    for (index, byte) in body.iter().enumerate() {
        if *byte != b'\r' || body.get(index + 1) != Some(&b'\n') {
            changed.push(*byte);
        }
    }
    Some(changed)
}

fn crlf(body: &[u8]) -> Option<Vec<u8>> {
    let lines: Vec<&[u8]> = body.split(|byte| *byte == b'\n').collect();
    (!body.contains(&b'\r')).then(|| lines.join(&b"\r\n"[..]))
}

/// UTF-8 whose bytes were each taken as a character and written as UTF-8 again.
fn from_latin1_text(body: &[u8], byte_of: fn(char) -> Option<u8>) -> Option<Vec<u8>> {
    core::str::from_utf8(body).ok()?.chars().map(byte_of).collect()
}

fn latin1(character: char) -> Option<u8> {
    u8::try_from(u32::from(character)).ok()
}

fn windows_1252(character: char) -> Option<u8> {
    match WINDOWS_1252.iter().position(|known| *known == character) {
        Some(place) => u8::try_from(0x80 + place).ok(),
        None => latin1(character),
    }
}

/// Text whose characters were written as one byte each.
fn to_utf8(body: &[u8]) -> Option<Vec<u8>> {
    let text = |body: &[u8]| body.iter().copied().map(char::from).collect::<String>().into_bytes();
    core::str::from_utf8(body).is_err().then(|| text(body))
}

fn from_utf16(body: &[u8]) -> Option<Vec<u8>> {
    let (unit, text): (fn([u8; 2]) -> u16, _) = match body {
        [0xff, 0xfe, text @ ..] => (u16::from_le_bytes, text),
        [0xfe, 0xff, text @ ..] => (u16::from_be_bytes, text),
        [_, 0, ..] => (u16::from_le_bytes, body),
        [0, _, ..] => (u16::from_be_bytes, body),
        _ => return None,
    };
    let (pairs, []) = text.as_chunks() else { return None };
    let characters = char::decode_utf16(pairs.iter().copied().map(unit));
    characters.collect::<Result<String, _>>().ok().map(String::into_bytes)
}
