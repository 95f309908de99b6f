//! The figure of contract 15.4: while 1,500 deliveries wait for a receiver that takes 20 s over each, the p95 of another
//! merchant's commit-to-arrival time is at most twice what it is undisturbed. `cargo xtask prove noisy-neighbour` runs it
//! on a release build; the mechanism behind it is fault C.
//!
//! Two services stand side by side on the same machine, one with the slow receiver and one without. The same client asks
//! one, waits for the arrival, asks the other, waits, and so on: whatever else the machine does meets both alike. The
//! time runs from sending the request to the arrival at the receiver, so it has the commit in it.

#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use authority::clock::{Clock as _, SystemClock};
use postgres_cluster::{Cluster, Durability};
use serde_json::json;
use tests::authority::Authority;
use tests::merchant::Merchant;
use tests::receiver::{Answer, Receiver};

/// How long the slow receiver takes.
const SLOW: Duration = Duration::from_secs(20);
/// The most that the disturbed p95 may be of the undisturbed.
const BOUND: f64 = 2.0;

#[tokio::test]
#[ignore = "a figure: cargo xtask prove noisy-neighbour"]
async fn proof_on_sqlite() {
    let [undisturbed, disturbed] = [Authority::start(&VARIABLES).await, Authority::start(&VARIABLES).await];
    compare("SQLite", undisturbed, disturbed).await;
}

#[tokio::test]
#[ignore = "a figure: cargo xtask prove noisy-neighbour"]
async fn proof_on_postgres() {
    let cluster = Cluster::start(Durability::On);
    let mut authorities = Vec::new();
    for _ in 0..2 {
        let url = cluster.database().await;
        let variables = [&[("AUTHORITY_DATABASE_URL", url.as_str())][..], &VARIABLES].concat();
        authorities.push(Authority::start(&variables).await);
    }
    let (disturbed, undisturbed) = (authorities.pop().unwrap(), authorities.pop().unwrap());
    compare("PostgreSQL", undisturbed, disturbed).await;
}

const VARIABLES: [(&str, &str); 2] = [("AUTHORITY_DELIVERY_TIMEOUT_MS", "50000"), ("AUTHORITY_LOG", "warn")];

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
        let arrived = self.receiver.until("the event", |arrivals| arrivals.accepted("/quiet") == n);
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

async fn compare(database: &str, undisturbed: Authority, disturbed: Authority) {
    let events: usize =
        std::env::var("NEIGHBOUR_EVENTS").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000);
    let mut quiet = [Quiet::open(&undisturbed).await, Quiet::open(&disturbed).await];
    let slow = Receiver::start(|_| Answer::status(200).after(SLOW)).await;
    let noisy = Merchant::create(&disturbed, "noisy").await;
    noisy.endpoint(&slow.url("/slow"), &["*"]).await;
    let orders = json!({ "orders": 270, "seed": 1 });
    disturbed.sandbox(&noisy.key).post("/seed", &orders).await.expect(201);
    slow.until("the slow receiver's cap", |arrivals| arrivals.all.len() >= 8).await;
    let clock = SystemClock::new();
    for _ in 0..events {
        for quiet in &mut quiet {
            quiet.event(clock).await;
        }
    }
    let waiting = disturbed.operator().get("/outbox").await.expect(200)["pending"].as_u64().unwrap();
    assert!(waiting >= 1_500, "only {waiting} were waiting at the end");
    println!("{database}, {events} events each, {waiting} deliveries waiting for the slow receiver");
    println!("| ms | p50 | p95 | p99 |\n|---|---|---|---|");
    for (name, quiet) in ["undisturbed", "beside the slow receiver"].iter().zip(&quiet) {
        let [p50, p95, p99] = [0.5, 0.95, 0.99].map(|share| quiet.quantile(share));
        println!("| {name} | {p50:.2} | {p95:.2} | {p99:.2} |");
    }
    let ratio = quiet[1].quantile(0.95) / quiet[0].quantile(0.95);
    println!("p95 ratio: {ratio:.2} (bound {BOUND})");
    assert!(ratio <= BOUND, "the neighbour is disturbed: {ratio:.2}");
}
