//! What a receiver keeps of an event (contract 11.2).
//!
//! An event is recorded once, by an insert that a uniqueness constraint decides: whoever inserted is told
//! [`Claimed::First`], everybody else [`Claimed::Duplicate`]. The record begins as [`Status::Received`] with no attempt
//! made. Where and how it is stored is the receiver's own matter.

use super::Verdict;
use crate::event::Envelope;

/// What is stored of an event when it is claimed. It is read from the verified body alone, so it cannot say anything
/// else than what is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'b> {
    /// The event id, under which it is claimed.
    pub id: &'b str,
    /// The event's type; it may be one that the catalog does not know.
    pub event_type: &'b str,
    /// When the event was created, as its body says.
    pub created_at: &'b str,
    /// The merchant that the event belongs to.
    pub merchant_id: &'b str,
    /// Live or test traffic; `None` when the event does not say.
    pub livemode: Option<bool>,
    /// When the receiver took the event in, Unix milliseconds.
    pub received_at_ms: i64,
    /// The exact bytes that were signed.
    pub body: &'b [u8],
}

impl<'b> Record<'b> {
    /// The record of a verified event that arrives at `received_at_ms` (Unix milliseconds).
    #[must_use]
    pub fn new(envelope: &'b Envelope<'b>, received_at_ms: i64) -> Self {
        Self {
            id: &envelope.id,
            event_type: &envelope.event_type,
            created_at: &envelope.created_at,
            merchant_id: &envelope.merchant_id,
            livemode: envelope.livemode,
            received_at_ms,
            body: envelope.text.as_bytes(),
        }
    }
}

/// What came of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claimed {
    /// The id was new. Whoever is told so sees to the event's effect.
    First,
    /// The id was claimed before: no second effect.
    Duplicate,
}

impl Claimed {
    /// What the sender is told.
    #[must_use]
    pub const fn verdict(self) -> Verdict {
        match self {
            Self::First => Verdict::First,
            Self::Duplicate => Verdict::Duplicate,
        }
    }
}

/// Where a recorded event stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
    /// Taken in, and nothing attempted yet.
    Received,
    /// An attempt at its effect is under way, or was when the receiver died.
    Processing,
    /// Its effect has happened. The end of its life.
    Processed,
    /// The last attempt failed. The record is kept, and the next attempt follows.
    Error,
}

impl Status {
    /// Every state, in the order of an event's life.
    pub const ALL: [Self; 4] = [Self::Received, Self::Processing, Self::Processed, Self::Error];

    /// The state as it is stored and shown.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Received => "received",
            Self::Processing => "processing",
            Self::Processed => "processed",
            Self::Error => "error",
        }
    }

    /// The state of this exact name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == name)
    }
}
