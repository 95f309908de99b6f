//! The events that an endpoint wants and that have not reached it, and why (contract 15.1).
//!
//! Every event of the stream that is not older than the endpoint and that its filter lets through either has a
//! delivery there that succeeded, or is in this list with one reason. The current filter counts: a merchant that
//! widens it sees, and can recover, the events that the filter excluded before. A test event concerns only the
//! endpoint that it was made for, whatever that endpoint's filter is.

use serde::Serialize;
use verify_core::catalog::EventType;

use crate::delivery::DeliveryStatus;
use crate::delivery::outcome::FailureReason;
use crate::endpoint::matches_filter;
use crate::id::EventId;
use crate::text_enum::text_enum;
use crate::time::Timestamp;

text_enum! {
    /// Why an event has not arrived.
    UndeliveredReason {
        /// A delivery waits for its first or next attempt, or is being attempted.
        Pending = "pending",
        /// The newest delivery used up its schedule.
        AttemptsExhausted = "attempts_exhausted",
        /// The receiver refused the newest delivery.
        Rejected = "rejected",
        /// The receiver answered the newest delivery with 410.
        Gone = "gone",
        /// No delivery was made: the endpoint was disabled, or did not want the event then.
        EndpointDisabled = "endpoint_disabled",
        /// The newest delivery was cancelled while it waited.
        Cancelled = "cancelled",
    }
}

impl UndeliveredReason {
    /// The reason for an event that no delivery has brought to the endpoint. `fate` is the status of a waiting
    /// delivery, else of the newest one, with its `failure_reason`; `None` when there is no delivery.
    #[must_use]
    pub fn of(fate: Option<(DeliveryStatus, Option<FailureReason>)>) -> Self {
        match fate {
            None => Self::EndpointDisabled,
            Some((DeliveryStatus::Pending, _)) => Self::Pending,
            Some((DeliveryStatus::Cancelled | DeliveryStatus::Succeeded, _)) => Self::Cancelled,
            Some((DeliveryStatus::Failed, reason)) => match reason {
                Some(FailureReason::Rejected) => Self::Rejected,
                Some(FailureReason::Gone) => Self::Gone,
                _ => Self::AttemptsExhausted,
            },
        }
    }
}

/// An event that has not arrived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "object", rename = "undelivered_event")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UndeliveredEvent {
    /// The event.
    pub event_id: EventId,
    /// Its name.
    pub event_type: String,
    /// Its position in the stream.
    pub sequence: i64,
    /// When the event was created.
    pub created_at: Timestamp,
    /// Why it has not arrived.
    pub reason: UndeliveredReason,
}

/// Which events of its stream an endpoint wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Catalog names, without `webhook.test`; `None` is every one of them.
    pub names: Option<Vec<&'static str>>,
    /// Whether the endpoint's own test events are asked for.
    pub tests: bool,
}

impl Wanted {
    /// The types that both `filters` and `asked` let through; without `asked`, all that `filters` let through. Both
    /// are lists of `*`, catalog names and `<category>.*`.
    #[must_use]
    pub fn of(filters: &[String], asked: &[String]) -> Self {
        let passes =
            |list: &[String], event_type| list.iter().any(|filter| matches_filter(filter, event_type));
        let asks = |event_type| asked.is_empty() || passes(asked, event_type);
        let ordinary = || EventType::ALL.into_iter().filter(|event| *event != EventType::WebhookTest);
        let names: Vec<&'static str> = ordinary()
            .filter(|event| passes(filters, *event) && asks(*event))
            .map(EventType::as_str)
            .collect();
        let all = names.len() == ordinary().count();
        Self { names: (!all).then_some(names), tests: asks(EventType::WebhookTest) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fate_has_its_reason() {
        use DeliveryStatus::{Cancelled, Failed, Pending};
        let table = [
            (None, "endpoint_disabled"),
            (Some((Pending, None)), "pending"),
            (Some((Failed, Some(FailureReason::AttemptsExhausted))), "attempts_exhausted"),
            (Some((Failed, Some(FailureReason::Rejected))), "rejected"),
            (Some((Failed, Some(FailureReason::Gone))), "gone"),
            (Some((Cancelled, Some(FailureReason::EndpointDisabled))), "cancelled"),
            (Some((Cancelled, None)), "cancelled"),
        ];
        for (fate, expected) in table {
            assert_eq!(UndeliveredReason::of(fate).as_str(), expected, "{fate:?}");
        }
    }

    #[test]
    fn what_is_wanted_is_what_both_lists_let_through() {
        type Names = &'static [&'static str];
        let list = |names: Names| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let table: [(Names, Names, Option<Names>, bool); 6] = [
            (&["*"], &[], None, true),
            (&["checkout.created"], &[], Some(&["checkout.created"]), true),
            (
                &["refund.*", "order.created"],
                &["refund.failed", "order.*"],
                Some(&["order.created", "refund.failed"]),
                false,
            ),
            (&["refund.*"], &["order.*"], Some(&[]), false),
            (&["refund.*"], &["webhook.test"], Some(&[]), true),
            (&["webhook.*"], &["*"], Some(&[]), true),
        ];
        for (filters, asked, names, tests) in table {
            let expected = Wanted { names: names.map(<[_]>::to_vec), tests };
            assert_eq!(Wanted::of(&list(filters), &list(asked)), expected, "{filters:?} {asked:?}");
        }
    }
}
