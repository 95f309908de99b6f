//! A13: a crash between commit and delivery, and a receiver that is down for as long as anybody tries.

use std::collections::BTreeSet;

use serde_json::json;
use tests::{
    Answer, Authority, Database, Down, Gate, InProcess, Merchant, Receiver, ms, on_every_database, text,
    texts,
};

on_every_database!(
    a13_what_was_committed_is_delivered_after_a_kill,
    a13_ten_attempts_in_vain_then_failed_alert_and_replay,
);

/// With one request in flight that is never answered its endpoint gets no other: what is committed meanwhile has not
/// been sent when the process is killed.
async fn a13_what_was_committed_is_delivered_after_a_kill(database: Database) {
    let mut authority = Authority::on(database, &[("AUTHORITY_DELIVERY_TIMEOUT_MS", "50000")]).await;
    let gate = Gate::closed();
    let held = gate.clone();
    let receiver = Receiver::start(move |arrival| match arrival.number {
        1 => Answer::status(200).held_by(&held),
        _ => Answer::status(200),
    })
    .await;
    let merchant = Merchant::create(&authority, "killed").await;
    let one_at_a_time = json!({ "url": receiver.url("/hook"), "enabled_events": ["*"], "max_in_flight": 1 });
    let endpoint = merchant.endpoint_with(one_at_a_time).await;
    merchant.checkout().await;
    receiver.until("a request in flight", |arrivals| arrivals.all.len() == 1).await;
    merchant.paid_order().await;
    let events: BTreeSet<_> = texts(&merchant.events().await, "id").into_iter().collect();
    assert_eq!((events.len(), receiver.arrivals().all.len()), (7, 1), "committed, and not sent");
    authority.kill().await;
    gate.open();

    authority.leases_run_out().await;
    authority.restart().await;
    let arrivals = receiver.until("every other event", |arrivals| arrivals.accepted("/hook") >= 7).await;
    let arrived: BTreeSet<_> = arrivals.all.iter().map(|arrival| arrival.event_id.clone()).collect();
    assert_eq!(arrived, events);
    for arrival in &arrivals.all {
        arrival.verify(&endpoint.secret).unwrap();
    }
    // Only of the one in flight nobody knew what came of it.
    let first = &arrivals.all[0].event_id;
    let again = arrivals.all[1..].iter().filter(|arrival| arrival.event_id == *first).count();
    assert_eq!(arrivals.all.len(), 7 + again);
    authority.is_sound().await;
}

async fn a13_ten_attempts_in_vain_then_failed_alert_and_replay(database: Database) {
    let service = InProcess::start(database, &[]).await;
    let down = Down::new();
    let merchant = Merchant::create(&service, "down").await;
    let endpoint = merchant.endpoint(&down.url("/hook"), &["checkout.created"]).await;
    merchant.checkout().await;
    service.play_out().await;
    assert_eq!(merchant.fates(&endpoint).await, ["failed attempts_exhausted 10"]);
    let delivery = merchant.deliveries(&endpoint).await.remove(0);
    let start = ms(&delivery, "created_at");
    let attempts = merchant.delivery(&text(&delivery, "id")).await["attempts"].as_array().unwrap().clone();
    assert_eq!(attempts.len(), 10);
    assert!(attempts.iter().all(|attempt| attempt["outcome"] == "connect_error"));
    let begun: Vec<i64> = attempts.iter().map(|attempt| (ms(attempt, "started_at") - start) / 1000).collect();
    // The standard schedule, which is what a deployment has when it says nothing (contract 7.2).
    assert_eq!(begun, [0, 5, 305, 2_105, 9_305, 27_305, 63_305, 113_705, 185_705, 272_105]);
    let codes = async || {
        let health = merchant.health().await;
        let alerts = health["alerts"].as_array().unwrap().iter();
        alerts.map(|alert| text(alert, "code")).collect::<BTreeSet<_>>()
    };
    assert!(codes().await.contains("deliveries_failed"));

    let receiver = down.up(|_| Answer::status(200));
    let event = text(&delivery, "event_id");
    let replay = merchant.api.post(&format!("/events/{event}/replay"), &json!({})).await.expect(202);
    assert_eq!(replay["deliveries"][0]["endpoint_id"], endpoint.id);
    service.play_out().await;
    let arrivals = receiver.arrivals();
    assert_eq!(arrivals.all.len(), 1);
    assert_eq!(arrivals.all[0].verify_at(&endpoint.secret, service.clock.shown()).unwrap().id, event);
    assert_eq!(merchant.fates(&endpoint).await, ["succeeded null 1", "failed attempts_exhausted 10"]);
    // What was missing has arrived.
    assert_eq!(codes().await, BTreeSet::new());
    service.stop().await;
}
