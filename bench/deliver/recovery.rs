//! A receiver that was away for two hours (contract 15.2): how fast it gets what it missed, and when fresh events
//! arrive meanwhile.
//!
//! The endpoint is disabled while the events are made, enabled again, and recovered from the beginning. It takes 100
//! ms over each request, so its places are what bounds it. Fresh events are asked for at the rate of before, as long
//! as it has something to catch up on.

use std::time::{Duration, Instant};

use bench_kit::connection::Connection;
use bench_kit::database::Database;
use bench_kit::figures::percentile;
use http::Method;
use serde_json::json;
use tests::authority::Authority;
use tests::memory::peak_memory_mib;
use tests::merchant::{Endpoint, Merchant};

use crate::choice::Choice;
use crate::load::{Bound, closed, open};
use crate::receiver::Receivers;
use crate::stand::path;
use bench_kit::goals::Bound::{AtLeast, AtMost};
use bench_kit::goals::Goals;

/// How long the receiver takes, in milliseconds.
const TAKES_MS: u64 = 100;
/// What its places allow, per second.
const POSSIBLE: f64 = 128.0 * 1e3 / TAKES_MS as f64;
/// Fresh events per second.
const RATE: f64 = 50.0;
const CLIENTS: usize = 64;

pub(crate) async fn measure(database: &Database, choice: &Choice, goals: &mut Goals) {
    let name = database.kind.name();
    let missed = choice.missed;
    let receivers = Receivers::default();
    let (authority, merchant, endpoint) = shop(database, &receivers).await;
    let paths = [path(&merchant.id)];
    let path = format!("/webhook-endpoints/{}", endpoint.id);
    switch(&merchant, &path, "disabled").await;
    let bound = Bound { time: Duration::MAX, requests: missed };
    closed(Connection::of_operator(&authority, CLIENTS).await, &paths, bound, &receivers.journal).await;
    receivers.journal.take(0).await;
    switch(&merchant, &path, "enabled").await;
    let since = json!({ "since": "2020-01-01T00:00:00Z" });
    merchant.api.post(&format!("{path}/recover"), &since).await.expect(202);
    // As long as it would take with a few places fewer: the last of them arrive when it has caught up.
    let time = Duration::from_secs_f64(missed as f64 / (0.8 * POSSIBLE - RATE));
    let (asked, (arrived, caught_up)) = tokio::join!(
        open(Connection::of_operator(&authority, CLIENTS).await, &paths, RATE, time, &receivers.journal),
        caught_up(&receivers, missed, time)
    );
    let waits = receivers.journal.take(missed + asked.requests).await.from_due;
    let [p50, p95, p99] = [50, 95, 99].map(|share| percentile(&waits, share));
    let most = waits.last().copied().unwrap_or_default();
    let taken = arrived as f64 / caught_up.as_secs_f64();
    let memory = peak_memory_mib(authority.pid());
    println!(
        "\n| database | missed | caught up in s | delivered/s | of what its places allow | fresh at {RATE}/s: due to arrival \
         ms, p50 p95 p99, most | peak MiB |\n|---|---:|---:|---:|---:|---:|---:|\n\
         | {name} | {missed} | {:.0} | {taken:.0} | {:.2} | {p50:.0} {p95:.0} {p99:.0}, {most:.0} | {memory} |",
        caught_up.as_secs_f64(),
        taken / POSSIBLE,
    );
    let mut goal =
        |what: &str, figure, bound| goals.note(&format!("{name}, recovery: {what}"), figure, bound);
    goal("delivered in parts of what its places allow", taken / POSSIBLE, AtLeast(0.9));
    goal("fresh events, due to arrival, p99 ms", p99, AtMost(5_000.0));
    goal("memory, MiB", memory as f64, AtMost(200.0));
}

/// An authority with one merchant, whose endpoint takes so long.
async fn shop(database: &Database, receivers: &Receivers) -> (Authority, Merchant, Endpoint) {
    let authority = database.authority("recovery.db", &[("AUTHORITY_LOG", "error")]).await;
    let merchant = Merchant::create(&authority, "away").await;
    receivers.delay(TAKES_MS);
    let endpoint = merchant.endpoint(&receivers.open().await, &["checkout.created"]).await;
    (authority, merchant, endpoint)
}

async fn switch(merchant: &Merchant, path: &str, status: &str) {
    merchant.api.call(Method::PATCH, path).json(&json!({ "status": status })).send().await.expect(200);
}

/// How long it took until all that was missed had arrived, and all that is fresh but for the last second's. Returns
/// how many that were.
async fn caught_up(receivers: &Receivers, missed: usize, fresh_for: Duration) -> (usize, Duration) {
    let begun = Instant::now();
    loop {
        let fresh = RATE * (begun.elapsed().min(fresh_for).as_secs_f64() - 1.0).max(0.0);
        let arrived = receivers.journal.arrived_by_now();
        if arrived >= missed + fresh as usize {
            return (arrived, begun.elapsed());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
