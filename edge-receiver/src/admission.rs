//! What is decided about a request before its body is read.
//!
//! The order is that of the questions: is there such a resource, does it take this method, this media type, a
//! body of this size (contract 11.1). A request that is let in has said nothing yet that is believed.

use verify_core::receiver::{BODY_LIMIT, Verdict};

use crate::answer::Answer;

/// The path that takes deliveries.
pub const PATH: &str = "/webhooks";

/// The head of a request, as far as it matters here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Head<'a> {
    /// Upper-case method name.
    pub method: &'a str,
    /// Path without the query.
    pub path: &'a str,
    /// The value of `Content-Type`.
    pub content_type: Option<&'a str>,
    /// The size of the body as the head announces it, in bytes; see [`declared_length`].
    pub declared_length: Option<u64>,
}

/// Decides whether the body is worth reading.
///
/// # Errors
/// The answer to give instead.
pub fn admit(head: &Head<'_>) -> Result<(), Answer> {
    if head.path != PATH {
        return Err(Answer::NotFound);
    }
    if head.method != "POST" {
        return Err(Answer::Verdict(Verdict::MethodNotAllowed));
    }
    if !head.content_type.is_some_and(is_json) {
        return Err(Answer::Verdict(Verdict::UnsupportedMediaType));
    }
    if head.declared_length.is_some_and(|bytes| bytes > BODY_LIMIT as u64) {
        return Err(Answer::Verdict(Verdict::TooLarge));
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

#[cfg(test)]
mod tests {
    use super::*;

    const DELIVERY: Head<'_> = Head {
        method: "POST",
        path: PATH,
        content_type: Some("application/json"),
        declared_length: Some(161),
    };

    #[test]
    fn the_first_objection_is_the_answer() {
        let not_found = Err(Answer::NotFound);
        let method = Err(Answer::Verdict(Verdict::MethodNotAllowed));
        let media_type = Err(Answer::Verdict(Verdict::UnsupportedMediaType));
        let too_large = Err(Answer::Verdict(Verdict::TooLarge));
        let wrong = Head { method: "GET", path: "/", content_type: None, declared_length: Some(1_048_577) };
        for (head, expected) in [
            (DELIVERY, Ok(())),
            (Head { declared_length: None, ..DELIVERY }, Ok(())),
            (Head { declared_length: Some(1_048_576), ..DELIVERY }, Ok(())),
            (Head { declared_length: Some(1_048_577), ..DELIVERY }, too_large),
            (Head { declared_length: Some(u64::MAX), ..DELIVERY }, too_large),
            (Head { content_type: None, declared_length: Some(1_048_577), ..DELIVERY }, media_type),
            (Head { path: PATH, ..wrong }, method),
            (Head { path: "/webhooks/", ..DELIVERY }, not_found),
            (Head { path: "/Webhooks", ..DELIVERY }, not_found),
            (Head { path: "", ..DELIVERY }, not_found),
            (wrong, not_found),
        ] {
            assert_eq!(admit(&head), expected, "{head:?}");
        }
    }

    #[test]
    fn media_types() {
        for accepted in [
            "application/json",
            "Application/JSON",
            "application/json; charset=utf-8",
            "application/json;charset=utf-8",
            " application/json\t; a=b; c=d",
        ] {
            assert!(is_json(accepted), "{accepted}");
        }
        for refused in [
            "",
            ";",
            "application/jsonx",
            "application/json, application/json",
            "application/problem+json",
            "text/json",
            "text/plain; application/json",
        ] {
            assert!(!is_json(refused), "{refused}");
        }
    }

    #[test]
    fn a_length_that_is_no_number_or_is_overridden_declares_nothing() {
        assert_eq!(declared_length(Some("0"), None), Some(0));
        assert_eq!(declared_length(Some("18446744073709551615"), None), Some(u64::MAX));
        for encoding in ["chunked", ""] {
            assert_eq!(declared_length(Some("5"), Some(encoding)), None, "{encoding:?}");
        }
        for value in [None, Some(""), Some("1, 1"), Some("-1"), Some("0x10"), Some("18446744073709551616")] {
            assert_eq!(declared_length(value, None), None, "{value:?}");
        }
    }
}
