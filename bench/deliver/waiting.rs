//! What a million deliveries that wait for a dead endpoint cost everybody else.
//!
//! Two authorities on databases of their own, one of which has them: each is asked for the same 200 events per second
//! in its turn while the other one is held (`SIGSTOP`), since the dead endpoint is tried again and again. Before
//! that, while the endpoint has not failed yet and no service runs, what a claim costs is measured in this process,
//! on the database with the million and on one with a thousand: the same function of the store that the dispatcher
//! calls, undone each time, so that every claim finds the same.

use std::time::Duration;

use bench_kit::claim::{claim, store};
use bench_kit::database::Database;
use bench_kit::figures::{median, of, ratio};
use bench_kit::process::{Signal, signal};
use tests::memory::peak_memory_mib;

use crate::choice::Choice;
use crate::dead;
use crate::receiver::Receivers;
use crate::stand::{MERCHANTS, Shop};
use crate::turn::waits;
use bench_kit::goals::Bound::AtMost;
use bench_kit::goals::Goals;

/// Requests per second.
const RATE: f64 = 200.0;
/// A turn lasts so many times what it lasts in the grid: there are fewer requests in it.
const LONGER: u32 = 2;
const WARM_UP: Duration = Duration::from_secs(1);
/// What few deliveries are.
const FEW: u32 = 1_000;
/// Requests in flight to an endpoint that nothing is known of: so many a claim takes.
const PER_ENDPOINT: usize = 8;
/// Claims that are measured on each database.
const CLAIMS: usize = 300;
/// The schedule of production; the first attempt fails at once.
pub(crate) const SCHEDULE: (&str, &str) =
    ("AUTHORITY_RETRY_SCHEDULE", "0,5,300,1800,7200,18000,36000,50400,72000,86400");

pub(crate) async fn measure(database: &Database, choice: &Choice, goals: &mut Goals) {
    let name = database.kind.name();
    let quiet = shop(database).await;
    let mut burdened = shop(database).await;
    eprintln!("{name}: {} deliveries wait for a dead endpoint", choice.waiting);
    let _deaf = dead::endpoint(&mut burdened.authority, choice.waiting).await;
    claims(database, &burdened, choice, goals).await;
    burdened.authority.restart().await;
    let shops = [quiet, burdened];
    for shop in &shops {
        signal(shop.authority.pid(), Signal::STOP);
    }
    let mut turns = [Vec::new(), Vec::new()];
    for round in 0..=choice.rounds {
        for (shop, turns) in shops.iter().zip(&mut turns) {
            signal(shop.authority.pid(), Signal::CONT);
            shop.ask(RATE, WARM_UP).await;
            if round > 0 {
                turns.push(shop.ask(RATE, choice.turn * LONGER).await);
            }
            signal(shop.authority.pid(), Signal::STOP);
        }
    }
    let memory = shops.each_ref().map(|shop| peak_memory_mib(shop.authority.pid()));
    let [quiet, burdened] = &turns;
    let ratio = ratio(burdened, quiet, |turn| turn.from_due.p95);
    println!(
        "\n{name}, {RATE} requests/s, {} deliveries waiting for a dead endpoint / none:\n\
         due to arrival ms, p50 p95 p99: {} / {}; ratio of p95 {ratio:.2}; answer to arrival: {} / {}; \
         CPU µs each: {:.0} / {:.0} (database server {:.0} / {:.0}); peak MiB: {} / {}",
        choice.waiting,
        waits(burdened, |turn| turn.from_due),
        waits(quiet, |turn| turn.from_due),
        waits(burdened, |turn| turn.from_answer),
        waits(quiet, |turn| turn.from_answer),
        of(burdened, |turn| turn.cpu_us),
        of(quiet, |turn| turn.cpu_us),
        of(burdened, |turn| turn.database_cpu_us),
        of(quiet, |turn| turn.database_cpu_us),
        memory[1],
        memory[0],
    );
    goals.note(&format!("{name}, dead endpoint: others' p95 in parts of undisturbed"), ratio, AtMost(1.2));
    goals.note(&format!("{name}, dead endpoint: memory, MiB"), memory[1] as f64, AtMost(200.0));
}

async fn claims(database: &Database, burdened: &Shop, choice: &Choice, goals: &mut Goals) {
    let name = database.kind.name();
    let mut light = shop(database).await;
    let _deaf = dead::endpoint(&mut light.authority, FEW).await;
    let few = store(light.authority.database_url()).await;
    let many = store(burdened.authority.database_url()).await;
    let mut took = [Vec::new(), Vec::new()];
    for _ in 0..CLAIMS {
        for (store, took) in [&many, &few].into_iter().zip(&mut took) {
            took.push(claim(store, crate::floor::now_ms(), 256, PER_ENDPOINT).await.as_secs_f64() * 1e6);
        }
    }
    let ratio = ratio(&took[0], &took[1], |took| *took);
    let [many_us, few_us] = took.map(median);
    println!(
        "{name}, a claim with {} / {FEW} waiting: {many_us:.0} / {few_us:.0} µs; ratio {ratio:.2}",
        choice.waiting
    );
    goals.note(&format!("{name}, dead endpoint: a claim in parts of one beside {FEW}"), ratio, AtMost(1.2));
    few.close().await;
    many.close().await;
}

async fn shop(database: &Database) -> Shop {
    Shop::open(database, &Receivers::default(), MERCHANTS, 1, &[SCHEDULE]).await
}
