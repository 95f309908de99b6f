//! An API that answers badly, late or in pages that are too large: reported, and the position stays.

use serde_json::json;
use tests::delivery::NOW;
use tests::workerd::{State, Worker, Workerd};
use tests::{Answer, Down, Gate, Receiver, has};

use super::{KEY, WORKER, complete, failed, ids_in, listed, page, receiver, run};

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

/// An edge receiver that reconciles with `api` at a fixed time.
fn receiver_at(api: &str, now: i64) -> Worker {
    let now = now.to_string();
    Worker::at_the_vectors(WORKER).and_variables([("API_BASE", api), ("API_KEY", KEY), ("TEST_NOW", &now)])
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
    has(&shown, json!({ "completed_at_ms": (NOW + 600) * 1000, "has_position": true, "running": false }));
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
        "duplicates": 1, "too_old": 0, "refused": 2 });
    assert_eq!(run(&mut workerd).await, expected);
    workerd.stop().await;
    assert_eq!(ids_in(&state).await, ["evt_1", "evt_2"]);
    assert_eq!(state.position(WORKER).await.as_deref(), Some("end"));
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
