//! The Worker when what it leans on fails: its storage, its configuration, and itself.
//!
//! The built Worker runs behind `tests/node/faults.js`, which breaks a binding for the one request that asks for
//! it in the header `x-fault`.

use serde_json::json;
use tests::delivery::{Delivery, NOW, SECRET};
use tests::workerd::{Reply, State, Worker, Workerd};

use crate::{DUPLICATE, OK};

const UNAVAILABLE: (u16, &str) = (503, "storage_unavailable");
/// What the Worker logs when it needs a fresh instance of the module.
const ENDED: &str = "the module's instance ended";

fn receiver(name: &str) -> Worker {
    Worker::at_the_vectors(name)
}

async fn post(workerd: &Workerd, worker: &str, delivery: &Delivery) -> Reply {
    workerd.send(delivery.request(&workerd.url(worker, "/webhooks"))).await
}

async fn post_with_fault(workerd: &Workerd, event_id: &str, fault: &str) -> Reply {
    post(workerd, "faults", &Delivery::of_event(event_id).with("x-fault", &[fault])).await
}

#[tokio::test]
async fn without_its_inbox_the_receiver_asks_to_come_again() {
    let state = State::new();
    let unbound = receiver("unbound").with("durableObjects", json!({}));
    let mut workerd = Workerd::start(&state, &[receiver("faults").entered_by("faults.js"), unbound]).await;
    assert_eq!(post(&workerd, "unbound", &Delivery::of_event("evt_1")).await.outcome(), UNAVAILABLE);
    for fault in ["inbox-unreachable", "inbox-throws", "inbox-rejects", "inbox-500", "inbox-404"] {
        assert_eq!(post_with_fault(&workerd, "evt_1", fault).await.outcome(), UNAVAILABLE, "{fault}");
    }
    // What was not claimed was not noted as claimed, and is taken when it comes again.
    assert_eq!(workerd.records("faults", "").await, json!([]));
    assert_eq!(post(&workerd, "faults", &Delivery::of_event("evt_1")).await.outcome(), OK);
    workerd.stop().await;
}

#[tokio::test]
async fn without_kv_the_inbox_alone_decides() {
    let state = State::new();
    let unbound = receiver("unbound").with("kvNamespaces", json!({}));
    let workerd = Workerd::start(&state, &[receiver("faults").entered_by("faults.js"), unbound]).await;
    for outcome in [OK, DUPLICATE] {
        assert_eq!(post(&workerd, "unbound", &Delivery::of_event("evt_1")).await.outcome(), outcome);
    }
    for (event_id, fault) in [("evt_2", "records-throw"), ("evt_3", "records-reject")] {
        for outcome in [OK, DUPLICATE] {
            assert_eq!(post_with_fault(&workerd, event_id, fault).await.outcome(), outcome, "{fault}");
        }
    }
    workerd.stop().await;
    assert_eq!(state.records("faults").await.len(), 2);
}

/// The dedup record is written behind the answer, if anybody waits for it; the claim does not depend on that.
#[tokio::test]
async fn nobody_waiting_behind_the_answer_changes_no_answer() {
    let state = State::new();
    let mut workerd = Workerd::start(&state, &[receiver("faults").entered_by("faults.js")]).await;
    for n in 0..100 {
        let event_id = format!("evt_gone_{n}");
        assert_eq!(post_with_fault(&workerd, &event_id, "gone").await.outcome(), OK, "{event_id}");
        assert_eq!(post_with_fault(&workerd, &event_id, "gone").await.outcome(), DUPLICATE, "{event_id}");
    }
    assert_eq!(workerd.logged(ENDED).await, 0);
    workerd.stop().await;
    assert_eq!(state.records("faults").await.len(), 100);
}

#[tokio::test]
async fn a_configuration_that_cannot_be_used_is_the_receivers_own_fault() {
    let state = State::new();
    let with_tolerance = |name: &str, tolerance: serde_json::Value| {
        let mut bindings =
            json!({ "SIGNING_SECRET": SECRET, "ENVIRONMENT": "test", "TEST_NOW": "1788264000" });
        bindings["TOLERANCE_SECONDS"] = tolerance;
        Worker::edge_receiver(name).with("bindings", bindings)
    };
    let workers = [
        with_tolerance("zero", json!("0")),
        with_tolerance("too-long", json!("3601")),
        with_tolerance("word", json!("five minutes")),
        with_tolerance("number", json!(300)),
        with_tolerance("good", json!("3600")),
        receiver("retention").with_variable("RETENTION_DAYS", "30"),
        receiver("dedup").with_variable("DEDUP", "memory"),
        receiver("path").with_variable("WEBHOOK_PATH", "webhooks"),
    ];
    let workerd = Workerd::start(&state, &workers).await;
    let delivery = Delivery::of_event("evt_1");
    for worker in ["zero", "too-long", "word", "number", "retention", "dedup", "path"] {
        let reply = post(&workerd, worker, &delivery).await;
        assert_eq!(reply.outcome(), (503, "invalid_configuration"), "{worker}");
    }
    assert_eq!(post(&workerd, "good", &delivery).await.outcome(), OK);
    workerd.stop().await;
}

#[tokio::test]
async fn only_the_test_environment_may_set_the_clock() {
    let state = State::new();
    let now = NOW.to_string();
    let clock = ("TEST_NOW", now.as_str());
    let production = Worker::edge_receiver("production").with_variables([("SIGNING_SECRET", SECRET), clock]);
    let named = Worker::edge_receiver("named").with_variables([
        ("SIGNING_SECRET", SECRET),
        ("ENVIRONMENT", "production"),
        clock,
    ]);
    let workerd = Workerd::start(&state, &[production, named]).await;
    for worker in ["production", "named"] {
        let reply = post(&workerd, worker, &Delivery::of_event("evt_1")).await;
        assert_eq!(reply.outcome(), (401, "stale_timestamp"), "{worker}");
    }
    workerd.stop().await;
}

#[tokio::test]
async fn the_end_of_the_instance_costs_its_own_request_and_nothing_after_it() {
    let state = State::new();
    let mut workerd = Workerd::start(&state, &[receiver("faults").entered_by("faults.js")]).await;
    for n in 0..1_000 {
        let event_id = format!("evt_end_{n:04}");
        let reply = post_with_fault(&workerd, &event_id, "end").await;
        assert_eq!(reply.outcome(), (500, "internal_error"), "{event_id}");
        if n % 20 == 0 {
            // The end came after the claim, so the redelivery is a duplicate.
            let again = post(&workerd, "faults", &Delivery::of_event(&event_id)).await;
            assert_eq!(again.outcome(), DUPLICATE, "{event_id}");
            let fresh = post(&workerd, "faults", &Delivery::of_event(&format!("evt_fresh_{n}"))).await;
            assert_eq!(fresh.outcome(), OK, "after {event_id}");
        }
    }
    assert!(workerd.logged(ENDED).await >= 1_000);
    workerd.stop().await;
    assert_eq!(state.records("faults").await.len(), 1_050);
}

#[tokio::test]
async fn an_inbox_that_panicked_works_again_without_the_workers_help() {
    let state = State::new();
    let workerd = Workerd::start(&state, &[receiver("faults").entered_by("faults.js")]).await;
    for n in 0..50 {
        let event_id = format!("evt_inbox_{n}");
        for (fault, status) in [("inbox-panic", 500), ("inbox-alone", 201), ("inbox-alone", 200)] {
            assert_eq!(
                post_with_fault(&workerd, &event_id, fault).await.status,
                status,
                "{fault} of {event_id}"
            );
        }
    }
    workerd.stop().await;
    assert_eq!(state.records("faults").await.len(), 50);
}

#[tokio::test]
async fn requests_in_flight_when_the_instance_ends_are_answered_and_nothing_is_claimed_twice() {
    let state = State::new();
    let workerd = Workerd::start(&state, &[receiver("faults").entered_by("faults.js")]).await;
    for round in 0..20 {
        let ending = format!("evt_end_{round}");
        let bystanders: Vec<_> =
            (0..10).map(|n| Delivery::of_event(&format!("evt_{round:02}_{n}"))).collect();
        let (ended, replies) = tokio::join!(
            post_with_fault(&workerd, &ending, "end"),
            futures_util::future::join_all(
                bystanders.iter().map(|delivery| post(&workerd, "faults", delivery))
            ),
        );
        assert_eq!(ended.outcome(), (500, "internal_error"), "round {round}");
        for (delivery, reply) in bystanders.iter().zip(replies) {
            let redelivered = post(&workerd, "faults", delivery).await;
            match reply.status.as_u16() {
                200 => assert_eq!((reply.outcome(), redelivered.outcome()), (OK, DUPLICATE)),
                // The answer was lost; whether the claim was made before that is open, and comes out now.
                500 | 503 => assert_eq!(redelivered.status, 200),
                other => panic!("round {round}: {other}"),
            }
        }
    }
    workerd.stop().await;
    assert_eq!(state.records("faults").await.len(), 20 * 11);
}
