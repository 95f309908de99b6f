//! What the inbox does with what it has recorded: every event reaches its sink, and has its effect there once, whatever
//! fails in between (contract 11.2).
//!
//! The sink is a receiver on a real socket, directly or behind a queue or another Worker. It verifies what it gets like
//! any receiver, and its effects are the events that it has taken: a request that it answered with 2xx.

#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use bytes::Bytes;
use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::delivery::{Delivery, NOW, OTHER_SECRET, SECRET, event};
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

/// The runtime is killed when everything is recorded and acknowledged, and the sink has been asked and has not answered.
#[tokio::test]
async fn what_was_recorded_when_the_runtime_was_killed_is_handed_over_by_the_next() {
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
    let good: Vec<_> = (0..100).map(|n| format!("evt_good_{n}")).collect();
    for id in &good {
        assert_eq!(deliver(&workerd, "poison", id).await.0, 200);
    }
    let taken = |arrivals: &Arrivals| {
        arrivals.all.iter().filter(|arrival| arrival.event_id.starts_with("evt_good")).count()
    };
    let arrivals = sink.until("the good ones are taken", |arrivals| taken(arrivals) == 100).await;
    // Each at once: not after the deadline of one that hangs, which would have been tried again by then.
    let again =
        arrivals.all.iter().filter(|arrival| arrival.event_id.starts_with("evt_hangs") && arrival.nth > 1);
    assert_eq!(again.count(), 0);
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

#[tokio::test]
async fn what_waits_for_a_sink_is_handed_over_when_there_is_one() {
    let sink = Receiver::accepting().await;
    let state = State::new();
    let bad_url = "http://shop.example/";
    // None at all, one that may not be, one without its secret: all of them take in what comes.
    let without = [
        receiver("sinkless"),
        receiver("sinkless").with_origin(bad_url, FORWARDING),
        receiver("sinkless").with_variable("SINK_URL", &sink.url("/sink")),
        receiver("sinkless").with_origin(&sink.url("/sink"), "secret"),
    ];
    for (round, worker) in without.into_iter().enumerate() {
        let mut workerd = Workerd::start(&state, &[worker]).await;
        for n in 0..20 {
            let answer = deliver(&workerd, "sinkless", &format!("evt_{round}_{n:02}")).await;
            assert_eq!((answer.0, answer.1.as_str()), OK);
        }
        assert_eq!(workerd.standing("sinkless").await, [20 * (round as u64 + 1), 0, 0, 0]);
        if round > 0 {
            eventually("the log names the variable", async || {
                (workerd.logged(if round == 1 { "SINK_URL" } else { "FORWARDING_SECRET" }).await > 0)
                    .then_some(())
            })
            .await;
        }
        for secret in [bad_url, FORWARDING, "the value of secret"] {
            assert_eq!(workerd.logged(secret).await, 0, "{secret}");
        }
        workerd.stop().await;
    }
    assert_eq!(sink.connections(), 0);
    let worker = receiver("sinkless").with_origin(&sink.url("/sink"), FORWARDING);
    let workerd = Workerd::start(&state, &[worker]).await;
    standing(&workerd, "sinkless", [0, 0, 80, 0]).await;
    workerd.stop().await;
    let ids = (0..4).flat_map(|round| (0..20).map(move |n| format!("evt_{round}_{n:02}")));
    assert_eq!(effects(&sink.arrivals(), "/sink"), once(ids));
}

#[tokio::test]
async fn a_queue_and_another_worker_take_events_as_well() {
    // The consumer asks the queue for each message a second time, once.
    let sink = Receiver::start(|arrival| match (arrival.path.as_str(), arrival.nth) {
        ("/queue" | "/webhooks" | "/inside", 1) => Answer::status(503),
        _ => Answer::status(200),
    })
    .await;
    let state = State::new();
    let consumer = Worker::of_test_module("consumer", "consumer.js")
        .with_variable("RECEIVER_URL", &sink.url(""))
        .with("queueConsumers", json!({ "events": { "maxBatchTimeout": 0, "maxRetries": 10 } }));
    let queued = receiver("queued").with("queueProducers", json!({ "SINK_QUEUE": "events" }));
    let inside = receiver("inside").with("serviceBindings", json!({ "SINK_SERVICE": "consumer" }));
    let signed = receiver("signed")
        .with("serviceBindings", json!({ "SINK_SERVICE": "consumer" }))
        .with_origin("https://shop.example/inside", FORWARDING);
    let both = receiver("both")
        .with("queueProducers", json!({ "SINK_QUEUE": "events" }))
        .with_origin(&sink.url("/never"), FORWARDING);
    let workers = [consumer, queued, inside, signed, both];
    let workerd = Workerd::start(&state, &workers).await;
    let ids: Vec<_> = (0..20).map(|n| format!("evt_{n:02}")).collect();
    for id in &ids {
        for worker in ["queued", "inside", "signed", "both"] {
            let answer = deliver(&workerd, worker, id).await;
            assert_eq!((answer.0, answer.1.as_str()), OK);
        }
    }
    for worker in ["queued", "inside", "signed"] {
        standing(&workerd, worker, [0, 0, 20, 0]).await;
    }
    // Which of two is meant cannot be known.
    assert_eq!(workerd.standing("both").await, [20, 0, 0, 0]);
    let arrivals = sink.until("the queue is empty", |arrivals| arrivals.accepted("/queue") == 20).await;
    for path in ["/queue", "/webhooks", "/inside"] {
        assert_eq!(effects(&arrivals, path), once(ids.clone()), "{path}");
        for arrival in arrivals.at(path) {
            let body: Value = serde_json::from_slice(&arrival.body).unwrap();
            let expected: Value =
                serde_json::from_slice(&Delivery::of_event(&arrival.event_id).body).unwrap();
            assert_eq!(body, expected);
        }
    }
    for arrival in arrivals.at("/inside") {
        assert_eq!(arrival.verify_at(FORWARDING, NOW * 1000).unwrap().id, arrival.event_id);
    }
    assert!(arrivals.at("/webhooks").all(|arrival| arrival.header("service-signature").is_empty()));
    assert_eq!(arrivals.at("/never").count(), 0);
    workerd.stop().await;
}

/// A queue takes messages of 128 KB; an event may be twice as long.
#[tokio::test]
async fn an_event_that_is_too_long_for_a_queue_travels_without_its_data() {
    let sink = Receiver::accepting().await;
    let state = State::new();
    let consumer = Worker::of_test_module("consumer", "consumer.js")
        .with_variable("RECEIVER_URL", &sink.url(""))
        .with("queueConsumers", json!({ "events": { "maxBatchTimeout": 0 } }));
    let queued = receiver("queued").with("queueProducers", json!({ "SINK_QUEUE": "events" }));
    let workerd = Workerd::start(&state, &[consumer, queued]).await;
    let with_note = |id: &str, bytes: usize| {
        let object = json!({ "note": "x".repeat(bytes) });
        event(id, "order.updated").replace(r#""object":{}"#, &format!(r#""object":{object}"#))
    };
    for (id, bytes) in [("evt_fits", 110_000), ("evt_long", 250_000)] {
        let delivery = Delivery::signed(with_note(id, bytes).into(), id, &[SECRET]);
        assert_eq!(workerd.send(delivery.request(&workerd.url("queued", PATH))).await.outcome(), OK);
    }
    let arrivals = sink.until("both have arrived", |arrivals| arrivals.accepted("/queue") == 2).await;
    for arrival in arrivals.at("/queue") {
        let mut expected: Value = serde_json::from_str(&with_note(
            &arrival.event_id,
            if arrival.event_id == "evt_fits" { 110_000 } else { 0 },
        ))
        .unwrap();
        if arrival.event_id == "evt_long" {
            expected.as_object_mut().unwrap().remove("data");
            expected["data_omitted"] = json!(true);
        }
        assert_eq!(serde_json::from_slice::<Value>(&arrival.body).unwrap(), expected);
    }
    standing(&workerd, "queued", [0, 0, 2, 0]).await;
    workerd.stop().await;
}

#[tokio::test]
async fn an_attempt_is_made_now_when_somebody_asks_for_it() {
    let is_well = Arc::new(AtomicBool::new(false));
    let health = Arc::clone(&is_well);
    let sink = Receiver::start(move |_| Answer::status(if health.load(SeqCst) { 200 } else { 500 })).await;
    let state = State::new();
    let worker = receiver("retry").with_origin(&sink.url("/sink"), FORWARDING);
    let workerd = Workerd::start(&state, &[worker]).await;
    // The inbox that has this id.
    let ask = async |path: &str| workerd.ask_inbox("retry", 13, path, Bytes::new()).await;
    let record = async || serde_json::from_str::<Value>(&ask("/look-up/evt_1").await.body).unwrap();
    assert_eq!(ask("/retry/evt_1").await.status, 404);
    assert_eq!(ask("/look-up/evt_1").await.status, 404);
    assert_eq!(deliver(&workerd, "retry", "evt_1").await.0, 200);

    let failed = eventually("the wait is long", async || {
        if record().await["status"] == "error" {
            assert_eq!(ask("/retry/evt_1").await.status, 202);
        }
        let record = record().await;
        (record["status"] == "error" && record["attempts"].as_u64().unwrap() > 7).then_some(record)
    })
    .await;
    assert_eq!(failed["last_error"], "answered 500");
    assert_eq!(failed["event"]["id"], "evt_1");
    is_well.store(true, SeqCst);
    assert_eq!(ask("/retry/evt_1").await.status, 202);
    standing(&workerd, "retry", [0, 0, 1, 0]).await;
    assert_eq!(ask("/retry/evt_1").await.status, 409);

    let arrivals = sink.arrivals();
    assert_eq!(effects(&arrivals, "/sink"), once(["evt_1".to_owned()]));
    let event: Value = serde_json::from_slice(&Delivery::of_event("evt_1").body).unwrap();
    let expected = json!({
        "id": "evt_1", "type": "webhook.test", "created_at": "2026-09-01T12:00:00.000Z", "merchant_id": "mer_1",
        "livemode": null, "received_at_ms": NOW * 1000, "status": "processed", "attempts": arrivals.all.len(),
        "last_error": null, "due_at_ms": null, "event": event,
    });
    assert_eq!(record().await, expected);
    workerd.stop().await;
}

/// Without Durable Objects KV decides alone, and there is nothing to retry from: the sender is told to come again.
#[tokio::test]
async fn with_kv_alone_an_event_is_handed_over_before_the_answer() {
    let sink = Receiver::start(|arrival| Answer::status(if arrival.nth < 3 { 503 } else { 200 })).await;
    let state = State::new();
    let alone = |name: &str| receiver(name).with_variable("DEDUP", "kv").with("durableObjects", json!({}));
    let workers = [
        alone("kv").with_origin(&sink.url("/sink"), FORWARDING),
        alone("effectless"),
        alone("recordless").with("kvNamespaces", json!({})),
    ];
    let workerd = Workerd::start(&state, &workers).await;
    for (worker, answers) in [
        ("kv", [(500, "processing_failed"), (500, "processing_failed"), OK, DUPLICATE, DUPLICATE]),
        ("effectless", [OK, DUPLICATE, DUPLICATE, DUPLICATE, DUPLICATE]),
        ("recordless", [(503, "storage_unavailable"); 5]),
    ] {
        for expected in answers {
            let answer = deliver(&workerd, worker, "evt_1").await;
            assert_eq!((answer.0, answer.1.as_str()), expected, "{worker}");
        }
    }
    let arrivals = sink.arrivals();
    assert_eq!((effects(&arrivals, "/sink"), arrivals.all.len()), (once(["evt_1".to_owned()]), 3));
    workerd.stop().await;
}

#[tokio::test]
async fn records_are_removed_when_they_are_too_old_and_only_those_that_are_handed_over() {
    const DAY: i64 = 24 * 60 * 60;
    let sink = Receiver::start(|arrival| {
        Answer::status(if arrival.event_id.starts_with("evt_poison") { 500 } else { 200 })
    })
    .await;
    let state = State::new();
    let at = |now: i64| {
        receiver("old")
            .with_variable("TEST_NOW", &now.to_string())
            .with_origin(&sink.url("/sink"), FORWARDING)
    };
    // More than one step removes, all in one inbox, which takes what the Worker brings it.
    let record = async |workerd: &Workerd, id: String| {
        let body = Delivery::of_event(&id).body;
        assert_eq!(workerd.ask_inbox("old", 0, "/claim", body).await.status, 201, "{id}");
    };
    let workerd = Workerd::start(&state, &[at(NOW)]).await;
    for chunk in (0..1_200).collect::<Vec<_>>().chunks(50) {
        join_all(chunk.iter().map(|n| record(&workerd, format!("evt_old_{n}")))).await;
    }
    record(&workerd, "evt_poison".to_owned()).await;
    standing(&workerd, "old", [0, 0, 1_200, 1]).await;
    workerd.stop().await;

    let workerd = Workerd::start(&state, &[at(NOW + 90 * DAY)]).await;
    record(&workerd, "evt_young".to_owned()).await;
    standing(&workerd, "old", [0, 0, 1_201, 1]).await;
    workerd.stop().await;

    let workerd = Workerd::start(&state, &[at(NOW + 91 * DAY)]).await;
    standing(&workerd, "old", [0, 0, 1, 1]).await;
    workerd.stop().await;
    let ids: Vec<_> = state.records("old").await.into_iter().map(|record| record.id).collect();
    assert_eq!(ids, ["evt_poison", "evt_young"]);
}
