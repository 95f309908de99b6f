//! What an inbox says about an event, and how it says it to the Worker.
//!
//! The two are parts of one script that talk by a request and a response, so the answer travels as a status:
//! 201 for an event that was new, 200 for one that was there already. Anything else is a failure of storage.

use verify_core::receiver::Verdict;

/// The answer of the claim store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claim {
    /// The event was inserted by this request.
    First,
    /// The event had been inserted before.
    Duplicate,
}

impl Claim {
    /// The status that carries this answer.
    #[must_use]
    pub fn status(self) -> u16 {
        match self {
            Self::First => 201,
            Self::Duplicate => 200,
        }
    }

    /// The answer that `status` carries, `None` for every other status.
    #[must_use]
    pub fn from_status(status: u16) -> Option<Self> {
        match status {
            201 => Some(Self::First),
            200 => Some(Self::Duplicate),
            _ => None,
        }
    }

    /// What the sender is told.
    #[must_use]
    pub fn verdict(self) -> Verdict {
        match self {
            Self::First => Verdict::First,
            Self::Duplicate => Verdict::Duplicate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_two_answers_are_claims() {
        for claim in [Claim::First, Claim::Duplicate] {
            assert_eq!(Claim::from_status(claim.status()), Some(claim));
        }
        for status in [0, 199, 202, 204, 400, 404, 409, 500, 503] {
            assert_eq!(Claim::from_status(status), None, "{status}");
        }
    }
}
