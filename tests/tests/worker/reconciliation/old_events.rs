//! Events that are older than what the inbox remembers: they may have been handed over, and are not handed over again.

use serde_json::json;
use tests::delivery::{Delivery, NOW, OTHER_SECRET};
use tests::workerd::{State, Worker, Workerd};
use tests::{Receiver, eventually};

use super::{KEY, WORKER, complete, failed, ids_in, listed, page, run};
use crate::{OK, PATH};

const DAY: i64 = 24 * 60 * 60;

/// An event of the list that was created at this time.
fn created(id: &str, at: &str) -> String {
    listed(id).replace("2026-09-01T12:00:00.000Z", at)
}

async fn standing(workerd: &Workerd, expected: [u64; 4]) {
    eventually(format!("the inboxes stand at {expected:?}"), async || {
        (workerd.standing(WORKER).await == expected).then_some(())
    })
    .await;
}

/// Reconciliation is turned on when the record of what was delivered has gone.
#[tokio::test]
async fn what_was_handed_over_and_removed_does_not_come_again_from_the_list() {
    let sink = Receiver::accepting().await;
    let api = Receiver::start(|_| {
        let events = [
            listed("evt_1"),
            created("evt_2", "2026-09-02T11:59:59.999Z"),
            created("evt_3", "2026-09-02T12:00:00.000Z"),
            created("evt_4", "2026-12-01T12:00:00.000Z"),
        ];
        page(&events, None, Some("end"))
    })
    .await;
    let at = |now: i64| {
        Worker::at_the_vectors(WORKER)
            .entered_by("inspect.js")
            .with_origin(&sink.url("/sink"), OTHER_SECRET)
            .with_variable("TEST_NOW", &now.to_string())
    };
    let state = State::new();
    let workerd = Workerd::start(&state, &[at(NOW)]).await;
    let delivered = workerd.send(Delivery::of_event("evt_1").request(&workerd.url(WORKER, PATH))).await;
    assert_eq!(delivered.outcome(), OK);
    standing(&workerd, [0, 0, 1, 0]).await;
    workerd.stop().await;

    // 2026-12-01T12:00:00Z. At the first question the alarm rings and removes what is too old.
    let later = at(NOW + 91 * DAY).and_variables([("API_BASE", api.url("").as_str()), ("API_KEY", KEY)]);
    let mut workerd = Workerd::start(&state, &[later]).await;
    standing(&workerd, [0; 4]).await;
    let mut expected = complete(1, 2, 0);
    expected["too_old"] = json!(2);
    assert_eq!(run(&mut workerd).await, expected);
    standing(&workerd, [0, 0, 2, 0]).await;
    workerd.stop().await;
    let mut seen: Vec<_> = sink.arrivals().all.iter().map(|arrival| arrival.event_id.clone()).collect();
    seen.sort_unstable();
    assert_eq!(seen, ["evt_1", "evt_3", "evt_4"], "each once, and evt_1 by its delivery alone");
    assert_eq!(ids_in(&state).await, ["evt_3", "evt_4"]);
    assert_eq!(state.position(WORKER).await.as_deref(), Some("end"));
}

/// The inbox knows no more of what it has had because it is to remember longer from now on.
#[tokio::test]
async fn what_was_removed_stays_old_when_the_retention_is_raised() {
    let sink = Receiver::accepting().await;
    let api = Receiver::start(|_| page(&[listed("evt_1")], None, Some("end"))).await;
    let at = |now: i64, days: &str| {
        Worker::at_the_vectors(WORKER)
            .entered_by("inspect.js")
            .with_origin(&sink.url("/sink"), OTHER_SECRET)
            .and_variables([
                ("TEST_NOW", now.to_string().as_str()),
                ("API_BASE", api.url("").as_str()),
                ("API_KEY", KEY),
                ("RETENTION_DAYS", days),
            ])
    };
    let state = State::new();
    let workerd = Workerd::start(&state, &[at(NOW, "90")]).await;
    let delivered = workerd.send(Delivery::of_event("evt_1").request(&workerd.url(WORKER, PATH))).await;
    assert_eq!(delivered.outcome(), OK);
    standing(&workerd, [0, 0, 1, 0]).await;
    workerd.stop().await;

    let workerd = Workerd::start(&state, &[at(NOW + 91 * DAY, "90")]).await;
    standing(&workerd, [0; 4]).await;
    workerd.stop().await;

    let mut workerd = Workerd::start(&state, &[at(NOW + 91 * DAY, "365")]).await;
    let mut expected = complete(1, 0, 0);
    expected["too_old"] = json!(1);
    assert_eq!(run(&mut workerd).await, expected);
    standing(&workerd, [0; 4]).await;
    workerd.stop().await;
    assert_eq!(sink.arrivals().all.len(), 1, "by its delivery alone");
}

/// How long events are remembered decides what is taken in; a run that cannot know that takes nothing.
#[tokio::test]
async fn a_retention_that_cannot_be_used_is_reported() {
    let api = Receiver::start(|_| page(&[listed("evt_1")], None, Some("end"))).await;
    let at = |days: &str| {
        Worker::at_the_vectors(WORKER).and_variables([
            ("TEST_NOW", (NOW + 91 * DAY).to_string().as_str()),
            ("API_BASE", api.url("").as_str()),
            ("API_KEY", KEY),
            ("RETENTION_DAYS", days),
        ])
    };
    let state = State::new();
    let mut workerd = Workerd::start(&state, &[at("30")]).await;
    assert_eq!(run(&mut workerd).await, failed("invalid_configuration", None));
    workerd.stop().await;
    assert!(api.arrivals().all.is_empty());
    let mut workerd = Workerd::start(&state, &[at("91")]).await;
    assert_eq!(run(&mut workerd).await, complete(1, 1, 0));
    workerd.stop().await;
}
