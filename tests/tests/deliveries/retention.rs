//! Events past their retention are gone, and everybody can tell (contract 8.6, 15.13), by a clock in the test's hands.

use authority::cli::{self, Exit, Process};
use authority::clock::Clock;
use serde_json::{Value, json};
use tests::authority::{Database, KEK};
use tests::clock::HandClock;
use tests::eventually::eventually;
use tests::merchant::{Merchant, text};
use tests::on_both_databases;
use tests::receiver::{Answer, Gate, Receiver};
use tests::service::InProcess;

on_both_databases!(what_is_past_its_retention_goes_and_the_rest_stays);

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// An attempt that is not answered ends soon; the next one is a month later.
const SLOW: [(&str, &str); 2] =
    [("AUTHORITY_RETRY_SCHEDULE", "0,2592000,2592000,2592000"), ("AUTHORITY_DELIVERY_TIMEOUT_MS", "500")];

/// Sees that the doctor finds nothing wrong.
async fn is_sound(service: &InProcess) {
    let (url, clock) = (service.database_url().to_owned(), service.clock.clone());
    let examine = move || {
        let (mut said, mut log) = (Vec::new(), Vec::new());
        let variable = |name: &str| match name {
            "AUTHORITY_DATABASE_URL" => Some(url.clone().into()),
            "AUTHORITY_SECRET_KEK" => Some(KEK.into()),
            _ => None,
        };
        let mut process = Process {
            environment: &variable,
            variables: &[],
            stdin: &mut std::io::empty(),
            stdout: &mut said,
            stderr: &mut log,
            colour: false,
            clock: &*clock as &dyn Clock,
        };
        let exit = cli::main(["authority", "doctor", "--json"].map(Into::into), &mut process);
        (exit, serde_json::from_slice::<Value>(&said).unwrap())
    };
    let (exit, said) = tokio::task::spawn_blocking(examine).await.unwrap();
    assert_eq!((exit, &said["findings"]), (Exit::Done, &json!([])), "{said}");
}

async fn oldest(merchant: &Merchant) -> Value {
    merchant.api.get("/integration-health").await.expect(200)["outbox"]["oldest_retained_sequence"].clone()
}

async fn what_is_past_its_retention_goes_and_the_rest_stays(database: Database) {
    let gate = Gate::closed();
    let held = gate.clone();
    let receiver = Receiver::start(move |arrival| match arrival.path.as_str() {
        "/held" => Answer::status(200).held_by(&held),
        _ => Answer::status(200),
    })
    .await;
    // A hundred days ago: an order, which its endpoint got; then two of which a delivery is still pending each.
    let service = InProcess::start_at(database, HandClock::following(-100 * DAY_MS), &SLOW).await;
    let merchant = Merchant::create(&service, "kept").await;
    let got = merchant.endpoint(&receiver.url("/hook"), &["*"]).await;
    let first = merchant.paid_order().await;
    service.nothing_pending().await;
    let waits = merchant.endpoint(&receiver.url("/held"), &["checkout.created"]).await;
    merchant.paid_order().await;
    let second = merchant.paid_order().await;
    let events = merchant.events().await;
    let page = merchant.api.get("/events?limit=1").await.expect(200);
    let (early, at_the_cut) = (text(&page, "next_cursor"), {
        let page = merchant.api.get("/events?limit=6").await.expect(200);
        text(&page, "next_cursor")
    });
    let saw_all = eventually("the first endpoint has everything", async || {
        let list =
            merchant.api.get(&format!("/webhook-endpoints/{}/deliveries?status=succeeded", got.id)).await;
        let list = list.expect(200)["data"].clone();
        (list.as_array().unwrap().len() == events.len()).then_some(list)
    })
    .await;
    assert_eq!(saw_all.as_array().unwrap().len(), 18);

    // Today, with a retention.
    service.clock.follow_at(0);
    let kept = [SLOW[0], SLOW[1], ("AUTHORITY_EVENT_RETENTION_DAYS", "90")];
    let service = service.restarted(&kept).await;
    let merchant = merchant.at(&service);
    eventually("the first six are gone", async || (oldest(&merchant).await == 7).then_some(())).await;
    is_sound(&service).await;
    for (cursor, status) in [(&early, 410), (&at_the_cut, 200)] {
        let reply = merchant.api.get(&format!("/events?cursor={cursor}")).await;
        assert_eq!(reply.status, status);
        if status == 410 {
            assert_eq!(reply.refused(410, "cursor_expired")["oldest_retained_sequence"], 7);
        }
    }
    let all: Vec<_> =
        merchant.events().await.iter().map(|event| event["sequence"].as_u64().unwrap()).collect();
    assert_eq!(all, (7..=18).collect::<Vec<_>>(), "from the oldest that is kept");
    merchant.api.get(&format!("/events/{}", text(&events[0], "id"))).await.refused(404, "not_found");
    merchant.api.get(&format!("/events/{}", text(&events[6], "id"))).await.expect(200);
    let list = merchant.api.get(&format!("/webhook-endpoints/{}/deliveries", got.id)).await.expect(200);
    assert_eq!(list["data"].as_array().unwrap().len(), 12, "deliveries go with their events");
    for order in [&first, &second] {
        assert_eq!(merchant.order(order).await["status"], "confirmed", "records stay");
    }
    let missing = merchant.api.get(&format!("/webhook-endpoints/{}/undelivered", waits.id)).await.expect(200);
    assert_eq!(missing["data"].as_array().unwrap().len(), 2);

    // What was pending ends; then the rest is past it as well, and the stream goes on.
    // An attempt that waits at the gate succeeds by itself: then its retry is refused, which is as good.
    gate.open();
    let list = merchant.api.get(&format!("/webhook-endpoints/{}/deliveries", waits.id)).await.expect(200);
    for delivery in list["data"].as_array().unwrap() {
        let retry = format!("/deliveries/{}/retry", text(delivery, "id"));
        merchant.api.post(&retry, &json!({})).await;
    }
    service.nothing_pending().await;
    let service = service.restarted(&kept).await;
    let merchant = merchant.at(&service);
    eventually("nothing is left", async || (oldest(&merchant).await == 19).then_some(())).await;
    is_sound(&service).await;
    merchant.api.get(&format!("/events?cursor={at_the_cut}")).await.refused(410, "cursor_expired");
    merchant.checkout().await;
    let all = merchant.events().await;
    assert_eq!((all.len(), &all[0]["sequence"]), (1, &json!(19)));
    is_sound(&service).await;
    service.stop().await;
}
