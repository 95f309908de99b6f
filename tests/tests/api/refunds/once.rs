//! One key makes one refund, and no money is given back twice (contract 3.11 I2, 4.3).

use futures_util::future::join_all;
use serde_json::json;
use tests::{Authority, Database, Merchant, on_both_databases};

use crate::refunds::{refunds, report};

on_both_databases!(a_refund_remembers_its_key_for_ever);

async fn a_refund_remembers_its_key_for_ever(database: Database) {
    let (authority, merchant) = Merchant::on(database, "late-retry").await;
    let (order, other) = (merchant.paid_order().await, merchant.paid_order().await);
    let (path, body) = (refunds(&order), json!({ "amount": 100 }));
    let first = merchant.api.post_as("return-9", &path, &body).await;
    assert!(!first.is_replay());
    let made = first.expect(201);
    let again = merchant.api.post_as("return-9", &path, &body).await;
    assert!(again.is_replay());
    assert_eq!(again.expect(201), made);
    let changed = merchant.api.post_as("return-9", &path, &json!({ "amount": 101 })).await;
    changed.refused(422, "idempotency_key_reused");

    authority.forget_answers().await;
    let now = report(&merchant, &made, "completed").await;
    let events = merchant.events().await;
    let other_key = authority.merchant(&merchant.issue_key("test", &["refunds:write"]).await);
    let late = other_key.post_as("return-9", &path, &body).await;
    assert!(late.is_replay());
    assert_eq!(late.expect(201), now, "the refund as it is now");
    assert_eq!(late.header("location"), first.header("location"));
    let elsewhere = merchant.api.post_as("return-9", &refunds(&other), &body).await;
    assert_eq!(elsewhere.refused(422, "idempotency_key_reused")["param"], "Idempotency-Key");
    for changed in [json!({ "amount": 101 }), json!({}), json!({ "amount": 100, "reason": "fraudulent" })] {
        let changed = merchant.api.post_as("return-9", &path, &changed).await;
        changed.refused(422, "idempotency_key_reused");
    }
    assert_eq!(merchant.events().await, events, "nothing happened");

    // The platform's keys are keys of its own.
    let path = merchant.platform_path(&format!("orders/{order}/refunds"));
    let platforms = merchant.operator.post_as("return-9", &path, &body).await;
    assert!(!platforms.is_replay());
    assert_ne!(platforms.expect(201)["id"], made["id"]);
}

/// Two instances on one database are asked for the same money at once.
#[tokio::test]
async fn no_two_instances_find_the_same_money() {
    let database = postgres_cluster::database().await;
    let variables = [("AUTHORITY_DATABASE_URL", database.as_str())];
    let (first, second) = (Authority::start(&variables).await, Authority::start(&variables).await);
    let merchant = Merchant::create(&first, "both").await;
    let there = second.merchant(&merchant.key);
    let order = merchant.paid_order_of(50).await;
    let (path, body) = (refunds(&order), json!({ "amount": 1 }));
    let replies =
        join_all((0..100).map(|n| if n % 2 == 0 { &merchant.api } else { &there }.post(&path, &body))).await;
    let made = replies.iter().filter(|reply| reply.status == 201).count();
    let refused: Vec<_> = replies.iter().filter(|reply| reply.status != 201).collect();
    assert_eq!((made, refused.len()), (50, 50));
    refused.iter().for_each(|reply| drop(reply.refused(409, "order_not_refundable")));
    assert_eq!(merchant.order(&order).await["payment_summary"]["refundable"], 0);
}
