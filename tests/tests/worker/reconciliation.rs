//! Reconciliation: what deliveries missed comes in through the same inbox, once, whatever happens in between (contract
//! 11.2, 11.3).
//!
//! Where the API has to answer well, it is a real authority; where it has to answer badly, it is a script. Positions
//! are read from what the object stored.

#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use bytes::Bytes;
use http::{Method, Request};
use serde_json::{Value, json};
use tests::authority::Authority;
use tests::delivery::{NOW, SECRET, event};
use tests::eventually::eventually;
use tests::merchant::{Merchant, text};
use tests::ports;
use tests::receiver::{Answer, Down, Gate, Receiver};
use tests::workerd::{State, Worker, Workerd};

const WORKER: &str = "edge";
const KEY: &str = "svc_test_aKeyThatNobodyMaySee0123456789";
const TOKEN: &str = "a-token-of-thirty-two-characters";
const FORWARDING_SECRET: &str = "whsec_Zk81HvTqLw3PpYdN6cRrXa0GmBf2Jt5SeUoKiCnEq7W";

/// An edge receiver that reconciles with `api` under `key`.
fn receiver(api: &str, key: &str) -> Worker {
    Worker::edge_receiver(WORKER).with_variables([
        ("SIGNING_SECRET", SECRET),
        ("API_BASE", api),
        ("API_KEY", key),
    ])
}

/// The same at a fixed time.
fn receiver_at(api: &str, now: i64) -> Worker {
    Worker::edge_receiver(WORKER).with_variables([
        ("SIGNING_SECRET", SECRET),
        ("API_BASE", api),
        ("API_KEY", KEY),
        ("ENVIRONMENT", "test"),
        ("TEST_NOW", now.to_string().as_str()),
    ])
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
        "duplicates": duplicates, "refused": 0 })
}

fn failed(trouble: &str, api_status: Option<u16>) -> Value {
    json!({ "outcome": "failed", "trouble": trouble, "api_status": api_status, "pages": 0, "first": 0,
        "duplicates": 0, "refused": 0 })
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

/// The ids of the merchant's events.
async fn stream_of(merchant: &Merchant) -> Vec<String> {
    let mut ids: Vec<_> = merchant.events().await.iter().map(|event| text(event, "id")).collect();
    ids.sort_unstable();
    ids
}

async fn make_events(merchant: &Merchant, count: usize) {
    for _ in 0..count {
        merchant.checkout().await;
    }
}

/// Contract 11.3: 250 events missed, three pages, crash between processing and saving the cursor.
#[tokio::test]
async fn reconciliation_after_downtime() {
    let authority = Authority::start(&[]).await;
    let merchant = Merchant::create(&authority, "reconciled").await;
    make_events(&merchant, 250).await;
    let api = format!("http://{}", authority.merchant_address());
    let state = State::new();

    // It is ended when all events of the second page are in the inbox and the position is still behind the first.
    let told = Receiver::accepting().await;
    let stopping = receiver(&api, &merchant.key)
        .entered_by("stops-half-way.js")
        .and_variables([("STOP_AFTER", "200"), ("TELL", told.url("/stopped").as_str())]);
    let mut workerd = Workerd::start(&state, &[stopping]).await;
    workerd.begin_scheduled(WORKER).await;
    told.until("the stop", |arrivals| arrivals.all.len() == 1).await;
    workerd.kill().await;
    assert_eq!(ids_in(&state).await.len(), 200);
    let position = state.position(WORKER).await;

    let mut workerd = Workerd::start(&state, &[receiver(&api, &merchant.key)]).await;
    assert!(position.is_some());
    assert_eq!(
        run(&mut workerd).await,
        complete(2, 50, 100),
        "from behind the first page, not from the start"
    );
    assert_eq!(run(&mut workerd).await, complete(1, 0, 0), "the last page is not read again");
    workerd.stop().await;
    assert_eq!(ids_in(&state).await, stream_of(&merchant).await, "every id exactly once");
    assert_ne!(state.position(WORKER).await, position);
    for record in state.records(WORKER).await {
        let stored = merchant.api.get(&format!("/events/{}", record.id)).await.body;
        assert_eq!(record.body, stored, "the bytes that a delivery carries");
    }
}

/// 300 events, of which the middle 100 are made while the Worker is down, and given up by the sender.
#[tokio::test]
async fn what_deliveries_missed_arrives_once_at_the_sink() {
    let sink = Receiver::accepting().await;
    let authority = Authority::start(&[("AUTHORITY_LOG", "warn")]).await;
    let merchant = Merchant::create(&authority, "down").await;
    let port = ports::unclaimed();
    let endpoint = merchant.endpoint(&format!("http://127.0.0.1:{port}/webhooks"), &["*"]).await;
    let worker = Worker::edge_receiver(WORKER).at_port(port).with_variables([
        ("SIGNING_SECRET", endpoint.secret.as_str()),
        ("SINK_URL", sink.url("/sink").as_str()),
        ("FORWARDING_SECRET", FORWARDING_SECRET),
        ("API_BASE", format!("http://{}", authority.merchant_address()).as_str()),
        ("API_KEY", merchant.key.as_str()),
        ("ADMIN_TOKEN", TOKEN),
    ]);
    let state = State::new();

    let workerd = Workerd::start(&state, std::slice::from_ref(&worker)).await;
    make_events(&merchant, 100).await;
    all_are_handed_off(&workerd, 100).await;
    workerd.kill().await;

    make_events(&merchant, 100).await;
    // Nobody is there; the merchant has the sender stop, and what is pending is given up.
    let path = format!("/webhook-endpoints/{}", endpoint.id);
    merchant.api.call(Method::PATCH, &path).json(&json!({ "status": "disabled" })).send().await.expect(200);
    let given_up = async || {
        let fates = merchant.fates(&endpoint).await;
        (fates.iter().filter(|fate| !fate.starts_with("pending ")).count() == 200).then_some(fates)
    };
    let fates = eventually("the end of what is pending", given_up).await;
    assert_eq!(fates.iter().filter(|fate| fate.starts_with("succeeded ")).count(), 100, "{fates:?}");

    // The first run brings the middle in, and is ended before it could save how far it came.
    let told = Receiver::accepting().await;
    let stopping = worker
        .clone()
        .entered_by("stops-half-way.js")
        .and_variables([("STOP_AFTER", "200"), ("TELL", told.url("/stopped").as_str())]);
    let mut workerd = Workerd::start(&state, &[stopping]).await;
    merchant.api.call(Method::PATCH, &path).json(&json!({ "status": "enabled" })).send().await.expect(200);
    make_events(&merchant, 100).await;
    all_are_handed_off(&workerd, 200).await;
    workerd.begin_scheduled(WORKER).await;
    told.until("the stop", |arrivals| arrivals.all.len() == 1).await;
    all_are_handed_off(&workerd, 300).await;
    workerd.kill().await;

    let mut workerd = Workerd::start(&state, &[worker]).await;
    assert_eq!(run(&mut workerd).await, complete(2, 0, 200));
    all_are_handed_off(&workerd, 300).await;
    workerd.stop().await;
    let stream = stream_of(&merchant).await;
    assert_eq!((stream.len(), &ids_in(&state).await), (300, &stream), "every id once in the inbox");
    let mut seen: Vec<_> = sink.arrivals().all.iter().map(|arrival| arrival.event_id.clone()).collect();
    seen.sort_unstable();
    assert_eq!(seen, stream, "every id exactly once at the sink");
}

/// Waits until so many events are handed over and no other is in the inbox.
async fn all_are_handed_off(workerd: &Workerd, count: u64) {
    let expected = json!({ "received": 0, "processing": 0, "processed": count, "error": 0,
        "oldest_unprocessed_ms": null });
    eventually(format!("{count} events handed over"), async || {
        (health(workerd).await["events"] == expected).then_some(())
    })
    .await;
}

async fn health(workerd: &Workerd) -> Value {
    let request = Request::get(workerd.url(WORKER, "/health"))
        .header("authorization", format!("Bearer {TOKEN}"))
        .body(Bytes::new())
        .unwrap();
    let reply = workerd.send(request).await;
    assert_eq!(reply.status, 200, "{}", reply.body);
    serde_json::from_str(&reply.body).unwrap()
}

/// Whatever the API answers, the position stays, the answer has its code in the report, and the next run goes on.
#[tokio::test]
async fn bad_answers_are_reported_and_change_nothing() {
    let problem = |code: &str| format!(r#"{{"code":"{code}","detail":"{KEY}"}}"#);
    let answers = [
        (Answer::status(401).with_body(problem("invalid_api_key")), "credential_refused", Some(401)),
        (Answer::status(403).with_body(problem("insufficient_scope")), "access_refused", Some(403)),
        (Answer::status(404), "unexpected_answer", Some(404)),
        (Answer::status(400).with_body(problem("invalid_cursor")), "invalid_cursor", Some(400)),
        (Answer::status(400).with_body(problem("unsupported_api_version")), "unexpected_answer", Some(400)),
        (Answer::status(410).with_body(problem("cursor_expired")), "cursor_expired", Some(410)),
        (Answer::status(429).with("retry-after", "0"), "rate_limited", Some(429)),
        (Answer::status(500).with_body(problem("internal_error")), "api_failed", Some(500)),
        (Answer::status(502).with_body("<html>"), "api_failed", Some(502)),
        (Answer::status(302).with("location", "/elsewhere"), "unexpected_answer", Some(302)),
        (Answer::status(204), "unexpected_answer", Some(204)),
        (Answer::status(200), "unexpected_answer", None),
        (Answer::status(200).with_body("<html>sign in</html>"), "unexpected_answer", None),
        (Answer::status(200).with_body(r#"{"data":[{"id":"evt_1"}"#), "unexpected_answer", None),
        (Answer::status(200).with_body(r#"{"data":{},"next_cursor":"x"}"#), "unexpected_answer", None),
        (page(&[], Some("behind"), None), "unexpected_answer", None),
    ];
    let rest = answers.clone();
    let api = Receiver::start(move |arrival| match arrival.number {
        1 => page(&[listed("evt_1")], None, Some("behind")),
        number => match rest.get(number - 2) {
            Some((answer, ..)) => answer.clone(),
            None => page(&[listed("evt_2")], None, Some("end")),
        },
    })
    .await;
    let state = State::new();
    let mut workerd = Workerd::start(&state, &[receiver(&api.url(""), KEY)]).await;
    assert_eq!(run(&mut workerd).await, complete(1, 1, 0));
    for (answer, trouble, status) in &answers {
        assert_eq!(run(&mut workerd).await, failed(trouble, *status), "{answer:?}");
    }
    assert_eq!(run(&mut workerd).await, complete(1, 1, 0));
    workerd.stop().await;

    let asked = api.arrivals().all;
    assert_eq!(asked.len(), answers.len() + 2, "a redirect is not followed, nothing is asked twice");
    assert_eq!(asked[0].query, "limit=100");
    for arrival in &asked {
        assert_eq!((arrival.method.as_str(), arrival.path.as_str()), ("GET", "/v1/merchant/events"));
        assert_eq!(arrival.header("authorization"), format!("Bearer {KEY}"));
        assert_eq!(
            (arrival.header("accept"), arrival.header("service-version")),
            ("application/json", "2026-09-01")
        );
    }
    assert!(asked[1..].iter().all(|arrival| arrival.query == "limit=100&cursor=behind"));
    assert_eq!(ids_in(&state).await, ["evt_1", "evt_2"]);
    assert_eq!(state.position(WORKER).await.as_deref(), Some("end"));
    assert!(!state.contains(KEY), "the key is kept nowhere");
}

#[tokio::test]
async fn an_api_that_does_not_answer_costs_one_deadline() {
    let silent = Receiver::start(|_| Answer::status(200).held_by(&Gate::closed())).await;
    let dripping = Receiver::start(|_| Answer::status(200).dripping()).await;
    let down = Down::new();
    let state = State::new();
    let workers = [("silent", silent.url("")), ("dripping", dripping.url("")), ("down", down.url(""))];
    let workers = workers.map(|(name, api)| {
        Worker::edge_receiver(name).with_variables([("API_BASE", api.as_str()), ("API_KEY", KEY)])
    });
    let mut workerd = Workerd::start(&state, &workers).await;
    for (worker, status) in [("down", None), ("silent", None), ("dripping", Some(200))] {
        workerd.scheduled(worker).await;
        let report = workerd.reconciliation(worker).await["last_run"].take();
        assert_eq!(
            (&report["trouble"], &report["api_status"]),
            (&json!("api_unreachable"), &json!(status)),
            "{worker}"
        );
    }
    workerd.stop().await;
}

#[tokio::test]
async fn an_api_that_asks_for_patience_is_left_alone() {
    let api = Receiver::start(|arrival| match arrival.number {
        1 => Answer::status(429).with("retry-after", "600"),
        _ => page(&[], None, Some("end")),
    })
    .await;
    let state = State::new();
    let mut workerd = Workerd::start(&state, &[receiver_at(&api.url(""), NOW)]).await;
    let limited = failed("rate_limited", Some(429));
    assert_eq!(run(&mut workerd).await, limited);
    assert_eq!(run(&mut workerd).await, limited, "the report is still that of the first run");
    workerd.stop().await;
    let mut workerd = Workerd::start(&state, &[receiver_at(&api.url(""), NOW + 599)]).await;
    assert_eq!(run(&mut workerd).await, limited);
    workerd.stop().await;
    assert_eq!(api.arrivals().all.len(), 1);
    let mut workerd = Workerd::start(&state, &[receiver_at(&api.url(""), NOW + 600)]).await;
    assert_eq!(run(&mut workerd).await, complete(1, 0, 0));
    let shown = workerd.reconciliation(WORKER).await;
    assert_eq!(shown["completed_at_ms"], json!((NOW + 600) * 1000));
    assert_eq!((&shown["has_position"], &shown["running"]), (&json!(true), &json!(false)));
    workerd.stop().await;
}

#[tokio::test]
async fn an_entry_that_is_no_event_stops_nobody() {
    let api = Receiver::start(|_| {
        let wrong = listed("evt_3").replace("mer_1", "shop_1");
        page(
            &[listed("evt_1"), "null".to_owned(), listed("evt_2"), wrong, listed("evt_1")],
            None,
            Some("end"),
        )
    })
    .await;
    let state = State::new();
    let mut workerd = Workerd::start(&state, &[receiver(&api.url(""), KEY)]).await;
    let expected = json!({ "outcome": "complete", "trouble": null, "api_status": null, "pages": 1, "first": 2,
        "duplicates": 1, "refused": 2 });
    assert_eq!(run(&mut workerd).await, expected);
    workerd.stop().await;
    assert_eq!(ids_in(&state).await, ["evt_1", "evt_2"]);
    assert_eq!(state.position(WORKER).await.as_deref(), Some("end"));
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
        "duplicates": 0, "refused": 0 });
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
async fn a_page_that_is_too_large_is_asked_for_in_parts() {
    let large = "x".repeat(9 << 20);
    let api = Receiver::start(move |arrival| {
        if arrival.query.starts_with("limit=100") {
            return Answer::status(200).with_body(format!(r#"{{"data":["{large}"]}}"#));
        }
        match arrival.number {
            2 => page(&[listed("evt_1")], Some("next"), None),
            4 => page(&[listed("evt_2")], None, Some("end")),
            _ => Answer::status(200).with_body(large.clone()),
        }
    })
    .await;
    let state = State::new();
    let mut workerd = Workerd::start(&state, &[receiver(&api.url(""), KEY)]).await;
    assert_eq!(run(&mut workerd).await, complete(2, 2, 0));
    assert_eq!(run(&mut workerd).await, failed("page_too_large", Some(200)));
    workerd.stop().await;
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
