//! Small matters of text: what is a blank, how a number of things is said, how names are listed.

use alloc::format;
use alloc::string::String;

/// Without SP and HTAB at both ends, the only blanks of HTTP.
pub(crate) fn trim(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = value {
        value = rest;
    }
    while let [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

/// `1 byte`, `2 bytes`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    counted(number as u64, noun)
}

fn counted(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => String::from(*only),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// A stretch of time in the largest unit that says it well.
pub(crate) fn duration(seconds: u64) -> String {
    // Lengths fit the machine's words, times may not: WebAssembly's have 32 bits.
    match seconds {
        0..120 => counted(seconds, "second"),
        120..7_200 => format!("{} ({} minutes)", counted(seconds, "second"), seconds / 60),
        7_200..172_800 => format!("{} ({} hours)", counted(seconds, "second"), seconds / 3_600),
        _ => format!("{} ({} days)", counted(seconds, "second"), seconds / 86_400),
    }
}

/// Where `part` stands in `text` for the first time.
pub(crate) fn find(text: &str, part: &str) -> Option<usize> {
    // Asked of short texts: not worth the search of the standard library, which is many times as much code.
    text.as_bytes().windows(part.len()).position(|window| window == part.as_bytes())
}
