//! The platform's own endpoint (contract 6.2, `POST /sink`).

use http::Method;
use serde_json::{Value, json};
use tests::{Answer, Authority, Merchant, Receiver, eventually, text, wrong_members};

use super::listed;

#[tokio::test]
async fn the_platform_gets_the_events_of_everybody() {
    let authority = Authority::start(&[]).await;
    let operator = authority.operator();
    let receiver = Receiver::accepting().await;
    operator.get("/sink").await.refused(404, "not_found");
    let body = json!({ "url": receiver.url("/sink"), "enabled_events": ["checkout.created"] });
    let reply = operator.post("/sink", &body).await;
    let sink = reply.expect(201);
    assert_eq!((&sink["livemode"], &sink["status"]), (&Value::Null, &json!("enabled")));
    assert_eq!((reply.header("location"), reply.header("etag")), (None, Some("\"1\"")));
    operator.post("/sink", &body).await.refused(409, "endpoint_limit_reached");

    let (one, other) =
        (Merchant::create(&authority, "one").await, Merchant::create(&authority, "other").await);
    one.checkout().await;
    other.paid_order().await;
    let live = format!("/merchants/{}/live/checkouts", one.id);
    operator.post(&live, &tests::checkout_body()).await.expect(201);
    authority.nothing_pending().await;
    let secret = text(&sink, "secret");
    let mut told: Vec<Value> = receiver
        .arrivals()
        .at("/sink")
        .map(|arrival| {
            assert_eq!(arrival.verify(&secret).unwrap().event_type, "checkout.created");
            let event: Value = serde_json::from_slice(&arrival.body).unwrap();
            json!([event["merchant"]["id"], event["livemode"]])
        })
        .collect();
    let mut expected = [json!([one.id, false]), json!([other.id, false]), json!([one.id, true])];
    told.sort_by_key(Value::to_string);
    expected.sort_by_key(Value::to_string);
    assert_eq!(told, expected);

    // It is the operator's: no merchant sees it or its deliveries, the operator does.
    let id = text(&sink, "id");
    assert_eq!(one.api.get("/webhook-endpoints").await.expect(200)["data"], json!([]));
    one.api.get(&format!("/webhook-endpoints/{id}")).await.refused(404, "not_found");
    let deliveries = listed(&operator, &format!("/deliveries?endpoint_id={id}"), "id").await;
    assert_eq!(deliveries.len(), 3);
    one.api.get(&format!("/deliveries/{}", deliveries[0])).await.refused(404, "not_found");
    let newest = operator.get(&format!("/deliveries/{}", deliveries[0])).await.expect(200);
    assert_eq!((&newest["merchant_id"], &newest["livemode"]), (&json!(one.id), &json!(true)));
    let found = operator.get(&format!("/webhook-endpoints/{id}")).await.expect(200);
    assert_eq!((&found["merchant_id"], &found["livemode"]), (&Value::Null, &Value::Null));
    let shown = operator.get("/sink").await.expect(200);
    assert_eq!(
        (&shown["id"], &shown["health"]["state"], shown.get("secret")),
        (&sink["id"], &json!("healthy"), None)
    );
}

#[tokio::test]
async fn it_is_changed_rotated_and_deleted() {
    let authority = Authority::start(&[]).await;
    let operator = authority.operator();
    let receiver = Receiver::accepting().await;
    let sink = operator.post("/sink", &json!({ "url": receiver.url("/old") })).await.expect(201);
    assert_eq!(sink["enabled_events"], json!(["*"]));
    let changed = operator
        .patch("/sink", &json!({ "url": receiver.url("/new"), "enabled_events": ["checkout.*"] }))
        .await;
    assert_eq!(changed.expect(200)["resource_version"], 2);
    let stale = operator.call(Method::PATCH, "/sink").header("if-match", "1").json(&json!({})).send().await;
    stale.refused(409, "resource_version_conflict");
    let rotated = operator.post("/sink/rotate-secret", &json!({})).await.expect(200);
    assert_ne!(rotated["secret"], sink["secret"]);
    let merchant = Merchant::create(&authority, "m").await;
    merchant.checkout().await;
    authority.nothing_pending().await;
    let arrivals = receiver.arrivals();
    let arrived: Vec<_> = arrivals.at("/new").collect();
    assert_eq!(arrived.len(), 1);
    for secret in [text(&sink, "secret"), text(&rotated, "secret")] {
        arrived[0].verify(&secret).unwrap();
    }
    let deleted = operator.delete("/sink").await.expect(200);
    assert_eq!((&deleted["id"], &deleted["deleted"]), (&sink["id"], &json!(true)));
    operator.get("/sink").await.refused(404, "not_found");
    operator.patch("/sink", &json!({})).await.refused(404, "not_found");
    merchant.checkout().await;
    assert_eq!(listed(&operator, "/deliveries", "id").await.len(), 1);
    // There may be another one now.
    let next = operator.post("/sink", &json!({ "url": receiver.url("/next") })).await.expect(201);
    assert_ne!(next["id"], sink["id"]);
    let log = listed(&operator, "/audit-log", "operation").await;
    assert_eq!(log[0], "sink.create");
    assert!(
        ["sink.delete", "sink.rotate_secret", "sink.update"]
            .iter()
            .all(|name| log.contains(&(*name).to_owned()))
    );

    for (body, code, errors) in [
        (json!({}), "validation_failed", json!([["/url", "required"]])),
        (
            json!({ "url": "http://hooks.example.com/" }),
            "endpoint_url_forbidden",
            json!([["/url", "url_scheme"]]),
        ),
        (json!({ "url": "https://10.0.0.1/" }), "endpoint_url_forbidden", json!([["/url", "url_host"]])),
        (
            json!({ "url": "https://a.example.com/", "enabled_events": ["x"] }),
            "validation_failed",
            json!([["/enabled_events/0", "invalid_value"]]),
        ),
    ] {
        assert_eq!(wrong_members(&operator.post("/sink", &body).await.refused(422, code)), errors);
    }
}

/// A gone sink is disabled like any other endpoint, and the operator can enable it.
#[tokio::test]
async fn it_is_disabled_when_it_is_gone() {
    let authority = Authority::start(&[]).await;
    let operator = authority.operator();
    let receiver = Receiver::start(|_| Answer::status(410)).await;
    let sink = operator.post("/sink", &json!({ "url": receiver.url("/gone") })).await.expect(201);
    Merchant::create(&authority, "m").await.checkout().await;
    let disabled = eventually("a disabled sink", async || {
        let sink = operator.get("/sink").await.expect(200);
        (sink["status"] == "disabled").then_some(sink)
    })
    .await;
    assert_eq!(disabled["disabled_reason"], "gone");
    let path = format!("/webhook-endpoints/{}/enable", text(&sink, "id"));
    let enabled = operator.post(&path, &json!({ "reason": "moved back" })).await.expect(200);
    assert_eq!((&enabled["status"], &enabled["merchant_id"]), (&json!("enabled"), &Value::Null));
}
