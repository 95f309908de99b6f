//! What one authority on SQLite carries from the operator's request to the receiver's door.
//!
//! A real `authority serve` (release build, durable settings) is driven over HTTP from this process, which is also the
//! receiver. Two loads, each at several numbers of clients: checkouts, one event and one delivery per request; and
//! paid orders, three requests, six events and six deliveries each. It reports requests answered and deliveries
//! received per second, and the time from an event's `created_at` to its arrival.
//!
//! Run by `cargo xtask bench deliver`. Not a test: it asserts only that nothing was lost.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a benchmark reads the clock and may fail loudly"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use authority_domain::time::Timestamp;
use tests::authority::Authority;
use tests::merchant::Merchant;
use tests::receiver::{Answer, Receiver};
use tokio::sync::mpsc;

/// Merchants the load is spread over.
const MERCHANTS: usize = 16;

/// A load: how much of it, and what one unit makes.
struct Load {
    name: &'static str,
    units: usize,
    events_per_unit: usize,
    requests_per_unit: usize,
}

const LOADS: [Load; 2] = [
    Load { name: "checkouts", units: 3_000, events_per_unit: 1, requests_per_unit: 1 },
    Load { name: "paid orders", units: 1_000, events_per_unit: 6, requests_per_unit: 3 },
];

const CLIENTS: [usize; 3] = [1, 16, 64];

#[tokio::main]
async fn main() {
    println!("| load | clients | requests/s | delivered/s | created to arrival p50 | p99 |");
    println!("|---|---:|---:|---:|---:|---:|");
    for load in &LOADS {
        for clients in CLIENTS {
            let units = if clients == 1 { load.units / 4 } else { load.units };
            let figures = measure(load, units, clients).await;
            println!("| {} | {clients} | {figures} |", load.name);
        }
    }
}

async fn measure(load: &Load, units: usize, clients: usize) -> String {
    let (arrived, mut arrivals) = mpsc::unbounded_channel();
    let receiver = Receiver::start(move |arrival| {
        let created = verify_core::event::read(&arrival.body).unwrap().created_at.into_owned();
        let waited = now_ms() - Timestamp::parse(&created).unwrap().as_ms();
        let _ = arrived.send(waited);
        Answer::status(200)
    })
    .await;
    let authority = Authority::start(&[("AUTHORITY_LOG", "warn")]).await;
    let mut merchants = Vec::new();
    for n in 0..MERCHANTS {
        let merchant = Merchant::create(&authority, &format!("bench-{n}")).await;
        merchant.endpoint(&receiver.url("/hook"), &["*"]).await;
        merchants.push(merchant);
    }
    let merchants = Arc::new(merchants);
    let next = Arc::new(AtomicUsize::new(0));
    let started = Instant::now();
    let mut running = Vec::new();
    for _ in 0..clients {
        let (merchants, next) = (Arc::clone(&merchants), Arc::clone(&next));
        let whole = load.requests_per_unit > 1;
        running.push(tokio::spawn(async move {
            loop {
                let unit = next.fetch_add(1, Ordering::Relaxed);
                let Some(merchant) = merchants.get(unit % MERCHANTS).filter(|_| unit < units) else { return };
                if whole {
                    merchant.paid_order().await;
                } else {
                    merchant.checkout().await;
                }
            }
        }));
    }
    for client in running {
        client.await.unwrap();
    }
    let answered = started.elapsed().as_secs_f64();
    let expected = units * load.events_per_unit;
    let mut waits = Vec::with_capacity(expected);
    while waits.len() < expected {
        waits.push(arrivals.recv().await.unwrap());
    }
    let delivered = started.elapsed().as_secs_f64();
    waits.sort_unstable();
    let at = |share: usize| waits.get(waits.len() * share / 100).copied().unwrap_or_default();
    format!(
        "{:.0} | {:.0} | {} ms | {} ms",
        (units * load.requests_per_unit) as f64 / answered,
        expected as f64 / delivered,
        at(50),
        at(99)
    )
}

fn now_ms() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}
