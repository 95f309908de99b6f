//! What merchants do about events that have not arrived: see which, have them sent again, try a delivery now (contract
//! 15.1 to 15.3), with a real receiver, on both databases.

mod commands;
mod recovery;
mod recovery_ends;
mod retry;
mod undelivered;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use tests::{Answer, Endpoint, Merchant, Receiver, eventually, text};

/// One attempt per delivery, so that what fails is given up at once.
const ONCE: (&str, &str) = ("AUTHORITY_RETRY_SCHEDULE", "0");

/// A receiver that refuses everything until it is told otherwise.
struct Switched {
    receiver: Receiver,
    up: Arc<AtomicBool>,
}

impl Switched {
    async fn down() -> Self {
        let up = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&up);
        let script = move |_: &_| Answer::status(if asked.load(Ordering::SeqCst) { 200 } else { 500 });
        Self { receiver: Receiver::start(script).await, up }
    }

    fn goes_up(&self) {
        self.up.store(true, Ordering::SeqCst);
    }
}

fn at(endpoint: &Endpoint, what: &str) -> String {
    format!("/webhook-endpoints/{}/{what}", endpoint.id)
}

/// What has not arrived, as (sequence, reason).
async fn missing(merchant: &Merchant, endpoint: &Endpoint) -> Vec<(u64, String)> {
    let all = merchant.api.list(&at(endpoint, "undelivered")).await;
    all.iter().map(|event| (event["sequence"].as_u64().unwrap(), text(event, "reason"))).collect()
}

/// Waits until a recovery is no longer running.
async fn ended(merchant: &Merchant, recovery: &Value) -> Value {
    let path = format!("/endpoint-recoveries/{}", text(recovery, "id"));
    eventually("the recovery's end", async || {
        let now = merchant.api.get(&path).await.expect(200);
        (now["status"] != "running").then_some(now)
    })
    .await
}
