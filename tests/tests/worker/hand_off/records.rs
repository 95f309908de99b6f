//! What becomes of a record: an attempt that somebody asks for, an alarm that fails, and its removal in the end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use bytes::Bytes;
use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::delivery::{Delivery, NOW};
use tests::workerd::{State, Workerd};
use tests::{Answer, Gate, Receiver, eventually};

use super::{FORWARDING, OK, deliver, effects, once, receiver, standing};

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

#[tokio::test]
async fn records_are_removed_when_they_are_too_old_and_only_those_that_are_handed_off() {
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

/// An attempt that somebody asks for while another is under way is made as soon as that one has failed.
#[tokio::test]
async fn an_attempt_that_is_asked_for_during_another_one_follows_it() {
    let gate = Gate::closed();
    let held = gate.clone();
    let sink = Receiver::start(move |arrival| match arrival.nth {
        // So that the wait that would follow is far longer than any test.
        ..=13 => Answer::status(500),
        14 => Answer::status(500).held_by(&held),
        _ => Answer::status(200),
    })
    .await;
    let state = State::new();
    let worker = receiver("during").with_origin(&sink.url("/sink"), FORWARDING);
    let workerd = Workerd::start(&state, &[worker]).await;
    assert_eq!(deliver(&workerd, "during", "evt_1").await.0, 200);
    let ask = async || workerd.ask_inbox("during", 13, "/retry/evt_1", Bytes::new()).await.status;
    eventually("the fourteenth attempt is under way", async || {
        let is_under_way = sink.arrivals().all.len() == 14;
        if !is_under_way {
            assert_eq!(ask().await, 202);
        }
        is_under_way.then_some(())
    })
    .await;
    assert_eq!(ask().await, 202);
    gate.open();
    standing(&workerd, "during", [0, 0, 1, 0]).await;
    assert_eq!(sink.arrivals().all.len(), 15);
    workerd.stop().await;
}

/// An alarm can fail before it has done anything, as with the module's instance; the runtime rings again.
#[tokio::test]
async fn an_alarm_that_fails_rings_again() {
    let sink = Receiver::accepting().await;
    let state = State::new();
    let worker = receiver("alarm").entered_by("failing-alarm.js").with_origin(&sink.url("/sink"), FORWARDING);
    let mut workerd = Workerd::start(&state, &[worker]).await;
    let ids: Vec<_> = (0..32).map(|n| format!("evt_alarm_{n:02}")).collect();
    for id in &ids {
        let answer = deliver(&workerd, "alarm", id).await;
        assert_eq!((answer.0, answer.1.as_str()), OK);
    }
    standing(&workerd, "alarm", [0, 0, 32, 0]).await;
    assert!(workerd.logged("injected fault").await > 0);
    assert_eq!(effects(&sink.arrivals(), "/sink"), once(ids));
    workerd.stop().await;
}
