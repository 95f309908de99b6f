//! What the looks of a body suggest when no signature can confirm it, and why a body is missing.
//!
//! The service sends compact JSON in UTF-8, uncompressed, with a `Content-Length`, `id` first. What differs from that
//! has probably been changed on the way.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::cause::Cause;
use crate::numbers::is_rounded;
use crate::report::Finding;
use crate::text::{count, find, trim};
use crate::tree::{self, Fault, Kind, Node, Why};
use crate::{BODY_LIMIT, Delivery, wrapping};

const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();

/// Why there is no body.
pub(crate) fn missing(delivery: &Delivery<'_>) -> Vec<Finding> {
    match content_length(delivery) {
        Some(0) => vec![Finding::new(Cause::BodyNotSent, "Content-Length is 0.")],
        Some(length) => {
            let evidence = format!(
                "Content-Length is {length}, but no byte was handed in: something has read the body before."
            );
            vec![Finding::new(Cause::BodyConsumed, evidence)]
        }
        None => vec![
            Finding::new(
                Cause::BodyConsumed,
                "No byte of a body was handed in; a parser may have read it before.",
            ),
            Finding::new(Cause::BodyNotSent, "No Content-Length tells whether the request had a body."),
        ],
    }
}

/// What about this body is suspicious, the most telling first.
pub(crate) fn suspicions(delivery: &Delivery<'_>) -> Vec<Finding> {
    let body = delivery.body.unwrap_or_default();
    let mut found = Vec::new();
    if wrapping::is_object_text(body.get(..40).unwrap_or(body)) {
        found.push(Finding::new(
            Cause::BodyObjectText,
            "The body begins with [object, as an object does that is turned into text.",
        ));
        return found;
    }
    found.extend(compressed(delivery));
    let tree = (body.len() <= BODY_LIMIT).then(|| tree::read(body));
    if tree.is_some() {
        found.extend(wrapping::unwrap(body).map(|wrapped| {
            let evidence = format!("The body is {}.", wrapped.as_what);
            Finding::new(wrapped.cause, evidence)
        }));
    }
    found.extend(length(delivery, tree.as_ref()));
    if found.is_empty() {
        found.extend(characters(body));
    }
    if let Some(Ok(root)) = &tree
        && found.is_empty()
    {
        found.extend(rewritten(body, root));
    }
    found
}

fn compressed(delivery: &Delivery<'_>) -> Option<Finding> {
    let by_its_first_bytes = match delivery.body.unwrap_or_default() {
        [0x1f, 0x8b, ..] => Some("gzip"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some("zstd"),
        [0x78, 0x01 | 0x5e | 0x9c | 0xda, ..] => Some("zlib"),
        _ => None,
    };
    let encoding =
        line("content-encoding", delivery).is_some_and(|value| !value.eq_ignore_ascii_case(b"identity"));
    let evidence = match (by_its_first_bytes, encoding) {
        (Some(format), _) => format!("The body begins as {format} does."),
        (None, true) => String::from("The request has a Content-Encoding, which the service never sends."),
        (None, false) => return None,
    };
    Some(Finding::new(Cause::BodyCompressed, evidence))
}

fn length(delivery: &Delivery<'_>, tree: Option<&Result<Node<'_>, Fault>>) -> Option<Finding> {
    let is_cut = matches!(tree, Some(Err(Fault { why: Why::CutOff, .. })));
    let have = delivery.body.unwrap_or_default().len();
    match content_length(delivery) {
        Some(sent) if have < sent && is_cut => {
            let evidence =
                format!("The JSON text ends too early, at {have} of {sent} bytes of Content-Length.");
            Some(Finding::new(Cause::BodyCutOff, evidence))
        }
        Some(sent) if sent != have => {
            let have = count(have, "byte");
            let evidence = format!("Content-Length is {sent}, but {have} were handed in.");
            Some(Finding::new(Cause::BodyLengthDiffers, evidence))
        }
        Some(_) => None,
        None => is_cut.then(|| {
            Finding::new(
                Cause::BodyCutOff,
                format!("The JSON text ends too early, after {}.", count(have, "byte")),
            )
        }),
    }
}

fn characters(body: &[u8]) -> Option<Finding> {
    if let Err(error) = core::str::from_utf8(body) {
        let evidence = format!("The body is not UTF-8 at byte {}.", error.valid_up_to());
        return Some(Finding::new(Cause::BodyCharset, evidence));
    }
    let lost = body.windows(REPLACEMENT.len()).filter(|window| *window == REPLACEMENT).count();
    (lost > 0).then(|| {
        let evidence = format!(
            "The body has {} (U+FFFD), which decoders write for bytes that they cannot read.",
            count(lost, "replacement character")
        );
        Finding::new(Cause::BodyDecodedLossy, evidence)
    })
}

/// Signs of JSON that was written by somebody else.
fn rewritten(body: &[u8], root: &Node<'_>) -> Option<Finding> {
    let names: Vec<&str> = root.members().iter().map(|member| member.name).collect();
    let evidence = if let Some(at) = blank_between_tokens(body) {
        format!("The body has a blank between tokens at byte {at}; the service writes none.")
    } else if names.len() > 2 && names.is_sorted() {
        String::from("The members are in alphabetical order; the service begins with id and type.")
    } else if root.get("id").is_some() && names.first() != Some(&"\"id\"") {
        String::from("The first member is not id, with which the service begins.")
    } else if has_rounded_number(root) {
        String::from("A number looks rounded: parsers that know doubles alone lose digits of long integers.")
    } else if has_needless_escape(root) {
        String::from("Characters are written as \\u escapes or slashes escaped; the service does neither.")
    } else {
        return None;
    };
    Some(Finding::new(Cause::BodyReserialized, evidence))
}

/// The offset of a blank outside of strings.
fn blank_between_tokens(body: &[u8]) -> Option<usize> {
    let mut in_string = false;
    let mut escaped = false;
    body.iter().position(|byte| {
        let blank = !in_string && byte.is_ascii_whitespace();
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            _ => {}
        }
        blank
    })
}

fn has_rounded_number(node: &Node<'_>) -> bool {
    match &node.kind {
        Kind::Number => is_rounded(node.raw),
        Kind::Array(items) => items.iter().any(has_rounded_number),
        Kind::Object(members) => members.iter().any(|member| has_rounded_number(&member.value)),
        Kind::Null | Kind::Boolean | Kind::String => false,
    }
}

fn has_needless_escape(node: &Node<'_>) -> bool {
    let has = |raw: &str, escape| find(raw, escape).is_some();
    let needless = |raw: &str| has(raw, "\\/") || has(raw, "\\u") && !has(raw, "\\u00");
    match &node.kind {
        Kind::String => needless(node.raw),
        Kind::Array(items) => items.iter().any(has_needless_escape),
        Kind::Object(members) => {
            members.iter().any(|member| needless(member.name) || has_needless_escape(&member.value))
        }
        Kind::Null | Kind::Boolean | Kind::Number => false,
    }
}

fn content_length(delivery: &Delivery<'_>) -> Option<usize> {
    core::str::from_utf8(line("content-length", delivery)?).ok()?.parse().ok()
}

fn line<'a>(name: &str, delivery: &Delivery<'a>) -> Option<&'a [u8]> {
    delivery.lines.iter().find(|line| line.name.eq_ignore_ascii_case(name)).map(|line| trim(line.value))
}
