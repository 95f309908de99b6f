//! Receivers that can take only so much (contract 18.4-5, 18.4-8): how much of it they get, and how often they have to
//! refuse. Each has an authority of its own, one merchant and one endpoint, and more events waiting than it can take.

use std::time::{Duration, Instant};

use bench_kit::connection::Connection;
use bench_kit::database::Database;
use bytes::Bytes;
use futures_util::future::join_all;
use tests::authority::Authority;
use tests::memory::peak_memory_mib;
use tests::merchant::{Merchant, checkout_body};

use crate::choice::Choice;
use crate::limited::{Limit, Limited, Seen};
use crate::stand::path;
use bench_kit::goals::Bound::{AtLeast, AtMost};
use bench_kit::goals::Goals;

/// What is asked of one receiver.
struct Case {
    name: &'static str,
    limit: Limit,
    events: usize,
    /// What it can take, per second.
    possible: f64,
    /// How long is watched, at most.
    time: Duration,
}

const fn case(name: &'static str, limit: Limit, events: usize, possible: f64, seconds: u64) -> Case {
    Case { name, limit, events, possible, time: Duration::from_secs(seconds) }
}

const FIFTY: Limit = Limit::AtOnce { places: 50, retry_after_s: None };
const FIFTY_WITH_RETRY_AFTER: Limit = Limit::AtOnce { places: 50, retry_after_s: Some(1) };
const FALLS_AT_100: Limit = Limit::Falls { at: 100, needs: Duration::from_secs(30) };

const CASES: [Case; 6] = [
    case("room for 50 at once, 429 beyond", FIFTY, 25_000, 500.0, 60),
    case("room for 50 at once, 429 with Retry-After: 1 beyond", FIFTY_WITH_RETRY_AFTER, 25_000, 500.0, 60),
    case("1 per second, Retry-After: 1", Limit::PerSecond { rate: 1.0, saved: 1.0 }, 20, 1.0, 60),
    case("100 per second, Retry-After: 1", Limit::PerSecond { rate: 100.0, saved: 100.0 }, 3_000, 100.0, 60),
    case("slower beyond 20 at once", Limit::Slows { places: 20 }, 4_000, 200.0, 60),
    case("falls over at 100 at once, needs 30 s", FALLS_AT_100, 60_000, 990.0, 120),
];

pub(crate) async fn measure(database: &Database, choice: &Choice, goals: &mut Goals) {
    let name = database.kind.name();
    println!(
        "\n| database | receiver | events | taken | in s | of what is possible | refused, % | most at once | falls | \
         failed for good | peak MiB |\n|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    );
    for case in CASES.iter().filter(|case| case.name.contains(&choice.receiver)) {
        let receiver = Limited::new(case.limit);
        let (authority, merchant, endpoint) = shop(database, &receiver).await;
        let begun = Instant::now();
        ask(&authority, &merchant, case.events).await;
        let seen = watch(&receiver, case, begun).await;
        let took = (seen.last.unwrap_or(begun) - begun).as_secs_f64();
        let part = seen.taken as f64 / took / case.possible;
        let refused = 100.0 * seen.refused as f64 / (seen.taken + seen.refused) as f64;
        let failed = format!("/deliveries?endpoint_id={}&status=failed&limit=100", endpoint.id);
        let failed = merchant.operator.get(&failed).await.expect(200);
        let failed = failed["data"].as_array().unwrap().len();
        let memory = peak_memory_mib(authority.pid());
        println!(
            "| {name} | {} | {} | {} | {took:.1} | {part:.2} | {refused:.2} | {} | {} | {failed} | {memory} |",
            case.name, case.events, seen.taken, seen.most, seen.falls
        );
        let mut goal = |what: &str, figure, bound| {
            goals.note(&format!("{name}, {}: {what}", case.name), figure, bound);
        };
        match case.limit {
            Limit::AtOnce { .. } => {
                goal("taken in parts of what is possible", part, AtLeast(0.9));
                goal("refused, %", refused, AtMost(1.0));
            }
            Limit::PerSecond { rate: 1.0, .. } => {
                goal("taken within 60 s", seen.taken as f64, AtLeast(case.events as f64));
                goal("failed for good", failed as f64, AtMost(0.0));
            }
            _ => {}
        }
        goal("memory, MiB", memory as f64, AtMost(200.0));
    }
}

/// An authority with one merchant, whose endpoint is the receiver.
async fn shop(database: &Database, receiver: &Limited) -> (Authority, Merchant, tests::merchant::Endpoint) {
    use std::sync::atomic::{AtomicU32, Ordering};
    static MADE: AtomicU32 = AtomicU32::new(0);
    let name = format!("limits-{}.db", MADE.fetch_add(1, Ordering::Relaxed));
    let variables = [("AUTHORITY_LOG", "error"), crate::waiting::SCHEDULE];
    let authority = database.authority(&name, &variables).await;
    let merchant = Merchant::create(&authority, "limited").await;
    let endpoint = merchant.endpoint(&receiver.open().await, &["*"]).await;
    (authority, merchant, endpoint)
}

/// Makes the events as quickly as 64 clients can.
async fn ask(authority: &Authority, merchant: &Merchant, events: usize) {
    let path = path(&merchant.id);
    let clients = events.min(64);
    let body = Bytes::from(checkout_body().to_string());
    let connections = Connection::of_operator(authority, clients).await;
    let asking = connections.into_iter().enumerate().map(async |(client, mut connection)| {
        for _ in (client..events).step_by(clients) {
            connection.post(&path, body.clone()).await;
        }
    });
    join_all(asking).await;
}

/// Waits until it has taken everything, or the time is up.
async fn watch(receiver: &Limited, case: &Case, begun: Instant) -> Seen {
    loop {
        let seen = receiver.seen();
        if seen.taken >= case.events || begun.elapsed() >= case.time {
            return seen;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
