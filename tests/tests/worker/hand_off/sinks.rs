//! The kinds of sinks: origin, queue, another Worker, none yet, and what is left when KV alone decides.

use serde_json::{Value, json};
use tests::delivery::{Delivery, NOW, SECRET, event};
use tests::workerd::{State, Worker, Workerd};
use tests::{Answer, Receiver, eventually};

use super::{DUPLICATE, FORWARDING, OK, PATH, deliver, effects, once, receiver, standing};

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
async fn what_waits_for_a_sink_is_handed_off_when_there_is_one() {
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

/// Without Durable Objects KV decides alone, and there is nothing to retry from: the sender is told to come again.
#[tokio::test]
async fn with_kv_alone_an_event_is_handed_off_before_the_answer() {
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
