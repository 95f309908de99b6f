//! Fault K: an endpoint is disabled with a retry pending, and events are created meanwhile. At the peer the retry never
//! happened, a resend answered 202 and sent nothing, and a recovery missed what was created while it was disabled.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tests::{
    Answer, Database, Endpoint, InProcess, Merchant, Receiver, eventually, has, on_both_databases, retries,
    text, texts,
};

on_both_databases!(what_a_disabled_endpoint_missed_is_visible_and_recovered_once);

/// Every undelivered event of an endpoint with its reason, page by page.
async fn undelivered(merchant: &Merchant, endpoint: &Endpoint) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for row in merchant.api.list(&endpoint.path("/undelivered?limit=2")).await {
        assert_eq!(row["object"], "undelivered_event");
        let before = found.insert(text(&row, "event_id"), text(&row, "reason"));
        assert_eq!(before, None, "an event is named once");
    }
    found
}

async fn what_a_disabled_endpoint_missed_is_visible_and_recovered_once(database: Database) {
    let service = InProcess::start(database, &[retries("0,3600")]).await;
    // The second event is refused once.
    let receiver =
        Receiver::start(|arrival| Answer::status(if arrival.number == 2 { 500 } else { 200 })).await;
    let merchant = Merchant::create(&service, "paused").await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["checkout.created"]).await;
    let since = merchant.endpoint_now(&endpoint).await["created_at"].clone();
    for n in 1..=2 {
        merchant.checkout().await;
        receiver.until("an attempt", |arrivals| arrivals.all.len() == n).await;
    }
    service.play_until(service.clock.shown() + 1).await;
    let events = async || -> Vec<String> { texts(&merchant.events().await, "id") };
    let before = events().await;
    assert_eq!(
        undelivered(&merchant, &endpoint).await,
        BTreeMap::from([(before[1].clone(), "pending".into())])
    );

    merchant.change(&endpoint, &json!({ "status": "disabled" })).await;
    merchant.checkouts(5).await;
    let all = events().await;
    // The one that waited was cancelled; for the others nothing was made.
    let mut missing: BTreeMap<String, String> =
        all[2..].iter().map(|id| (id.clone(), "endpoint_disabled".to_owned())).collect();
    missing.insert(all[1].clone(), "cancelled".to_owned());
    assert_eq!(undelivered(&merchant, &endpoint).await, missing, "none is dropped silently");
    let waiting = merchant.deliveries(&endpoint).await.remove(0);
    has(&waiting, json!({ "status": "cancelled", "failure_reason": "endpoint_disabled" }));
    // Never a 202 that sends nothing.
    let retry = format!("/deliveries/{}/retry", text(&waiting, "id"));
    merchant.api.post(&retry, &json!({})).await.refused(409, "endpoint_disabled");
    let replay = format!("/events/{}/replay", all[1]);
    let named = json!({ "endpoint_ids": [endpoint.id] });
    merchant.api.post(&replay, &named).await.refused(409, "endpoint_disabled");
    let recover = endpoint.path("/recover");
    merchant.api.post(&recover, &json!({ "since": since })).await.refused(409, "endpoint_disabled");

    merchant.change(&endpoint, &json!({ "status": "enabled" })).await;
    let dry = merchant.api.post(&recover, &json!({ "since": since, "dry_run": true })).await.expect(200);
    assert_eq!(dry["matched"], 6);
    assert_eq!(receiver.arrivals().all.len(), 2);
    let made = merchant.api.post(&recover, &json!({ "since": since })).await.expect(202);
    let progress = format!("/endpoint-recoveries/{}", text(&made, "id"));
    let done = eventually("the recovery", async || {
        let now = merchant.api.get(&progress).await.expect(200);
        now["finished_at"].is_string().then_some(now)
    })
    .await;
    assert_eq!((&done["matched"], &done["enqueued"], &done["remaining"]), (&json!(6), &json!(6), &json!(0)));
    service.play_out().await;
    let arrivals = receiver.arrivals().all;
    let recovered: Vec<&str> = arrivals[2..].iter().map(|arrival| &*arrival.event_id).collect();
    assert_eq!(recovered.len(), 6, "none twice");
    assert_eq!(
        recovered.iter().copied().collect::<BTreeSet<_>>(),
        all[1..].iter().map(String::as_str).collect()
    );
    for arrival in &arrivals {
        arrival.verify_at(&endpoint.secret, service.clock.shown()).unwrap();
    }
    assert_eq!(undelivered(&merchant, &endpoint).await, BTreeMap::new());
    // Again: there is nothing left to recover.
    let again = merchant.api.post(&recover, &json!({ "since": since, "dry_run": true })).await.expect(200);
    assert_eq!(again["matched"], Value::from(0));
    service.stop().await;
}
