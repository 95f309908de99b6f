//! Consumers that keep a copy (contract 4.11 to 4.13), each test on both databases: the feed of changed orders,
//! checkpoints, and what the merchant's systems call an order.

mod checkpoint_reads;
mod checkpoints;
mod feed;
mod references;

use http::Method;
use serde_json::Value;
use tests::{Call, Merchant, Reply, text};

/// A call that sets what a system calls an order.
fn setting(merchant: &Merchant, order: &str, system: &str, body: &Value) -> Call {
    merchant.api.call(Method::PUT, &format!("/orders/{order}/external-references/{system}")).json(body)
}

async fn set(merchant: &Merchant, order: &str, system: &str, body: &Value) -> Reply {
    setting(merchant, order, system, body).send().await
}

async fn remove(merchant: &Merchant, order: &str, system: &str) -> Reply {
    merchant.api.delete(&format!("/orders/{order}/external-references/{system}")).await
}

/// A page of the feed.
async fn changes(merchant: &Merchant, query: &str) -> Value {
    merchant.api.get(&format!("/sync/orders?{query}")).await.expect(200)
}

/// Order, sequence and version of each row of a page.
fn rows(page: &Value) -> Vec<(String, u64, u64)> {
    tests::rows(page)
        .iter()
        .map(|row| {
            (
                text(row, "order_number"),
                row["sequence"].as_u64().unwrap(),
                row["resource_version"].as_u64().unwrap(),
            )
        })
        .collect()
}
