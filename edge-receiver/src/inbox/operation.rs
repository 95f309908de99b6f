//! What the Worker asks of an inbox, and how the two say it.
//!
//! They are parts of one script that talk by requests and responses, so a question travels as a path and a plain answer
//! as a status. A status that is not listed here is a failure of storage.

use verify_core::event;
use verify_core::receiver::Claimed;

/// A question to an inbox.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation<'i> {
    /// Record the event in the body, if it is new.
    Claim,
    /// Record those of the listed events in the body that are new and not too old; see [`super::batch`].
    ClaimAll,
    /// How the events of this inbox stand.
    Summary,
    /// The record of this event.
    LookUp(&'i str),
    /// Make the next attempt at this event now.
    Retry(&'i str),
}

impl<'i> Operation<'i> {
    /// The path that says this.
    #[must_use]
    pub fn path(&self) -> String {
        match self {
            Self::Claim => "/claim".to_owned(),
            Self::ClaimAll => "/claim-all".to_owned(),
            Self::Summary => "/summary".to_owned(),
            Self::LookUp(id) => format!("/look-up/{id}"),
            Self::Retry(id) => format!("/retry/{id}"),
        }
    }

    /// What a path says, `None` when it says nothing.
    #[must_use]
    pub fn parse(path: &'i str) -> Option<Self> {
        let is_event_id = |id: &&str| event::is_event_id(id);
        match path {
            "/claim" => Some(Self::Claim),
            "/claim-all" => Some(Self::ClaimAll),
            "/summary" => Some(Self::Summary),
            _ => match path.strip_prefix("/look-up/") {
                Some(id) => Some(id).filter(is_event_id).map(Self::LookUp),
                None => path.strip_prefix("/retry/").filter(is_event_id).map(Self::Retry),
            },
        }
    }
}

/// The status that says what came of a claim.
#[must_use]
pub fn claim_status(claimed: Claimed) -> u16 {
    match claimed {
        Claimed::First => 201,
        Claimed::Duplicate => 200,
    }
}

/// What came of a claim as `status` says it, `None` for every other status.
#[must_use]
pub fn claimed(status: u16) -> Option<Claimed> {
    match status {
        201 => Some(Claimed::First),
        200 => Some(Claimed::Duplicate),
        _ => None,
    }
}

/// What came of asking for an attempt now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Retried {
    /// It will be made at once, or when the one that is under way has failed.
    Scheduled,
    /// There is nothing left to attempt: the event has been handed over.
    AlreadyProcessed,
    /// There is no such event.
    Unknown,
}

impl Retried {
    /// The status that says this.
    #[must_use]
    pub fn status(self) -> u16 {
        match self {
            Self::Scheduled => 202,
            Self::AlreadyProcessed => 409,
            Self::Unknown => 404,
        }
    }

    /// What `status` says, `None` for every other status.
    #[must_use]
    pub fn from_status(status: u16) -> Option<Self> {
        match status {
            202 => Some(Self::Scheduled),
            409 => Some(Self::AlreadyProcessed),
            404 => Some(Self::Unknown),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_arrives_as_it_was_asked() {
        for operation in [
            Operation::Claim,
            Operation::ClaimAll,
            Operation::Summary,
            Operation::LookUp("evt_1"),
            Operation::Retry("evt_a-B_9"),
        ] {
            assert_eq!(Operation::parse(&operation.path()), Some(operation));
        }
        for path in
            ["", "/", "/claim/", "/look-up/", "/look-up/1", "/retry/evt_", "/retry/evt_1/x", "/events/evt_1"]
        {
            assert_eq!(Operation::parse(path), None, "{path}");
        }
    }

    #[test]
    fn only_the_listed_statuses_are_answers() {
        for answer in [Claimed::First, Claimed::Duplicate] {
            assert_eq!(claimed(claim_status(answer)), Some(answer));
        }
        for answer in [Retried::Scheduled, Retried::AlreadyProcessed, Retried::Unknown] {
            assert_eq!(Retried::from_status(answer.status()), Some(answer));
        }
        for status in [0, 199, 202, 204, 400, 404, 409, 500, 503] {
            assert_eq!(claimed(status), None, "{status}");
        }
        for status in [0, 200, 201, 204, 400, 500, 503] {
            assert_eq!(Retried::from_status(status), None, "{status}");
        }
    }
}
