//! The operator's view of deliveries and events, trying again, and endpoints in its hand (contract 6.2, 7.5, 15.3).

use serde_json::{Value, json};
use tests::{Answer, Authority, Merchant, Receiver, has, retries, rows, text, texts};

use super::listed;

#[tokio::test]
async fn deliveries_of_everybody_are_found() {
    let authority = Authority::start(&[]).await;
    let operator = authority.operator();
    let receiver = Receiver::accepting().await;
    let (one, other) =
        (Merchant::create(&authority, "one").await, Merchant::create(&authority, "other").await);
    let mut endpoints = Vec::new();
    for merchant in [&one, &other] {
        endpoints.push(merchant.endpoint(&receiver.url("/hook"), &["checkout.*"]).await.id);
        merchant.checkout().await;
    }
    one.checkout().await;
    authority.nothing_pending().await;

    let all = listed(&operator, "/deliveries", "id").await;
    assert_eq!(all.len(), 3);
    let events = listed(&operator, "/deliveries", "event_id").await;
    let count = async |query: String| listed(&operator, &format!("/deliveries?{query}"), "id").await.len();
    assert_eq!(count(format!("merchant={}", one.id)).await, 2);
    assert_eq!(count(format!("merchant={}&mode=test", other.id)).await, 1);
    assert_eq!(count("mode=live".into()).await, 0);
    assert_eq!(count(format!("endpoint_id={}", endpoints[1])).await, 1);
    assert_eq!(count("status=succeeded,failed".into()).await, 3);
    assert_eq!(count("status=pending".into()).await, 0);
    assert_eq!(count(format!("event_id={}", events[2])).await, 1);
    for query in ["merchant=x", "mode=staging", "endpoint_id=we_1", "status=done", "event_id=1"] {
        operator.get(&format!("/deliveries?{query}")).await.refused(400, "invalid_parameter");
    }

    let found = operator.get(&format!("/deliveries/{}", all[2])).await.expect(200);
    assert_eq!((&found["merchant_id"], &found["livemode"]), (&json!(one.id), &json!(false)));
    assert_eq!((&found["status"], &found["attempt_count"]), (&json!("succeeded"), &json!(1)));
    assert_eq!(found["attempts"][0]["outcome"], "success");
    assert_eq!(found["attempts"].as_array().unwrap().len(), 1);
    for id in ["dlv_01k3zqa7000000000000000000", "x"] {
        operator.get(&format!("/deliveries/{id}")).await.refused(404, "not_found");
        operator.post(&format!("/deliveries/{id}/retry"), &json!({})).await.refused(404, "not_found");
    }
    let refused = operator.post(&format!("/deliveries/{}/retry", all[0]), &json!({})).await;
    let refused = refused.refused(409, "invalid_state_transition");
    has(&refused, json!({ "current_status": "succeeded", "requested_status": "pending" }));
}

/// What waits is tried at once; what failed is sent once more; what would not be sent is refused.
#[tokio::test]
async fn a_delivery_is_tried_again_now() {
    // The second attempt would come in an hour; a refusing receiver gets one.
    let variables = [retries("0,3600"), ("AUTHORITY_REJECTED_ATTEMPTS", "1")];
    let (authority, merchant) = Merchant::alone_with(&variables, "again").await;
    let operator = authority.operator();
    let receiver =
        Receiver::start(|arrival| match (arrival.path.as_str(), arrival.header("service-attempt")) {
            ("/busy", "1") => Answer::status(503),
            ("/refusing", "1") => Answer::status(400),
            _ => Answer::status(204),
        })
        .await;
    let busy = merchant.endpoint(&receiver.url("/busy"), &["checkout.created"]).await;
    let refusing = merchant.endpoint(&receiver.url("/refusing"), &["checkout.created"]).await;
    merchant.checkout().await;
    let of = async |endpoint: &str, status: &str| -> Value {
        tests::eventually(format!("a delivery that is {status}"), async || {
            let path = format!("/deliveries?endpoint_id={endpoint}&status={status}");
            let found = operator.get(&path).await.expect(200)["data"][0].clone();
            (found["attempt_count"] != 0 && !found.is_null()).then_some(found)
        })
        .await
    };
    let retry = async |delivery: &Value| {
        operator.post(&format!("/deliveries/{}/retry", text(delivery, "id")), &json!({})).await
    };

    let waiting = of(&busy.id, "pending").await;
    assert!(text(&waiting, "next_attempt_at") > text(&waiting, "created_at"));
    let hastened = retry(&waiting).await.expect(202);
    assert_eq!((&hastened["id"], &hastened["status"]), (&waiting["id"], &json!("pending")));
    let done = of(&busy.id, "succeeded").await;
    assert_eq!((&done["id"], &done["attempt_count"]), (&waiting["id"], &json!(2)));

    // The receiver refuses the first attempt of the second delivery as well.
    let failed = of(&refusing.id, "failed").await;
    let again = retry(&failed).await.expect(202);
    assert_ne!(again["id"], failed["id"]);
    assert_eq!((&again["trigger"], &again["event_id"]), (&json!("replay"), &failed["event_id"]));
    assert_eq!(again["endpoint_id"], failed["endpoint_id"]);
    authority.nothing_pending().await;
    assert_eq!(
        listed(&operator, &format!("/deliveries?event_id={}", text(&failed, "event_id")), "id").await.len(),
        3
    );

    operator.post(&refusing.path("/disable"), &json!({ "reason": "r" })).await.expect(200);
    retry(&failed).await.refused(409, "endpoint_disabled");
    retry(&failed).await.refused(409, "endpoint_disabled");
    let extra =
        operator.post(&format!("/deliveries/{}/retry", text(&failed, "id")), &json!({ "x": 1 })).await;
    extra.refused(422, "unknown_field");
}

#[tokio::test]
async fn an_endpoint_is_disabled_and_enabled() {
    let (authority, merchant) = Merchant::alone_with(&[retries("0,3600")], "switched").await;
    let operator = authority.operator();
    let receiver = Receiver::start(|_| Answer::status(503)).await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["checkout.created"]).await;
    merchant.checkout().await;
    let path = endpoint.path("");
    let found = operator.get(&path).await.expect(200);
    assert_eq!((&found["merchant_id"], &found["livemode"]), (&json!(merchant.id), &json!(false)));
    assert_eq!((&found["status"], &found["deleted_at"]), (&json!("enabled"), &Value::Null));
    assert_eq!(found.get("secret"), None);

    let switch = async |to: &str, body: Value| operator.post(&format!("{path}/{to}"), &body).await;
    switch("disable", json!({})).await.refused(422, "validation_failed");
    let disabled = switch("disable", json!({ "reason": "floods its own site" })).await.expect(200);
    assert_eq!((&disabled["status"], &disabled["disabled_reason"]), (&json!("disabled"), &json!("operator")));
    assert_eq!(merchant.endpoint_now(&endpoint).await["disabled_reason"], "operator");
    authority.nothing_pending().await;
    let cancelled = operator.get("/deliveries?status=cancelled").await.expect(200);
    assert_eq!(cancelled["data"][0]["failure_reason"], "endpoint_disabled");
    assert_eq!(merchant.alerts("endpoint_disabled").await.len(), 1);
    // Once more changes nothing.
    let again = switch("disable", json!({ "reason": "again" })).await.expect(200);
    assert_eq!(again["resource_version"], disabled["resource_version"]);
    merchant.checkout().await;
    assert_eq!(listed(&operator, "/deliveries", "id").await.len(), 1, "none is made for a disabled endpoint");

    let enabled = switch("enable", json!({ "reason": "repaired" })).await.expect(200);
    assert_eq!((&enabled["status"], &enabled["disabled_reason"]), (&json!("enabled"), &Value::Null));
    let log = operator.get(&format!("/audit-log?resource_id={}", endpoint.id)).await.expect(200);
    let told: Vec<Value> = rows(&log)
        .iter()
        .map(|entry| {
            json!([
                entry["operation"],
                entry["version_before"],
                entry["version_after"],
                entry["reason"],
                entry["merchant_id"]
            ])
        })
        .collect();
    assert_eq!(told[0], json!(["endpoints.enable", 2, 3, "repaired", merchant.id]));
    assert_eq!(told[2], json!(["endpoints.disable", 1, 2, "floods its own site", merchant.id]));
    for id in ["we_01k3zqa7000000000000000000", "x"] {
        operator.get(&format!("/webhook-endpoints/{id}")).await.refused(404, "not_found");
        let reply =
            operator.post(&format!("/webhook-endpoints/{id}/enable"), &json!({ "reason": "r" })).await;
        reply.refused(404, "not_found");
    }
}

#[tokio::test]
async fn events_of_everybody_are_found() {
    let authority = Authority::start(&[]).await;
    let operator = authority.operator();
    let (one, other) =
        (Merchant::create(&authority, "one").await, Merchant::create(&authority, "other").await);
    let order = one.paid_order().await;
    let checkout = other.checkout().await;
    let theirs: Vec<String> = one.events().await.iter().rev().map(|event| text(event, "id")).collect();
    let mut all = texts(&other.events().await, "id");
    all.extend(theirs.clone());
    all.sort_by(|a, b| b.cmp(a));
    assert_eq!(listed(&operator, "/events", "id").await, all);
    let stream = format!("/events?merchant={}&mode=test", one.id);
    assert_eq!(listed(&operator, &stream, "id").await, theirs, "newest first");
    assert_eq!(
        listed(&operator, &format!("{stream}&type=checkout.*"), "type").await,
        ["checkout.completed", "checkout.created"]
    );
    let of_order = listed(&operator, &format!("{stream}&resource={order}"), "type").await;
    assert_eq!(of_order, ["order.confirmed", "order.created"]);
    assert_eq!(
        listed(&operator, &format!("/events?merchant={}&mode=live", one.id), "id").await,
        Vec::<String>::new()
    );
    for (query, param) in [
        (format!("merchant={}", one.id), "mode"),
        ("mode=test".into(), "merchant"),
        (format!("resource={}", text(&checkout, "id")), "merchant"),
        ("type=order.*".into(), "merchant"),
    ] {
        let refused = operator.get(&format!("/events?{query}")).await.refused(400, "invalid_parameter");
        assert_eq!(refused["param"], param);
    }
    let bytes = operator.get(&format!("/events/{}", theirs[0])).await;
    assert_eq!(bytes.body, one.api.get(&format!("/events/{}", theirs[0])).await.body);
    operator.get("/events/evt_01k3zqa7000000000000000000").await.refused(404, "not_found");
}

#[tokio::test]
async fn the_outbox_names_those_for_whom_most_waits() {
    let authority = Authority::start(&[retries("0,3600")]).await;
    let operator = authority.operator();
    let empty = operator.get("/outbox").await.expect(200);
    has(&empty, json!({ "pending": 0, "oldest_pending_at": null, "endpoints": [] }));
    let receiver = Receiver::start(|_| Answer::status(500)).await;
    let merchant = Merchant::create(&authority, "waiting").await;
    let few = merchant.endpoint(&receiver.url("/few"), &["checkout.created"]).await;
    let many = merchant.endpoint(&receiver.url("/many"), &["*"]).await;
    merchant.paid_order().await;
    let made = merchant.events().await.len();
    let outbox = tests::eventually("every first attempt", async || {
        let outbox = operator.get("/outbox").await.expect(200);
        (outbox["scheduled_retries"] == made + 1).then_some(outbox)
    })
    .await;
    has(&outbox, json!({ "pending": made + 1, "due_now": 0, "failed_24h": 0 }));
    assert!(outbox["oldest_pending_age_seconds"].as_i64().unwrap() >= 0);
    let told: Vec<Value> = outbox["endpoints"]
        .as_array()
        .unwrap()
        .iter()
        .map(|endpoint| {
            json!([
                endpoint["endpoint_id"],
                endpoint["pending"],
                endpoint["merchant_id"],
                endpoint["livemode"]
            ])
        })
        .collect();
    assert_eq!(told, [json!([many.id, made, merchant.id, false]), json!([few.id, 1, merchant.id, false])]);
    assert!(outbox["endpoints"][0]["consecutive_failures"].as_i64().unwrap() > 0);
}
