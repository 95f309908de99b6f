//! What can go wrong in a run, and how an answer of the API is judged.
//!
//! A closed list of codes: the texts of others are never repeated, so nothing that an API, or whoever answers in its
//! place, writes into an answer can come out of this Worker, and its key least of all.

use verify_core::event_list::problem_code;

/// Why a run ended before the end of the event list. The position stays where it was; the next run begins there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trouble {
    /// `API_BASE` or `API_KEY` cannot be used.
    InvalidConfiguration,
    /// No answer, or not all of it, in the time that a request has.
    Unreachable,
    /// 401: the key is not accepted.
    CredentialRefused,
    /// 403: the key is accepted and may not read events.
    AccessRefused,
    /// 410: the position is older than the events that are kept. Events may be missing: the merchant's state is to be
    /// read from the API, and reconciliation to be started over.
    CursorExpired,
    /// 400 `invalid_cursor`: the position belongs to another merchant, mode or authority.
    InvalidCursor,
    /// 429.
    RateLimited,
    /// 5xx.
    ApiFailed,
    /// Any other status, or a body that is no page of the event list.
    UnexpectedAnswer,
    /// Even a small page is larger than what is read.
    PageTooLarge,
    /// Events or the position could not be stored.
    StorageUnavailable,
    /// Meanwhile the position was moved by somebody else, or reconciliation was started over.
    Overtaken,
}

impl Trouble {
    /// The code.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::InvalidConfiguration => "invalid_configuration",
            Self::Unreachable => "api_unreachable",
            Self::CredentialRefused => "credential_refused",
            Self::AccessRefused => "access_refused",
            Self::CursorExpired => "cursor_expired",
            Self::InvalidCursor => "invalid_cursor",
            Self::RateLimited => "rate_limited",
            Self::ApiFailed => "api_failed",
            Self::UnexpectedAnswer => "unexpected_answer",
            Self::PageTooLarge => "page_too_large",
            Self::StorageUnavailable => "storage_unavailable",
            Self::Overtaken => "overtaken",
        }
    }
}

/// The longest pause that `Retry-After` can ask for, in seconds: a wrong figure must not stop reconciliation for days.
pub const PAUSE_MAX_SECONDS: u32 = 3600;

/// What an answer that is not 200 says.
#[must_use]
pub fn of_answer(status: u16, body: &[u8]) -> Trouble {
    match status {
        400 if problem_code(body).as_deref() == Some("invalid_cursor") => Trouble::InvalidCursor,
        401 => Trouble::CredentialRefused,
        403 => Trouble::AccessRefused,
        410 => Trouble::CursorExpired,
        429 => Trouble::RateLimited,
        500..=599 => Trouble::ApiFailed,
        _ => Trouble::UnexpectedAnswer,
    }
}

/// For how many seconds the API is to be left alone after `trouble`, as its `Retry-After` asks (contract 5.4): whole
/// seconds, at most [`PAUSE_MAX_SECONDS`], and 0 when it asks for nothing.
#[must_use]
pub fn pause_seconds(trouble: Trouble, retry_after: Option<&str>) -> u32 {
    match trouble {
        Trouble::RateLimited | Trouble::ApiFailed => retry_after
            .and_then(|text| text.parse::<u64>().ok())
            .map_or(0, |seconds| u32::try_from(seconds).unwrap_or(u32::MAX).min(PAUSE_MAX_SECONDS)),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers() {
        let problem = |code: &str| format!(r#"{{"code":"{code}","detail":"svc_live_secret"}}"#);
        for (status, body, trouble) in [
            (400, problem("invalid_cursor"), Trouble::InvalidCursor),
            (400, problem("invalid_parameter"), Trouble::UnexpectedAnswer),
            (400, String::new(), Trouble::UnexpectedAnswer),
            (401, problem("invalid_api_key"), Trouble::CredentialRefused),
            (403, problem("insufficient_scope"), Trouble::AccessRefused),
            (404, problem("not_found"), Trouble::UnexpectedAnswer),
            (410, problem("cursor_expired"), Trouble::CursorExpired),
            (410, "gone".to_owned(), Trouble::CursorExpired),
            (429, problem("rate_limited"), Trouble::RateLimited),
            (500, problem("internal_error"), Trouble::ApiFailed),
            (503, "<html>".to_owned(), Trouble::ApiFailed),
            (599, String::new(), Trouble::ApiFailed),
            (204, String::new(), Trouble::UnexpectedAnswer),
            (302, String::new(), Trouble::UnexpectedAnswer),
            (600, String::new(), Trouble::UnexpectedAnswer),
        ] {
            assert_eq!(of_answer(status, body.as_bytes()), trouble, "{status} {body}");
        }
    }

    #[test]
    fn only_an_api_that_is_busy_may_ask_for_a_pause() {
        for (trouble, retry_after, seconds) in [
            (Trouble::RateLimited, Some("7"), 7),
            (Trouble::ApiFailed, Some("3600"), 3600),
            (Trouble::ApiFailed, Some("99999999999"), 3600),
            (Trouble::RateLimited, Some("Wed, 21 Oct 2026 07:28:00 GMT"), 0),
            (Trouble::RateLimited, Some("-1"), 0),
            (Trouble::RateLimited, Some(""), 0),
            (Trouble::RateLimited, None, 0),
            (Trouble::CredentialRefused, Some("60"), 0),
            (Trouble::UnexpectedAnswer, Some("60"), 0),
        ] {
            assert_eq!(pause_seconds(trouble, retry_after), seconds, "{trouble:?} {retry_after:?}");
        }
    }
}
