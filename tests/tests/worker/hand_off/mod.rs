//! What the inbox does with what it has recorded: every event reaches its sink, and has its effect there once, whatever
//! fails in between (contract 11.2).
//!
//! The sink is a receiver on a real socket, directly or behind a queue or another Worker. It verifies what it gets like
//! any receiver, and its effects are the events that it has taken: a request that it answered with 2xx.

mod kills;
mod records;
mod sinks;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use futures_util::future::join_all;
use tests::delivery::{Delivery, NOW, OTHER_SECRET};
use tests::workerd::{State, Worker, Workerd};
use tests::{Answer, Arrivals, Gate, Receiver, eventually};

use crate::{DUPLICATE, OK, PATH};

/// What the edge receiver forwards with, and its origin trusts.
const FORWARDING: &str = OTHER_SECRET;

/// An edge receiver without a sink, whose inboxes a test may ask.
fn receiver(name: &str) -> Worker {
    Worker::at_the_vectors(name).entered_by("inspect.js")
}

async fn deliver(workerd: &Workerd, worker: &str, event_id: &str) -> (u16, String) {
    let reply = workerd.send(Delivery::of_event(event_id).request(&workerd.url(worker, PATH))).await;
    let (status, code) = reply.outcome();
    (status, code.to_owned())
}

/// Waits until all inboxes of `worker` say this: received, processing, processed, error.
async fn standing(workerd: &Workerd, worker: &str, expected: [u64; 4]) {
    eventually(format!("{worker} stands at {expected:?}"), async || {
        (workerd.standing(worker).await == expected).then_some(())
    })
    .await;
}

/// How often the sink has taken each event.
fn effects(arrivals: &Arrivals, path: &str) -> BTreeMap<String, usize> {
    let mut effects = BTreeMap::new();
    for taken in arrivals.at(path).filter(|arrival| arrival.status == 200) {
        *effects.entry(taken.event_id.clone()).or_default() += 1;
    }
    effects
}

fn once(event_ids: impl IntoIterator<Item = String>) -> BTreeMap<String, usize> {
    event_ids.into_iter().map(|id| (id, 1)).collect()
}

#[tokio::test]
async fn two_hundred_events_twenty_times_each_through_a_sink_that_fails_twice() {
    let sink = Receiver::start(|arrival| Answer::status(if arrival.nth < 3 { 503 } else { 200 })).await;
    let state = State::new();
    let worker = receiver("crowd").with_origin(&sink.url("/sink"), FORWARDING);
    let workerd = Workerd::start(&state, &[worker]).await;
    let ids: Vec<_> = (0..200).map(|n| format!("evt_crowd_{n:03}")).collect();
    for id in &ids {
        let answers = join_all((0..20).map(|_| deliver(&workerd, "crowd", id))).await;
        let first = answers.iter().filter(|(status, code)| (*status, code.as_str()) == OK).count();
        let duplicates =
            answers.iter().filter(|(status, code)| (*status, code.as_str()) == DUPLICATE).count();
        assert_eq!((first, duplicates), (1, 19), "{id}");
    }
    standing(&workerd, "crowd", [0, 0, 200, 0]).await;
    let arrivals = sink.arrivals();
    assert_eq!(effects(&arrivals, "/sink"), once(ids));
    // Two refusals and one effect of each, and not a request more.
    assert_eq!(arrivals.all.len(), 600);
    for arrival in &arrivals.all {
        assert_eq!(arrival.verify_at(FORWARDING, NOW * 1000).unwrap().id, arrival.event_id);
        assert_eq!(arrival.body, Delivery::of_event(&arrival.event_id).body);
        assert_eq!(arrival.header("service-attempt"), arrival.nth.to_string());
        assert_eq!(arrival.header("service-version"), "2026-09-01");
        assert_eq!(arrival.header("content-type"), "application/json");
    }
    workerd.stop().await;
    for record in state.records("crowd").await {
        assert_eq!((record.status.as_str(), record.attempts, record.last_error), ("processed", 3, None));
    }
}

/// The runtime is killed when everything is recorded and acknowledged, and the sink has been asked and has not
/// answered.
#[tokio::test]
async fn what_was_recorded_when_the_runtime_was_killed_is_handed_off_by_the_next() {
    let (sink, gate) = Receiver::gated(200).await;
    let state = State::new();
    let workers = [receiver("killed").with_origin(&sink.url("/sink"), FORWARDING)];
    let workerd = Workerd::start(&state, &workers).await;
    let ids: Vec<_> = (0..200).map(|n| format!("evt_killed_{n:03}")).collect();
    let answers = join_all(ids.iter().map(|id| deliver(&workerd, "killed", id))).await;
    assert!(answers.iter().all(|(status, code)| (*status, code.as_str()) == OK), "{answers:?}");
    sink.until("the sink is asked", |arrivals| arrivals.all.len() >= 100).await;
    workerd.kill().await;
    gate.open();

    let workerd = Workerd::start(&state, &workers).await;
    standing(&workerd, "killed", [0, 0, 200, 0]).await;
    assert_eq!(effects(&sink.arrivals(), "/sink").into_keys().collect::<Vec<_>>(), ids);
    let asked = sink.arrivals().all.len();
    for id in &ids {
        let again = deliver(&workerd, "killed", id).await;
        assert_eq!((again.0, again.1.as_str()), DUPLICATE);
    }
    workerd.stop().await;
    // Whoever was asked before the end is asked once more after it, since nobody heard the answer; the others once.
    let records = state.records("killed").await;
    assert_eq!(records.len(), 200);
    for record in &records {
        let requests = sink.arrivals().all.iter().filter(|arrival| arrival.event_id == record.id).count();
        assert!(
            (1..=record.attempts).contains(&(requests as i64)) && record.attempts <= 2,
            "{record:?}: {requests}"
        );
        assert_eq!((record.status.as_str(), record.last_error.as_deref()), ("processed", None));
    }
    assert!(records.iter().filter(|record| record.attempts == 2).count() >= 100);
    assert_eq!(sink.arrivals().all.len(), asked);
}

/// All of them in one inbox. What hangs, fails or is sent elsewhere keeps none waiting that the sink takes.
#[tokio::test]
async fn events_that_are_never_taken_keep_nobody_waiting() {
    const HANGING: usize = 4; // as many as an inbox has slots for what failed before
    const REFUSED: usize = 12;
    let never = Gate::closed();
    // The good ones that came while attempts of this inbox hung: none, if those kept them waiting.
    let passed_by = Arc::new(AtomicUsize::new(0));
    let (held, count) = (never.clone(), Arc::clone(&passed_by));
    let sink = Receiver::start(move |arrival| match arrival.event_id.as_str() {
        id if id.starts_with("evt_hangs") => Answer::status(200).held_by(&held),
        id if id.starts_with("evt_poison") => Answer::status(500),
        id if id.starts_with("evt_moved") => Answer::status(307).with("location", "/elsewhere"),
        id => {
            count.fetch_add(usize::from(held.holds() > 0), SeqCst);
            // An answer that never ends is an answer all the same.
            if id.starts_with("evt_drips") { Answer::status(200).dripping() } else { Answer::status(204) }
        }
    })
    .await;
    let state = State::new();
    let worker = receiver("poison").with_origin(&sink.url("/sink"), FORWARDING);
    let workerd = Workerd::start(&state, &[worker]).await;
    let claim = async |id: String| {
        let body = Delivery::of_event(&id).body;
        assert_eq!(workerd.ask_inbox("poison", 0, "/claim", body).await.status, 201, "{id}");
    };
    let bad = [("hangs", HANGING), ("poison", REFUSED), ("moved", REFUSED)];
    let ids = bad.into_iter().flat_map(|(kind, count)| (0..count).map(move |n| format!("evt_{kind}_{n}")));
    join_all(ids.map(claim)).await;
    sink.until("all of them are asked for", |arrivals| {
        let ids: BTreeSet<_> = arrivals.all.iter().map(|arrival| &arrival.event_id).collect();
        ids.len() == HANGING + 2 * REFUSED
    })
    .await;
    let good = (0..100).map(|n| format!("evt_{}_{n}", if n % 2 == 0 { "drips" } else { "good" }));
    join_all(good.map(claim)).await;
    standing(&workerd, "poison", [0, 0, 100, (HANGING + 2 * REFUSED) as u64]).await;
    // An attempt hangs for ten seconds and waits for one or two at first, so a slow machine meets them as well.
    let passed_by = passed_by.load(SeqCst);
    assert!(passed_by >= 25, "{passed_by} of 100 were taken beside those that hang");
    assert_eq!(sink.arrivals().at("/elsewhere").count(), 0);

    workerd.stop().await;
    for record in state.records("poison").await {
        let expected = match record.id.as_str() {
            id if id.starts_with("evt_hangs") => {
                // Behind the first attempt, the next one may be under way.
                let is_asked_again = record.attempts > 1 && record.status == "processing";
                (if is_asked_again { "processing" } else { "error" }, Some("did not answer in time"))
            }
            id if id.starts_with("evt_poison") => ("error", Some("answered 500")),
            id if id.starts_with("evt_moved") => ("error", Some("answered 307")),
            _ => ("processed", None),
        };
        assert_eq!((record.status.as_str(), record.last_error.as_deref()), expected, "{}", record.id);
        assert!(record.attempts >= 1, "{}", record.id);
    }
}
