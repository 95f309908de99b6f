//! The result of a run: arrivals counted by event, and the summary of contract 16.
//!
//! The receiver reports each request once it has decided about it. The numbers of delivered, verified and claimed
//! events come from these reports alone; the expected events come from `GET /events`. The two sources are independent,
//! which makes the comparison meaningful.

use std::collections::HashMap;

use serde::Serialize;
use verify_core::code::VerificationCode;
use verify_core::receiver::Verdict;

use super::receiver::Arrival;

/// The least number of events that a run must emit.
const EVENTS_MIN: u64 = 8;

/// What happened to one event.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// Requests that were verified.
    verified: u64,
    /// Requests that were answered with 2xx.
    delivered: u64,
    /// Requests that were the first to claim it, and so had an effect.
    effects: u64,
}

/// What the receiver has reported so far.
#[derive(Default)]
pub(crate) struct Tally {
    events: HashMap<String, Seen>,
    duplicates: u64,
    invalid_signature: u64,
    stale_timestamp: u64,
}

/// The delivery results of a run's events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Deliveries {
    events_emitted: u64,
    delivered: u64,
    verified: u64,
    claimed: u64,
    lost: u64,
}

/// Requests that the receiver refused, by code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Rejected {
    /// The altered body and the wrong secret.
    pub(crate) invalid_signature: u64,
    /// The old timestamp.
    pub(crate) stale_timestamp: u64,
}

/// The summary; as JSON it is the line of contract 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Summary {
    /// Events that `GET /events` lists for this run.
    pub(crate) events_emitted: u64,
    /// Of these, the events that the receiver answered with 2xx.
    pub(crate) delivered: u64,
    /// Of these, the events whose signature and content the receiver found valid.
    pub(crate) verified: u64,
    /// Of these, the events that the receiver claimed and acted on exactly once.
    pub(crate) claimed: u64,
    /// Verified requests for an event that was already claimed: the one that `dev` sends itself, and any repeated
    /// deliveries, which at-least-once delivery allows.
    pub(crate) duplicates_suppressed: u64,
    /// Requests that were refused.
    pub(crate) rejected: Rejected,
    /// Events that were never claimed.
    pub(crate) lost: u64,
}

impl Tally {
    /// Counts one request.
    pub(crate) fn note(&mut self, arrival: &Arrival) {
        if let Some(event) = &arrival.event {
            let seen = self.events.entry(event.id.clone()).or_default();
            seen.verified += 1;
            seen.delivered += u64::from((200..300).contains(&arrival.verdict.status()));
            seen.effects += u64::from(arrival.verdict == Verdict::First);
        }
        match arrival.verdict {
            Verdict::Duplicate => self.duplicates += 1,
            Verdict::Rejected(VerificationCode::InvalidSignature) => self.invalid_signature += 1,
            Verdict::Rejected(VerificationCode::StaleTimestamp) => self.stale_timestamp += 1,
            _ => {}
        }
    }

    /// Whether each of these events was claimed.
    pub(crate) fn has_claimed(&self, ids: &[String]) -> bool {
        ids.iter().all(|id| self.seen(id).effects > 0)
    }

    /// How many times the receiver acted on this event.
    pub(crate) fn effects(&self, id: &str) -> u64 {
        self.seen(id).effects
    }

    /// The results for these events so far. Call this before `dev` sends its probes, which would be counted, too.
    pub(crate) fn deliveries(&self, ids: &[String]) -> Deliveries {
        let count = |holds: fn(Seen) -> bool| ids.iter().filter(|id| holds(self.seen(id))).count() as u64;
        Deliveries {
            events_emitted: ids.len() as u64,
            delivered: count(|seen| seen.delivered > 0),
            verified: count(|seen| seen.verified > 0),
            claimed: count(|seen| seen.effects == 1),
            lost: count(|seen| seen.effects == 0),
        }
    }

    /// The summary of a run with these delivery results.
    pub(crate) fn summary(&self, deliveries: Deliveries) -> Summary {
        let Deliveries { events_emitted, delivered, verified, claimed, lost } = deliveries;
        Summary {
            events_emitted,
            delivered,
            verified,
            claimed,
            duplicates_suppressed: self.duplicates,
            rejected: Rejected {
                invalid_signature: self.invalid_signature,
                stale_timestamp: self.stale_timestamp,
            },
            lost,
        }
    }

    fn seen(&self, id: &str) -> Seen {
        self.events.get(id).copied().unwrap_or_default()
    }
}

impl Summary {
    /// The rules that were broken, in words; empty if every rule holds.
    pub(crate) fn shortcomings(&self) -> Vec<String> {
        let Self { events_emitted, delivered, verified, claimed, duplicates_suppressed, rejected, lost } =
            *self;
        let Rejected { invalid_signature, stale_timestamp } = rejected;
        let rules = [
            (
                events_emitted >= EVENTS_MIN,
                format!("{events_emitted} events were emitted, not {EVENTS_MIN} or more"),
            ),
            (delivered == events_emitted, format!("{delivered} of {events_emitted} events were delivered")),
            (verified == events_emitted, format!("{verified} of {events_emitted} events were verified")),
            (claimed == events_emitted, format!("{claimed} of {events_emitted} events were claimed once")),
            (lost == 0, format!("{lost} events were lost")),
            (duplicates_suppressed >= 1, "no duplicate was suppressed".to_owned()),
            (
                invalid_signature == 2,
                format!("{invalid_signature} requests were refused as invalid_signature, not 2"),
            ),
            (
                stale_timestamp == 1,
                format!("{stale_timestamp} requests were refused as stale_timestamp, not 1"),
            ),
        ];
        rules.into_iter().filter(|(holds, _)| !holds).map(|(_, otherwise)| otherwise).collect()
    }
}

#[cfg(test)]
mod tests;
