//! Events past their retention are gone, and everybody can tell (contract 8.6, 15.13), by a clock in the test's hands.

use std::sync::Arc;

use authority::cli::Exit;
use serde_json::{Value, json};
use tests::{
    Answer, Database, Gate, HandClock, InProcess, Merchant, Receiver, eventually, on_both_databases, retries,
    rows, text,
};

on_both_databases!(what_is_past_its_retention_goes_and_the_rest_stays);

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// An attempt that is not answered ends soon; the next one is a month later.
const SLOW: [(&str, &str); 2] =
    [retries("0,2592000,2592000,2592000"), ("AUTHORITY_DELIVERY_TIMEOUT_MS", "500")];

/// Sees that the doctor finds nothing wrong.
async fn is_sound(service: &InProcess) {
    let (exit, said) = service.doctor(Arc::clone(&service.clock)).await;
    assert_eq!((exit, &said["findings"]), (Exit::Done, &json!([])), "{said}");
}

async fn oldest(merchant: &Merchant) -> Value {
    merchant.health().await["outbox"]["oldest_retained_sequence"].clone()
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
        let list = merchant.api.get(&got.path("/deliveries?status=succeeded")).await;
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
    let list = merchant.api.get(&got.path("/deliveries")).await.expect(200);
    assert_eq!(rows(&list).len(), 12, "deliveries go with their events");
    for order in [&first, &second] {
        assert_eq!(merchant.order(order).await["status"], "confirmed", "records stay");
    }
    let missing = merchant.api.get(&waits.path("/undelivered")).await.expect(200);
    assert_eq!(rows(&missing).len(), 2);

    // What was pending ends; then the rest is past it as well, and the stream goes on.
    // An attempt that waits at the gate succeeds by itself: then its retry is refused, which is as good.
    gate.open();
    let list = merchant.api.get(&waits.path("/deliveries")).await.expect(200);
    for delivery in rows(&list) {
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
