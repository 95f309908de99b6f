//! Row 5: an instance stops in the middle of a transaction, and what the merchants of another instance notice.
//!
//! Two instances on one database. The first has some load; as soon as one of its transactions has made two round trips
//! its connection is held, and either nothing more happens (the network of one connection stalls) or its process is
//! stopped too (`SIGSTOP`). At the other instance one client per merchant opens checkouts all the time: what counts is
//! the longest time that a merchant had to wait for the next one, and how many were answered 503.
//!
//! Merchants whose shard is held wait for as long as the server leaves the transaction to its holder; all others should
//! notice nothing. Which merchants those are is not known from outside: the distribution over the merchants tells.

use std::time::{Duration, Instant};

use bench_kit::database::Database;
use bench_kit::figures::percentile;
use bench_kit::process::{Signal, signal};
use futures_util::future::join_all;

use crate::choice::Choice;
use crate::figures::Goals;
use crate::rows::plan;
use crate::stand::{Client, FAR, Listeners, Stand};
use crate::work::{Stock, Work};
use bench_kit::goals::Bound::AtMost;

/// Clients of the instance that stops.
const CLIENTS: usize = 16;
/// Before it stops.
const BEFORE: Duration = Duration::from_secs(3);
/// How long it is stopped: longer than a server may leave a transaction to a silent client.
const STOPPED: Duration = Duration::from_secs(20);
/// Round trips in the transaction that is held.
const TRIPS: u32 = 2;
/// A merchant that waits for longer has noticed.
const NOTICED: f64 = 1.0;

/// What stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Connection,
    Process,
}

/// What one merchant of the other instance had.
#[derive(Default)]
struct Served {
    accepted: Vec<Instant>,
    refused: Vec<Instant>,
}

pub(crate) async fn measure(database: &Database, choice: &Choice, goals: &mut Goals) {
    println!(
        "\n| build | what stopped for {} s | longest wait of a merchant, s: least | p50 | p95 | most \
         | merchants that waited > {NOTICED} s | 503 | accepted/s before | meanwhile |",
        STOPPED.as_secs()
    );
    println!("|---|---|{}", "---:|".repeat(8));
    for build in &choice.builds {
        for (what, name) in [(What::Connection, "a connection"), (What::Process, "the process")] {
            let stand = Stand::start(database, plan(build, 2, Some(FAR), Listeners::None)).await;
            tell(build.name, name, &stop(&stand, what).await, goals);
        }
    }
}

/// When it stopped, and what the other instance's merchants had.
struct Outcome {
    begun: Instant,
    stopped: Instant,
    ended: Instant,
    served: Vec<Served>,
}

async fn stop(stand: &Stand, what: What) -> Outcome {
    let stock = Stock::of(stand);
    // Every other client is one of the first instance.
    let clients = stand.clients(2 * crate::MERCHANTS).await;
    let (first, second): (Vec<_>, Vec<_>) =
        clients.into_iter().enumerate().partition(|(number, _)| number % 2 == 0);
    let mut first: Vec<Client> = first.into_iter().take(CLIENTS).map(|(_, client)| client).collect();
    let mut second: Vec<Client> = second.into_iter().map(|(_, client)| client).collect();
    let begun = Instant::now();
    let (ending, end) = tokio::sync::watch::channel(false);
    let load = join_all(first.iter_mut().map(async |client| {
        loop {
            let _ = stock.once(Work::PaidOrder, client, 0).await;
        }
    }));
    let probes = join_all(second.iter_mut().enumerate().map(async |(place, client)| {
        let mut served = Served::default();
        while !*end.borrow() {
            match stock.checkout_of(client, place).await {
                Ok(()) => served.accepted.push(Instant::now()),
                Err(_) => {
                    served.refused.push(Instant::now());
                    // A client that is refused asks again ten times a second.
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
        served
    }));
    let happening = async {
        tokio::time::sleep(BEFORE).await;
        let held = stand.proxies[0].hold_in_transaction(TRIPS).await;
        let pid = stand.instances[0].pid();
        if what == What::Process {
            signal(pid, Signal::STOP);
        }
        let stopped = Instant::now();
        tokio::time::sleep(STOPPED).await;
        signal(pid, Signal::CONT);
        drop(held);
        ending.send_replace(true);
        (stopped, Instant::now())
    };
    let seen = async { tokio::join!(probes, happening) };
    let (served, (stopped, ended)) = tokio::select! {
        seen = seen => seen,
        _ = load => unreachable!("the load goes on until it is dropped"),
    };
    Outcome { begun, stopped, ended, served }
}

fn tell(build: &str, name: &str, outcome: &Outcome, goals: &mut Goals) {
    let Outcome { begun, stopped, ended, served } = outcome;
    let inside = |at: &&Instant| *at >= stopped && *at <= ended;
    let mut waits: Vec<f64> = served.iter().map(|served| longest_wait(served, *stopped, *ended)).collect();
    waits.sort_unstable_by(f64::total_cmp);
    let noticed = waits.iter().filter(|wait| **wait > NOTICED).count();
    let refused: usize = served.iter().map(|served| served.refused.iter().filter(inside).count()).sum();
    let meanwhile: usize = served.iter().map(|served| served.accepted.iter().filter(inside).count()).sum();
    let before: usize =
        served.iter().map(|served| served.accepted.iter().filter(|at| *at < stopped).count()).sum();
    let [p0, p50, p95, p100] = [0, 50, 95, 100].map(|share| percentile(&waits, share));
    println!(
        "| {build} | {name} | {p0:.2} | {p50:.2} | {p95:.2} | {p100:.2} | {noticed} of {} | {refused} | {:.0} | {:.0} |",
        served.len(),
        before as f64 / (*stopped - *begun).as_secs_f64(),
        meanwhile as f64 / (*ended - *stopped).as_secs_f64(),
    );
    // With 64 merchants on as many shards, hardly more than one in ten is of the shard that is held.
    let others = percentile(&waits, 80);
    goals.note(
        build,
        &format!("5: {name} stopped, longest wait of 80 % of merchants, s"),
        others,
        AtMost(1.0),
    );
    goals.note(build, &format!("5: {name} stopped, 503"), refused as f64, AtMost(0.0));
}

/// The longest time without an answer of 2xx while the instance was stopped, in seconds.
fn longest_wait(served: &Served, stopped: Instant, ended: Instant) -> f64 {
    let before = served.accepted.iter().rev().find(|at| **at < stopped).copied().unwrap_or(stopped);
    let inside = served.accepted.iter().filter(|at| **at >= stopped && **at <= ended).copied();
    let times: Vec<Instant> = std::iter::once(before).chain(inside).chain([ended]).collect();
    times.windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64()).fold(0.0, f64::max)
}
