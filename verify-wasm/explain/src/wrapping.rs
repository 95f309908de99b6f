//! Bodies inside other things: JSON in a JSON string, a buffer as JSON, base64, and what form parsers make of a body.

use alloc::format;
use alloc::vec::Vec;

use crate::cause::Cause;
use crate::digest::decode_base64;
use crate::report::Finding;
use crate::search::Fits;
use crate::tree::{self, Kind, Node, unescape};

/// A body in one of these wrappings, taken out of it.
pub(crate) struct Wrapped {
    pub(crate) cause: Cause,
    /// What the body is, for a sentence that begins with "The body is".
    pub(crate) as_what: &'static str,
    content: Vec<u8>,
}

/// The wrapping without which the body fits.
pub(crate) fn undone(body: &[u8], fits: Fits<'_>) -> Option<Finding> {
    let wrapped = unwrap(body)?;
    fits(&wrapped.content).then(|| {
        let evidence =
            format!("The body is {}, and the signature is that of what is in it.", wrapped.as_what);
        Finding::new(wrapped.cause, evidence)
    })
}

/// The wrapping that the body is in, if it is in any.
pub(crate) fn unwrap(body: &[u8]) -> Option<Wrapped> {
    match tree::read(body) {
        Ok(root) => from_json(&root),
        Err(_) => from_text(body.trim_ascii()),
    }
}

fn from_json(root: &Node<'_>) -> Option<Wrapped> {
    match (&root.kind, root.members()) {
        (Kind::String, _) => {
            let text = unescape(root.raw);
            let encoded = decode_base64(text.as_bytes()).filter(|content| content.starts_with(b"{"));
            Some(match encoded {
                Some(content) => {
                    Wrapped { cause: Cause::BodyBase64, as_what: "base64 in a JSON string", content }
                }
                None => Wrapped {
                    cause: Cause::BodyStringified,
                    as_what: "a JSON string",
                    content: text.into_bytes(),
                },
            })
        }
        (_, [only]) if unescape(only.name).starts_with('{') => Some(Wrapped {
            cause: Cause::BodyFormEncoded,
            as_what: "an object whose one name is a JSON text, as form parsers make it",
            content: unescape(only.name).into_bytes(),
        }),
        (_, members) if !members.is_empty() => {
            let content = buffer(root)?;
            let as_what = "the JSON of a buffer";
            Some(Wrapped { cause: Cause::BodyBufferJson, as_what, content })
        }
        _ => None,
    }
}

/// `{"type":"Buffer","data":[…]}`, or an object with a number for each index, as typed arrays become.
fn buffer(root: &Node<'_>) -> Option<Vec<u8>> {
    let byte = |node: &Node<'_>| node.raw.parse::<u8>().ok();
    if let (Some(kind), Some(Node { kind: Kind::Array(items), .. })) = (root.get("type"), root.get("data")) {
        return (kind.raw == "\"Buffer\"").then(|| items.iter().map(byte).collect())?;
    }
    let indexed = |(index, member): (usize, &tree::Member<'_>)| {
        (member.name.trim_matches('"').parse() == Ok(index)).then(|| byte(&member.value))?
    };
    root.members().iter().enumerate().map(indexed).collect()
}

fn from_text(text: &[u8]) -> Option<Wrapped> {
    let is_json = |content: &[u8]| content.trim_ascii_start().starts_with(b"{");
    if let Some(content) = decode_base64(text).filter(|content| is_json(content)) {
        return Some(Wrapped { cause: Cause::BodyBase64, as_what: "base64", content });
    }
    // A form's field may have a name; percent signs are needed for a JSON text in either case.
    let value = match text.iter().position(|byte| *byte == b'=') {
        Some(at) if at + 1 < text.len() && !text.starts_with(b"%7") => text.get(at + 1..)?,
        Some(at) if at + 1 == text.len() => text.get(..at)?,
        _ => text,
    };
    let content = percent_decoded(value)?;
    let as_what = "percent-encoded, as forms are sent";
    is_json(&content).then_some(Wrapped { cause: Cause::BodyFormEncoded, as_what, content })
}

/// `None` when nothing is encoded, or not well.
pub(crate) fn percent_decoded(text: &[u8]) -> Option<Vec<u8>> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    let mut encoded = false;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'%' => {
                let digits = rest.first_chunk::<2>()?;
                let digits = core::str::from_utf8(digits).ok()?;
                decoded.push(u8::from_str_radix(digits, 16).ok()?);
                rest = rest.get(2..).unwrap_or_default();
                encoded = true;
            }
            b'+' => decoded.push(b' '),
            _ => decoded.push(*byte),
        }
    }
    encoded.then_some(decoded)
}

/// Whether a text looks as if an object had been turned into it.
pub(crate) fn is_object_text(body: &[u8]) -> bool {
    let text = body.strip_prefix(b"\"").unwrap_or(body);
    text.starts_with(b"[object ") && text.contains(&b']')
}
