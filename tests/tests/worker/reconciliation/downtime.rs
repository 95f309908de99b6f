//! What deliveries missed while the Worker was down, fetched from a real authority (contract 11.3).

use bytes::Bytes;
use http::Request;
use serde_json::{Value, json};
use tests::workerd::{State, Worker, Workerd};
use tests::{Merchant, Receiver, eventually, ports, texts};

use super::{WORKER, complete, ids_in, receiver, run};

const TOKEN: &str = "a-token-of-thirty-two-characters";
const FORWARDING_SECRET: &str = "whsec_Zk81HvTqLw3PpYdN6cRrXa0GmBf2Jt5SeUoKiCnEq7W";

/// The ids of the merchant's events.
async fn stream_of(merchant: &Merchant) -> Vec<String> {
    let mut ids = texts(&merchant.events().await, "id");
    ids.sort_unstable();
    ids
}

/// Contract 11.3: 250 events missed, three pages, crash between processing and saving the cursor.
#[tokio::test]
async fn reconciliation_after_downtime() {
    let (authority, merchant) = Merchant::alone("reconciled").await;
    merchant.checkouts(250).await;
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
    let (authority, merchant) = Merchant::alone_with(&[("AUTHORITY_LOG", "warn")], "down").await;
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
    merchant.checkouts(100).await;
    all_are_handed_off(&workerd, 100).await;
    workerd.kill().await;

    merchant.checkouts(100).await;
    // Nobody is there; the merchant has the sender stop, and what is pending is given up.
    let path = endpoint.path("");
    merchant.api.patch(&path, &json!({ "status": "disabled" })).await.expect(200);
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
    merchant.api.patch(&path, &json!({ "status": "enabled" })).await.expect(200);
    merchant.checkouts(100).await;
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
