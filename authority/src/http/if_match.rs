//! `If-Match`: the version a change was made for (contract 4.4).
//!
//! The door parses it; the use case compares it with the record it has locked. Bare integers are taken because the
//! brief says the header carries the version; the weak form because proxies weaken tags when they compress.

use authority_domain::error_code::ErrorCode;
use authority_domain::refusal::Refusal;
use http::HeaderMap;
use http::header::IF_MATCH;

/// Largest version: 2^53 − 1 (contract 1, "Integers").
const VERSION_MAX: u64 = 9_007_199_254_740_991;

/// What the client supplied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfMatch {
    /// `*`: any version of a record that exists.
    Any,
    /// One version.
    Version(u64),
}

impl IfMatch {
    /// Reads the header; `None` when there is none.
    ///
    /// # Errors
    /// `invalid_if_match` for anything but `7`, `"7"`, `W/"7"` and `*`, and for two lines.
    pub fn read(headers: &HeaderMap) -> Result<Option<Self>, Refusal> {
        let mut lines = headers.get_all(IF_MATCH).iter();
        let Some(line) = lines.next() else { return Ok(None) };
        let text = line.to_str().ok().filter(|_| lines.next().is_none()).ok_or_else(invalid)?;
        Self::parse(text).map(Some).ok_or_else(invalid)
    }

    fn parse(text: &str) -> Option<Self> {
        if text == "*" {
            return Some(Self::Any);
        }
        let tag = text.strip_prefix("W/");
        let digits = match tag.unwrap_or(text).strip_prefix('"') {
            Some(quoted) => quoted.strip_suffix('"')?,
            // Weak is a property of tags; a bare number has none.
            None if tag.is_some() => return None,
            None => text,
        };
        let canonical = digits == "0" || !digits.starts_with('0');
        if digits.is_empty() || !canonical || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        digits.parse().ok().filter(|version| *version <= VERSION_MAX).map(Self::Version)
    }

    /// Compares with the current version of a record. `noun` names the record, e.g. `order`.
    ///
    /// # Errors
    /// `resource_version_conflict` with both versions.
    pub fn check(self, current: u64, noun: &str) -> Result<(), Refusal> {
        match self {
            Self::Version(supplied) if supplied != current => Err(Refusal::new(
                ErrorCode::ResourceVersionConflict,
                format!("The {noun} is at version {current}; the request was made for version {supplied}."),
            )
            .with("current_version", current)
            .with("supplied_version", supplied)),
            Self::Any | Self::Version(_) => Ok(()),
        }
    }
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
        IfMatch::read(&headers).map_err(|refusal| refusal.code)
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
        let table: &[&[&str]] = &[
            &[""],
            &["\"\""],
            &["abc"],
            &["\"abc\""],
            &["07"],
            &["\"07\""],
            &["00"],
            &["+7"],
            &["-7"],
            &["7.0"],
            &["7 "],
            &["W/7"],
            &["w/\"7\""],
            &["W/ \"7\""],
            &["\"7"],
            &["7\""],
            &["W/*"],
            &["\"*\""],
            &["**"],
            &["7, 8"],
            &["\"7\", \"8\""],
            &["7", "7"],
            &["*", "*"],
            &["9007199254740992"],
            &["99999999999999999999999999"],
            &["0x7"],
            &["٧"],
        ];
        for lines in table {
            assert_eq!(read(lines), Err(ErrorCode::InvalidIfMatch), "{lines:?}");
        }
    }

    #[test]
    fn a_conflict_names_both_versions() {
        assert_eq!(IfMatch::Any.check(8, "order"), Ok(()));
        assert_eq!(IfMatch::Version(8).check(8, "order"), Ok(()));
        let refusal = IfMatch::Version(7).check(8, "order").unwrap_err();
        assert_eq!(refusal.code, ErrorCode::ResourceVersionConflict);
        assert_eq!(refusal.detail, "The order is at version 8; the request was made for version 7.");
        assert_eq!(refusal.extra, [("current_version", 8.into()), ("supplied_version", 7.into())]);
    }
}
