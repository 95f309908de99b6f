//! A million merchants beside ten thousand (bench/README.md, "Merchants").
//!
//! Processes: `authority serve` (release build) twice, each on a database of its own, the databases, and this one,
//! which fills them and asks. The same ten events belong to every merchant ([`fill`]), so the larger database has ten
//! million of them. What a start takes is measured, and a process that nobody asks; then both services are asked in
//! turns while the other one is held (`SIGSTOP`): pages, an order and writes, each time of another merchant
//! ([`asks`]). At last, while no service runs, a claim of due deliveries is measured in the store ([`claim`]). What
//! must not grow with the merchants is told as the ratio of the two.
//!
//! Run by `cargo xtask bench merchants`. Words on the command line choose: `sqlite` or `postgres`,
//! `merchants=100000`, `few=1000`, `rounds=5`, `doctor`, which has the smaller database examined, and `before=PATH`,
//! another binary of the authority, which makes the databases and is measured first. Not a test: it asserts only that
//! answers are good.

mod asks;
mod bulk;
mod claim;
mod fill;
mod side;

use std::path::{Path, PathBuf};

use asks::{Ask, Client};
use bench_kit::database::{Database, Kind};
use bench_kit::figures::{median, percentile};
use bench_kit::goals::Bound::AtMost;
use bench_kit::goals::Goals;
use bench_kit::process::Signal;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use side::Side;
use tests::binary::binary;

/// Starts of each service that are timed.
const STARTS: usize = 3;
/// The goal: how much more anything takes on the larger database.
const GOAL: f64 = 1.2;

struct Choice {
    databases: Vec<Kind>,
    merchants: u64,
    few: u64,
    rounds: u64,
    doctor: bool,
    before: Option<PathBuf>,
}

impl Choice {
    fn read() -> Self {
        let words: Vec<String> = std::env::args().skip(1).collect();
        let number = |name| words.iter().find_map(|word| word.strip_prefix(name)?.parse().ok());
        Self {
            databases: Kind::named(&words),
            merchants: number("merchants=").unwrap_or(1_000_000),
            few: number("few=").unwrap_or(10_000),
            rounds: number("rounds=").unwrap_or(10),
            doctor: words.iter().any(|word| word == "doctor"),
            before: words.iter().find_map(|word| word.strip_prefix("before=")).map(PathBuf::from),
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let choice = Choice::read();
    let mut goals = Goals::default();
    for kind in &choice.databases {
        let database = Database::make(*kind);
        let build = choice.before.as_deref().unwrap_or(binary());
        let many = Side::make(&database, build, "many", choice.merchants).await;
        let few = Side::make(&database, build, "few", choice.few).await;
        measure(&database, [many, few], &choice, &mut goals).await;
    }
    print!("{goals}");
}

/// The larger side comes first, here and in all that is printed.
async fn measure(database: &Database, mut sides: [Side; 2], choice: &Choice, goals: &mut Goals) {
    let name = database.kind.name();
    if choice.doctor {
        sides[1].authority.is_sound().await;
    }
    if let Some(before) = &choice.before {
        services(database, before, &mut sides, choice, &mut Goals::default()).await;
    }
    services(database, binary(), &mut sides, choice, goals).await;
    for (what, [many, few]) in claim::measure(&sides).await {
        println!("| {what} | {many:.0} / {few:.0} | | {:.2} |", many / few);
        goals.note(&format!("{name}: {what}"), many / few, AtMost(GOAL));
    }
}

/// Everything that is measured of the services, which do not run before and behind it.
async fn services(
    database: &Database,
    build: &Path,
    sides: &mut [Side; 2],
    choice: &Choice,
    goals: &mut Goals,
) {
    let name = database.kind.name();
    let Choice { merchants, few, .. } = choice;
    println!("\n| {name}, {}: {merchants} merchants / {few} | p50 | p95 | ratio |", build.display());
    println!("|---|---:|---:|---:|");
    for side in &mut *sides {
        side.becomes(build).await;
    }
    starts(database, sides).await;
    asked(name, sides, choice.rounds, goals).await;
    for side in sides {
        side.authority.terminate().await;
    }
}

/// What a start takes, and then each process alone at rest. Both are held afterwards.
async fn starts(database: &Database, sides: &mut [Side; 2]) {
    let mut took = [Vec::new(), Vec::new()];
    for start in 1..=STARTS {
        for (side, took) in sides.iter_mut().zip(&mut took) {
            took.push(side.start().await);
            if start < STARTS {
                side.authority.terminate().await;
            }
        }
    }
    let [many, few] = took.map(median);
    println!("| a start, ms | {many:.0} / {few:.0} | | {:.2} |", many / few);
    sides.iter().for_each(|side| side.signal(Signal::STOP));
    let mut rest = Vec::new();
    for side in &*sides {
        side.signal(Signal::CONT);
        rest.push(side.rest(database).await);
        side.signal(Signal::STOP);
    }
    let [many, few] = [&rest[0], &rest[1]];
    for (what, many, few) in [
        ("at rest, CPU ms per second", many.cpu_ms[0], few.cpu_ms[0]),
        ("… of the database server", many.cpu_ms[1], few.cpu_ms[1]),
        ("… memory of the service, MiB", many.memory_mib, few.memory_mib),
    ] {
        println!("| {what} | {many:.1} / {few:.1} | | |");
    }
}

async fn asked(name: &str, sides: &[Side; 2], rounds: u64, goals: &mut Goals) {
    let mut dice = [0; 2].map(StdRng::seed_from_u64);
    for ask in Ask::ALL {
        let (mut all, mut ratios) = ([Vec::new(), Vec::new()], Vec::new());
        for round in 0..=rounds {
            let mut medians = [0.0; 2];
            for (place, side) in sides.iter().enumerate() {
                side.signal(Signal::CONT);
                // Connections that rested while the service was held may be closed.
                let mut client = Client::open(&side.authority, &mut dice[place]).await;
                let mut took = Vec::new();
                for _ in 0..ask.times() {
                    took.push(client.ask(ask, &side.shop).await);
                }
                side.signal(Signal::STOP);
                medians[place] = median(took.clone());
                // The first round prepares statements.
                if round > 0 {
                    all[place].append(&mut took);
                }
            }
            if round > 0 {
                ratios.push(medians[0] / medians[1]);
            }
        }
        all.iter_mut().for_each(|took| took.sort_unstable_by(f64::total_cmp));
        let of = |share| all.each_ref().map(|took| percentile(took, share));
        let ([many50, few50], [many95, few95]) = (of(50), of(95));
        let ratio = median(ratios);
        println!("| {}, ms | {many50:.2} / {few50:.2} | {many95:.2} / {few95:.2} | {ratio:.2} |", ask.name());
        goals.note(&format!("{name}: {}", ask.name()), ratio, AtMost(GOAL));
    }
    sides.iter().for_each(|side| side.signal(Signal::CONT));
}
