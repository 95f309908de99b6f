//! The events of one stream in their order: without gaps, never back in time, each delivered to the right endpoints
//! (I8, I12).

use verify_core::catalog::EventType;

use super::{Finding, FindingCode};
use crate::endpoint::matches_filter;
use crate::id::{EndpointId, EventId};
use crate::time::Timestamp;

/// An event without its body.
#[derive(Clone, Debug)]
pub struct EventHead {
    /// Its id.
    pub id: EventId,
    /// Position in the stream.
    pub sequence: i64,
    /// Catalog name.
    pub event_type: String,
    /// The column of that name.
    pub created_at: Timestamp,
}

/// The row from which a stream's next event takes its sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamCounter {
    /// The last sequence that was given out.
    pub last_sequence: i64,
    /// The `created_at` that was given out with it.
    pub last_created_at: Timestamp,
    /// The events up to this sequence were removed because of their age; 0 when none were (contract 15.13).
    pub removed_through: i64,
}

/// Walks a stream from the first event that is kept to the last.
#[derive(Debug)]
pub struct StreamCheck {
    last_sequence: i64,
    last_created_at: Option<Timestamp>,
}

impl StreamCheck {
    /// Before the first event that is kept; without retention its sequence is 1.
    #[must_use]
    pub fn begin(counter: Option<StreamCounter>) -> Self {
        let removed = counter.map_or(0, |counter| counter.removed_through);
        Self { last_sequence: removed, last_created_at: None }
    }

    /// Takes the next event by sequence.
    pub fn add(&mut self, event: &EventHead) -> Vec<Finding> {
        let mut findings = Vec::new();
        let expected = self.last_sequence + 1;
        if event.sequence != expected {
            let detail = format!("sequence {} follows, {expected} was expected", event.sequence);
            findings.push(Finding::new(FindingCode::SequenceGap, event.id.as_str(), detail));
        }
        if self.last_created_at.is_some_and(|last| event.created_at < last) {
            let detail = format!("sequence {} is older than the event before it", event.sequence);
            findings.push(Finding::new(FindingCode::CreatedAtDecreases, event.id.as_str(), detail));
        }
        self.last_sequence = event.sequence;
        self.last_created_at = self.last_created_at.max(Some(event.created_at));
        findings
    }

    /// After the last event: the counter must be exactly at its sequence, or the next one would not follow. A stream
    /// without events has no counter, or one at 0.
    #[must_use]
    pub fn end(self, counter: Option<StreamCounter>) -> Vec<Finding> {
        let at = counter.map_or(0, |counter| counter.last_sequence);
        let mut wrong = Vec::new();
        if at != self.last_sequence {
            wrong.push(format!("the counter is at {at}, the last event at {}", self.last_sequence));
        }
        if let (Some(counter), Some(last)) = (counter, self.last_created_at)
            && counter.last_created_at < last
        {
            wrong.push(format!("the counter's time is {}, the last event's {last}", counter.last_created_at));
        }
        let finding = |detail| Finding::new(FindingCode::StreamCounterDiffers, "stream", detail);
        wrong.into_iter().map(finding).collect()
    }
}

/// An endpoint as the audit sees it: since its subscription last changed, it is known exactly which events it should
/// get.
#[derive(Clone, Debug)]
pub struct Subscription {
    /// The endpoint.
    pub endpoint: EndpointId,
    /// Whether deliveries are made for it.
    pub enabled: bool,
    /// Its `enabled_events`.
    pub filters: Vec<String>,
    /// The stream's last sequence when the two members above were last changed.
    pub since: i64,
}

impl Subscription {
    fn expects(&self, event: &EventHead) -> bool {
        let wanted = |event_type| self.filters.iter().any(|filter| matches_filter(filter, event_type));
        self.enabled
            && EventType::parse(&event.event_type)
                .is_some_and(|event_type| event_type != EventType::WebhookTest && wanted(event_type))
    }
}

/// A delivery with trigger `event`.
#[derive(Clone, Debug)]
pub struct EventDelivery {
    /// Of this event.
    pub event: EventId,
    /// To this endpoint.
    pub endpoint: EndpointId,
    /// Whether merchant, mode, sequence and type are those of the event.
    pub agrees: bool,
}

/// Whether `event` has the right deliveries (I12): since the last change of its subscription an endpoint has exactly
/// the deliveries that it wants; before that, at most one of each event. `deliveries` are those of the event.
#[must_use]
pub fn check_fan_out(
    event: &EventHead,
    subscriptions: &[Subscription],
    deliveries: &[EventDelivery],
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let unexpected = |delivery: &EventDelivery, why: &str| {
        let detail = format!("event {} at sequence {}: {why}", event.id, event.sequence);
        Finding::new(FindingCode::DeliveryUnexpected, delivery.endpoint.as_str(), detail)
    };
    for delivery in deliveries {
        if !delivery.agrees {
            findings.push(unexpected(delivery, "the delivery is not of the event's stream, place or type"));
        } else if !subscriptions.iter().any(|subscription| subscription.endpoint == delivery.endpoint) {
            findings.push(unexpected(delivery, "the endpoint is not one of the stream"));
        }
    }
    for subscription in subscriptions {
        let mut made = deliveries.iter().filter(|delivery| delivery.endpoint == subscription.endpoint);
        let (first, second) = (made.next(), made.next());
        let known = event.sequence > subscription.since;
        match first {
            None if known && subscription.expects(event) => {
                let detail = format!("event {} at sequence {} has no delivery", event.id, event.sequence);
                let endpoint = subscription.endpoint.as_str();
                findings.push(Finding::new(FindingCode::DeliveryMissing, endpoint, detail));
            }
            Some(delivery) if known && !subscription.expects(event) => {
                findings.push(unexpected(delivery, "the endpoint did not want it"));
            }
            _ => {}
        }
        findings.extend(second.map(|delivery| unexpected(delivery, "there are two deliveries")));
    }
    findings
}
