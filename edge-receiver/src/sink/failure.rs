//! Why a sink did not take an event.

use std::fmt;

/// Why a sink did not take an event. Says nothing about where the sink is, or with which secret it was spoken to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// It answered with this status.
    Answered(u16),
    /// It could not be reached, or the connection broke before it answered.
    Unreachable,
    /// It had not answered when the attempt's time was over.
    TimedOut,
    /// The queue did not take the message.
    QueueRefused,
    /// The receiver itself was ended in the middle of the attempt.
    CutOff,
    /// The record's body is not the event that was recorded.
    Unreadable,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered(status) => write!(f, "answered {status}"),
            Self::Unreachable => f.write_str("could not be reached"),
            Self::TimedOut => f.write_str("did not answer in time"),
            Self::QueueRefused => f.write_str("the queue did not take the message"),
            Self::CutOff => f.write_str("the attempt was cut off"),
            Self::Unreadable => f.write_str("the recorded body is not an event"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// They are shown inside JSON as they are.
    #[test]
    fn failures_need_no_escape() {
        for failure in [
            Failure::Answered(503),
            Failure::Unreachable,
            Failure::TimedOut,
            Failure::QueueRefused,
            Failure::CutOff,
            Failure::Unreadable,
        ] {
            let text = failure.to_string();
            assert!(text.bytes().all(|byte| byte == b' ' || byte.is_ascii_alphanumeric()), "{text}");
        }
    }
}
