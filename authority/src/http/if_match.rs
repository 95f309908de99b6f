//! `If-Match`: the version that a change expects (contract 4.4).
//!
//! The HTTP layer parses it; the use case compares it with the record it has locked. Bare integers are accepted
//! because the brief says the header carries the version; the weak form because proxies weaken tags when they
//! compress.

use authority_domain::{ErrorCode, Refusal, Result};
use http::HeaderMap;
use http::header::IF_MATCH;

use crate::app::IfMatch;

/// Largest version: 2^53 − 1 (contract 1, "Integers").
const VERSION_MAX: i64 = 9_007_199_254_740_991;

/// Reads the header; `None` when there is none.
///
/// # Errors
/// `invalid_if_match` for anything but `7`, `"7"`, `W/"7"` and `*`, and for two lines.
pub fn read(headers: &HeaderMap) -> Result<Option<IfMatch>> {
    let mut lines = headers.get_all(IF_MATCH).iter();
    let Some(line) = lines.next() else { return Ok(None) };
    let text = line.to_str().ok().filter(|_| lines.next().is_none()).ok_or_else(invalid)?;
    parse(text).map(Some).ok_or_else(invalid)
}

fn parse(text: &str) -> Option<IfMatch> {
    if text == "*" {
        return Some(IfMatch::Any);
    }
    let tag = text.strip_prefix("W/");
    let digits = match tag.unwrap_or(text).strip_prefix('"') {
        Some(quoted) => quoted.strip_suffix('"')?,
        // Only tags can be weak; a bare number cannot.
        None if tag.is_some() => return None,
        None => text,
    };
    let canonical = digits == "0" || !digits.starts_with('0');
    if digits.is_empty() || !canonical || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok().filter(|version| *version <= VERSION_MAX).map(IfMatch::Version)
}

fn invalid() -> Refusal {
    Refusal::new(ErrorCode::InvalidIfMatch, "If-Match takes one version, as 7, \"7\" or W/\"7\", or *.")
        .param("If-Match")
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn read(lines: &[&str]) -> Result<Option<IfMatch>, ErrorCode> {
        let headers: HeaderMap =
            lines.iter().map(|line| (IF_MATCH, HeaderValue::from_str(line).unwrap())).collect();
        super::read(&headers).map_err(|refusal| refusal.code)
    }

    #[test]
    fn the_grammar() {
        let table: &[(&[&str], Option<IfMatch>)] = &[
            (&[], None),
            (&["*"], Some(IfMatch::Any)),
            (&["7"], Some(IfMatch::Version(7))),
            (&["\"7\""], Some(IfMatch::Version(7))),
            (&["W/\"7\""], Some(IfMatch::Version(7))),
            (&["0"], Some(IfMatch::Version(0))),
            (&["9007199254740991"], Some(IfMatch::Version(9_007_199_254_740_991))),
        ];
        for (lines, expected) in table {
            assert_eq!(read(lines), Ok(*expected), "{lines:?}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        let short = [
            "", "\"\"", "abc", "\"abc\"", "07", "\"07\"", "00", "+7", "-7", "7.0", "7 ", "W/7", "w/\"7\"",
            "W/ \"7\"", "\"7", "7\"", "W/*", "\"*\"", "**", "7, 8", "0x7", "٧",
        ];
        let long = ["\"7\", \"8\"", "9007199254740992", "99999999999999999999999999"];
        for line in short.into_iter().chain(long) {
            assert_eq!(read(&[line]), Err(ErrorCode::InvalidIfMatch), "{line:?}");
        }
        for twice in ["7", "*"] {
            assert_eq!(read(&[twice, twice]), Err(ErrorCode::InvalidIfMatch), "{twice:?}");
        }
    }
}
