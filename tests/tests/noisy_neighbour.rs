//! The figure of contract 15.4 and 18.4-1: while thousands of deliveries wait for receivers that take 14 s over each,
//! one of them, 33 or 500, the p95 of another merchant's commit-to-arrival time is at most twice what it is
//! undisturbed, or 50 ms. `cargo xtask prove noisy-neighbour` runs it on a release build; the mechanism behind it is
//! fault C.
//!
//! Two services stand side by side on the same machine, with the same merchants and the same events; the receivers of
//! one answer at once instead, so that nothing waits there when the measurement begins. The same client asks one,
//! waits for the arrival, asks the other, waits, and so on: whatever else the machine does meets both alike. The time
//! runs from sending the request to the arrival at the receiver, so it has the commit in it.

#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use authority::clock::{Clock as _, SystemClock};
use postgres_cluster::{Cluster, Durability};
use serde_json::json;
use tests::memory::peak_memory_mib;
use tests::{Answer, Authority, Merchant, Receiver, eventually};

/// How long a slow receiver takes: just below the time that an attempt may take.
const SLOW: Duration = Duration::from_secs(14);
/// The most that the disturbed p95 may be of the undisturbed.
const RATIO: f64 = 2.0;
/// What it may be in any case, in milliseconds.
const ALWAYS_MS: f64 = 50.0;
/// What the process may have used at most, in MiB, and how much more than the undisturbed one.
const MEMORY_MIB: u64 = 200;
const MORE_MEMORY_MIB: u64 = 64;

/// The last is that of contract 18.4-1: 500 endpoints of 500 merchants.
const CASES: [Noise; 3] = [
    Noise { endpoints: 1, each: 1, orders: 270, in_flight: 8 },
    Noise { endpoints: 33, each: 16, orders: 30, in_flight: 33 * 8 },
    Noise { endpoints: 500, each: 1, orders: 6, in_flight: 1_000 },
];

/// Those with as many slow endpoints as `NEIGHBOUR_SLOW` says, or all.
fn cases() -> impl Iterator<Item = &'static Noise> {
    let slow: Option<usize> = std::env::var("NEIGHBOUR_SLOW").ok().and_then(|text| text.parse().ok());
    CASES.iter().filter(move |noise| slow.is_none_or(|slow| noise.endpoints == slow))
}

#[tokio::test]
#[ignore = "a figure: cargo xtask prove noisy-neighbour"]
async fn proof_on_sqlite() {
    head();
    for noise in cases() {
        let [undisturbed, disturbed] =
            [Authority::start(&VARIABLES).await, Authority::start(&VARIABLES).await];
        compare("SQLite", noise, undisturbed, disturbed).await;
    }
}

#[tokio::test]
#[ignore = "a figure: cargo xtask prove noisy-neighbour"]
async fn proof_on_postgres() {
    head();
    let cluster = Cluster::start(Durability::On);
    for noise in cases() {
        let mut authorities = Vec::new();
        for _ in 0..2 {
            let url = cluster.database().await;
            let variables = [&[("AUTHORITY_DATABASE_URL", url.as_str())][..], &VARIABLES].concat();
            authorities.push(Authority::start(&variables).await);
        }
        let (disturbed, undisturbed) = (authorities.pop().unwrap(), authorities.pop().unwrap());
        compare("PostgreSQL", noise, undisturbed, disturbed).await;
    }
}

const VARIABLES: [(&str, &str); 1] = [("AUTHORITY_LOG", "warn")];

/// Receivers that take their time.
struct Noise {
    endpoints: usize,
    /// Endpoints of one merchant.
    each: usize,
    /// Orders of one merchant.
    orders: u32,
    /// Requests that are in flight when the measurement begins.
    in_flight: usize,
}

impl Noise {
    /// Has merchants with so many endpoints, which take so long, make their deliveries.
    async fn begin(&self, authority: &Authority, takes: Duration) -> Receiver {
        let slow = Receiver::start(move |_| Answer::status(200).after(takes)).await;
        let mut keys = Vec::new();
        for first in (0..self.endpoints).step_by(self.each) {
            let merchant = Merchant::create(authority, &format!("noisy-{first}")).await;
            for nth in first..self.endpoints.min(first + self.each) {
                merchant.endpoint(&slow.url(&format!("/slow/{nth}")), &["*"]).await;
            }
            keys.push(merchant.key);
        }
        let orders = json!({ "orders": self.orders, "seed": 1 });
        for key in &keys {
            authority.sandbox(key).post("/seed", &orders).await.expect(201);
        }
        slow.until("the receivers' requests", |arrivals| arrivals.all.len() >= self.in_flight).await;
        slow
    }
}

/// A merchant with a receiver that answers at once.
struct Quiet {
    merchant: Merchant,
    receiver: Receiver,
    times: Vec<Duration>,
}

impl Quiet {
    async fn open(authority: &Authority) -> Self {
        let receiver = Receiver::accepting().await;
        let merchant = Merchant::create(authority, "quiet").await;
        merchant.endpoint(&receiver.url("/quiet"), &["checkout.created"]).await;
        Self { merchant, receiver, times: Vec::new() }
    }

    /// One event, from the request to its arrival.
    async fn event(&mut self, clock: SystemClock) {
        let n = self.times.len() + 1;
        let begun = clock.monotonic();
        let arrived = self.receiver.until("the event", |arrivals| arrivals.accepted("/quiet") >= n);
        let (_, took) = tokio::join!(self.merchant.checkout(), async {
            arrived.await;
            clock.monotonic() - begun
        });
        self.times.push(took);
    }

    /// The time that this share of the events stayed within, in milliseconds. The first tenth warms up.
    fn quantile(&self, share: f64) -> f64 {
        let mut times = self.times[self.times.len() / 10..].to_vec();
        times.sort_unstable();
        let at = ((times.len() as f64 * share).ceil() as usize).clamp(1, times.len()) - 1;
        times[at].as_secs_f64() * 1e3
    }
}

fn head() {
    println!(
        "| database | slow endpoints | deliveries that wait | undisturbed ms, p50 p95 p99 | beside them | p95 ratio | peak MiB of both |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|");
}

async fn compare(database: &str, noise: &Noise, undisturbed: Authority, disturbed: Authority) {
    let events: usize =
        std::env::var("NEIGHBOUR_EVENTS").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000);
    let mut quiet = [Quiet::open(&undisturbed).await, Quiet::open(&disturbed).await];
    let done = noise.begin(&undisturbed, Duration::ZERO).await;
    eventually("the undisturbed service has nothing to do", async || {
        (pending(&undisturbed).await == 0).then_some(())
    })
    .await;
    let slow = noise.begin(&disturbed, SLOW).await;
    let clock = SystemClock::new();
    for _ in 0..events {
        for quiet in &mut quiet {
            quiet.event(clock).await;
        }
    }
    let waiting = pending(&disturbed).await;
    assert!(waiting >= 1_000, "only {waiting} were waiting at the end");
    let [without, with] = &quiet;
    let line =
        |quiet: &Quiet| [0.5, 0.95, 0.99].map(|share| format!("{:.2}", quiet.quantile(share))).join(" ");
    let ratio = with.quantile(0.95) / without.quantile(0.95);
    let [calm, memory] = [&undisturbed, &disturbed].map(|authority| peak_memory_mib(authority.pid()));
    println!(
        "| {database} | {} | {waiting} | {} | {} | {ratio:.2} | {calm} {memory} |",
        noise.endpoints,
        line(without),
        line(with)
    );
    assert!(ratio <= RATIO || with.quantile(0.95) <= ALWAYS_MS, "the neighbour is disturbed: {ratio:.2}");
    assert!(memory <= MEMORY_MIB && memory <= calm + MORE_MEMORY_MIB, "{memory} MiB");
    drop((done, slow));
}

/// Deliveries that wait.
async fn pending(authority: &Authority) -> u64 {
    authority.operator().get("/outbox").await.expect(200)["pending"].as_u64().unwrap()
}
