//! Defects of a request that are found before its contents are read (RFC 9112): stored in its extensions, so that
//! [`crate::http::answer`] refuses it like any other.

use http::header::{HOST, TRANSFER_ENCODING};
use http::request::Parts;
use http::{HeaderMap, StatusCode, Version};

use super::stream::Head;

/// Marks a request, in its extensions, that is refused whatever its contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed(pub Defect);

/// What is wrong with the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defect {
    /// Its length is given in two ways (section 6.3): bytes that this server reads as the next request, a proxy in
    /// front may read as a body.
    AmbiguousLength,
    /// `Host` is missing, repeated or malformed (section 3.2).
    Host,
    /// Its body comes in a transfer coding other than `chunked` (section 6.1).
    TransferCoding,
    /// The bytes are not an HTTP/1.1 request.
    NoRequest,
    /// The target is longer than the part of a head that is read.
    TargetTooLong,
    /// The headers are larger, or more, than the part of a head that is read.
    HeadersTooLarge,
}

impl Defect {
    /// The defect of a request that hyper could parse from `head`.
    pub(super) fn of(parts: &Parts, head: &Head) -> Option<Self> {
        let coded = parts.headers.contains_key(TRANSFER_ENCODING);
        if coded && !head.has_one_length(parts.headers.len()) {
            return Some(Self::AmbiguousLength);
        }
        if coded && !is_chunked_alone(&parts.headers) {
            return Some(Self::TransferCoding);
        }
        let mut hosts = parts.headers.get_all(HOST).iter();
        let good = match (hosts.next(), hosts.next()) {
            (None, _) => parts.version != Version::HTTP_11,
            (Some(host), None) => is_host(host.as_bytes()),
            (Some(_), Some(_)) => false,
        };
        (!good).then_some(Self::Host)
    }

    /// The defect of a request that hyper itself refused with this status.
    pub(super) fn behind(status: StatusCode, head: &Head) -> Self {
        match status {
            StatusCode::URI_TOO_LONG => Self::TargetTooLong,
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => Self::HeadersTooLarge,
            _ if head.ends_in_unknown_coding() => Self::TransferCoding,
            _ => Self::NoRequest,
        }
    }
}

fn is_chunked_alone(headers: &HeaderMap) -> bool {
    let mut lines = headers.get_all(TRANSFER_ENCODING).iter();
    let one = |line: &[u8]| line.trim_ascii().eq_ignore_ascii_case(b"chunked");
    lines.next().is_some_and(|line| one(line.as_bytes())) && lines.next().is_none()
}

/// `uri-host [ ":" port ]` (RFC 9110 section 7.2, RFC 3986 section 3.2.2); empty when the target has no authority.
fn is_host(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let (host, port) = match text.rfind([':', ']']) {
        Some(at) if text.get(at..).is_some_and(|rest| rest.starts_with(':')) => text.split_at(at),
        _ => (text, ""),
    };
    let port_fine = port.bytes().skip(1).all(|byte| byte.is_ascii_digit());
    port_fine
        && match host.strip_prefix('[') {
            Some(literal) => literal.strip_suffix(']').is_some_and(is_ip_literal),
            None => is_name(host),
        }
}

/// IPv6, or a future version: `v`, a version, a dot and an address.
fn is_ip_literal(text: &str) -> bool {
    let of_the_future = || {
        let (version, address) = text.strip_prefix(['v', 'V'])?.split_once('.')?;
        let hexadecimal = !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_hexdigit());
        let plain = |byte: u8| is_plain(byte) || byte == b':';
        (hexadecimal && !address.is_empty() && address.bytes().all(plain)).then_some(())
    };
    text.parse::<std::net::Ipv6Addr>().is_ok() || of_the_future().is_some()
}

/// A registered name or an IPv4 address: unreserved characters, sub-delimiters and whole escapes.
fn is_name(text: &str) -> bool {
    let mut parts = text.split('%');
    let first = parts.next().unwrap_or_default();
    first.bytes().all(is_plain)
        && parts.all(|part| {
            part.split_at_checked(2).is_some_and(|(digits, rest)| {
                digits.bytes().all(|digit| digit.is_ascii_hexdigit()) && rest.bytes().all(is_plain)
            })
        })
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts() {
        for host in [
            "",
            "a",
            "api.example.com",
            "API.example.com:8080",
            "a:",
            "127.0.0.1:80",
            "[::1]",
            "[2001:db8::1]:443",
            "[v1.a:b]",
            "xn--a.example",
            "a_b",
            "a%2db",
            "a!$&'()*+,;=b",
        ] {
            assert!(is_host(host.as_bytes()), "{host}");
        }
        for host in [
            "a b", "a/b", "a?b", "a#b", "user@a", "a:b", "a:80:90", "::1", "[::1", "::1]", "[::1]80", "[a]",
            "[v.a]", "a,b c", "a%2", "a%zz", "a\u{e9}", "http://a", "[]", "[::1]:x", "a\\b", "\"a\"",
        ] {
            assert!(!is_host(host.as_bytes()), "{host}");
        }
        assert!(!is_host(b"\xff"));
    }
}
