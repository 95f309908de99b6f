//! A17: `webhook.test` reaches the endpoint that it was made for and nobody else, whatever any filter says (contract
//! 4.10).

use serde_json::{Value, json};
use tests::{Answer, Database, InProcess, Merchant, Receiver, on_every_database, retries, text};

on_every_database!(
    a17_a_test_reaches_only_its_endpoint,
    a17_a_test_is_retried_twice,
    a17_a_disabled_endpoint_is_not_tested,
);

async fn a17_a_test_reaches_only_its_endpoint(database: Database) {
    let service = InProcess::start(database, &[]).await;
    let receiver = Receiver::accepting().await;
    let (merchant, stranger) = (Merchant::create(&service, "a").await, Merchant::create(&service, "b").await);
    // Its own filter excludes it, those of the others name it.
    let tested = merchant.endpoint(&receiver.url("/tested"), &["order.created"]).await;
    merchant.endpoint(&receiver.url("/other"), &["webhook.test"]).await;
    merchant.endpoint(&receiver.url("/all"), &["*"]).await;
    stranger.endpoint(&receiver.url("/stranger"), &["*"]).await;
    let path = tested.path("/test");
    let asked = merchant.api.post(&path, &json!({ "message": "hello" })).await.expect(202);
    let expected = json!({
        "object": "webhook_test_request", "event_id": asked["event_id"], "delivery_id": asked["delivery_id"],
        "endpoint_id": tested.id, "livemode": false,
    });
    assert_eq!(asked, expected);
    service.play_out().await;
    let arrivals = receiver.arrivals().all;
    assert_eq!(arrivals.iter().map(|arrival| &*arrival.path).collect::<Vec<_>>(), ["/tested"]);
    assert_eq!(
        (&*arrivals[0].event_id, arrivals[0].header("service-delivery-id")),
        (&*text(&asked, "event_id"), &*text(&asked, "delivery_id"))
    );
    let envelope = arrivals[0].verify_at(&tested.secret, service.clock.shown()).unwrap();
    assert_eq!(
        (&*envelope.event_type, envelope.sequence, envelope.resource_version),
        ("webhook.test", Some(1), None)
    );
    let event: Value = serde_json::from_slice(&arrivals[0].body).unwrap();
    assert_eq!((&event["data"]["object"]["message"], &event["livemode"]), (&json!("hello"), &json!(false)));
    // An event like any other: in the list, to be had by its id, and a replay goes where the test went.
    assert_eq!(merchant.events().await, [event]);
    let replay = format!("/events/{}/replay", text(&asked, "event_id"));
    let replayed = merchant.api.post(&replay, &json!({})).await.expect(202);
    assert_eq!(replayed["deliveries"].as_array().unwrap().len(), 1);
    service.play_out().await;
    assert_eq!(receiver.arrivals().at("/tested").count(), 2);
    assert_eq!(receiver.arrivals().all.len(), 2);
    assert_eq!(stranger.events().await.len(), 0);
    service.stop().await;
}

async fn a17_a_test_is_retried_twice(database: Database) {
    let (service, merchant) = Merchant::inside(database, &[retries("0,5,300,1800")], "deaf").await;
    let receiver = Receiver::start(|_| Answer::status(500)).await;
    let endpoint = merchant.endpoint(&receiver.url("/deaf"), &["order.created"]).await;
    let start = service.clock.shown();
    merchant.test(&endpoint).await;
    service.play_out().await;
    assert_eq!(merchant.fates(&endpoint).await, ["failed attempts_exhausted 3"]);
    assert_eq!(receiver.arrivals().all.len(), 3);
    assert_eq!(service.clock.shown() - start, 305_000, "0 s, 5 s, 5 min");
    service.stop().await;
}

async fn a17_a_disabled_endpoint_is_not_tested(database: Database) {
    let (service, merchant) = Merchant::inside(database, &[], "off").await;
    let endpoint = merchant.endpoint("http://127.0.0.1:9/", &["*"]).await;
    merchant.change(&endpoint, &json!({ "status": "disabled" })).await;
    merchant.api.post(&endpoint.path("/test"), &json!({})).await.refused(409, "endpoint_disabled");
    assert_eq!((merchant.events().await.len(), merchant.deliveries(&endpoint).await.len()), (0, 0));
    service.stop().await;
}
