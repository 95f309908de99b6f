//! What an endpoint asks of its deliveries (contract 4.10): headers beside the service's own, the deadline of an
//! attempt, and how long it is tried again; with real receivers, on both databases.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use tests::damage::execute;
use tests::{
    Answer, Arrival, Authority, Database, Endpoint, Gate, Merchant, Receiver, Reply, eventually, has, ms,
    on_both_databases, retries, text,
};

/// What every delivery has, sorted.
const OF_SERVICE: [&str; 11] = [
    "accept-encoding",
    "content-length",
    "content-type",
    "host",
    "service-attempt",
    "service-delivery-id",
    "service-event-id",
    "service-signature",
    "service-timestamp",
    "service-version",
    "user-agent",
];

/// The headers of an arrival that are not the service's; all of the service's are there.
fn others(arrival: &Arrival) -> BTreeMap<&str, &str> {
    let mut all: BTreeMap<&str, &str> =
        arrival.headers.keys().map(|name| (name.as_str(), arrival.header(name.as_str()))).collect();
    for name in OF_SERVICE {
        assert!(all.remove(name).is_some_and(|value| !value.is_empty()), "{name}");
    }
    all
}

async fn patch(merchant: &Merchant, endpoint: &Endpoint, body: Value) -> Reply {
    let path = endpoint.path("");
    merchant.api.patch(&path, &body).await
}

/// Sends the newest delivery of an endpoint again at once.
async fn hasten(merchant: &Merchant, endpoint: &Endpoint) {
    let newest = text(&merchant.deliveries(endpoint).await[0], "id");
    merchant.api.post(&format!("/deliveries/{newest}/retry"), &json!({})).await.expect(202);
}

async fn headers_go_with_every_delivery_and_a_change_helps_what_waits(database: Database) {
    let authority = Authority::on(database, &[retries("0,3600,3600,3600")]).await;
    let receiver = Receiver::start(|arrival| {
        let is_let_in = arrival.path == "/plain" || arrival.header("authorization") == "Bearer two";
        Answer::status(if is_let_in { 200 } else { 401 })
    })
    .await;
    let merchant = Merchant::create(&authority, "gateway").await;
    let body = json!({ "url": receiver.url("/hook"), "signature_profile": "service",
        "headers": { "Authorization": "Bearer one", "x-tenant": "a b\tc", "~": "!" } });
    let endpoint = merchant.endpoint_with(body).await;
    merchant.endpoint(&receiver.url("/plain"), &["*"]).await;
    merchant.checkout().await;
    let arrivals = receiver
        .until("both", |arrivals| arrivals.at("/hook").count() == 1 && arrivals.accepted("/plain") == 1)
        .await;
    let first = arrivals.at("/hook").next().unwrap();
    assert_eq!(others(first), [("authorization", "Bearer one"), ("x-tenant", "a b\tc"), ("~", "!")].into());
    assert!(first.verify(&endpoint.secret).is_ok());
    assert_eq!(
        others(arrivals.at("/plain").next().unwrap()),
        BTreeMap::new(),
        "they are each endpoint's own"
    );

    // What waits goes out with the set as it is at the attempt: all of it is new.
    let changed = patch(&merchant, &endpoint, json!({ "headers": { "AUTHORIZATION": "Bearer two" } })).await;
    assert_eq!(changed.expect(200)["header_names"], json!(["authorization"]));
    hasten(&merchant, &endpoint).await;
    let arrivals = receiver.until("the second attempt", |arrivals| arrivals.accepted("/hook") == 1).await;
    let second = arrivals.at("/hook").nth(1).unwrap();
    assert_eq!((second.header("service-attempt"), second.event_id.as_str()), ("2", first.event_id.as_str()));
    assert_eq!(others(second), [("authorization", "Bearer two")].into());

    // A change of something else leaves them; null removes them.
    for (body, expected) in [
        (json!({ "description": "new" }), BTreeMap::from([("authorization", "Bearer two")])),
        (json!({ "headers": null }), BTreeMap::new()),
    ] {
        patch(&merchant, &endpoint, body).await.expect(200);
        let seen = receiver.arrivals().at("/hook").count();
        let path = endpoint.path("/test");
        merchant.api.post(&path, &json!({})).await.expect(202);
        let arrivals = receiver.until("the test", |arrivals| arrivals.at("/hook").count() > seen).await;
        assert_eq!(others(arrivals.at("/hook").last().unwrap()), expected);
    }
}

/// Every name that the service sends, in either profile, is refused as a header of an endpoint.
async fn nobody_takes_the_place_of_a_header_of_the_service(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "impostor").await;
    let receiver = Receiver::accepting().await;
    let body = json!({ "url": receiver.url("/hook"), "signature_profile": "standard-webhooks" });
    let endpoint = merchant.endpoint_with(body).await;
    merchant.checkout().await;
    let arrivals = receiver.until("an event", |arrivals| arrivals.accepted("/hook") == 1).await;
    let sent: Vec<&str> = arrivals.all[0].headers.keys().map(http::HeaderName::as_str).collect();
    assert_eq!(sent.len(), OF_SERVICE.len() + 3);
    for name in sent {
        let refused = patch(&merchant, &endpoint, json!({ "headers": { name: "x" } })).await;
        let refused = refused.refused(422, "validation_failed");
        assert_eq!(refused["errors"][0]["pointer"], format!("/headers/{name}"));
    }
}

/// The ciphertext of a signing secret, of another endpoint's headers, or of nothing at all: none is opened as the
/// endpoint's headers, and nothing is sent.
async fn what_was_sealed_for_something_else_is_not_sent(database: Database) {
    let (authority, merchant) =
        Merchant::on_with(database, &[retries("0,3600,3600,3600,3600")], "altered").await;
    let receiver = Receiver::accepting().await;
    let made = |path: &str| json!({ "url": receiver.url(path), "headers": { "x-key": "k" } });
    let endpoint = merchant.endpoint_with(made("/hook")).await;
    let other = merchant.endpoint_with(made("/other")).await;
    let own = &endpoint.id;
    let sources = [
        format!("(SELECT sealed FROM endpoint_secrets WHERE endpoint_id = '{own}')"),
        format!("(SELECT headers_sealed FROM webhook_endpoints WHERE id = '{}')", other.id),
    ];
    for (n, source) in sources.iter().enumerate() {
        let sql = format!("UPDATE webhook_endpoints SET headers_sealed = {source} WHERE id = '{own}'");
        execute(authority.database_url(), &sql).await;
        if n == 0 {
            merchant.checkout().await;
        } else {
            hasten(&merchant, &endpoint).await;
        }
        let attempted = n as i64 + 1;
        receiver.until("the other", |arrivals| arrivals.accepted("/other") == 1).await;
        let delivery = newest_attempted(&merchant, &endpoint, attempted).await;
        has(&delivery, json!({ "last_outcome": "protocol_error", "status": "pending" }));
    }
    assert_eq!(receiver.arrivals().at("/hook").count(), 0);
    // Writing them anew mends it.
    patch(&merchant, &endpoint, json!({ "headers": { "x-key": "k2" } })).await.expect(200);
    hasten(&merchant, &endpoint).await;
    let arrivals = receiver.until("it at last", |arrivals| arrivals.accepted("/hook") == 1).await;
    assert_eq!(others(arrivals.at("/hook").next().unwrap()), [("x-key", "k2")].into());
}

async fn an_endpoint_has_a_deadline_of_its_own(database: Database) {
    let variables = [retries("0,0"), ("AUTHORITY_DELIVERY_TIMEOUT_MS", "50000")];
    let authority = Authority::on(database, &variables).await;
    let never = Gate::closed();
    let receiver = Receiver::start(move |arrival| match arrival.nth {
        1 => Answer::status(200).held_by(&never),
        _ => Answer::status(200),
    })
    .await;
    let merchant = Merchant::create(&authority, "hasty").await;
    let endpoint = merchant.endpoint_with(json!({ "url": receiver.url("/hook"), "timeout_ms": 1000 })).await;
    merchant.checkout().await;
    receiver
        .until("a second attempt", |arrivals| arrivals.accepted("/hook") == 1 && arrivals.all.len() == 2)
        .await;
    authority.nothing_pending().await;
    let delivery = merchant.delivery(&text(&merchant.deliveries(&endpoint).await[0], "id")).await;
    let attempts = delivery["attempts"].as_array().unwrap();
    let outcomes: Vec<&Value> = attempts.iter().map(|attempt| &attempt["outcome"]).collect();
    assert_eq!(outcomes, ["timeout", "success"]);
    let lasted = attempts[0]["duration_ms"].as_i64().unwrap();
    assert!((1_000..10_000).contains(&lasted), "{lasted}");
}

/// A time longer than the deployment's is granted too, and taken away again.
async fn an_endpoint_may_take_longer_than_the_deployment_has_it(database: Database) {
    let variables = [retries("0,3600"), ("AUTHORITY_DELIVERY_TIMEOUT_MS", "100")];
    let (authority, merchant) = Merchant::on_with(database, &variables, "patient").await;
    let receiver = Receiver::start(|_| Answer::status(200).after(Duration::from_millis(600))).await;
    let body =
        json!({ "url": receiver.url("/hook"), "timeout_ms": 30_000, "enabled_events": ["checkout.*"] });
    let endpoint = merchant.endpoint_with(body).await;
    merchant.checkout().await;
    authority.nothing_pending().await;
    let delivery = merchant.delivery(&text(&merchant.deliveries(&endpoint).await[0], "id")).await;
    assert_eq!((&delivery["status"], &delivery["attempt_count"]), (&json!("succeeded"), &json!(1)));
    assert!(delivery["attempts"][0]["duration_ms"].as_i64().unwrap() >= 600);
    patch(&merchant, &endpoint, json!({ "timeout_ms": null })).await.expect(200);
    merchant.checkout().await;
    receiver.until("the second event", |arrivals| arrivals.all.len() == 2).await;
    let delivery = newest_attempted(&merchant, &endpoint, 1).await;
    assert_eq!(delivery["last_outcome"], "timeout");
}

/// The newest delivery to an endpoint, once it has so many attempts.
async fn newest_attempted(merchant: &Merchant, endpoint: &Endpoint, attempts: i64) -> Value {
    eventually(format!("attempt {attempts}"), async || {
        let newest = merchant.deliveries(endpoint).await.remove(0);
        (newest["attempt_count"] == attempts).then_some(newest)
    })
    .await
}

/// The wait after each of three attempts in whole steps of the schedule; the second endpoint's schedule is changed
/// before the third.
async fn each_endpoint_is_tried_again_by_its_own_schedule(database: Database) {
    let (_authority, merchant) = Merchant::on_with(database, &[retries("0,7200,60")], "schedules").await;
    let receiver = Receiver::start(|_| Answer::status(500)).await;
    let mut endpoints = Vec::new();
    for schedule in ["standard", "long", "short"] {
        let body = json!({ "url": receiver.url(&format!("/{schedule}")), "retry_schedule": schedule,
            "enabled_events": ["checkout.*"] });
        endpoints.push(merchant.endpoint_with(body).await);
    }
    let changed = endpoints[1].id.clone();
    merchant.checkout().await;
    for attempts in 1..=3 {
        for endpoint in &endpoints {
            if attempts > 1 {
                if attempts == 3 && endpoint.id == changed {
                    patch(&merchant, endpoint, json!({ "retry_schedule": "short" })).await.expect(200);
                }
                hasten(&merchant, endpoint).await;
            }
            newest_attempted(&merchant, endpoint, attempts).await;
        }
    }
    // In seconds; none after the last attempt of a schedule.
    let expected = [vec![7_200, 60], vec![5, 300, 120], vec![5, 30, 120]];
    for (endpoint, waits_s) in endpoints.iter().zip(expected) {
        let delivery = merchant.delivery(&text(&merchant.deliveries(endpoint).await[0], "id")).await;
        let waited = |attempt: &Value| {
            let ended = ms(attempt, "started_at") + attempt["duration_ms"].as_i64().unwrap();
            // The wait begins when the answer's body has been read as well: some milliseconds later.
            (ms(attempt, "retry_at") - ended) / 5_000 * 5
        };
        let attempts = delivery["attempts"].as_array().unwrap();
        let waits: Vec<i64> =
            attempts.iter().filter(|attempt| !attempt["retry_at"].is_null()).map(waited).collect();
        assert_eq!((waits, attempts.len()), (waits_s.clone(), 3));
        let over = waits_s.len() < 3;
        let (status, reason) =
            if over { ("failed", json!("attempts_exhausted")) } else { ("pending", json!(null)) };
        assert_eq!((&delivery["status"], &delivery["failure_reason"]), (&json!(status), &reason));
        let next = if over { json!(null) } else { attempts[2]["retry_at"].clone() };
        assert_eq!(delivery["next_attempt_at"], next);
    }
}

on_both_databases!(
    headers_go_with_every_delivery_and_a_change_helps_what_waits,
    nobody_takes_the_place_of_a_header_of_the_service,
    what_was_sealed_for_something_else_is_not_sent,
    an_endpoint_has_a_deadline_of_its_own,
    an_endpoint_may_take_longer_than_the_deployment_has_it,
    each_endpoint_is_tried_again_by_its_own_schedule,
);
