//! `If-None-Match`, `HEAD`, and cursors older than the history (contract 4.1, 4.4, 8.6).

use http::Method;
use serde_json::json;
use tests::damage::damage;
use tests::{Database, Merchant, has, on_both_databases, rows, shipments, text};

use super::at;

async fn a_reader_that_has_the_version_gets_no_body(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "cached").await;
    let api = &merchant.api;
    let number = merchant.paid_order().await;
    let shipment = api.post(&shipments(&number), &json!({ "carrier": "dhl" })).await.expect(201);
    let payment = merchant.order(&number).await["payment_ids"][0].as_str().unwrap().to_owned();
    let paths = [format!("/orders/{number}"), format!("/shipments/{}", text(&shipment, "id"))];
    for path in &paths {
        let full = api.get(path).await;
        let tag = full.header("etag").unwrap().to_owned();
        for method in [Method::GET, Method::HEAD] {
            for has in [tag.as_str(), &format!("W/{tag}"), &format!("\"99\", {tag}"), "*"] {
                let same = api.call(method.clone(), path).header("if-none-match", has).send().await;
                assert_eq!((same.status, same.body.len()), (304, 0), "{method} {path} {has}");
                assert_eq!(same.header("etag"), Some(tag.as_str()));
                assert_eq!(same.header("content-type"), None);
                for name in ["service-request-id", "service-version", "cache-control"] {
                    assert!(same.header(name).is_some(), "{name}");
                }
            }
        }
        for has in ["\"99\"", "nonsense", ""] {
            let other = api.call(Method::GET, path).header("if-none-match", has).send().await;
            assert_eq!((other.status, &other.body), (200, &full.body), "{path} {has}");
        }
    }
    // What is not there, or not allowed, is told all the same.
    let missing = api.call(Method::GET, "/orders/ORD-9").header("if-none-match", "*").send().await;
    missing.refused(404, "not_found");
    // What an open refund reserves of a payment, and an endpoint's health, change without a version: they are always
    // sent.
    let path = format!("/payments/{payment}");
    let before = api.get(&path).await;
    let tag = before.header("etag").unwrap().to_owned();
    api.post(&format!("/orders/{number}/refunds"), &json!({ "amount": 100 })).await.expect(201);
    let now = api.call(Method::GET, &path).header("if-none-match", &tag).send().await;
    assert_eq!((now.status, now.header("etag")), (200, Some(tag.as_str())));
    assert_eq!(before.json()["amount_refund_pending"], 0);
    assert_eq!(now.json()["amount_refund_pending"], 100);
    let endpoint = merchant.endpoint("http://127.0.0.1:9/a", &["*"]).await;
    let full = api.call(Method::GET, &at(&endpoint.id)).header("if-none-match", "\"1\"").send().await;
    assert_eq!((full.status, full.header("etag")), (200, Some("\"1\"")));
}

async fn head_follows_get(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "heads").await;
    let api = &merchant.api;
    let endpoint = at(&merchant.endpoint("http://127.0.0.1:9/a", &["webhook.test"]).await.id);
    let number = merchant.paid_order().await;
    let test = api.post(&format!("{endpoint}/test"), &json!({})).await.expect(202);
    let paths = [
        "/orders".to_owned(),
        format!("/orders/{number}"),
        "/events".to_owned(),
        format!("/events/{}", text(&test, "event_id")),
        "/webhook-endpoints".to_owned(),
        endpoint.clone(),
        format!("{endpoint}/deliveries"),
        format!("/deliveries/{}", text(&test, "delivery_id")),
        "/integration-health".to_owned(),
        "/orders/ORD-9".to_owned(),
        "/events?crusor=1".to_owned(),
    ];
    for path in paths {
        let (get, head) = (api.get(&path).await, api.call(Method::HEAD, &path).send().await);
        assert_eq!((head.status, head.body.len()), (get.status, 0), "{path}");
        for name in ["content-type", "etag", "ratelimit-policy", "service-version"] {
            assert_eq!(head.header(name), get.header(name), "{path} {name}");
        }
        assert!(head.header("content-length").is_some_and(|length| length != "0"), "{path}");
    }
}

/// A position before what is kept is refused, and says where the history begins; every other one goes on.
async fn an_old_cursor_has_expired(database: Database) {
    let (authority, merchant) = Merchant::on(database, "forgetful").await;
    let api = &merchant.api;
    let cursor = async |path: &str| text(&api.get(path).await.expect(200), "resume_cursor");
    let nothing = cursor("/events").await;
    merchant.checkouts(4).await;
    let (after_one, after_two) = (cursor("/events?limit=1").await, cursor("/events?limit=2").await);
    let after_all = cursor("/events").await;
    damage(authority.database_url(), "DELETE FROM events WHERE sequence <= 2").await;
    for expired in [&nothing, &after_one] {
        let refused = api.get(&format!("/events?cursor={expired}")).await.refused(410, "cursor_expired");
        assert_eq!(refused["oldest_retained_sequence"], 3);
    }
    let sequences = async |path: &str| -> Vec<u64> {
        let page = api.get(path).await.expect(200);
        rows(&page).iter().map(|event| event["sequence"].as_u64().unwrap()).collect()
    };
    assert_eq!(sequences("/events").await, [3, 4]);
    assert_eq!(sequences(&format!("/events?cursor={after_two}")).await, [3, 4]);
    assert_eq!(sequences(&format!("/events?cursor={after_all}")).await, Vec::<u64>::new());
    // A page with nothing on it leaves a position from which one can go on.
    let empty = cursor("/events?type=refund.*").await;
    assert_eq!(sequences(&format!("/events?type=refund.*&cursor={empty}")).await, Vec::<u64>::new());
    let health = api.get("/integration-health").await.expect(200);
    has(&health["outbox"], json!({ "latest_sequence": 4, "oldest_retained_sequence": 3 }));
    // With everything removed the stream goes on where it was.
    damage(authority.database_url(), "DELETE FROM events").await;
    assert_eq!(sequences(&format!("/events?cursor={after_all}")).await, Vec::<u64>::new());
    let refused = api.get(&format!("/events?cursor={after_two}")).await.refused(410, "cursor_expired");
    assert_eq!(refused["oldest_retained_sequence"], 5);
    merchant.checkout().await;
    assert_eq!(sequences(&format!("/events?cursor={after_all}")).await, [5]);
}

on_both_databases!(a_reader_that_has_the_version_gets_no_body, head_follows_get, an_old_cursor_has_expired);
