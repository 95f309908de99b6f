//! What the sender is told: a status and `{"code":"…"}`, never more (contract 11.1).
//!
//! Most answers are the verdicts that every receiver shares. The others are this receiver's own: a path that it does
//! not have, a configuration that it cannot work with, and, where KV alone decides, an effect that failed.

use std::borrow::Cow;

use verify_core::receiver::Verdict;

/// The answer to one request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// The delivery was looked at.
    Verdict(Verdict),
    /// There is no such path.
    NotFound,
    /// A variable of the Worker has a value that cannot be used. The receiver's own fault: the sender keeps its
    /// full schedule, and the merchant finds the name of the variable in the Worker's log.
    InvalidConfiguration,
    /// The sink did not take the event, and there is no inbox to keep it: the sender must come again.
    ProcessingFailed,
}

impl Answer {
    /// The HTTP status.
    #[must_use]
    pub fn status(self) -> u16 {
        match self {
            Self::Verdict(verdict) => verdict.status(),
            Self::NotFound => 404,
            Self::InvalidConfiguration => 503,
            Self::ProcessingFailed => 500,
        }
    }

    /// The JSON body.
    #[must_use]
    pub fn body(self) -> Cow<'static, str> {
        match self {
            Self::Verdict(verdict) => verdict.body().into(),
            Self::NotFound => r#"{"code":"not_found"}"#.into(),
            Self::InvalidConfiguration => r#"{"code":"invalid_configuration"}"#.into(),
            Self::ProcessingFailed => r#"{"code":"processing_failed"}"#.into(),
        }
    }

    /// The value of the `Allow` header, which a 405 must have (RFC 9110 15.5.6).
    #[must_use]
    pub fn allow(self) -> Option<&'static str> {
        matches!(self, Self::Verdict(Verdict::MethodNotAllowed)).then_some("POST")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_and_bodies() {
        for (answer, status, body, allow) in [
            (Answer::Verdict(Verdict::First), 200, r#"{"code":"ok"}"#, None),
            (
                Answer::Verdict(Verdict::MethodNotAllowed),
                405,
                r#"{"code":"method_not_allowed"}"#,
                Some("POST"),
            ),
            (Answer::NotFound, 404, r#"{"code":"not_found"}"#, None),
            (Answer::InvalidConfiguration, 503, r#"{"code":"invalid_configuration"}"#, None),
            (Answer::ProcessingFailed, 500, r#"{"code":"processing_failed"}"#, None),
        ] {
            assert_eq!((answer.status(), answer.body().as_ref(), answer.allow()), (status, body, allow));
        }
    }
}
