//! Request headers that an endpoint's deliveries carry beside the service's own (contract 4.10): for receivers behind
//! gateways that want an `Authorization`, an API key, a tenant's id.
//!
//! The values are secrets. They are written and never shown: the endpoint's record has the names alone, `Debug` shows
//! nothing else, and no error repeats a value. The caller seals [`RequestHeaders::to_text`] before it is stored.
//!
//! Some names are refused (`REFUSED`): a receiver must be able to trust what the service itself sends, and a header
//! of the connection or the route would change how the request travels. Deliberately absent: sealing, and the names of
//! what the service sends; a test of the sender holds those to the table.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Value, json};
use zeroize::{Zeroize as _, Zeroizing};

use crate::body::{Checked, Members, shape, text_of, wrong};
use crate::refusal::MemberCode;

/// The most headers of an endpoint.
pub const HEADERS_MAX: usize = 10;

/// The longest name, in bytes.
pub const NAME_MAX: usize = 64;

/// The longest value, in bytes.
pub const VALUE_MAX: usize = 1024;

/// The most bytes of all names and values together.
pub const TOGETHER_MAX: usize = 4096;

/// A token of RFC 9110 section 5.6.2.
const NAME_FORM: &str = "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$";

/// Visible ASCII, with blanks and tabs inside only.
const VALUE_FORM: &str = "^[!-~]([\\t -~]*[!-~])?$";

/// What is said of the names that are refused, and these names in lower case. A `*` at the end stands for any rest,
/// also for none.
const REFUSED: [(&str, &str); 5] = [
    // The service sends them, or receivers take everything of this kind for the service's.
    (
        "The service sends this header itself.",
        "service-* webhook-* user-agent accept-encoding traceparent tracestate",
    ),
    // The body differs from event to event.
    ("This header describes the body, which the service writes.", "content-*"),
    // It belongs to the connection, or to the framing of the request.
    (
        "This header belongs to the connection.",
        "host connection keep-alive proxy-* te trailer transfer-encoding upgrade upgrade-insecure-requests \
         http2-settings alt-used early-data expect priority",
    ),
    // Proxies write it.
    ("This header belongs to the proxies on the way.", "forwarded x-forwarded-* x-real-ip max-forwards via"),
    // A condition on the state of the receiver: a 2xx or 412 would not say what became of the event.
    ("This header would make the request conditional.", "if-* range"),
];

/// The headers of an endpoint: names in lower case, each with its value. Overwritten with zeros when dropped.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct RequestHeaders(BTreeMap<String, String>);

impl RequestHeaders {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The names, sorted, in lower case.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }

    /// Names and values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The text that is sealed; [`RequestHeaders::of_text`] reads it.
    ///
    /// # Errors
    /// Never in practice: texts can always be written as JSON.
    pub fn to_text(&self) -> Result<Zeroizing<String>, serde_json::Error> {
        serde_json::to_string(&self.0).map(Zeroizing::new)
    }

    /// Reads what [`RequestHeaders::to_text`] wrote; `None` for anything else.
    #[must_use]
    pub fn of_text(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok().map(Self)
    }
}

impl Drop for RequestHeaders {
    fn drop(&mut self) {
        self.0.values_mut().for_each(zeroize::Zeroize::zeroize);
    }
}

impl fmt::Debug for RequestHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RequestHeaders({:?}, values redacted)", self.0.keys())
    }
}

/// Whether a delivery may carry a header of this name, which is in lower case, on behalf of its endpoint.
#[must_use]
pub fn is_free(name: &str) -> bool {
    refused(name).is_none()
}

/// What is said of a name that is refused.
fn refused(name: &str) -> Option<&'static str> {
    let matches = |pattern: &str| match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == pattern,
    };
    REFUSED.iter().find(|(_, names)| names.split(' ').any(matches)).map(|(why, _)| *why)
}

/// The member `headers`: `None` when it is absent, the empty set for null. Each wrong header is reported by its own
/// pointer, and no error repeats a value.
pub(super) fn read(m: &mut Members<'_>) -> Option<RequestHeaders> {
    let entries = m.entries("headers", HEADERS_MAX, NAME_FORM, header).or_null()?;
    let mut entries = entries.unwrap_or_default();
    let together: usize = entries.iter().map(|(name, value)| name.len() + value.len()).sum();
    if together > TOGETHER_MAX {
        let detail = format!("Names and values must have at most {TOGETHER_MAX} bytes together.");
        m.refuse("headers", MemberCode::TooLong, detail);
    }
    let mut headers = RequestHeaders::default();
    let mut twice = false;
    for (name, value) in &mut entries {
        let before = headers.0.insert(name.to_ascii_lowercase(), std::mem::take(value));
        if let Some(mut before) = before {
            before.zeroize();
            twice = true;
        }
    }
    if twice {
        m.refuse("headers", MemberCode::Duplicate, "Two names differ only in upper and lower case.");
    }
    Some(headers)
}

fn header(name: &str, value: &Value) -> Checked<String> {
    shape::rule(
        || json!({ "type": "string", "minLength": 1, "maxLength": VALUE_MAX, "pattern": VALUE_FORM }),
    );
    if !(1..=NAME_MAX).contains(&name.len()) || !name.bytes().all(is_token) {
        let detail = format!("A name has 1 to {NAME_MAX} characters of a token (RFC 9110, 5.6.2).");
        return wrong(MemberCode::InvalidValue, detail);
    }
    if let Some(why) = refused(&name.to_ascii_lowercase()) {
        return wrong(MemberCode::InvalidValue, why);
    }
    let value = text_of(value)?;
    if value.is_empty() {
        return wrong(MemberCode::TooShort, "A value has at least 1 character.");
    }
    if value.len() > VALUE_MAX {
        return wrong(MemberCode::TooLong, format!("A value has at most {VALUE_MAX} bytes."));
    }
    let outer = [value.bytes().next(), value.bytes().next_back()];
    let inner = |byte: u8| byte.is_ascii_graphic() || matches!(byte, b' ' | b'\t');
    if !value.bytes().all(inner) || !outer.into_iter().flatten().all(|byte| byte.is_ascii_graphic()) {
        return wrong(
            MemberCode::InvalidValue,
            "A value is visible ASCII, with blanks and tabs inside only.",
        );
    }
    Ok(value.to_owned())
}

/// RFC 9110 section 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests;
