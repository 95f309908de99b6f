//! JSON values of every kind, with what readers disagree about: escapes, borders of numbers, depth.

use arbitrary::{Result, Unstructured};

use crate::pick::{mostly, one_of, rarely};

/// Numbers that every reader takes.
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "-0",
    "1.0",
    "0.5",
    "1e3",
    "1E+2",
    "10000000000000000e-1",
    "9007199254740991",
    "9007199254740991.0",
    "9007199254740991.4",
    "9007199254740991.5",
    "9007199254740992",
    "9007199254740993",
    "18446744073709551615",
    "18446744073709551616",
    "123456789012345678901234567890",
    "0.99999999999999999999",
    "4.9e-324",
    "2.4703282292062327e-324",
    "2.4703282292062328e-324",
    "1e-400",
    "-1e-400",
    "1e-99999999999999999999",
    "0e99999999999999999999",
    "1.7976931348623157e308",
    "1.7976931348623158e308",
    "179769313486231570000e289",
];

/// What is no number, or one that no double holds.
const NO_NUMBERS: &[&str] = &[
    "1e999",
    "-1e309",
    "1.7976931348623159e308",
    "1e99999999999999999999",
    "01",
    "-",
    "1.",
    ".5",
    "+1",
    "1e",
    "1e+",
    "0x10",
    "1_000",
    "NaN",
    "Infinity",
    "-Infinity",
];

/// What a string may hold.
const PIECES: &[&str] = &[
    "a",
    "",
    "café",
    "🛒",
    "\\n",
    "\\u0041",
    "\\u00e9",
    "\\ud83d\\uded2",
    "\\uD83D\\uDED2",
    "\\u0000",
    "\\\"",
    "\\\\",
    "\\/",
    "\\b\\f\\r\\t",
    "\u{7f}",
    "\u{85}",
    "\u{2028}",
    "\u{feff}",
    "\u{ffff}",
    "\u{10ffff}",
    "evt_1",
    "1234567",
    "12345678",
];

/// What none may hold.
const BROKEN_PIECES: &[&str] = &[
    "\\ud800",
    "\\udc00",
    "\\ud800\\ud800",
    "\\ud83d\\n",
    "\\ud83dx",
    "\\x",
    "\\u12",
    "\\u12g4",
    "\n",
    "\t",
    "\0",
    "\\",
];

/// Writes a value with at most `room` containers in each other.
pub(crate) fn write_value(u: &mut Unstructured<'_>, room: u8, out: &mut String) -> Result<()> {
    match u.int_in_range(0..=6)? {
        0 => out.push_str(one_of(u, &["null", "true", "false"])?),
        1 | 2 => out.push_str(mostly(u, 100, NUMBERS, NO_NUMBERS)?),
        3 | 4 => write_string(u, out)?,
        _ if room == 0 => out.push_str(one_of(u, &["{}", "[]", "[ ]", "{\n}"])?),
        5 => {
            out.push('[');
            for item in 0..u.int_in_range(0..=4)? {
                out.push_str(if item > 0 { "," } else { "" });
                write_value(u, room - 1, out)?;
            }
            out.push(']');
        }
        _ => {
            out.push('{');
            for member in 0..u.int_in_range(0..=4)? {
                out.push_str(if member > 0 { "," } else { "" });
                write_string(u, out)?;
                out.push(':');
                write_value(u, room - 1, out)?;
            }
            out.push('}');
        }
    }
    Ok(())
}

/// Writes a string, at times a long one.
pub(crate) fn write_string(u: &mut Unstructured<'_>, out: &mut String) -> Result<()> {
    out.push('"');
    for _ in 0..u.int_in_range(0..=5)? {
        out.push_str(mostly(u, 200, PIECES, BROKEN_PIECES)?);
    }
    if rarely(u, 60)? {
        let length = u.int_in_range(0..=20_000)?;
        out.extend(std::iter::repeat_n(one_of(u, &["x", "é", "\\n", "🛒"])?, length / 4));
    }
    out.push('"');
    Ok(())
}

/// So many containers in each other, of both kinds.
pub(crate) fn nested(u: &mut Unstructured<'_>, depth: usize) -> Result<String> {
    let is_object = u.arbitrary::<bool>()?;
    let (open, close) = if is_object { (r#"{"a":"#, "}") } else { ("[", "]") };
    Ok(format!("{}0{}", open.repeat(depth), close.repeat(depth)))
}
