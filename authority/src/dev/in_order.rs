//! Arrivals in the order of the event stream, for a person to read.
//!
//! Deliveries go out in parallel, so an event may arrive before the one that was committed before it. An event that
//! arrives for the first time waits until all events with lower sequences have arrived. The caller limits the wait
//! ([`InOrder::release`]), because a delivery that fails is repeated only after seconds. Refusals, duplicates and
//! events of an earlier run never wait.

use std::collections::BTreeMap;

use verify_core::receiver::Verdict;

use super::receiver::Arrival;

/// Holds back what has arrived too early. Before the end of the stream is known, nothing waits.
#[derive(Default)]
pub(crate) struct InOrder {
    next: Option<u64>,
    waiting: BTreeMap<u64, Arrival>,
}

impl InOrder {
    /// Orders the events after this sequence.
    pub(crate) fn after(sequence: u64) -> Self {
        Self { next: Some(sequence + 1), waiting: BTreeMap::new() }
    }

    /// Whether an event waits for an earlier one.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Takes an arrival; returns the arrivals that can be shown now, in order.
    pub(crate) fn take(&mut self, arrival: Arrival) -> Vec<Arrival> {
        let sequence = arrival.event.as_ref().and_then(|event| event.sequence);
        let (Some(next), Some(sequence), Verdict::First) = (self.next, sequence, arrival.verdict) else {
            return vec![arrival];
        };
        if sequence < next {
            return vec![arrival];
        }
        self.waiting.insert(sequence, arrival);
        let mut next = next;
        let mut ready = Vec::new();
        while let Some(arrival) = self.waiting.remove(&next) {
            ready.push(arrival);
            next += 1;
        }
        self.next = Some(next);
        ready
    }

    /// Ends the wait: returns everything that waits, in order. A missing event is shown when it comes.
    pub(crate) fn release(&mut self) -> Vec<Arrival> {
        let waiting = std::mem::take(&mut self.waiting);
        if let Some((last, _)) = waiting.last_key_value() {
            self.next = Some(last + 1);
        }
        waiting.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use verify_core::code::VerificationCode::InvalidSignature;

    use super::super::receiver::ArrivedEvent;
    use super::*;

    fn event(sequence: u64, verdict: Verdict) -> Arrival {
        let id = format!("evt_{sequence}");
        let event = ArrivedEvent { id, event_type: "order.created".to_owned(), sequence: Some(sequence) };
        Arrival { verdict, event: Some(event) }
    }

    fn sequences(arrivals: &[Arrival]) -> Vec<Option<u64>> {
        arrivals.iter().map(|arrival| arrival.event.as_ref()?.sequence).collect()
    }

    #[test]
    fn events_are_shown_in_the_order_of_their_sequences() {
        let mut in_order = InOrder::after(4);
        let mut shown = Vec::new();
        for sequence in [6, 8, 5, 7, 10, 9] {
            shown.extend(in_order.take(event(sequence, Verdict::First)));
        }
        assert_eq!(sequences(&shown), [5, 6, 7, 8, 9, 10].map(Some));
        assert!(!in_order.is_waiting());
    }

    #[test]
    fn what_has_no_place_in_the_order_does_not_wait() {
        let mut in_order = InOrder::after(4);
        let refused = Arrival { verdict: Verdict::Rejected(InvalidSignature), event: None };
        for arrival in [refused, event(9, Verdict::Duplicate), event(3, Verdict::First)] {
            assert_eq!(in_order.take(arrival.clone()), [arrival]);
        }
        let mut unknown_end = InOrder::default();
        assert_eq!(unknown_end.take(event(9, Verdict::First)).len(), 1);
    }

    #[test]
    fn a_missing_event_holds_the_others_until_they_are_released() {
        let mut in_order = InOrder::after(0);
        for sequence in [4, 3, 2] {
            assert!(in_order.take(event(sequence, Verdict::First)).is_empty());
        }
        assert!(in_order.is_waiting());
        assert_eq!(sequences(&in_order.release()), [2, 3, 4].map(Some));
        assert!(in_order.release().is_empty());
        assert_eq!(sequences(&in_order.take(event(5, Verdict::First))), [Some(5)]);
        assert_eq!(sequences(&in_order.take(event(1, Verdict::First))), [Some(1)], "late, and not lost");
    }
}
