//! An endpoint that keeps failing for five days is given up by time alone too (contract 7.5, 15.6). By attempts it is
//! A12.

use serde_json::json;
use tests::{Answer, Database, Merchant, Receiver, on_both_databases, retries};

use crate::holding_back::{HOUR_MS, failures, fares};

on_both_databases!(time_alone_disables);

/// Four attempts, one right after the other.
const FOUR_ATTEMPTS: [(&str, &str); 1] = [retries("0,0,0,0")];

/// Every delivery has used up its attempts long before the five days are over, and nothing new comes: no attempt will
/// ever find the endpoint out.
async fn time_alone_disables(database: Database) {
    let (service, merchant) = Merchant::inside(database, &FOUR_ATTEMPTS, "acme").await;
    let receiver = Receiver::start(|_| Answer::status(500)).await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["checkout.created"]).await;
    merchant.checkouts(3).await;
    fares(&merchant, &endpoint, "four attempts each", |now| failures(now) == 12).await;
    let service = service.restarted_after(120 * HOUR_MS - 1, &FOUR_ATTEMPTS).await;
    let merchant = merchant.at(&service);
    let now = fares(&merchant, &endpoint, "a day", |now| now["health"]["state"] == "failing").await;
    assert_eq!(now["status"], "enabled");
    let service = service.restarted_after(1, &FOUR_ATTEMPTS).await;
    let merchant = merchant.at(&service);
    let now = fares(&merchant, &endpoint, "five days", |now| now["status"] == "disabled").await;
    assert_eq!((&now["disabled_reason"], failures(&now)), (&json!("failing"), 12));
    let health = merchant.health().await;
    let alerts: Vec<_> = health["alerts"].as_array().unwrap().iter().map(|alert| &alert["code"]).collect();
    assert_eq!(alerts, ["endpoint_disabled"], "nothing is said twice");
    assert_eq!(receiver.arrivals().all.len(), 12);
    service.stop().await;
}
