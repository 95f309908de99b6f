//! Sending an event once more (contract 4.9, 7.7; acceptance A16, A17).

use serde_json::{Value, json};
use tests::authority::{Authority, Database};
use tests::merchant::{Merchant, text};
use tests::on_both_databases;
use tests::receiver::{Answer, Receiver};

use super::patch;

async fn replayed_twice_an_event_is_two_deliveries_of_the_same_bytes(database: Database) {
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
    let arrivals = receiver.arrivals();
    let seen: Vec<_> = arrivals.all.iter().map(|arrival| (arrival.path.as_str(), arrival.status)).collect();
    assert_eq!(seen, [("/hook", 200), ("/hook", 500), ("/hook", 200), ("/hook", 500), ("/hook", 200)]);
    for arrival in &arrivals.all {
        assert_eq!(arrival.body, arrivals.all[0].body);
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

async fn a_replay_goes_to_whom_it_names_or_to_all_that_want_it(database: Database) {
    let authority = Authority::on(database, &[]).await;
    let merchant = Merchant::create(&authority, "addressed").await;
    let api = &merchant.api;
    let wants = merchant.endpoint("http://127.0.0.1:9/a", &["checkout.*"]).await.id;
    let deaf = merchant.endpoint("http://127.0.0.1:9/b", &["refund.*"]).await.id;
    let off = merchant.endpoint("http://127.0.0.1:9/c", &["*"]).await.id;
    patch(api, &off, &json!({ "status": "disabled" })).send().await.expect(200);
    merchant.checkout().await;
    let event = text(&merchant.events().await[0], "id");
    let path = format!("/events/{event}/replay");
    let to = |reply: Value| -> Vec<String> {
        reply["deliveries"].as_array().unwrap().iter().map(|made| text(made, "endpoint_id")).collect()
    };
    assert_eq!(to(api.post(&path, &json!({})).await.expect(202)), std::slice::from_ref(&wants));
    let named = api.post(&path, &json!({ "endpoint_ids": [deaf, wants] })).await.expect(202);
    assert_eq!(to(named), [deaf.clone(), wants.clone()]);
    let foreign = Merchant::create(&authority, "foreign").await;
    let foreign = foreign.endpoint("http://127.0.0.1:9/d", &["*"]).await.id;
    let never = "we_01k3zqa7000000000000000000";
    let table = [
        (json!({ "endpoint_ids": [off] }), 409, "endpoint_disabled"),
        (json!({ "endpoint_ids": [wants, off] }), 409, "endpoint_disabled"),
        (json!({ "endpoint_ids": [foreign] }), 422, "validation_failed"),
        (json!({ "endpoint_ids": [off, never] }), 422, "validation_failed"),
        (json!({ "endpoint_ids": ["x"] }), 422, "validation_failed"),
        (json!({ "endpoint_ids": [wants, wants] }), 422, "validation_failed"),
        (json!({ "endpoint_ids": [] }), 422, "validation_failed"),
        (json!({ "endpoints": [] }), 422, "unknown_field"),
    ];
    for (body, status, code) in table {
        api.post(&path, &body).await.refused(status, code);
    }
    let wrong =
        api.post(&path, &json!({ "endpoint_ids": [wants, foreign] })).await.refused(422, "validation_failed");
    assert_eq!(
        (&wrong["errors"][0]["pointer"], &wrong["errors"][0]["code"]),
        (&json!("/endpoint_ids/1"), &json!("unknown_reference"))
    );
    api.post("/events/evt_01k3zqa7000000000000000000/replay", &json!({})).await.refused(404, "not_found");
    patch(api, &wants, &json!({ "enabled_events": ["order.*"] })).send().await.expect(200);
    api.post(&path, &json!({})).await.refused(409, "no_eligible_endpoint");
    // None of the refused ones left anything behind: the event, the replay to all that want it, the one by name.
    let page = api.get(&format!("/webhook-endpoints/{wants}/deliveries?event_id={event}")).await.expect(200);
    let triggers: Vec<_> = page["data"].as_array().unwrap().iter().map(|row| text(row, "trigger")).collect();
    assert_eq!(triggers, ["replay", "replay", "event"]);
}

/// A test event goes to the endpoint it was made for, at the test and ever after.
async fn a_replayed_test_reaches_only_its_endpoint(database: Database) {
    let authority = Authority::on(database, &[]).await;
    let receiver = Receiver::accepting().await;
    let merchant = Merchant::create(&authority, "tested").await;
    let api = &merchant.api;
    let tested = merchant.endpoint(&receiver.url("/tested"), &["order.created"]).await.id;
    let other = merchant.endpoint(&receiver.url("/other"), &["*"]).await.id;
    let test = api.post(&format!("/webhook-endpoints/{tested}/test"), &json!({})).await.expect(202);
    let path = format!("/events/{}/replay", text(&test, "event_id"));
    for body in [json!({}), json!({ "endpoint_ids": [tested] })] {
        let replayed = api.post(&path, &body).await.expect(202);
        assert_eq!(replayed["deliveries"].as_array().unwrap().len(), 1);
        assert_eq!(replayed["deliveries"][0]["endpoint_id"], tested);
    }
    for body in [json!({ "endpoint_ids": [other] }), json!({ "endpoint_ids": [tested, other] })] {
        api.post(&path, &body).await.refused(409, "no_eligible_endpoint");
    }
    authority.nothing_pending().await;
    let arrivals = receiver.arrivals();
    assert_eq!((arrivals.at("/tested").count(), arrivals.at("/other").count()), (3, 0));
    patch(api, &tested, &json!({ "status": "disabled" })).send().await.expect(200);
    api.post(&path, &json!({})).await.refused(409, "no_eligible_endpoint");
    api.post(&path, &json!({ "endpoint_ids": [tested] })).await.refused(409, "endpoint_disabled");
    super::delete(api, &tested).send().await.expect(200);
    api.post(&path, &json!({})).await.refused(409, "no_eligible_endpoint");
}

on_both_databases!(
    replayed_twice_an_event_is_two_deliveries_of_the_same_bytes,
    a_replay_goes_to_whom_it_names_or_to_all_that_want_it,
    a_replayed_test_reaches_only_its_endpoint,
);
