//! `Idempotency-Key` and the fingerprint of the request it stands for (contract 4.3).
//!
//! The HTTP layer parses the key and computes the fingerprint; the use case looks the key up in the transaction of
//! its effect: the same key and fingerprint get the first answer again, another fingerprint is refused. `If-Match`
//! is not in the fingerprint: a client that lost the answer, re-read the record and retries with the newer version
//! must still get the first answer. The credential is not in it either, so that rotating a key does not break
//! retries.

use std::borrow::Cow;

use authority_domain::{ErrorCode, Refusal, Result};
use http::{HeaderMap, HeaderName, Method};
use sha2::{Digest, Sha256};

/// The header.
pub const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Longest key, in characters.
const KEY_LIMIT: usize = 255;

/// Reads the header; `None` when there is none. One pair of double quotes around the key does not change it.
///
/// # Errors
/// `invalid_idempotency_key` for two lines, an empty or over-long key, or a character that is not visible ASCII or
/// is a quotation mark inside the key.
pub fn read(headers: &HeaderMap) -> Result<Option<String>> {
    let mut lines = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(line) = lines.next() else { return Ok(None) };
    let text = line.to_str().ok().filter(|_| lines.next().is_none()).ok_or_else(invalid)?;
    let key = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    let visible = key.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"');
    let good = visible && (1..=KEY_LIMIT).contains(&key.len());
    if good { Ok(Some(key.to_owned())) } else { Err(invalid()) }
}

fn invalid() -> Refusal {
    Refusal::new(
        ErrorCode::InvalidIdempotencyKey,
        "Idempotency-Key takes one value of 1 to 255 visible ASCII characters without quotation marks, plain or within one pair of \
         double quotes.",
    )
    .param("Idempotency-Key")
}

/// SHA-256 over method, path, canonical query and canonical body; `body` is empty for a request without one.
/// Unreserved characters in the path are decoded first (`%2D` is `-`). Each part is hashed with its length, so
/// that no two requests give the same byte string.
#[must_use]
pub fn fingerprint(method: &Method, path: &str, canonical_query: &str, canonical_body: &str) -> [u8; 32] {
    let mut digest = Sha256::new();
    for part in [method.as_str(), &plain(path), canonical_query, canonical_body] {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part.as_bytes());
    }
    digest.finalize().into()
}

/// The path with unreserved characters (RFC 3986 section 2.3) unescaped.
fn plain(path: &str) -> Cow<'_, str> {
    if !path.contains('%') {
        return Cow::Borrowed(path);
    }
    let mut parts = path.split('%');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let escaped = part.split_at_checked(2).and_then(|(digits, rest)| {
            let byte = digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then_some(digits)?;
            let byte = u8::from_str_radix(byte, 16).ok()?;
            let unreserved = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
            unreserved.then_some((char::from(byte), rest))
        });
        match escaped {
            Some((character, rest)) => {
                plain.push(character);
                plain.push_str(rest);
            }
            None => {
                plain.push('%');
                plain.push_str(part);
            }
        }
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn read(lines: &[&[u8]]) -> Result<Option<String>, ErrorCode> {
        let headers: HeaderMap =
            lines.iter().map(|line| (IDEMPOTENCY_KEY, HeaderValue::from_bytes(line).unwrap())).collect();
        super::read(&headers).map_err(|refusal| refusal.code)
    }

    #[test]
    fn plain_and_quoted_forms_name_the_same_key() {
        let longest = "k".repeat(255);
        let quoted = format!("\"{longest}\"");
        let table: &[(&str, &str)] = &[
            ("a", "a"),
            ("refund:ORD-100001:return-9", "refund:ORD-100001:return-9"),
            ("\"refund:ORD-100001:return-9\"", "refund:ORD-100001:return-9"),
            ("~!@#$%^&*()", "~!@#$%^&*()"),
            ("a\\c", "a\\c"),
            ("\"a\\c\"", "a\\c"),
            (&longest, &longest),
            (&quoted, &longest),
        ];
        for (line, key) in table {
            assert_eq!(read(&[line.as_bytes()]), Ok(Some((*key).to_owned())), "{line}");
        }
        assert_eq!(read(&[]), Ok(None));
    }

    #[test]
    fn anything_else_is_refused() {
        let short = ["", "\"\"", "\"", "a b", "\"a b\"", "a\tb", "\u{e9}", "\"abc", "a\"b", "abc\""];
        let long = ["\"a\"b\"", "\"\"abc\"\"", "\"a\\\"b\"", "\"a\";p=1", &"k".repeat(256)];
        let lines = short.into_iter().chain(long).map(str::as_bytes).chain([&b"\xff"[..]]);
        for lines in lines.map(|line| vec![line]).chain([vec![&b"a"[..]; 2], vec![b"a", b"b"]]) {
            assert_eq!(read(&lines), Err(ErrorCode::InvalidIdempotencyKey), "{lines:?}");
        }
    }

    #[test]
    fn the_fingerprint_takes_unreserved_characters_of_the_path_as_they_are_meant() {
        let of = |path| fingerprint(&Method::POST, path, "", "{}");
        for (sent, meant) in [
            ("/orders/ORD%2D1", "/orders/ORD-1"),
            ("/orders/ORD%2d1", "/orders/ORD-1"),
            ("/%6F%7e%2E%5f%39", "/o~._9"),
        ] {
            assert_eq!(of(sent), of(meant), "{sent}");
        }
        for (sent, other) in
            [("/a%2Fb", "/a/b"), ("/%25%41", "/%2541"), ("/a%", "/a"), ("/%zz", "/zz"), ("/%+1", "/1")]
        {
            assert_ne!(of(sent), of(other), "{sent}");
        }
    }

    #[test]
    fn the_fingerprint_tells_every_part_apart() {
        let requests = [
            (Method::POST, "/a", "", "{}"),
            (Method::PUT, "/a", "", "{}"),
            (Method::POST, "/a/", "", "{}"),
            (Method::POST, "/a", "x=1", "{}"),
            (Method::POST, "/a", "", "{\"x\":1}"),
            (Method::POST, "/a", "", ""),
            (Method::POST, "/a", "{}", ""),
            (Method::POST, "/", "a", "{}"),
        ];
        for (i, (method, path, query, body)) in requests.iter().enumerate() {
            for (j, (other_method, other_path, other_query, other_body)) in requests.iter().enumerate() {
                let equal = fingerprint(method, path, query, body)
                    == fingerprint(other_method, other_path, other_query, other_body);
                assert_eq!(equal, i == j, "{i} and {j}");
            }
        }
    }
}
