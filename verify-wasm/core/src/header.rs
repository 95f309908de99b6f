//! The headers of a delivery, and how their lines become one value.
//!
//! Names are in lowercase, as HTTP/2 and the usual libraries compare them; the canonical spelling on
//! HTTP/1.1 is `Service-Event-Id`, `Service-Timestamp`, `Service-Signature`, `Service-Version`.
//!
//! Libraries disagree about repeated headers: some hand out the first line only, some the joined value. Every
//! receiver therefore passes all lines through [`join_lines`] first, so that a request with two
//! `Service-Timestamp` lines gets the same answer everywhere (contract 10.1).

use alloc::vec::Vec;

/// `Service-Event-Id`: an unsigned copy of the event's `id`.
pub const EVENT_ID: &str = "service-event-id";
/// `Service-Timestamp`: Unix seconds of this attempt, ten digits.
pub const TIMESTAMP: &str = "service-timestamp";
/// `Service-Signature`: `v1=<hex>`, several separated by commas.
pub const SIGNATURE: &str = "service-signature";
/// `Service-Version`: an unsigned copy of the event's `api_version`; nothing may depend on it.
pub const VERSION: &str = "service-version";

/// The longest signature header that is looked at, in bytes (contract 10.6).
pub const SIGNATURE_LIMIT: usize = 16_384;

/// The normalised value of a header: all its lines in order, joined with `", "`, without outer SP and HTAB.
/// `None` when there is no line at all.
#[must_use]
pub fn join_lines<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Option<Vec<u8>> {
    let mut joined: Option<Vec<u8>> = None;
    for line in lines {
        match &mut joined {
            None => joined = Some(line.to_vec()),
            Some(value) => {
                value.extend_from_slice(b", ");
                value.extend_from_slice(line);
            }
        }
    }
    joined.map(|value| trim(&value).to_vec())
}

/// Without SP and HTAB at both ends. Only these two are blanks in HTTP; NBSP and BOM are not.
pub(crate) fn trim(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = value {
        value = rest;
    }
    while let [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}
