//! How long a delivery takes while the load is fixed: at 200 requests per second, and at half of what the authority can
//! carry, which is measured first. Both sides get the same load.

use std::time::Duration;

use bench_kit::database::Database;
use bench_kit::figures::{of, ratio};

use crate::choice::Choice;
use crate::stand::{MERCHANTS, Side, Stand};
use crate::turn::{Turn, waits};
use bench_kit::goals::Bound::AtMost;
use bench_kit::goals::Goals;

/// Requests per second.
const SMALL: f64 = 200.0;
/// A turn lasts so many times what it lasts in the grid: there are fewer requests in it.
const LONGER: u32 = 2;
const WARM_UP: Duration = Duration::from_secs(1);

const HEAD: &str = "\n\
| database | requests/s | due to arrival ms, p50 p95 p99: authority / floor | ratio of p50, p99 | \
answer to arrival ms, p50 p95 p99: authority / floor | CPU µs each: authority / floor (database server) |\n\
|---|---:|---:|---:|---:|---:|";

pub(crate) async fn measure(database: &Database, choice: &Choice, goals: &mut Goals) {
    let stand = Stand::start(database, MERCHANTS, 1).await;
    let half = stand.shop.capacity(choice.turn).await / 2.0;
    println!("{HEAD}");
    for (rate, load) in [(SMALL, "200/s"), (half, "half of the capacity")] {
        for side in Side::BOTH {
            stand.open(side, rate, WARM_UP).await;
        }
        let mut turns = [Vec::new(), Vec::new()];
        for _ in 0..choice.rounds {
            for (side, turns) in Side::BOTH.into_iter().zip(&mut turns) {
                turns.push(stand.open(side, rate, choice.turn * LONGER).await);
            }
        }
        let name = database.kind.name();
        let [authority, floor] = &turns;
        let p50 = ratio(authority, floor, |turn| turn.from_due.p50);
        let p99 = ratio(authority, floor, |turn| turn.from_due.p99);
        println!("| {name} | {rate:.0} | {}", line(&turns, p50, p99));
        goals.note(&format!("{name}, {load}: due to arrival, p50 in parts of the floor's"), p50, AtMost(2.0));
        goals.note(&format!("{name}, {load}: due to arrival, p99 in parts of the floor's"), p99, AtMost(2.0));
    }
}

fn line([authority, floor]: &[Vec<Turn>; 2], p50: f64, p99: f64) -> String {
    format!(
        "{} / {} | {p50:.2}, {p99:.2} | {} / {} | {:.0} / {:.0} ({:.0} / {:.0}) |",
        waits(authority, |turn| turn.from_due),
        waits(floor, |turn| turn.from_due),
        waits(authority, |turn| turn.from_answer),
        waits(floor, |turn| turn.from_answer),
        of(authority, |turn| turn.cpu_us),
        of(floor, |turn| turn.cpu_us),
        of(authority, |turn| turn.database_cpu_us),
        of(floor, |turn| turn.database_cpu_us),
    )
}
