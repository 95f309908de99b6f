//! What the authority costs beside the same database without it.
//!
//! Four processes and this one: `authority serve` (release build, durable settings) over a history of 1,000,000
//! events, another over 10,000, a floor (`floor/`: axum and sqlx and nothing else) over the first one's database, and
//! PostgreSQL where it is its turn. This process is the load: it asks one of them at a time, in rounds that go round,
//! so that what else the machine does hits all of them alike.
//!
//! It measures reads of one order, pages of a hundred events from anywhere in the history, and the two requests that
//! pay for an open checkout: answers per second, their p50 and p99, the processor time that the process under load
//! took (the database server's own is told apart), and the memory that the authority ever held.
//!
//! Run by `cargo xtask bench authority`. Not a test: it asserts only that every answer was a good one.

#![expect(clippy::duplicate_mod, reason = "one text of the floor's SQL, compiled for each database")]

mod figures;
mod fill;
mod floor;
mod load;
mod sides;
mod work;

use std::time::Duration;

use bench_kit::database::{Database, Kind};
use figures::{Figures, Round};
use sides::Sides;
use work::Work;

/// Connections of the load; each has one request in flight.
const CLIENTS: usize = 32;
/// Rounds; figures are their medians. Odd.
const ROUNDS: usize = 5;
/// How long one side is asked in one round.
const TURN: Duration = Duration::from_secs(3);
/// Asked before the first round, and not counted.
const WARM_UP: Duration = Duration::from_secs(1);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [word, url, template] if word == "floor" => floor::serve(url, template),
        only => run(only),
    }
}

/// `only` names databases and words of works; none means all.
#[tokio::main(flavor = "current_thread")]
async fn run(only: &[String]) {
    println!("{}", Figures::HEAD);
    for kind in Kind::ALL {
        if chosen(only, kind.name(), |word| Kind::ALL.iter().any(|kind| kind.name() == word)) {
            measure(&Database::make(kind), only).await;
        }
    }
}

/// Whether `name` holds one of the words of its kind, or there are none of that kind.
fn chosen(only: &[String], name: &str, of_this_kind: impl Fn(&str) -> bool) -> bool {
    let mut words = only.iter().filter(|word| of_this_kind(word)).peekable();
    words.peek().is_none() || words.any(|word| name.contains(word.as_str()))
}

async fn measure(database: &Database, only: &[String]) {
    let sides = Sides::start(database).await;
    let of_work = |word: &str| Work::ALL.iter().any(|work| work.name().contains(word));
    for work in Work::ALL.into_iter().filter(|work| chosen(only, work.name(), of_work)) {
        let mut figures = Figures::new(database.kind.name(), work);
        for side in work.sides() {
            sides.ask(*side, work, WARM_UP).await;
        }
        for _ in 0..ROUNDS {
            let mut round = Round::default();
            for side in work.sides() {
                round.insert(*side, sides.ask(*side, work, TURN).await);
            }
            figures.push(round);
        }
        print!("{figures}");
    }
    println!(
        "| {} | memory of the authority, at most | {} MiB | | | | | |",
        database.kind.name(),
        sides.authority_memory_mib()
    );
}
