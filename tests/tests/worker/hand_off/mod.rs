//! What the inbox does with what it has recorded: every event reaches its sink, and has its effect there once, whatever
//! fails in between (contract 11.2).
//!
//! The sink is a receiver on a real socket, directly or behind a queue or another Worker. It verifies what it gets like
//! any receiver, and its effects are the events that it has taken: a request that it answered with 2xx.

#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod kills;
mod records;
mod sinks;

use std::collections::BTreeMap;

use futures_util::future::join_all;
use tests::delivery::{Delivery, NOW, OTHER_SECRET, SECRET};
use tests::eventually::eventually;
use tests::receiver::{Answer, Arrivals, Gate, Receiver};
use tests::workerd::{State, Worker, Workerd};

const PATH: &str = "/webhooks";
const OK: (u16, &str) = (200, "ok");
const DUPLICATE: (u16, &str) = (200, "duplicate");
/// What the edge receiver forwards with, and its origin trusts.
const FORWARDING: &str = OTHER_SECRET;

/// An edge receiver without a sink, whose inboxes a test may ask.
fn receiver(name: &str) -> Worker {
    let now = NOW.to_string();
    Worker::edge_receiver(name).entered_by("inspect.js").with_variables([
        ("SIGNING_SECRET", SECRET),
        ("ENVIRONMENT", "test"),
        ("TEST_NOW", now.as_str()),
    ])
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
    let gate = Gate::closed();
    let held = gate.clone();
    let sink = Receiver::start(move |_| Answer::status(200).held_by(&held)).await;
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

#[tokio::test]
async fn events_that_are_never_taken_keep_nobody_waiting() {
    let never = Gate::closed();
    let sink = Receiver::start(move |arrival| match arrival.event_id.as_str() {
        id if id.starts_with("evt_hangs") => Answer::status(200).held_by(&never),
        id if id.starts_with("evt_poison") => Answer::status(500),
        id if id.starts_with("evt_drips") => Answer::status(200).dripping(),
        id if id.starts_with("evt_moved") => Answer::status(307).with("location", "/elsewhere"),
        _ => Answer::status(204),
    })
    .await;
    let state = State::new();
    let worker = receiver("poison").with_origin(&sink.url("/sink"), FORWARDING);
    let workerd = Workerd::start(&state, &[worker]).await;
    // Fewer than an inbox has slots, wherever they go: all of them before the good ones.
    for n in 0..12 {
        for kind in ["hangs", "poison", "moved"] {
            let answer = deliver(&workerd, "poison", &format!("evt_{kind}_{n}")).await;
            assert_eq!((answer.0, answer.1.as_str()), OK);
        }
    }
    sink.until("those that hang are under way", |arrivals| {
        arrivals.all.iter().filter(|arrival| arrival.event_id.starts_with("evt_hangs")).count() == 12
    })
    .await;
    // An answer that never ends is an answer all the same.
    let good: Vec<_> =
        (0..100).map(|n| format!("evt_{}_{n}", if n % 2 == 0 { "drips" } else { "good" })).collect();
    let answers = join_all(good.iter().map(|id| deliver(&workerd, "poison", id))).await;
    assert!(answers.iter().all(|answer| answer.0 == 200), "{answers:?}");
    let taken = |arrivals: &Arrivals| {
        let is_good = |id: &str| id.starts_with("evt_good") || id.starts_with("evt_drips");
        arrivals.all.iter().filter(|arrival| is_good(&arrival.event_id)).count()
    };
    // At once, and not after the deadline of those that hang, which would have been tried again by then.
    let arrivals = sink.until("most are taken", |arrivals| taken(arrivals) >= 90).await;
    let hung = arrivals.all.iter().filter(|arrival| arrival.event_id.starts_with("evt_hangs"));
    assert_eq!(hung.filter(|arrival| arrival.nth > 1).count(), 0);
    assert_eq!(arrivals.at("/elsewhere").count(), 0);

    standing(&workerd, "poison", [0, 0, 100, 36]).await;
    workerd.stop().await;
    for record in state.records("poison").await {
        let expected = match record.id.as_str() {
            id if id.starts_with("evt_hangs") => ("error", Some("did not answer in time")),
            id if id.starts_with("evt_poison") => ("error", Some("answered 500")),
            id if id.starts_with("evt_moved") => ("error", Some("answered 307")),
            _ => ("processed", None),
        };
        assert_eq!((record.status.as_str(), record.last_error.as_deref()), expected, "{}", record.id);
        assert!(record.attempts >= 1, "{}", record.id);
    }
}
