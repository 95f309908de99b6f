//! Small changes of a text, made by bytes: pieces put in, bytes changed or taken out, stretches said twice.

use arbitrary::{Result, Unstructured};

use crate::pick::one_of;

/// Pieces that change what a JSON text means.
const PIECES: &[&str] = &[
    "\"",
    "\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    " ",
    "\n",
    "\0",
    "\u{feff}",
    "0",
    "1e999",
    "-",
    "null",
    "true",
    "\\ud800",
    "\\u0069",
    "\"id\":",
    "\"id\":\"evt_1\",",
    "\"data\":{},",
    "\"object\":{},",
    "\"sequence\":",
    "\"links\":null,",
    "{}",
    "[]",
    "\u{e9}",
    "\u{1f6d2}",
    "\u{7f}",
    "e5",
    ".5",
    "//",
];

/// Changes `text` in one place.
pub(crate) fn mutate(u: &mut Unstructured<'_>, text: &mut Vec<u8>) -> Result<()> {
    let at = u.int_in_range(0..=text.len())?;
    let end = (at + u.int_in_range(1..=24)?).min(text.len());
    match u.int_in_range(0..=5)? {
        0 => drop(text.splice(at..at, one_of(u, PIECES)?.bytes())),
        1 => drop(text.splice(at..end, one_of(u, PIECES)?.bytes())),
        2 => drop(text.drain(at..end)),
        3 => drop(text.splice(at..(at + 1).min(end), [u.arbitrary()?])),
        4 => {
            let piece: Vec<_> = text.get(at..end).unwrap_or_default().to_vec();
            let to = u.int_in_range(0..=text.len())?;
            drop(text.splice(to..to, piece));
        }
        _ => text.truncate(at),
    }
    Ok(())
}
