//! Deliveries as a receiver sees them: what is sent, how often, when, and to whom (contract 7; acceptance A12, A17).

use serde_json::{Value, json};
use tests::authority::Authority;
use tests::clock::now_ms;
use tests::merchant::{Merchant, text};
use tests::receiver::{Answer, Gate, Receiver};

#[tokio::test]
async fn a_delivery_carries_the_events_bytes_signed() {
    // What other programs take for their proxy is not ours: nobody listens there.
    let proxies = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
    let authority = Authority::start(&proxies.map(|name| (name, "http://127.0.0.1:1"))).await;
    let receiver = Receiver::accepting().await;
    let merchant = Merchant::create(&authority, "signed").await;
    let endpoint = merchant.endpoint(&receiver.url("/hook?source=tests"), &["*"]).await;
    let before = now_ms().div_euclid(1000);
    merchant.paid_order().await;
    let arrivals = receiver.until("six events", |arrivals| arrivals.accepted("/hook") == 6).await;
    for arrival in arrivals.at("/hook") {
        let event = arrival.verify(&endpoint.secret).unwrap();
        let stored = merchant.api.get(&format!("/events/{}", event.id)).await;
        assert_eq!((stored.status, &stored.body), (200, &arrival.body));
        assert_eq!(arrival.method, "POST");
        let timestamp: i64 = arrival.header("service-timestamp").parse().unwrap();
        assert!((before..=arrival.arrived_at.div_euclid(1000)).contains(&timestamp));
        assert!(arrival.header("service-delivery-id").starts_with("dlv_"));
        let length = arrival.body.len().to_string();
        for (name, value) in [
            ("service-version", "2026-09-01"),
            ("service-attempt", "1"),
            ("content-type", "application/json"),
            ("content-length", &length),
            ("user-agent", "Service-Webhooks/1"),
            ("transfer-encoding", ""),
            ("cookie", ""),
        ] {
            assert_eq!(arrival.header(name), value, "{name}");
        }
        assert_eq!(
            arrival.verify("whsec_4fQ2mZr8Kc0VtYb7NwXh1LpJd5Ss9RgAeUoTiCnEq3M").unwrap_err().as_str(),
            "invalid_signature"
        );
    }
    authority.nothing_pending().await;
    let health = &merchant.endpoint_now(&endpoint).await["health"];
    assert_eq!((&health["state"], &health["consecutive_failures"]), (&json!("healthy"), &json!(0)));
    assert_eq!((&health["last_response_status"], &health["last_error"]), (&json!(200), &Value::Null));
}

#[tokio::test]
async fn the_schedule_is_kept() {
    let authority = Authority::start(&[("AUTHORITY_RETRY_SCHEDULE", "0,1,2")]).await;
    let receiver = Receiver::start(|arrival| Answer::status(if arrival.nth < 3 { 503 } else { 200 })).await;
    let merchant = Merchant::create(&authority, "patient").await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["*"]).await;
    let checkout = merchant.checkout().await;
    let arrivals = receiver.until("the third attempt", |arrivals| arrivals.accepted("/hook") == 1).await;
    let [first, second, third] = &arrivals.all[..] else { panic!("{arrivals:?}") };
    // The wait runs from the end of the failed attempt, which is after its arrival.
    assert!(second.arrived_at - first.arrived_at >= 1000);
    assert!(third.arrived_at - second.arrived_at >= 2000);
    for (arrival, number) in arrivals.all.iter().zip(["1", "2", "3"]) {
        arrival.verify(&endpoint.secret).unwrap();
        assert_eq!(arrival.header("service-attempt"), number);
        assert_eq!(arrival.header("service-delivery-id"), first.header("service-delivery-id"));
        assert_eq!(arrival.body, first.body);
    }
    // Each attempt is signed anew.
    assert_ne!(third.header("service-timestamp"), first.header("service-timestamp"));
    assert_ne!(third.header("service-signature"), first.header("service-signature"));
    let event: Value = serde_json::from_slice(&first.body).unwrap();
    assert_eq!(event["data"]["object"], checkout);
    authority.nothing_pending().await;
    let health = &merchant.endpoint_now(&endpoint).await["health"];
    assert_eq!((&health["state"], &health["consecutive_failures"]), (&json!("healthy"), &json!(0)));
}

/// `Retry-After` moves an attempt later than the schedule does, never earlier.
#[tokio::test]
async fn a_receiver_may_ask_for_more_time() {
    // What it asks for takes nothing off the schedule (contract 18.4-5), so the second wait is the schedule's first.
    let authority = Authority::start(&[("AUTHORITY_RETRY_SCHEDULE", "0,1")]).await;
    let receiver = Receiver::start(|arrival| match arrival.nth {
        1 => Answer::status(429).with("retry-after", "2"),
        2 => Answer::status(503).with("retry-after", "0"),
        _ => Answer::status(200),
    })
    .await;
    let merchant = Merchant::create(&authority, "busy").await;
    merchant.endpoint(&receiver.url("/hook"), &["*"]).await;
    merchant.checkout().await;
    let arrivals = receiver.until("the third attempt", |arrivals| arrivals.accepted("/hook") == 1).await;
    let times: Vec<_> = arrivals.all.iter().map(|arrival| arrival.arrived_at).collect();
    assert_eq!(times.len(), 3);
    assert!(times[1] - times[0] >= 2000, "{times:?}");
    assert!(times[2] - times[1] >= 1000, "{times:?}");
}

#[tokio::test]
async fn an_attempt_has_a_deadline() {
    let authority = Authority::start(&[("AUTHORITY_DELIVERY_TIMEOUT_MS", "300")]).await;
    let never = Gate::closed();
    let receiver = Receiver::start(move |arrival| match arrival.nth {
        1 => Answer::status(200).held_by(&never),
        _ => Answer::status(200),
    })
    .await;
    let merchant = Merchant::create(&authority, "slow").await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["*"]).await;
    merchant.checkout().await;
    let arrivals = receiver.until("a second attempt", |arrivals| arrivals.all.len() == 2).await;
    assert!(arrivals.all[1].arrived_at - arrivals.all[0].arrived_at >= 300 + 1000);
    authority.nothing_pending().await;
    let health = &merchant.endpoint_now(&endpoint).await["health"];
    assert_eq!((&health["last_error"], &health["last_response_status"]), (&json!("timeout"), &json!(200)));
    assert_eq!(receiver.arrivals().all.len(), 2);
}

/// A slow endpoint has eight requests in flight and no more, and keeps nobody waiting (contract 7.4).
#[tokio::test]
async fn a_slow_endpoint_delays_nobody_else() {
    let authority = Authority::start(&[("AUTHORITY_DELIVERY_TIMEOUT_MS", "50000")]).await;
    let gate = Gate::closed();
    let held = gate.clone();
    let receiver = Receiver::start(move |arrival| {
        let answer = Answer::status(200);
        if arrival.path == "/slow" { answer.held_by(&held) } else { answer }
    })
    .await;
    let merchant = Merchant::create(&authority, "two-speeds").await;
    let other = Merchant::create(&authority, "bystander").await;
    merchant.endpoint(&receiver.url("/slow"), &["*"]).await;
    merchant.endpoint(&receiver.url("/fast"), &["*"]).await;
    other.endpoint(&receiver.url("/other"), &["*"]).await;
    for _ in 0..20 {
        merchant.checkout().await;
        other.checkout().await;
    }
    let arrivals = receiver
        .until("the fast ones", |arrivals| {
            arrivals.accepted("/fast") == 20 && arrivals.accepted("/other") == 20
        })
        .await;
    assert_eq!(arrivals.at("/slow").count(), 8);
    gate.open();
    receiver.until("the slow ones", |arrivals| arrivals.accepted("/slow") == 20).await;
    authority.nothing_pending().await;
    assert_eq!(receiver.arrivals().all.len(), 60);
}

/// Each endpoint gets the events that it names and that were made after it.
#[tokio::test]
async fn filters_choose_exactly() {
    let authority = Authority::start(&[]).await;
    let receiver = Receiver::accepting().await;
    let merchant = Merchant::create(&authority, "choosy").await;
    let filters: [(&str, &[&str]); 4] = [
        ("/orders", &["order.*"]),
        ("/two", &["payment.succeeded", "checkout.completed"]),
        ("/all", &["*"]),
        ("/none", &["refund.*", "webhook.test"]),
    ];
    for (path, events) in filters {
        merchant.endpoint(&receiver.url(path), events).await;
    }
    let off = json!({ "url": receiver.url("/off"), "status": "disabled" });
    merchant.api.post("/webhook-endpoints", &off).await.expect(201);
    merchant.paid_order().await;
    let late = merchant.endpoint(&receiver.url("/late"), &["*"]).await;
    merchant.checkout().await;
    authority.nothing_pending().await;

    let arrivals = receiver.arrivals();
    let sorted = |path: &str| {
        let mut types = arrivals.types_at(path);
        types.sort();
        types
    };
    assert_eq!(sorted("/orders"), ["order.confirmed", "order.created"]);
    assert_eq!(sorted("/two"), ["checkout.completed", "payment.succeeded"]);
    let mut all: Vec<_> = merchant.events().await.iter().map(|event| text(event, "type")).collect();
    all.sort();
    assert_eq!(sorted("/all"), all);
    assert_eq!(sorted("/late"), ["checkout.created"]);
    assert_eq!(arrivals.all.len(), 2 + 2 + 7 + 1);
    assert_eq!(merchant.endpoint_now(&late).await["health"]["state"], "healthy");
}

/// `webhook.test` goes to its endpoint alone, whatever any filter says (A17), and is retried twice (contract 4.10).
#[tokio::test]
async fn a_test_event_reaches_only_its_endpoint() {
    let authority = Authority::start(&[("AUTHORITY_RETRY_SCHEDULE", "0,0,0,0,0,0")]).await;
    let receiver =
        Receiver::start(|arrival| Answer::status(if arrival.path == "/deaf" { 500 } else { 200 })).await;
    let merchant = Merchant::create(&authority, "testing").await;
    let tested = merchant.endpoint(&receiver.url("/tested"), &["order.created"]).await;
    let deaf = merchant.endpoint(&receiver.url("/deaf"), &["order.created"]).await;
    merchant.endpoint(&receiver.url("/other"), &["*"]).await;
    let test = async |endpoint: &str, body: &Value| {
        merchant.api.post(&format!("/webhook-endpoints/{endpoint}/test"), body).await.expect(202)
    };
    let asked = test(&tested.id, &json!({ "message": "hello" })).await;
    let expected = ["event_id", "delivery_id", "endpoint_id", "livemode", "object"];
    let mut members: Vec<_> = asked.as_object().unwrap().keys().map(String::as_str).collect();
    members.sort_unstable();
    let mut expected = Vec::from(expected);
    expected.sort_unstable();
    assert_eq!(members, expected);
    assert_eq!((&asked["object"], &asked["livemode"]), (&json!("webhook_test_request"), &json!(false)));
    test(&deaf.id, &json!({})).await;
    authority.nothing_pending().await;

    let arrivals = receiver.arrivals();
    let [arrival] = arrivals.at("/tested").collect::<Vec<_>>()[..] else { panic!("{arrivals:?}") };
    let envelope = arrival.verify(&tested.secret).unwrap();
    assert_eq!(envelope.id, text(&asked, "event_id"));
    assert_eq!(arrival.header("service-delivery-id"), asked["delivery_id"]);
    assert_eq!((envelope.sequence, envelope.resource_version), (Some(1), None));
    let event: Value = serde_json::from_slice(&arrival.body).unwrap();
    let object = &event["data"]["object"];
    assert_eq!((&object["object"], &object["message"]), (&json!("webhook_test"), &json!("hello")));
    assert_eq!(object["endpoint_id"], tested.id);
    assert_eq!(event["links"]["resource"], format!("/v1/merchant/webhook-endpoints/{}", tested.id));
    assert_eq!(arrivals.at("/deaf").count(), 3);
    assert_eq!(arrivals.at("/other").count(), 0);
    assert_eq!(merchant.events().await[0], event);
}
