//! The history of deliveries (contract 2.9, 4.1, 4.5).

use serde_json::{Value, json};
use tests::{Answer, Database, Merchant, Receiver, has, on_both_databases, retries, rows, text, texts};

use super::at;

async fn a_delivery_shows_every_attempt(database: Database) {
    let (authority, merchant) = Merchant::on_with(database, &[retries("0,0,0")], "told").await;
    let receiver = Receiver::start(|arrival| Answer::status(if arrival.nth == 1 { 503 } else { 200 })).await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["checkout.created"]).await;
    merchant.checkout().await;
    authority.nothing_pending().await;
    let arrivals = receiver.arrivals();
    let id = arrivals.all[0].header("service-delivery-id");
    let delivery = merchant.api.get(&format!("/deliveries/{id}")).await.expect(200);
    let event = merchant.events().await.remove(0);
    let expected = json!({
        "object": "delivery", "id": id, "event_id": event["id"], "event_type": "checkout.created",
        "endpoint_id": endpoint.id, "trigger": "event", "status": "succeeded", "attempt_count": 2,
        "next_attempt_at": null, "last_outcome": "success", "last_response_status": 200, "failure_reason": null,
        "succeeded_at": delivery["succeeded_at"], "failed_at": null, "livemode": false,
        "created_at": event["created_at"], "updated_at": delivery["succeeded_at"], "attempts": delivery["attempts"],
    });
    assert_eq!(delivery, expected);
    assert!(delivery["succeeded_at"].is_string());
    let [first, second] = &delivery["attempts"].as_array().unwrap()[..] else { panic!("{delivery}") };
    for (attempt, arrival, outcome) in
        [(first, &arrivals.all[0], "http_error"), (second, &arrivals.all[1], "success")]
    {
        let expected = json!({
            "object": "delivery_attempt", "delivery_id": id, "outcome": outcome,
            "response_status": arrival.status,
        });
        has(attempt, expected);
        assert_eq!(attempt["number"].to_string(), arrival.header("service-attempt"));
        assert_eq!(attempt["signed_timestamp"].to_string(), arrival.header("service-timestamp"));
        assert!(text(attempt, "id").starts_with("att_"));
    }
    assert!(first["retry_at"].is_string());
    assert_eq!(second["retry_at"], Value::Null);
    // In the list it is the same, without its attempts.
    let mut listed = expected;
    listed.as_object_mut().unwrap().remove("attempts");
    let page = merchant.api.get(&format!("{}/deliveries", at(&endpoint.id))).await.expect(200);
    assert_eq!(page, json!({ "data": [listed] }));
}

async fn an_endpoints_deliveries_are_paged_and_narrowed(database: Database) {
    let (authority, merchant) = Merchant::on_with(database, &[retries("0,3600")], "paged").await;
    let receiver =
        Receiver::start(|arrival| Answer::status(if arrival.path == "/gone" { 500 } else { 200 })).await;
    let good = merchant.endpoint(&receiver.url("/hook"), &["*"]).await;
    let bad = merchant.endpoint(&receiver.url("/gone"), &["order.*"]).await;
    merchant.paid_order().await;
    let status = async |endpoint: &str, status: &str, count: usize| {
        let path = format!("{}/deliveries?status={status}", at(endpoint));
        tests::eventually(format!("{count} {status}"), async || {
            let page = merchant.api.get(&path).await.expect(200);
            (rows(&page).len() == count).then_some(())
        })
        .await;
    };
    status(&good.id, "succeeded", 6).await;
    status(&bad.id, "pending", 2).await;
    let api = &merchant.api;
    let path = format!("{}/deliveries", at(&good.id));
    let types = |page: &Value| -> Vec<String> { texts(rows(page), "event_type") };
    let mut seen = Vec::new();
    let mut next = format!("{path}?limit=4");
    loop {
        let page = api.get(&next).await.expect(200);
        assert_eq!(page.get("resume_cursor"), None);
        seen.extend(types(&page));
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        // Its cursors are of no use for another endpoint or another filter.
        for elsewhere in [
            format!("{}/deliveries?limit=4&cursor={cursor}", at(&bad.id)),
            format!("{path}?status=succeeded&cursor={cursor}"),
            format!("/webhook-endpoints?cursor={cursor}"),
        ] {
            api.get(&elsewhere).await.refused(400, "invalid_cursor");
        }
        next = format!("{path}?limit=4&cursor={cursor}");
    }
    let mut expected = texts(&merchant.events().await, "type");
    expected.reverse();
    assert_eq!(seen, expected);
    let event = text(&merchant.events().await[0], "id");
    let table = [
        ("status=pending".to_owned(), vec![]),
        ("status=failed,cancelled".to_owned(), vec![]),
        (
            "event_type=order.*,payment.created".to_owned(),
            vec!["order.confirmed", "order.created", "payment.created"],
        ),
        (format!("event_id={event}"), vec!["checkout.created"]),
        ("created_to=2020-01-01T00:00:00Z".to_owned(), vec![]),
        ("event_type=order.created&created_from=2020-01-01T00:00:00Z".to_owned(), vec!["order.created"]),
    ];
    for (filter, expected) in table {
        assert_eq!(types(&api.get(&format!("{path}?{filter}")).await.expect(200)), expected, "{filter}");
    }
    for wrong in ["status=gone", "event_type=order", "created_from=now", "limit=0"] {
        api.get(&format!("{path}?{wrong}")).await.refused(400, "invalid_parameter");
    }
    api.get(&format!("{path}?type=order.created")).await.refused(400, "unknown_parameter");
    // Of another merchant, or never there: no difference.
    let stranger = Merchant::create(&authority, "stranger").await;
    let delivery = text(&api.get(&path).await.expect(200)["data"][0], "id");
    for hidden in [path.clone(), format!("/deliveries/{delivery}")] {
        stranger.api.get(&hidden).await.refused(404, "not_found");
        let live = authority.merchant(&merchant.issue_key("live", &["webhooks:manage"]).await);
        live.get(&hidden).await.refused(404, "not_found");
        let reader = authority.merchant(&merchant.issue_key("test", &["events:read"]).await);
        reader.get(&hidden).await.refused(403, "insufficient_scope");
    }
}

on_both_databases!(a_delivery_shows_every_attempt, an_endpoints_deliveries_are_paged_and_narrowed);
