//! `If-None-Match`: a reader that already has the current version gets an answer without the body (contract 4.4,
//! RFC 9110 13.1.2).
//!
//! This only works for an answer whose whole body depends on its version. An unreadable header is ignored: the
//! reader then gets the record, which is never wrong. Bare numbers are accepted as in `If-Match`.

use axum::body::Body;
use axum::response::Response;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, IF_NONE_MATCH};
use http::{HeaderMap, Method, StatusCode};

/// The versions that the reader has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IfNoneMatch(Vec<String>);

impl IfNoneMatch {
    /// Reads the header of a read request.
    #[must_use]
    pub fn read(method: &Method, headers: &HeaderMap) -> Self {
        if !matches!(*method, Method::GET | Method::HEAD) {
            return Self(Vec::new());
        }
        let lines = headers.get_all(IF_NONE_MATCH).iter().filter_map(|line| line.to_str().ok());
        Self(lines.flat_map(|line| line.split(',')).map(|tag| bare(tag.trim()).to_owned()).collect())
    }

    /// Whether the reader has `version`.
    #[must_use]
    pub fn names(&self, version: i64) -> bool {
        let version = version.to_string();
        self.0.iter().any(|tag| *tag == version || tag == "*")
    }
}

/// The tag without quotes and weakness mark: versions are exact, and proxies weaken tags.
fn bare(tag: &str) -> &str {
    let tag = tag.strip_prefix("W/").unwrap_or(tag);
    tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"')).unwrap_or(tag)
}

/// Removes the body from an answer that the reader already has.
pub fn not_modified(mut response: Response) -> Response {
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    *response.body_mut() = Body::empty();
    response.headers_mut().remove(CONTENT_TYPE);
    response.headers_mut().remove(CONTENT_LENGTH);
    response
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn read(method: &Method, lines: &[&str]) -> IfNoneMatch {
        let headers: HeaderMap =
            lines.iter().map(|line| (IF_NONE_MATCH, HeaderValue::from_str(line).unwrap())).collect();
        IfNoneMatch::read(method, &headers)
    }

    #[test]
    fn names_the_versions_it_lists_and_no_other() {
        let table: &[(&[&str], bool)] = &[
            (&[], false),
            (&["\"7\""], true),
            (&["W/\"7\""], true),
            (&["7"], true),
            (&["*"], true),
            (&["\"6\", \"7\""], true),
            (&["\"6\"", "W/\"7\""], true),
            (&["\"6\",\"8\""], false),
            (&["\"77\""], false),
            (&["\"07\""], false),
            (&["\"\""], false),
            (&[""], false),
            (&["nonsense"], false),
        ];
        for (lines, expected) in table {
            assert_eq!(read(&Method::GET, lines).names(7), *expected, "{lines:?}");
            assert_eq!(read(&Method::HEAD, lines).names(7), *expected, "{lines:?}");
            assert!(!read(&Method::POST, lines).names(7), "{lines:?}");
        }
    }
}
