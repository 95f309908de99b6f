//! The judge: what the clients were promised, what the endpoints were, what the database says and what the receiver
//! recorded, held against each other (contract 2.9, 3.11 I12, 7, 8.1, 12 T1, 15.9).
//!
//! Something is lost when an acknowledged write has no event, when an event has no delivery for an endpoint that
//! certainly wanted it, when a delivery is called succeeded and never arrived with a 2xx, and when it has ended or
//! waits still without a reason. Everything else that does not fit is wrong. A judge that has seen nothing is not
//! satisfied either.

mod arrivals;
mod attempts;
mod fates;

use std::collections::HashMap;
use std::fmt::Display;

use crate::facts::{AttemptRow, DeliveryRow, EventRow, Facts};
use crate::history::History;
use crate::merchants::Acknowledged;
use crate::receiver::{Arrival, Record};

/// How long before an attempt began its endpoint may have been read, milliseconds: the commit that made the delivery
/// may have waited for a database that was away.
const READ_BEFORE_MS: i64 = 10_000;

/// Everything that is known about a run.
#[derive(Clone, Debug)]
pub(crate) struct Evidence {
    pub(crate) acknowledged: Vec<Acknowledged>,
    pub(crate) histories: Vec<History>,
    pub(crate) facts: Facts,
    pub(crate) record: Record,
}

/// What does not fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Findings {
    pub(crate) lost: Vec<String>,
    pub(crate) wrong: Vec<String>,
}

impl Findings {
    fn lost(&mut self, what: impl Display) {
        self.lost.push(what.to_string());
    }

    fn wrong(&mut self, what: impl Display) {
        self.wrong.push(what.to_string());
    }
}

/// The evidence, sorted for looking things up.
struct Case<'e> {
    evidence: &'e Evidence,
    events: HashMap<&'e str, &'e EventRow>,
    deliveries: HashMap<&'e str, &'e DeliveryRow>,
    /// Of each delivery, by number.
    attempts: HashMap<&'e str, Vec<&'e AttemptRow>>,
    /// Of each delivery, in the order in which they arrived.
    arrivals: HashMap<&'e str, Vec<&'e Arrival>>,
    histories: HashMap<&'e str, &'e History>,
    /// When each endpoint's receiver said 410.
    gone: HashMap<&'e str, Vec<i64>>,
}

impl<'e> Case<'e> {
    fn new(evidence: &'e Evidence) -> Self {
        let Evidence { histories, facts, record, .. } = evidence;
        let deliveries: HashMap<_, _> = facts.deliveries.iter().map(|row| (row.id.as_str(), row)).collect();
        let mut attempts: HashMap<_, Vec<_>> = HashMap::new();
        for row in &facts.attempts {
            attempts.entry(row.delivery_id.as_str()).or_default().push(row);
        }
        let (mut arrivals, mut gone): (HashMap<_, Vec<_>>, HashMap<_, Vec<_>>) = Default::default();
        for arrival in &record.arrivals {
            arrivals.entry(arrival.delivery.as_str()).or_default().push(arrival);
            let endpoint = deliveries.get(arrival.delivery.as_str()).map(|row| row.endpoint_id.as_str());
            if let Some(endpoint) = endpoint.filter(|_| arrival.answered == Some(410)) {
                gone.entry(endpoint).or_default().push(arrival.at);
            }
        }
        Self {
            evidence,
            events: facts.events.iter().map(|row| (row.id.as_str(), row)).collect(),
            deliveries,
            attempts,
            arrivals,
            histories: histories.iter().map(|history| (history.endpoint.as_str(), history)).collect(),
            gone,
        }
    }

    fn attempts_of(&self, delivery: &str) -> &[&'e AttemptRow] {
        self.attempts.get(delivery).map_or(&[], Vec::as_slice)
    }

    fn arrivals_of(&self, delivery: &str) -> &[&'e Arrival] {
        self.arrivals.get(delivery).map_or(&[], Vec::as_slice)
    }
}

/// Judges a run that has ended.
pub(crate) fn judge(evidence: &Evidence) -> Findings {
    let mut findings = Findings::default();
    let case = Case::new(evidence);
    if [case.events.len(), case.deliveries.len(), case.attempts.len(), case.arrivals.len()].contains(&0) {
        findings.wrong("nothing has happened");
    }
    fates::check_promises(&case, &mut findings);
    fates::check_deliveries(&case, &mut findings);
    attempts::check(&case, &mut findings);
    arrivals::check(&case, &mut findings);
    findings
}
