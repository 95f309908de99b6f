//! The outcome of one delivery attempt, and what it means for the delivery (contract 2.9 and 7.3).
//!
//! The delivery client reports an [`AttemptOutcome`] and, when a response began, its status. [`classify`] turns both
//! into the [`OutcomeClass`] that the retry policy ([`crate::delivery::retry`]) and the endpoint's health act on. A
//! delivery that ends without success carries a [`FailureReason`].
//!
//! Deliberately absent: the response's headers and body. The sender uses only the headers `Retry-After` and
//! `Service-Delivery`.

use std::time::UNIX_EPOCH;

use crate::text_enum::text_enum;

text_enum! {
    /// How one attempt ended (contract 2.9, `outcome` of an attempt).
    AttemptOutcome {
        /// A status from 200 to 299.
        Success = "success",
        /// A final status that is neither a success nor a redirect.
        HttpError = "http_error",
        /// A status from 300 to 399; redirects are never followed.
        Redirect = "redirect",
        /// No complete response headers before a deadline.
        Timeout = "timeout",
        /// The host name did not resolve.
        DnsError = "dns_error",
        /// No connection could be made, or it was lost before a response came.
        ConnectError = "connect_error",
        /// The TLS handshake failed, or the certificate was refused.
        TlsError = "tls_error",
        /// The URL or an address it resolves to is not allowed (contract 7.6).
        BlockedAddress = "blocked_address",
        /// What came back is not HTTP, or breaks its limits.
        ProtocolError = "protocol_error",
    }
}

impl AttemptOutcome {
    /// The outcome of a response with this status.
    #[must_use]
    pub const fn of_status(status: u16) -> Self {
        match status {
            200..=299 => Self::Success,
            300..=399 => Self::Redirect,
            _ => Self::HttpError,
        }
    }
}

/// What an attempt means for its delivery (contract 7.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OutcomeClass {
    /// Delivered.
    Success,
    /// 410: the endpoint is to be disabled, no further attempts.
    Gone,
    /// Worth the full schedule.
    Retryable,
    /// The receiver refuses: worth only the short budget of attempts.
    Rejected,
    /// Refused by the address rule: worth the full schedule, and an alert at once.
    Blocked,
}

/// The class of an attempt (contract 7.3). `status` counts for [`AttemptOutcome::HttpError`] only.
pub fn classify(outcome: AttemptOutcome, status: Option<u16>) -> OutcomeClass {
    match outcome {
        AttemptOutcome::Success => OutcomeClass::Success,
        AttemptOutcome::HttpError => match status {
            Some(410) => OutcomeClass::Gone,
            Some(408 | 409 | 425 | 429 | 500..=599) => OutcomeClass::Retryable,
            _ => OutcomeClass::Rejected,
        },
        AttemptOutcome::Redirect => OutcomeClass::Rejected,
        AttemptOutcome::BlockedAddress => OutcomeClass::Blocked,
        AttemptOutcome::Timeout
        | AttemptOutcome::DnsError
        | AttemptOutcome::ConnectError
        | AttemptOutcome::TlsError
        | AttemptOutcome::ProtocolError => OutcomeClass::Retryable,
    }
}

text_enum! {
    /// Why a delivery ended without success (contract 2.9, `failure_reason`).
    FailureReason as "DeliveryFailureReason" {
        /// The schedule is used up.
        AttemptsExhausted = "attempts_exhausted",
        /// The receiver went on refusing through the short budget.
        Rejected = "rejected",
        /// The receiver answered 410.
        Gone = "gone",
        /// The endpoint was disabled while the delivery waited.
        EndpointDisabled = "endpoint_disabled",
        /// The endpoint was deleted while the delivery waited.
        EndpointDeleted = "endpoint_deleted",
    }
}

text_enum! {
    /// What a receiver asks for with the header `Service-Delivery`, beside a status that is no success (contract 15.7).
    ReceiverWish {
        /// Send nothing more: the endpoint is disabled, as if by its merchant.
        Disable = "disable",
        /// Do not send this one again: the delivery ends `failed` (`rejected`).
        Abort = "abort",
    }
}

impl ReceiverWish {
    /// Reads the header of a response with this status. White space around the word and its case do not matter; any
    /// other word, and every word with a success status, counts as no wish.
    #[must_use]
    pub fn of_header(status: u16, value: &str) -> Option<Self> {
        let word = value.trim_matches([' ', '\t']).to_ascii_lowercase();
        Self::parse(&word).filter(|_| AttemptOutcome::of_status(status) != AttemptOutcome::Success)
    }
}

/// Whether a `Retry-After` header of a response with this status is honoured (contract 7.2).
pub fn honours_retry_after(status: u16) -> bool {
    matches!(status, 429 | 503)
}

/// The wait in milliseconds that a `Retry-After` value asks for, counted from `now_ms` (Unix milliseconds).
///
/// The value is a whole number of seconds or an HTTP date (RFC 9110 section 10.2.3). A date that has passed is a
/// wait of 0; anything else is `None`. The retry policy applies the upper bound of 24 h.
pub fn parse_retry_after(value: &str, now_ms: i64) -> Option<u64> {
    let value = value.trim_matches([' ', '\t']);
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than u64 holds is a very long wait, not an unreadable one.
        return Some(value.parse::<u64>().unwrap_or(u64::MAX).saturating_mul(1000));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    let date_ms = i64::try_from(date.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()?;
    Some(u64::try_from(date_ms.saturating_sub(now_ms)).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_the_class_of_the_contracts_table() {
        for status in 100..=999_u16 {
            let expected = match status {
                200..=299 => OutcomeClass::Success,
                410 => OutcomeClass::Gone,
                408 | 409 | 425 | 429 => OutcomeClass::Retryable,
                500..=599 => OutcomeClass::Retryable,
                _ => OutcomeClass::Rejected,
            };
            assert_eq!(classify(AttemptOutcome::of_status(status), Some(status)), expected, "{status}");
        }
        assert_eq!(AttemptOutcome::of_status(304), AttemptOutcome::Redirect);
        assert_eq!(AttemptOutcome::of_status(404), AttemptOutcome::HttpError);
        assert_eq!(AttemptOutcome::of_status(101), AttemptOutcome::HttpError);
    }

    #[test]
    fn an_attempt_without_a_response_is_retryable_unless_the_address_is_blocked() {
        for outcome in [
            AttemptOutcome::Timeout,
            AttemptOutcome::DnsError,
            AttemptOutcome::ConnectError,
            AttemptOutcome::TlsError,
            AttemptOutcome::ProtocolError,
        ] {
            assert_eq!(classify(outcome, None), OutcomeClass::Retryable, "{outcome:?}");
        }
        assert_eq!(classify(AttemptOutcome::BlockedAddress, None), OutcomeClass::Blocked);
    }

    #[test]
    fn texts_are_those_of_the_contract() {
        let outcomes = "success http_error redirect timeout dns_error connect_error tls_error blocked_address \
                        protocol_error";
        let texts: Vec<_> = AttemptOutcome::ALL.iter().map(|outcome| outcome.as_str()).collect();
        assert_eq!(texts.join(" "), outcomes);
        let reasons = "attempts_exhausted rejected gone endpoint_disabled endpoint_deleted";
        let texts: Vec<_> = FailureReason::ALL.iter().map(|reason| reason.as_str()).collect();
        assert_eq!(texts.join(" "), reasons);
    }

    #[test]
    fn a_receiver_may_wish_beside_any_status_but_a_success() {
        for (value, wish) in [
            ("disable", Some(ReceiverWish::Disable)),
            ("abort", Some(ReceiverWish::Abort)),
            (" Abort\t", Some(ReceiverWish::Abort)),
            ("DISABLE", Some(ReceiverWish::Disable)),
            ("", None),
            ("abort, disable", None),
            ("aborted", None),
        ] {
            for status in [301, 400, 404, 410, 429, 500, 503] {
                assert_eq!(ReceiverWish::of_header(status, value), wish, "{status} {value:?}");
            }
            for status in [200, 202, 299] {
                assert_eq!(ReceiverWish::of_header(status, value), None, "{status} {value:?}");
            }
        }
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        // 2026-09-01T12:00:00.250Z
        let now_ms = 1_788_264_000_250;
        let table = [
            ("0", Some(0)),
            ("120", Some(120_000)),
            (" 7\t", Some(7_000)),
            ("18446744073709551616", Some(u64::MAX)),
            ("Tue, 01 Sep 2026 12:02:00 GMT", Some(119_750)),
            ("Tuesday, 01-Sep-26 12:02:00 GMT", Some(119_750)),
            ("Tue Sep  1 12:02:00 2026", Some(119_750)),
            ("Tue, 01 Sep 2026 11:00:00 GMT", Some(0)),
            ("", None),
            ("-1", None),
            ("+1", None),
            ("1.5", None),
            ("5s", None),
            ("soon", None),
            ("2026-09-01T12:02:00Z", None),
        ];
        for (value, expected) in table {
            assert_eq!(parse_retry_after(value, now_ms), expected, "{value:?}");
        }
        assert!(honours_retry_after(429) && honours_retry_after(503));
        assert!(!honours_retry_after(500) && !honours_retry_after(200));
    }
}
