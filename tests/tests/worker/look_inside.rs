//! Looking inside the edge receiver: who may, what there is to see, and that nothing leaks to anybody else.

use bytes::Bytes;
use http::{Method, Request};
use serde_json::{Value, json};
use tests::delivery::{Delivery, NOW, event};
use tests::workerd::{Reply, State, Worker, Workerd};
use tests::{Answer, Receiver, eventually, has};

use crate::{OK, PATH};

const WORKER: &str = "edge";
const TOKEN: &str = "a-token-of-thirty-two-characters";
const KEY: &str = "svc_test_aKeyThatNobodyMaySee0123456789";
const FORWARDING_SECRET: &str = "whsec_Zk81HvTqLw3PpYdN6cRrXa0GmBf2Jt5SeUoKiCnEq7W";
const NOT_FOUND: (u16, &str) = (404, "not_found");
const UNAUTHORIZED: (u16, &str) = (401, "unauthorized");

fn receiver(variables: &[(&str, &str)]) -> Worker {
    Worker::at_the_vectors(WORKER).and_variables(variables.iter().copied())
}

async fn deliver(workerd: &Workerd, event_id: &str) {
    let delivery = Delivery::of_event(event_id).request(&workerd.url(WORKER, PATH));
    assert_eq!(workerd.send(delivery).await.outcome(), OK);
}

async fn ask(workerd: &Workerd, method: Method, path: &str, authorization: Option<&str>) -> Reply {
    let mut request = Request::builder().method(method).uri(workerd.url(WORKER, path));
    if let Some(value) = authorization {
        request = request.header("authorization", value);
    }
    workerd.send(request.body(Bytes::new()).unwrap()).await
}

/// The same with the token; the answer's status and JSON.
async fn look(workerd: &Workerd, method: Method, path: &str) -> (u16, Value) {
    let reply = ask(workerd, method, path, Some(&format!("Bearer {TOKEN}"))).await;
    assert_eq!(
        (&reply.headers["content-type"], &reply.headers["cache-control"]),
        (&"application/json".parse().unwrap(), &"no-store".parse().unwrap())
    );
    assert!(!reply.body.contains(TOKEN) && !reply.body.contains(KEY) && !reply.body.contains("whsec_"));
    (reply.status.as_u16(), serde_json::from_str(&reply.body).unwrap())
}

const PATHS: [(&str, &str); 6] = [
    ("GET", "/health"),
    ("GET", "/events/evt_known"),
    ("GET", "/events/evt_unknown"),
    ("POST", "/events/evt_known/retry"),
    ("POST", "/reconciliation/run"),
    ("POST", "/reconciliation/restart"),
];

#[tokio::test]
async fn without_a_configured_token_there_is_nothing_to_look_at() {
    let state = State::new();
    let workerd = Workerd::start(&state, &[receiver(&[])]).await;
    deliver(&workerd, "evt_known").await;
    for (method, path) in PATHS {
        for authorization in [None, Some(format!("Bearer {TOKEN}"))] {
            let reply = ask(&workerd, method.parse().unwrap(), path, authorization.as_deref()).await;
            assert_eq!(reply.outcome(), NOT_FOUND, "{method} {path}");
        }
    }
    workerd.stop().await;
}

#[tokio::test]
async fn without_the_token_nothing_is_told() {
    let state = State::new();
    let workerd = Workerd::start(&state, &[receiver(&[("ADMIN_TOKEN", TOKEN)])]).await;
    deliver(&workerd, "evt_known").await;
    for (method, path) in PATHS {
        for method in [method, "DELETE"] {
            for authorization in
                [None, Some("Bearer another-token-of-32-characters"), Some(TOKEN), Some("Bearer ")]
            {
                let reply = ask(&workerd, method.parse().unwrap(), path, authorization).await;
                // The same for what is there and what is not, and for every method.
                assert_eq!(reply.outcome(), UNAUTHORIZED, "{method} {path} {authorization:?}");
                assert_eq!(reply.headers["www-authenticate"], "Bearer realm=\"edge-receiver\"");
            }
        }
    }
    for (method, path) in PATHS {
        let reply = ask(&workerd, Method::DELETE, path, Some(&format!("Bearer {TOKEN}"))).await;
        assert_eq!(
            (reply.outcome(), reply.headers["allow"].to_str().unwrap()),
            ((405, "method_not_allowed"), method)
        );
    }
    workerd.stop().await;
}

#[tokio::test]
async fn a_token_that_protects_nothing_opens_nothing() {
    let state = State::new();
    let workerd = Workerd::start(&state, &[receiver(&[("ADMIN_TOKEN", "short")])]).await;
    let reply = ask(&workerd, Method::GET, "/health", Some("Bearer short")).await;
    assert_eq!(reply.outcome(), (503, "invalid_configuration"));
    // Deliveries are not concerned.
    deliver(&workerd, "evt_1").await;
    workerd.stop().await;
}

/// An event that its sink refuses is seen, and handed over at once when somebody says so.
#[tokio::test]
async fn an_event_is_looked_at_and_tried_again() {
    let sink = Receiver::start(|arrival| match (arrival.event_id.as_str(), arrival.nth) {
        ("evt_poison", ..=3) => Answer::status(503),
        _ => Answer::status(200),
    })
    .await;
    let state = State::new();
    let worker = receiver(&[
        ("ADMIN_TOKEN", TOKEN),
        ("SINK_URL", &sink.url("/sink")),
        ("FORWARDING_SECRET", FORWARDING_SECRET),
    ]);
    let workerd = Workerd::start(&state, &[worker]).await;
    let none =
        json!({ "received": 0, "processing": 0, "processed": 0, "error": 0, "oldest_unprocessed_ms": null });
    assert_eq!(
        look(&workerd, Method::GET, "/health").await,
        (200, json!({ "events": none, "reconciliation": null }))
    );
    assert_eq!(look(&workerd, Method::GET, "/events/evt_good").await, (404, json!({ "code": "not_found" })));

    for id in ["evt_good", "evt_poison"] {
        deliver(&workerd, id).await;
    }
    // After the third attempt its next one is four seconds away: time to look.
    let record = eventually("the third failure", async || {
        let (status, record) = look(&workerd, Method::GET, "/events/evt_poison").await;
        assert_eq!(status, 200);
        (record["attempts"] == 3 && record["status"] == "error").then_some(record)
    })
    .await;
    let body: Value = serde_json::from_str(&event("evt_poison", "webhook.test")).unwrap();
    let expected = json!({ "id": "evt_poison", "type": "webhook.test", "created_at": "2026-09-01T12:00:00.000Z",
        "merchant_id": "mer_1", "livemode": null, "received_at_ms": NOW * 1000, "status": "error", "attempts": 3,
        "last_error": "answered 503", "due_at_ms": record["due_at_ms"], "event": body });
    assert_eq!(record, expected);
    let health = eventually("the good one is handed over", async || {
        let (_, health) = look(&workerd, Method::GET, "/health").await;
        (health["events"]["processed"] == 1).then_some(health)
    })
    .await;
    let events = json!({ "received": 0, "processing": 0, "processed": 1, "error": 1,
        "oldest_unprocessed_ms": NOW * 1000 });
    assert_eq!(health, json!({ "events": events, "reconciliation": null }));

    let scheduled = look(&workerd, Method::POST, "/events/evt_poison/retry").await;
    assert_eq!(scheduled, (202, json!({ "code": "scheduled" })));
    let processed = eventually("the retry", async || {
        let (_, record) = look(&workerd, Method::GET, "/events/evt_poison").await;
        (record["status"] == "processed").then_some(record)
    })
    .await;
    has(&processed, json!({ "attempts": 4, "last_error": null, "due_at_ms": null }));
    let again = look(&workerd, Method::POST, "/events/evt_poison/retry").await;
    assert_eq!(again, (409, json!({ "code": "already_processed" })));
    let unknown = look(&workerd, Method::POST, "/events/evt_unknown/retry").await;
    assert_eq!(unknown, (404, json!({ "code": "not_found" })));
    workerd.stop().await;
    let seen = sink.arrivals().all.iter().filter(|arrival| arrival.event_id == "evt_poison").count();
    assert_eq!(seen, 4);
}

/// A position that the API has forgotten is shown at every run, until a person starts over.
#[tokio::test]
async fn reconciliation_is_shown_run_and_started_over() {
    let api = Receiver::start(|arrival| {
        let listed = format!(r#"{{"data":[{}],"resume_cursor":"old"}}"#, event("evt_1", "order.created"));
        let gone = Answer::status(410).with_body(format!(r#"{{"code":"cursor_expired","detail":"{KEY}"}}"#));
        if arrival.query.contains("cursor=old") { gone } else { Answer::status(200).with_body(listed) }
    })
    .await;
    let state = State::new();
    let worker = receiver(&[("ADMIN_TOKEN", TOKEN), ("API_BASE", &api.url("")), ("API_KEY", KEY)]);
    let workerd = Workerd::start(&state, &[worker]).await;
    let at = NOW * 1000;
    let shown = async || look(&workerd, Method::GET, "/health").await.1["reconciliation"].take();
    assert_eq!(
        shown().await,
        json!({ "running": false, "has_position": false, "completed_at_ms": null, "last_run": null })
    );

    let complete = |first: u32| {
        json!({ "outcome": "complete", "trouble": null, "api_status": null, "started_at_ms": at, "ended_at_ms": at,
            "pages": 1, "first": first, "duplicates": 1 - first, "too_old": 0, "refused": 0 })
    };
    let expired = json!({ "outcome": "failed", "trouble": "cursor_expired", "api_status": 410, "started_at_ms": at,
        "ended_at_ms": at, "pages": 0, "first": 0, "duplicates": 0, "too_old": 0, "refused": 0 });
    assert_eq!(look(&workerd, Method::POST, "/reconciliation/run").await, (200, complete(1)));
    for _ in 0..2 {
        assert_eq!(look(&workerd, Method::POST, "/reconciliation/run").await, (200, expired.clone()));
        let state =
            json!({ "running": false, "has_position": true, "completed_at_ms": at, "last_run": expired });
        assert_eq!(shown().await, state);
    }
    let restarted = look(&workerd, Method::POST, "/reconciliation/restart").await;
    assert_eq!(restarted, (200, json!({ "outcome": "restarted" })));
    assert_eq!(look(&workerd, Method::POST, "/reconciliation/run").await, (200, complete(0)));
    workerd.stop().await;
}

/// Where KV alone decides there are no records to look at.
#[tokio::test]
async fn without_an_inbox_there_are_no_events_to_look_at() {
    let state = State::new();
    let workerd = Workerd::start(&state, &[receiver(&[("ADMIN_TOKEN", TOKEN), ("DEDUP", "kv")])]).await;
    let health = json!({ "events": null, "reconciliation": null });
    assert_eq!(look(&workerd, Method::GET, "/health").await, (200, health));
    for (method, path) in [(Method::GET, "/events/evt_1"), (Method::POST, "/events/evt_1/retry")] {
        assert_eq!(look(&workerd, method, path).await, (404, json!({ "code": "not_found" })));
    }
    workerd.stop().await;
}
