//! The looks of a signature header: what is written otherwise than `v1=<64 lowercase digits>`.
//!
//! Only looks: whether a digest fits is for [`crate::search`] to find. A signature that is cut off is recognised by its
//! length alone and never compared with the beginning of an expected digest, because that would tell, digit by digit,
//! what the rest has to be.

use alloc::format;
use alloc::vec::Vec;

use verify_core::header::SIGNATURE_LIMIT;

use crate::cause::Cause;
use crate::digest::{base64_digest, is_exact};
use crate::report::Finding;
use crate::text::{count, trim};

const DIGITS: usize = 64;

/// What is odd about the header, each oddity once. Nothing when every item is as it should be.
pub(crate) fn causes(header: &[u8]) -> Vec<Finding> {
    if header.len() > SIGNATURE_LIMIT {
        let evidence = format!("The header has {} bytes.", header.len());
        return Vec::from([Finding::new(Cause::SignatureTooLong, evidence)]);
    }
    let items: Vec<&[u8]> = header.split(|byte| *byte == b',').map(trim).collect();
    let right = items.iter().filter(|item| is_exact(item)).count();
    let mut found: Vec<Finding> = Vec::new();
    for item in items.iter().filter(|item| !is_exact(item)) {
        let Some(finding) = oddity(item) else { continue };
        if found.iter().all(|known| known.cause != finding.cause) {
            found.push(finding);
        }
    }
    // Behind a signature that is right, other schemes are welcome.
    if right > 0 {
        found.retain(|finding| !is_general(finding.cause));
    } else if found.is_empty() {
        found.push(Finding::new(Cause::SignatureForm, "The header holds no signature."));
    }
    // What is particular comes before what is said of anything.
    let (mut particular, general): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|finding| !is_general(finding.cause));
    particular.extend(general);
    particular
}

/// A signature of another scheme.
pub(crate) fn other_scheme() -> Finding {
    Finding::new(Cause::SignatureScheme, "The header holds signatures of another scheme than v1.")
}

fn is_general(cause: Cause) -> bool {
    matches!(cause, Cause::SignatureScheme | Cause::SignatureForm)
}

/// What is wrong with one item of the header.
fn oddity(item: &[u8]) -> Option<Finding> {
    // A scheme that a comma separates from its signature, as some write it, is told with the signature.
    if item.is_empty() || item == b"v1" {
        return None;
    }
    if item.iter().any(|byte| matches!(byte, b'"' | b'\'')) {
        return Some(Finding::new(Cause::SignatureQuoted, "There are quotation marks in the header."));
    }
    if item.iter().any(|byte| matches!(byte, b';' | b' ' | b'\t')) {
        let evidence = "There is a semicolon or a blank inside the header, where only commas separate.";
        return Some(Finding::new(Cause::SignatureSeparator, evidence));
    }
    if is_hex(item) && item.len() >= DIGITS {
        let evidence = format!("The header holds {} without v1= in front.", count(item.len(), "digit"));
        return Some(Finding::new(Cause::SignaturePrefixMissing, evidence));
    }
    let (scheme, value) = split_scheme(item);
    Some(match (scheme, value) {
        (b"v1", value) if is_hex(value) => v1_hex(value),
        (_, value) if base64_digest(value).is_some() => {
            let length = count(value.len(), "character");
            let evidence = format!("A signature has {length} of base64, which are 32 bytes.");
            Finding::new(Cause::SignatureBase64, evidence)
        }
        (b"v1", []) => Finding::new(Cause::SignatureCutOff, "Nothing follows v1= in the header."),
        (b"v1", value) => {
            let evidence =
                format!("What follows v1= has {} and is not hexadecimal.", count(value.len(), "character"));
            Finding::new(Cause::SignatureForm, evidence)
        }
        (scheme, _) if !scheme.is_empty() => other_scheme(),
        _ => {
            let evidence = format!("The header holds {} without v1=.", count(item.len(), "character"));
            Finding::new(Cause::SignatureForm, evidence)
        }
    })
}

fn v1_hex(digits: &[u8]) -> Finding {
    match digits.len() {
        0 => Finding::new(Cause::SignatureCutOff, "Nothing follows v1= in the header."),
        DIGITS => {
            Finding::new(Cause::SignatureUppercase, "The 64 digits of a signature are not all lowercase.")
        }
        length @ ..DIGITS => {
            Finding::new(Cause::SignatureCutOff, format!("A signature has {length} of 64 digits."))
        }
        length => {
            Finding::new(Cause::SignatureForm, format!("A signature has {length} digits instead of 64."))
        }
    }
}

/// The name before the first `=`, and what follows. Base64 has its `=` at the end and so no name.
fn split_scheme(item: &[u8]) -> (&[u8], &[u8]) {
    match item.iter().position(|byte| *byte == b'=') {
        Some(at) if at <= 10 => (item.get(..at).unwrap_or_default(), item.get(at + 1..).unwrap_or_default()),
        _ => (&[], item),
    }
}

fn is_hex(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_hexdigit)
}
