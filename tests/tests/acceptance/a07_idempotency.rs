//! A7: one key, one effect (contract 4.3, invariant I13), and what is kept of the answers.

use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::{Database, Merchant, Reply, checkout_body, on_every_database, shipments, text};

on_every_database!(
    a07_fifty_at_once_make_one_refund,
    a07_twenty_at_once_make_one_shipment,
    a07_twenty_at_once_name_an_order_once,
    a07_a_key_names_one_request,
    a07_the_platforms_keys_belong_to_a_merchant_and_mode,
    a07_a_key_works_again_after_a_refusal,
    a07_answers_outlive_the_process
);

/// An answer without what belongs to the request alone.
pub(crate) fn answer(reply: &Reply) -> (u16, Value, Option<&str>, Option<&str>) {
    (reply.status, reply.json(), reply.header("etag"), reply.header("location"))
}

/// All were answered alike: one did the work, and the others were given its answer.
fn had_one_effect(replies: &[Reply], status: u16) {
    assert_eq!(replies.iter().filter(|reply| reply.is_replay()).count(), replies.len() - 1);
    for reply in replies {
        assert_eq!(answer(reply), answer(&replies[0]));
        assert_eq!(reply.status, status, "{}", reply.text());
    }
}

async fn count(merchant: &Merchant, event_type: &str) -> usize {
    merchant.events().await.iter().filter(|event| event["type"] == event_type).count()
}

async fn a07_fifty_at_once_make_one_refund(database: Database) {
    let (authority, merchant) = Merchant::on(database, "fifty").await;
    let number = merchant.paid_order().await;
    let path = format!("/orders/{number}/refunds");
    let body = json!({ "amount": 100, "reason": "damaged" });
    let key = "refund:ORD-100001:return-9";
    let replies = join_all((0..50).map(|_| merchant.api.post_as(key, &path, &body))).await;
    had_one_effect(&replies, 201);
    assert_eq!(merchant.types_after(6).await, ["refund.requested", "order.updated"]);
    assert_eq!(merchant.order(&number).await["payment_summary"]["refund_pending"], 100);
    assert_eq!(merchant.api.get("/refunds").await.expect(200)["data"].as_array().map(Vec::len), Some(1));

    let other = json!({ "amount": 101, "reason": "damaged" });
    merchant.api.post_as(key, &path, &other).await.refused(422, "idempotency_key_reused");
    let rotated = authority.merchant(&merchant.issue_key("test", &["refunds:write"]).await);
    let again = rotated.post_as(key, &path, &body).await;
    assert!(again.is_replay());
    assert_eq!(answer(&again), answer(&replies[0]));

    // After a version conflict the same logical write goes on under its key.
    let refund = |version: &str| {
        let call = merchant.api.call(http::Method::POST, &path).json(&json!({ "amount": 1 }));
        call.header("idempotency-key", "refund:2").header("if-match", version).send()
    };
    refund("2").await.refused(409, "resource_version_conflict");
    let made = refund("3").await;
    assert!(!made.is_replay());
    made.expect(201);
    let again = refund("2").await;
    assert!(again.is_replay());
    assert_eq!(answer(&again), answer(&made));
    assert_eq!(count(&merchant, "refund.requested").await, 2);
}

async fn a07_twenty_at_once_make_one_shipment(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "crowd").await;
    let number = merchant.paid_order().await;
    let line = merchant.order(&number).await["line_items"][0]["id"].clone();
    let path = shipments(&number);
    // One of two shirts: without the key, a second request would make a second shipment.
    let body = json!({ "carrier": "dhl", "line_items": [{ "line_item_id": line, "quantity": 1 }] });
    let replies = join_all((0..20).map(|_| merchant.api.post_as("ship:1", &path, &body))).await;
    had_one_effect(&replies, 201);
    let mut ids: Vec<_> = replies.iter().map(|reply| reply.header("service-request-id")).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 20, "every answer has a request id of its own");
    assert_eq!(count(&merchant, "shipment.created").await, 1);
    assert_eq!(merchant.order(&number).await["line_items"][0]["shipped_quantity"], 1);
}

async fn a07_twenty_at_once_name_an_order_once(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "names").await;
    let number = merchant.paid_order().await;
    let path = format!("/orders/{number}/external-references/erp");
    let name = |id: &str| {
        let call = merchant.api.call(http::Method::PUT, &path).json(&json!({ "id": id }));
        call.header("idempotency-key", "name:1").send()
    };
    let replies = join_all((0..20).map(|_| name("SO-1"))).await;
    had_one_effect(&replies, 200);
    assert_eq!(count(&merchant, "order.updated").await, 1);
    name("SO-2").await.refused(422, "idempotency_key_reused");
}

async fn a07_a_key_names_one_request(database: Database) {
    let (authority, merchant) = Merchant::on(database, "fingerprint").await;
    let number = merchant.paid_order().await;
    let path = shipments(&number);
    let body = json!({ "carrier": "dhl", "service_level": "express" });
    let first = merchant.api.post_as("k", &path, &body).await;
    first.expect(201);

    // The same request: written otherwise, with the key in quotes, with another API key, against another version.
    let call = merchant.api.call(http::Method::POST, &path).header("content-type", "application/json");
    let reordered = call.bytes("{ \"service_level\": \"express\",\n\t\"carrier\": \"dhl\" }");
    let other_key = authority.merchant(&merchant.issue_key("test", &["shipments:write"]).await);
    for same in [
        reordered.header("idempotency-key", "\"k\""),
        other_key.call(http::Method::POST, &path).json(&body).header("idempotency-key", "k"),
        merchant
            .api
            .call(http::Method::POST, &path)
            .json(&body)
            .header("idempotency-key", "k")
            .header("if-match", "1"),
    ] {
        let reply = same.send().await;
        assert!(reply.is_replay(), "{}", reply.text());
        assert_eq!(answer(&reply), answer(&first));
    }
    // Another request: another body, another path.
    let others = [(path.clone(), json!({ "carrier": "dhl" })), (shipments("ORD-100002"), body)];
    for (path, body) in others {
        let reply = merchant.api.post_as("k", &path, &body).await;
        assert_eq!(reply.refused(422, "idempotency_key_reused")["param"], "Idempotency-Key");
    }
    assert_eq!(count(&merchant, "shipment.created").await, 1);
}

/// Whether the path names the merchant or one of its records.
async fn a07_the_platforms_keys_belong_to_a_merchant_and_mode(database: Database) {
    let (authority, one) = Merchant::on(database, "one").await;
    let other = Merchant::create(&authority, "other").await;
    let succeeded = json!({ "status": "succeeded", "processor_event_id": "paid" });
    for merchant in [&one, &other] {
        let payment = merchant.payment(&merchant.checkout().await, "automatic").await;
        let path = format!("/payments/{}/reports", text(&payment, "id"));
        let reported = merchant.operator.post_as("report", &path, &succeeded).await;
        assert!(!reported.is_replay());
        assert_eq!(reported.expect(200)["applied"], true);
    }
    let path = one.platform_path("checkouts");
    let made = one.operator.post_as("once", &path, &checkout_body()).await.expect(201);
    let cancel = format!("/checkouts/{}/cancel", text(&made, "id"));
    one.operator.post_as("once", &cancel, &json!({})).await.refused(422, "idempotency_key_reused");
    one.operator.post_as("twice", &cancel, &json!({})).await.expect(200);
}

/// What failed had no effect, so its key is still free.
async fn a07_a_key_works_again_after_a_refusal(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "refused-first").await;
    let number = merchant.paid_order().await;
    let ship = |version: &str, body: Value| {
        merchant
            .api
            .call(http::Method::POST, &shipments(&number))
            .json(&body)
            .header("idempotency-key", "ship:1")
            .header("if-match", version)
            .send()
    };
    let parcel = json!({ "carrier": "dhl" });
    ship("\"1\"", parcel.clone()).await.refused(409, "resource_version_conflict");
    ship("\"2\"", json!({ "carrier": "" })).await.refused(422, "validation_failed");
    let made = ship("\"2\"", parcel.clone()).await;
    assert!(!made.is_replay());
    made.expect(201);
    let again = ship("\"3\"", parcel).await;
    assert!(again.is_replay());
    assert_eq!(answer(&again), answer(&made));
    assert_eq!(merchant.order(&number).await["resource_version"], 3);
}

async fn a07_answers_outlive_the_process(database: Database) {
    let (mut authority, merchant) = Merchant::on(database, "restarted").await;
    let number = merchant.paid_order().await;
    let body = json!({ "carrier": "dhl" });
    let first = merchant.api.post_as("ship:1", &shipments(&number), &body).await;
    first.expect(201);
    authority.kill().await;
    authority.restart().await;
    let again = merchant.api.post_as("ship:1", &shipments(&number), &body).await;
    assert!(again.is_replay());
    assert_eq!(answer(&again), answer(&first));
}
