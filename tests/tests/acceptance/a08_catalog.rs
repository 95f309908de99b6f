//! A8: every event type, through sandbox and merchant API, by `authority trigger`: each with the right object, and a
//! `links.resource` that answers 200 with the right scope (checkouts have no link). Events and records are as the
//! types of the npm package say, and deliveries as the webhooks of the API's description.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tests::schemas::Promise;
use tests::webhooks::Webhooks;
use tests::{Authority, Database, Endpoint, Merchant, Receiver, rows, text, texts};

/// What reads the record that an event links to.
fn scope(category: &str) -> &'static str {
    match category {
        "order" | "shipment" => "orders:read",
        "payment" => "payments:read",
        "refund" => "refunds:read",
        "subscription" => "subscriptions:read",
        "webhook" => "webhooks:manage",
        other => panic!("{other} has no link"),
    }
}

/// What the record is called that an event links to.
fn definition(category: &str) -> &'static str {
    match category {
        "order" => "Order",
        "shipment" => "Shipment",
        "payment" => "Payment",
        "refund" => "Refund",
        "subscription" => "Subscription",
        "webhook" => "WebhookEndpoint",
        other => panic!("{other} has no link"),
    }
}

pub(crate) async fn every_type_can_be_triggered(database: Database) {
    let (authority, merchant) = Merchant::on(database, "catalog").await;
    let receiver = Receiver::accepting().await;
    let everything = merchant.endpoint(&receiver.url("/hook"), &["*"]).await;
    let endpoint = merchant.endpoint("http://127.0.0.1:9/", &["webhook.test"]).await;
    let url = format!("http://{}", authority.merchant_address());
    let trigger = async |event_type: &str| {
        let variables = [("AUTHORITY_API_KEY", merchant.key.as_str())];
        authority.run_with(&variables, &["trigger", event_type, "--url", &url]).await
    };
    let mut promise = Promise::default();
    let types = verify_core::catalog::EventType::ALL;
    assert_eq!(types.len(), 33);
    for event_type in types {
        let (name, category) = (event_type.as_str(), event_type.category());
        let output = trigger(name).await;
        assert!(output.status.success(), "{name}: {output:?}");
        let id = String::from_utf8(output.stdout).unwrap().trim().to_owned();
        let event = merchant.api.get(&format!("/events/{id}")).await.expect(200);
        assert_eq!(event["type"], name);
        let object = &event["data"]["object"];
        let expected = if category == "webhook" { "webhook_test" } else { category };
        assert_eq!(object["object"], expected);
        if category == "checkout" {
            assert_eq!(event.get("links"), None);
            continue;
        }
        let link = text(&event["links"], "resource");
        let path = link.strip_prefix("/v1/merchant").unwrap();
        let reader = authority.merchant(&merchant.issue_key("test", &[scope(category)]).await);
        let record = reader.get(path).await.expect(200);
        promise.keeps_record(definition(category), &record);
        match category {
            "webhook" => {
                assert_eq!((&record["id"], &object["endpoint_id"]), (&json!(endpoint.id), &record["id"]))
            }
            _ => {
                let name = if category == "order" { "order_number" } else { "id" };
                assert_eq!(record[name], object[name]);
                // Nothing happened to it since, but for what the same transaction went on to do.
                assert!(record["resource_version"].as_i64() >= object["resource_version"].as_i64());
            }
        }
        let stranger = authority.merchant(&merchant.issue_key("test", &["partners:read"]).await);
        stranger.get(path).await.refused(403, "insufficient_scope");
    }
    let events = merchant.events().await;
    events.iter().for_each(|event| promise.keeps_event(event));
    assert_eq!(texts(&events, "type").into_iter().collect::<BTreeSet<_>>().len(), 33);
    records_are_as_their_types_say(&merchant, &endpoint, &mut promise).await;
    merchant.test(&everything).await;
    deliveries_are_as_described(&authority, &receiver, &everything).await;
    authority.is_sound().await;
}

/// Every type arrives, as `/openapi.json` says that it does.
async fn deliveries_are_as_described(authority: &Authority, receiver: &Receiver, endpoint: &Endpoint) {
    let mut webhooks = Webhooks::described_by(authority).await;
    let sorted = |types: Vec<String>| types.into_iter().collect::<BTreeSet<String>>();
    let described = sorted(webhooks.types().into_iter().map(str::to_owned).collect());
    assert_eq!(described.len(), 33);
    let arrivals =
        receiver.until("every type", |arrivals| sorted(arrivals.types_at("/hook")) == described).await;
    for arrival in arrivals.at("/hook") {
        webhooks.promised(arrival);
        arrival.verify(&endpoint.secret).unwrap();
    }
}

/// What all these events left behind, in lists and one by one.
async fn records_are_as_their_types_say(merchant: &Merchant, endpoint: &Endpoint, promise: &mut Promise) {
    let lists = [
        ("/orders?limit=100".to_owned(), "Order"),
        ("/payments?limit=100".to_owned(), "Payment"),
        ("/refunds?limit=100".to_owned(), "Refund"),
        ("/subscriptions?limit=100".to_owned(), "Subscription"),
        ("/webhook-endpoints".to_owned(), "WebhookEndpoint"),
        ("/partner-connections".to_owned(), "PartnerConnection"),
        ("/order-shares".to_owned(), "OrderShare"),
        (endpoint.path("/deliveries"), "Delivery"),
        (endpoint.path("/undelivered"), "UndeliveredEvent"),
    ];
    for (path, name) in lists {
        let page = merchant.api.get(&path).await.expect(200);
        let records = rows(&page);
        assert!(!records.is_empty(), "{path}");
        records.iter().for_each(|record| promise.keeps_record(name, record));
    }
    let delivery = text(&merchant.deliveries(endpoint).await[0], "id");
    promise.keeps_record("DeliveryWithAttempts", &merchant.delivery(&delivery).await);
    let asked = json!({ "since": "2020-01-01T00:00:00Z" });
    let recover = endpoint.path("/recover");
    promise.keeps_record("EndpointRecovery", &merchant.api.post(&recover, &asked).await.expect(202));
    let health = merchant.health().await;
    promise.keeps_record("IntegrationHealth", &health);
    let mut record = merchant.operator.get(&format!("/merchants/{}", merchant.id)).await.expect(200).clone();
    // The operator's view has this besides; the OpenAPI document describes it.
    assert!(record.as_object_mut().unwrap().remove("effective_limits").is_some());
    promise.keeps_record("Merchant", &record);
    let log = merchant.operator.get("/audit-log?limit=100").await.expect(200);
    rows(&log).iter().for_each(|entry| promise.keeps_record("AuditEntry", entry));
}

pub(crate) async fn what_cannot_be_triggered_is_told_in_one_line(database: Database) {
    let (authority, merchant) = Merchant::on(database, "untriggered").await;
    let live = merchant.issue_key("live", &["events:read"]).await;
    let narrow = merchant.issue_key("test", &["events:read"]).await;
    let url = format!("http://{}", authority.merchant_address());
    let key = merchant.key.as_str();
    for (key, arguments, code, line) in [
        (key, vec!["trigger", "order.exploded"], 2, "TYPE: must be one of webhook.test,"),
        (live.as_str(), vec!["trigger", "order.created"], 2, "AUTHORITY_API_KEY must hold a test key"),
        (key, vec!["trigger", "webhook.test", "--url", &url], 1, "no enabled webhook endpoint"),
        (narrow.as_str(), vec!["trigger", "order.fulfilled", "--url", &url], 1, "403 insufficient_scope"),
        (
            key,
            vec!["trigger", "order.created", "--url", "http://127.0.0.1:9"],
            1,
            "POST /v1/sandbox/checkouts:",
        ),
    ] {
        let said = authority.refuses(&[("AUTHORITY_API_KEY", key)], &arguments, code).await;
        assert!(said.contains(line), "{said}");
        assert!(!said.contains(key), "a key is never shown");
    }
    let unset = authority.run(&["trigger", "order.created"]).await;
    assert_eq!(unset.status.code(), Some(2));
    // Strict merchants are served as well.
    let strict = json!({ "require_if_match": true, "require_idempotency_key": true });
    let strict = Merchant::with_settings(&authority, "strict", strict).await;
    for event_type in ["order.shipped", "refund.requested", "shipment.created"] {
        let variables = [("AUTHORITY_API_KEY", strict.key.as_str())];
        let output = authority.run_with(&variables, &["trigger", event_type, "--url", &url, "--json"]).await;
        let said: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
        assert_eq!(said["type"], event_type);
    }
}

tests::on_every_database!(every_type_can_be_triggered, what_cannot_be_triggered_is_told_in_one_line);
