//! What a receiver decides about a request before it reads the body (contract 11.1).
//!
//! The order is that of the questions: the method, the media type, the coding, the size that is announced. A request
//! that is let in has said nothing yet that is believed.

use super::{BODY_LIMIT, Verdict};

/// The head of a request, as far as it decides. A header that occurs in several lines is their joined value
/// ([`crate::header::join_lines`]), so that no line can hide behind another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head<'a> {
    /// Upper-case method name.
    pub method: &'a str,
    /// The value of `Content-Type`.
    pub content_type: Option<&'a str>,
    /// The value of `Content-Encoding`.
    pub content_encoding: Option<&'a str>,
    /// The size of the body as the head announces it, in bytes; see [`declared_length`].
    pub declared_length: Option<u64>,
}

/// Decides whether the body is worth reading.
///
/// # Errors
///
/// The answer to give instead.
pub fn admit(head: &Head<'_>) -> Result<(), Verdict> {
    if head.method != "POST" {
        return Err(Verdict::MethodNotAllowed);
    }
    if !head.content_type.is_some_and(is_json) || !head.content_encoding.is_none_or(is_identity) {
        return Err(Verdict::UnsupportedMediaType);
    }
    if head.declared_length.is_some_and(|bytes| bytes > BODY_LIMIT as u64) {
        return Err(Verdict::TooLarge);
    }
    Ok(())
}

/// The number of bytes that `Content-Length` announces, `None` when it is absent or not a number. Beside a
/// `Transfer-Encoding` it means nothing (RFC 9112 6.3): the body ends where its last chunk does.
#[must_use]
pub fn declared_length(content_length: Option<&str>, transfer_encoding: Option<&str>) -> Option<u64> {
    match transfer_encoding {
        Some(_) => None,
        None => content_length?.parse().ok(),
    }
}

/// Whether the media type is `application/json`, in any letter case and with any parameters (RFC 9110 8.3.1).
fn is_json(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default();
    essence.trim_matches([' ', '\t']).eq_ignore_ascii_case("application/json")
}

/// Whether the body is sent as it is. What was signed is the body as transmitted (contract 10.1): a coded one could
/// verify and still not be the JSON text that it says it is. The sender never codes (contract 7.1).
fn is_identity(content_encoding: &str) -> bool {
    let coding = content_encoding.trim_matches([' ', '\t']);
    coding.is_empty() || coding.eq_ignore_ascii_case("identity")
}
