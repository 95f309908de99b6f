//! Reconciliation: what deliveries missed comes in through the same inbox, once, whatever happens in between (contract
//! 11.2, 11.3).
//!
//! Where the API has to answer well, it is a real authority; where it has to answer badly, it is a script. Positions
//! are read from what the object stored.

mod bad_answers;
mod downtime;
mod old_events;

use serde_json::{Value, json};
use tests::delivery::event;
use tests::workerd::{State, Worker, Workerd};
use tests::{Answer, Gate, Receiver};

const WORKER: &str = "edge";
const KEY: &str = "svc_test_aKeyThatNobodyMaySee0123456789";

/// An edge receiver that reconciles with `api` under `key`, at a time when no event of a test is old.
fn receiver(api: &str, key: &str) -> Worker {
    Worker::at_the_vectors(WORKER).and_variables([("API_BASE", api), ("API_KEY", key)])
}

/// Runs reconciliation once and returns its report, without times.
async fn run(workerd: &mut Workerd) -> Value {
    workerd.scheduled(WORKER).await;
    let mut report = workerd.reconciliation(WORKER).await["last_run"].take();
    let members = report.as_object_mut().unwrap();
    let times = ["started_at_ms", "ended_at_ms"].map(|name| members.remove(name).unwrap().as_i64().unwrap());
    assert!(times[0] <= times[1], "{times:?}");
    report
}

fn complete(pages: u32, first: u32, duplicates: u32) -> Value {
    json!({ "outcome": "complete", "trouble": null, "api_status": null, "pages": pages, "first": first,
        "duplicates": duplicates, "too_old": 0, "refused": 0 })
}

fn failed(trouble: &str, api_status: Option<u16>) -> Value {
    json!({ "outcome": "failed", "trouble": trouble, "api_status": api_status, "pages": 0, "first": 0,
        "duplicates": 0, "too_old": 0, "refused": 0 })
}

/// A page of the event list.
fn page(events: &[String], next: Option<&str>, resume: Option<&str>) -> Answer {
    let mut text = format!("{{\"data\":[{}]", events.join(","));
    for (name, cursor) in [("next_cursor", next), ("resume_cursor", resume)] {
        if let Some(cursor) = cursor {
            text.push_str(&format!(",\"{name}\":\"{cursor}\""));
        }
    }
    text.push('}');
    Answer::status(200).with("content-type", "application/json").with_body(text)
}

/// The ids of the records in the inbox.
async fn ids_in(state: &State) -> Vec<String> {
    state.records(WORKER).await.into_iter().map(|record| record.id).collect()
}

#[tokio::test]
async fn a_run_is_bounded_and_the_next_goes_on() {
    let api = Receiver::start(|arrival| {
        let number = arrival.number;
        page(&[listed(&format!("evt_{number}"))], Some(&format!("c{number}")), Some(&format!("c{number}")))
    })
    .await;
    let state = State::new();
    let mut workerd = Workerd::start(&state, &[receiver(&api.url(""), KEY)]).await;
    let paused = json!({ "outcome": "paused", "trouble": null, "api_status": null, "pages": 40, "first": 40,
        "duplicates": 0, "too_old": 0, "refused": 0 });
    assert_eq!(run(&mut workerd).await, paused);
    assert_eq!(run(&mut workerd).await, paused);
    workerd.stop().await;
    let cursors: Vec<_> = api.arrivals().all.iter().map(|arrival| arrival.query.clone()).collect();
    let expected: Vec<_> = (0..80)
        .map(|n| if n == 0 { "limit=100".to_owned() } else { format!("limit=100&cursor=c{n}") })
        .collect();
    assert_eq!(cursors, expected, "no page twice and none left out");
}

#[tokio::test]
async fn of_two_runs_at_once_one_runs() {
    let gate = Gate::closed();
    let script_gate = gate.clone();
    let api =
        Receiver::start(move |_| page(&[listed("evt_1")], None, Some("end")).held_by(&script_gate)).await;
    let state = State::new();
    let mut workerd = Workerd::start(&state, &[receiver(&api.url(""), KEY)]).await;
    workerd.begin_scheduled(WORKER).await;
    api.until("the first page", |arrivals| arrivals.all.len() == 1).await;
    workerd.scheduled(WORKER).await;
    assert_eq!(workerd.reconciliation(WORKER).await["running"], json!(true));
    gate.open();
    workerd.scheduled_has_ended().await;
    assert_eq!(workerd.reconciliation(WORKER).await["running"], json!(false));
    workerd.stop().await;
    assert_eq!(api.arrivals().all.len(), 1);
    assert_eq!(ids_in(&state).await, ["evt_1"]);
}

#[tokio::test]
async fn without_an_api_nothing_runs_and_half_of_one_is_told() {
    let api = Receiver::accepting().await;
    let base = api.url("");
    let cases = [
        ("off", vec![], Value::Null),
        ("no-key", vec![("API_BASE", base.as_str())], failed("invalid_configuration", None)),
        ("no-base", vec![("API_KEY", KEY)], failed("invalid_configuration", None)),
        (
            "plain-http",
            vec![("API_BASE", "http://api.example.com"), ("API_KEY", KEY)],
            failed("invalid_configuration", None),
        ),
        (
            "kv",
            vec![("API_BASE", base.as_str()), ("API_KEY", KEY), ("DEDUP", "kv")],
            failed("invalid_configuration", None),
        ),
    ];
    let workers =
        cases.clone().map(|(name, variables, _)| Worker::edge_receiver(name).with_variables(variables));
    let state = State::new();
    let mut workerd = Workerd::start(&state, &workers).await;
    for (name, _, expected) in cases {
        workerd.scheduled(name).await;
        let mut report = workerd.reconciliation(name).await["last_run"].take();
        if let Some(members) = report.as_object_mut() {
            members.retain(|member, _| !member.ends_with("_at_ms"));
        }
        assert_eq!(report, expected, "{name}");
    }
    workerd.stop().await;
    assert!(api.arrivals().all.is_empty());
}

/// An event as the API lists it.
fn listed(id: &str) -> String {
    event(id, "order.created")
}
