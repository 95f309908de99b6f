//! What has not arrived, and why (contract 15.1).

use http::Method;
use serde_json::{Value, json};
use tests::{Answer, Authority, Database, Merchant, Receiver, on_both_databases, sequences, text};

use super::{ONCE, at, missing};

async fn what_has_not_arrived_is_listed_with_its_reason(database: Database) {
    let (authority, merchant) = Merchant::on_with(database, &[ONCE], "fates").await;
    let receiver = Receiver::start(|arrival| {
        Answer::status(match arrival.number {
            1 => 200,
            2 => 503,
            _ => 400,
        })
    })
    .await;
    merchant.checkout().await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["checkout.*"]).await;
    for _ in 2..=4 {
        merchant.checkout().await;
        authority.nothing_pending().await;
    }
    let switch = async |status: &str| {
        let path = endpoint.path("");
        merchant.api.patch(&path, &json!({ "status": status })).await.expect(200);
    };
    switch("disabled").await;
    merchant.checkout().await;
    switch("enabled").await;
    let told = |list: &[(u64, &str)]| -> Vec<(u64, String)> {
        list.iter().map(|(sequence, reason)| (*sequence, (*reason).to_owned())).collect()
    };
    let expected = told(&[(5, "endpoint_disabled"), (4, "rejected"), (3, "attempts_exhausted")]);
    assert_eq!(missing(&merchant, &endpoint).await, expected);
    let path = at(&endpoint, "undelivered");
    let newest = merchant.api.get(&format!("{path}?limit=1")).await.expect(200);
    let event = merchant.events().await.remove(4);
    let record = json!({ "object": "undelivered_event", "event_id": event["id"], "event_type": "checkout.created",
                         "sequence": 5, "created_at": event["created_at"], "reason": "endpoint_disabled" });
    assert_eq!(newest["data"], json!([record]));
    // Page by page it is the same, and a cursor is of no use elsewhere.
    let paged = merchant.api.list(&format!("{path}?limit=1")).await;
    assert_eq!(paged, merchant.api.list(&path).await);
    let cursor = text(&newest, "next_cursor");
    for elsewhere in [format!("{path}?type=checkout.*&cursor={cursor}"), format!("/events?cursor={cursor}")] {
        merchant.api.get(&elsewhere).await.refused(400, "invalid_cursor");
    }
    let (created, last) = (text(&merchant.events().await[2], "created_at"), text(&event, "created_at"));
    for (filter, expected) in [
        ("type=checkout.created".to_owned(), vec![5, 4, 3]),
        ("type=order.*,webhook.test".to_owned(), vec![]),
        (format!("since={last}"), vec![5]),
        (format!("until={created}"), vec![]),
        (format!("since={created}&until={last}"), vec![4, 3]),
    ] {
        let all = merchant.api.list(&format!("{path}?{filter}")).await;
        assert_eq!(sequences(&all), expected, "{filter}");
    }
    for (wrong, code) in [
        ("type=checkout", "invalid_parameter"),
        ("since=now", "invalid_parameter"),
        ("limit=0", "invalid_parameter"),
        ("event_type=checkout.*", "unknown_parameter"),
    ] {
        merchant.api.get(&format!("{path}?{wrong}")).await.refused(400, code);
    }
    Merchant::create(&authority, "stranger").await.api.get(&path).await.refused(404, "not_found");
}

async fn the_filter_counts_as_it_is_now_and_tests_concern_their_endpoint(database: Database) {
    let authority = Authority::on(database, &[ONCE]).await;
    let receiver = Receiver::start(|arrival| {
        let test = arrival.body.windows(12).any(|part| part == b"webhook.test");
        Answer::status(if test { 500 } else { 200 })
    })
    .await;
    let merchant = Merchant::create(&authority, "filters").await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["order.*"]).await;
    let other = merchant.endpoint(&receiver.url("/other"), &["*"]).await;
    merchant.paid_order().await;
    merchant.api.post(&at(&endpoint, "test"), &json!({})).await.expect(202);
    authority.nothing_pending().await;
    let found = |list: Vec<(u64, String)>| -> Vec<u64> { list.into_iter().map(|(at, _)| at).collect() };
    assert_eq!(
        found(missing(&merchant, &endpoint).await),
        [7],
        "its own test, which it does not subscribe to"
    );
    assert_eq!(found(missing(&merchant, &other).await), Vec::<u64>::new());
    let patch = |body: Value| merchant.api.call(Method::PATCH, &endpoint.path("")).json(&body);
    patch(json!({ "enabled_events": ["*"] })).send().await.expect(200);
    assert_eq!(found(missing(&merchant, &endpoint).await), [7, 5, 3, 2, 1]);
    patch(json!({ "enabled_events": ["payment.created"] })).send().await.expect(200);
    assert_eq!(found(missing(&merchant, &endpoint).await), [7, 2]);
}

on_both_databases!(
    what_has_not_arrived_is_listed_with_its_reason,
    the_filter_counts_as_it_is_now_and_tests_concern_their_endpoint
);
