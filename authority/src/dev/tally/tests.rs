//! The tally over made-up arrivals, and each rule of the summary.

use verify_core::code::VerificationCode::{InvalidJson, InvalidSignature, StaleTimestamp};
use verify_core::receiver::Verdict::{self, Duplicate, First, Rejected as Refused, StorageUnavailable};

use super::super::receiver::ArrivedEvent;
use super::*;

fn arrival(id: &str, verdict: Verdict) -> Arrival {
    let event = ArrivedEvent { id: id.to_owned(), event_type: "order.created".to_owned(), sequence: None };
    Arrival { verdict, event: Some(event) }
}

fn refusal(verdict: Verdict) -> Arrival {
    Arrival { verdict, event: None }
}

fn ids(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

const HELD: Summary = Summary {
    events_emitted: 9,
    delivered: 9,
    verified: 9,
    claimed: 9,
    duplicates_suppressed: 1,
    rejected: Rejected { invalid_signature: 2, stale_timestamp: 1 },
    lost: 0,
};

#[test]
fn each_event_is_counted_for_what_happened_to_it() {
    let mut tally = Tally::default();
    for arrival in [
        arrival("fine", First),
        arrival("again", First),
        arrival("again", Duplicate),
        arrival("full", StorageUnavailable),
        arrival("late", StorageUnavailable),
        arrival("late", First),
        arrival("twice", First),
        arrival("twice", First),
        arrival("of another run", First),
        refusal(Refused(InvalidSignature)),
        refusal(Refused(InvalidSignature)),
        refusal(Refused(StaleTimestamp)),
        refusal(Refused(InvalidJson)),
        refusal(Verdict::TooLarge),
    ] {
        tally.note(&arrival);
    }
    let run = ids(&["fine", "again", "full", "late", "twice", "never seen"]);
    assert!(!tally.has_claimed(&run));
    assert!(tally.has_claimed(&ids(&["fine", "again", "late"])));
    assert_eq!([tally.effects("never seen"), tally.effects("fine"), tally.effects("twice")], [0, 1, 2]);
    let summary = tally.summary(tally.deliveries(&run));
    assert_eq!(
        serde_json::to_string(&summary).unwrap(),
        r#"{"events_emitted":6,"delivered":4,"verified":5,"claimed":3,"duplicates_suppressed":1,"rejected":{"invalid_signature":2,"stale_timestamp":1},"lost":2}"#
    );
}

#[test]
fn every_rule_of_the_summary_can_be_broken_by_itself() {
    assert_eq!(HELD.shortcomings(), Vec::<String>::new());
    assert_eq!(Summary { duplicates_suppressed: 3, ..HELD }.shortcomings(), Vec::<String>::new());
    let few = Summary { events_emitted: 7, delivered: 7, verified: 7, claimed: 7, ..HELD };
    let rejected = |invalid_signature, stale_timestamp| Rejected { invalid_signature, stale_timestamp };
    for (summary, shortcoming) in [
        (few, "7 events were emitted, not 8 or more"),
        (Summary { delivered: 8, ..HELD }, "8 of 9 events were delivered"),
        (Summary { verified: 8, ..HELD }, "8 of 9 events were verified"),
        (Summary { claimed: 8, ..HELD }, "8 of 9 events were claimed once"),
        (Summary { lost: 1, ..HELD }, "1 events were lost"),
        (Summary { duplicates_suppressed: 0, ..HELD }, "no duplicate was suppressed"),
        (Summary { rejected: rejected(1, 1), ..HELD }, "1 requests were refused as invalid_signature, not 2"),
        (Summary { rejected: rejected(3, 1), ..HELD }, "3 requests were refused as invalid_signature, not 2"),
        (Summary { rejected: rejected(2, 0), ..HELD }, "0 requests were refused as stale_timestamp, not 1"),
    ] {
        assert_eq!(summary.shortcomings(), [shortcoming]);
    }
}
