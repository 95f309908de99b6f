//! `Idempotency-Key` and the fingerprint of the request it stands for (contract 4.3).
//!
//! The door parses the key and computes the fingerprint; the use case looks the key up in the transaction of its
//! effect: same key and same fingerprint give the first answer again, another fingerprint is refused. `If-Match` is
//! not in the fingerprint: a client that lost the answer, re-read the record and retries with the newer version must
//! still get the first answer. The credential is not in it either, so that rotating a key does not break retries.

use authority_domain::error_code::ErrorCode;
use authority_domain::refusal::Refusal;
use http::{HeaderMap, HeaderName, Method};
use sha2::{Digest, Sha256};

/// The header.
pub const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Longest key, in characters.
const KEY_LIMIT: usize = 255;

/// A well-formed key: 1 to 255 visible ASCII characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Reads the header; `None` when there is none. A quoted value (the structured-field form of the IETF draft) is
    /// unquoted, so that both forms name the same key.
    ///
    /// # Errors
    /// `invalid_idempotency_key` for two lines, an empty or over-long key, or a character that is not visible ASCII.
    pub fn read(headers: &HeaderMap) -> Result<Option<Self>, Refusal> {
        let mut lines = headers.get_all(IDEMPOTENCY_KEY).iter();
        let Some(line) = lines.next() else { return Ok(None) };
        let text = line.to_str().ok().filter(|_| lines.next().is_none()).ok_or_else(invalid)?;
        let key = if text.starts_with('"') { unquote(text).ok_or_else(invalid)? } else { text.to_owned() };
        let good = (1..=KEY_LIMIT).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic());
        if good { Ok(Some(Self(key))) } else { Err(invalid()) }
    }

    /// The key, unquoted.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// RFC 9651 section 4.2.5: only `\"` and `\\` are escapes, and the closing quote ends the value.
fn unquote(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    let mut key = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => return None,
            '\\' => key.push(characters.next().filter(|escaped| matches!(escaped, '"' | '\\'))?),
            other => key.push(other),
        }
    }
    Some(key)
}

fn invalid() -> Refusal {
    Refusal::new(
        ErrorCode::InvalidIdempotencyKey,
        "Idempotency-Key takes one value of 1 to 255 visible ASCII characters, plain or in double quotes.",
    )
    .param("Idempotency-Key")
}

/// SHA-256 over method, path, canonical query and canonical body. `path` is the path as it was sent; `body` is empty
/// for a request without one. Each part goes in with its length, so that no two requests share a byte string.
#[must_use]
pub fn fingerprint(method: &Method, path: &str, canonical_query: &str, canonical_body: &str) -> [u8; 32] {
    let mut digest = Sha256::new();
    for part in [method.as_str(), path, canonical_query, canonical_body] {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part.as_bytes());
    }
    digest.finalize().into()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn read(lines: &[&[u8]]) -> Result<Option<String>, ErrorCode> {
        let headers: HeaderMap =
            lines.iter().map(|line| (IDEMPOTENCY_KEY, HeaderValue::from_bytes(line).unwrap())).collect();
        IdempotencyKey::read(&headers)
            .map(|key| key.map(|key| key.as_str().to_owned()))
            .map_err(|refusal| refusal.code)
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
            ("a\"b\\c", "a\"b\\c"),
            ("\"a\\\"b\\\\c\"", "a\"b\\c"),
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
        let too_long = "k".repeat(256);
        let table: &[&[&[u8]]] = &[
            &[b""],
            &[b"\"\""],
            &[b"\""],
            &[b"a b"],
            &[b"\"a b\""],
            &[b"a\tb"],
            &["\u{e9}".as_bytes()],
            &[b"\xff"],
            &[b"\"abc"],
            &[b"\"a\"b\""],
            &[b"\"a\\n\""],
            &[b"\"a\\\""],
            &[b"\"a\";p=1"],
            &[b"a", b"a"],
            &[b"a", b"b"],
            &[too_long.as_bytes()],
        ];
        for lines in table {
            assert_eq!(read(lines), Err(ErrorCode::InvalidIdempotencyKey), "{lines:?}");
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
