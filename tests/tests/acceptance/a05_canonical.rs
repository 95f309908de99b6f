//! A5: what is canonical cannot be written by a merchant (contract 4.6, I11).

use serde_json::{Value, json};
use tests::{Database, Merchant, has, on_every_database};

on_every_database!(a05_no_member_of_the_canonical_order_can_be_written);

/// The members of the order that a fulfilment update may name.
const WRITABLE: [&str; 2] = ["fulfillment_status", "line_items"];

async fn a05_no_member_of_the_canonical_order_can_be_written(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "canonical").await;
    let number = merchant.paid_order().await;
    let order = merchant.order(&number).await;
    let events = merchant.events().await;
    let fulfil =
        async |body: &Value| merchant.api.patch(&format!("/orders/{number}/fulfillment"), body).await;
    let members: Vec<&String> =
        order.as_object().unwrap().keys().filter(|name| !WRITABLE.contains(&name.as_str())).collect();
    assert!(members.len() > 25, "{members:?}");
    for member in members {
        // Its own value, and beside something that could be written.
        let body = json!({ "fulfillment_status": "fulfilled", member: order[member] });
        let problem = fulfil(&body).await.refused(422, "field_not_writable");
        has(&problem["errors"][0], json!({ "pointer": format!("/{member}"), "code": "field_not_writable" }));
    }
    let body = json!({ "amounts": { "total": 1 }, "currency": "EUR", "payment_status": "refunded" });
    let problem = fulfil(&body).await.refused(422, "field_not_writable");
    assert_eq!(problem["errors"].as_array().unwrap().len(), 3);
    fulfil(&json!({ "total": 1 })).await.refused(422, "unknown_field");
    assert_eq!(merchant.order(&number).await, order);
    assert_eq!(merchant.events().await, events);
}
