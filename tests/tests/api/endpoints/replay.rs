//! Sending an event once more (contract 4.9, 7.7; what arrives is A16).

use serde_json::{Value, json};
use tests::{Database, Merchant, Receiver, has, on_both_databases, rows, text, texts};

use super::patch;

async fn a_replay_goes_to_whom_it_names_or_to_all_that_want_it(database: Database) {
    let (authority, merchant) = Merchant::on(database, "addressed").await;
    let api = &merchant.api;
    let wants = merchant.endpoint("http://127.0.0.1:9/a", &["checkout.*"]).await.id;
    let deaf = merchant.endpoint("http://127.0.0.1:9/b", &["refund.*"]).await.id;
    let off = merchant.endpoint("http://127.0.0.1:9/c", &["*"]).await.id;
    patch(api, &off, &json!({ "status": "disabled" })).send().await.expect(200);
    merchant.checkout().await;
    let event = text(&merchant.events().await[0], "id");
    let path = format!("/events/{event}/replay");
    let to = |reply: Value| -> Vec<String> { texts(reply["deliveries"].as_array().unwrap(), "endpoint_id") };
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
    has(&wrong["errors"][0], json!({ "pointer": "/endpoint_ids/1", "code": "unknown_reference" }));
    api.post("/events/evt_01k3zqa7000000000000000000/replay", &json!({})).await.refused(404, "not_found");
    patch(api, &wants, &json!({ "enabled_events": ["order.*"] })).send().await.expect(200);
    api.post(&path, &json!({})).await.refused(409, "no_eligible_endpoint");
    // None of the refused ones left anything behind: the event, the replay to all that want it, the one by name.
    let page = api.get(&format!("/webhook-endpoints/{wants}/deliveries?event_id={event}")).await.expect(200);
    let triggers = texts(rows(&page), "trigger");
    assert_eq!(triggers, ["replay", "replay", "event"]);
}

/// A test event goes to the endpoint it was made for, at the test and ever after.
async fn a_replayed_test_reaches_only_its_endpoint(database: Database) {
    let (authority, merchant) = Merchant::on(database, "tested").await;
    let receiver = Receiver::accepting().await;
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
    a_replay_goes_to_whom_it_names_or_to_all_that_want_it,
    a_replayed_test_reaches_only_its_endpoint,
);
