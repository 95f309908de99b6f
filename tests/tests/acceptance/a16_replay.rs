//! A16: an event that is replayed arrives again under the same id with the same bytes, and has one effect at a
//! receiver: at the Worker in its real runtime, and at the receiver that is built in.

use std::time::Duration;

use serde_json::json;
use tests::binary::lone;
use tests::workerd::{State, Worker, Workerd};
use tests::{Answer, Authority, Database, Merchant, Receiver, on_every_database, text, within};
use tokio::io::{AsyncBufReadExt as _, BufReader};

on_every_database!(a16_replayed_twice_it_is_two_deliveries_of_one_event, a16_the_worker_records_one_effect);

async fn a16_replayed_twice_it_is_two_deliveries_of_one_event(database: Database) {
    let authority = Authority::on(database, &[]).await;
    // The replays need two attempts each: they have budgets of their own.
    let receiver =
        Receiver::start(|arrival| Answer::status(if arrival.nth % 2 == 0 { 500 } else { 200 })).await;
    let merchant = Merchant::create(&authority, "again").await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["*"]).await;
    merchant.endpoint(&receiver.url("/deaf"), &["refund.*"]).await;
    merchant.checkout().await;
    authority.nothing_pending().await;
    let event = merchant.events().await.remove(0);
    let path = format!("/events/{}/replay", text(&event, "id"));
    let mut made = Vec::new();
    for n in 0..2 {
        // No body, an empty one.
        let call = merchant.api.call(http::Method::POST, &path);
        let reply = if n == 0 { call.send().await } else { call.json(&json!({})).send().await };
        let reply = reply.expect(202);
        let delivery = text(&reply["deliveries"][0], "id");
        let expected = json!({
            "object": "event_replay", "event_id": event["id"], "livemode": false,
            "deliveries": [{ "id": delivery, "endpoint_id": endpoint.id, "status": "pending" }],
        });
        assert_eq!(reply, expected);
        made.push(delivery);
        authority.nothing_pending().await;
    }
    assert_ne!(made[0], made[1]);
    let stored = merchant.api.get(&format!("/events/{}", text(&event, "id"))).await.body;
    let arrivals = receiver.arrivals();
    let seen: Vec<_> = arrivals.all.iter().map(|arrival| (arrival.path.as_str(), arrival.status)).collect();
    assert_eq!(seen, [("/hook", 200), ("/hook", 500), ("/hook", 200), ("/hook", 500), ("/hook", 200)]);
    for arrival in &arrivals.all {
        assert_eq!(arrival.body, stored);
        assert_eq!(arrival.verify(&endpoint.secret).unwrap().id, text(&event, "id"));
    }
    let ids: Vec<_> = arrivals.all[1..].iter().map(|arrival| arrival.header("service-delivery-id")).collect();
    assert_eq!(ids, [&made[0], &made[0], &made[1], &made[1]]);
    let delivery = merchant.api.get(&format!("/deliveries/{}", made[1])).await.expect(200);
    assert_eq!((&delivery["trigger"], &delivery["attempt_count"]), (&json!("replay"), &json!(2)));
    // One event in the stream all the while, and one replay per idempotency key.
    assert_eq!(merchant.events().await, [event]);
    let first = merchant.api.post_as("once", &path, &json!({})).await;
    let again = merchant.api.post_as("once", &path, &json!({})).await;
    assert_eq!((first.expect(202), Some("true")), (again.expect(202), again.header("idempotent-replayed")));
}

async fn a16_the_worker_records_one_effect(database: Database) {
    let (authority, merchant) = Merchant::on(database, "edge").await;
    // The Worker is given its secret at its start, and has an address after it.
    let endpoint = merchant.endpoint("http://127.0.0.1:9/", &["checkout.created"]).await;
    let state = State::new();
    let worker = Worker::edge_receiver("replayed").with_variables([("SIGNING_SECRET", &*endpoint.secret)]);
    let workerd = Workerd::start(&state, &[worker]).await;
    let url = json!({ "url": workerd.url("replayed", "/webhooks") });
    merchant.change(&endpoint, &url).await;
    merchant.checkout().await;
    authority.nothing_pending().await;
    let event = text(&merchant.events().await[0], "id");
    for _ in 0..2 {
        merchant.api.post(&format!("/events/{event}/replay"), &json!({})).await.expect(202);
        authority.nothing_pending().await;
    }
    // It has answered 200 to all three.
    assert_eq!(merchant.fates(&endpoint).await, ["succeeded null 1"; 3]);
    let stored = merchant.api.get(&format!("/events/{event}")).await.body;
    workerd.stop().await;
    let records = state.records("replayed").await;
    assert_eq!(records.len(), 1);
    assert_eq!((&records[0].id, &records[0].body[..]), (&event, &stored[..]));
}

/// `authority dev` on a folder of its own: its receiver claims in SQLite, whatever the service's database is.
#[tokio::test]
async fn a16_the_built_in_receiver_records_one_effect() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut dev = lone(&["dev", "--data", data.to_str().unwrap()])
        .envs([("AUTHORITY_LISTEN", "127.0.0.1:0"), ("AUTHORITY_OPERATOR_LISTEN", "127.0.0.1:0")])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(dev.stdout.take().unwrap()).lines();
    // The next line that says something.
    let mut next = async |what: &str| {
        loop {
            let line = within(what, lines.next_line()).await.unwrap().expect("it goes on");
            if !line.is_empty() {
                return line;
            }
        }
    };
    let (mut key, mut root) = (String::new(), String::new());
    loop {
        let line = next("the invitation").await;
        if let Some(shown) = line.trim_start().strip_prefix("export AUTHORITY_API_KEY=") {
            key = shown.to_owned();
        }
        if let Some((_, rest)) = line.split_once("-X POST ") {
            root = rest.to_owned();
        }
        if line.starts_with("Staying up") {
            break;
        }
    }
    let (root, test) = root.split_at(root.find("/webhook-endpoints/").unwrap());
    let api = tests::Api::at(root, &key);
    let event = text(&api.post(test, &json!({})).await.expect(202), "event_id");
    let mut arrived = Vec::new();
    for n in 0..3 {
        arrived.push(next("an arrival").await.trim().to_owned());
        assert!(arrived[n].contains(&event), "{arrived:?}");
        if n < 2 {
            let replay = api.post(&format!("/events/{event}/replay"), &json!({})).await.expect(202);
            assert_eq!(replay["deliveries"].as_array().unwrap().len(), 1);
        }
    }
    assert!(arrived[0].ends_with(char::is_numeric), "taken: {arrived:?}");
    assert!(arrived[1..].iter().all(|line| line.ends_with(&format!("{event} duplicate"))), "{arrived:?}");
    tests::terminate(&dev);
    assert_eq!(
        tokio::time::timeout(Duration::from_secs(60), dev.wait()).await.unwrap().unwrap().code(),
        Some(0)
    );
    let inbox = format!("sqlite://{}", data.join("inbox.db").display());
    let sql = format!("SELECT COUNT(*) FROM events WHERE id = '{event}' AND status = 'processed'");
    assert_eq!(tests::damage::count(&inbox, &sql).await, 1);
}
