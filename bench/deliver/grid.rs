//! How much is delivered with so many clients, endpoints and receivers of such a speed.

use std::time::Duration;

use bench_kit::database::Database;
use bench_kit::figures::{of, ratio};

use crate::choice::Choice;
use crate::load::Bound;
use crate::stand::{MERCHANTS, Side, Stand};
use crate::turn::{Turn, waits};
use bench_kit::goals::Bound::{AtLeast, AtMost};
use bench_kit::goals::Goals;

/// Asked before the first round, and not counted.
const WARM_UP: Duration = Duration::from_millis(500);

/// Deliveries per second of the best open peer, 64 clients over HTTP, on a quiet machine with two cores.
const PEER: f64 = 1_315.0;

const HEAD: &str = "\
| database | clients | fan-out | delay ms | accepted/s: authority / floor | delivered/s: authority / floor | ratio | \
asked to arrival ms, p50 p95 p99: authority / floor | answer to arrival ms, p50 p95 p99: authority / floor | \
CPU µs each: authority / floor (database server; load) | KiB written each | peak MiB |\n\
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|";

pub(crate) async fn measure(database: &Database, choice: &Choice, goals: &mut Goals) {
    let mut alone = None;
    println!("{HEAD}");
    for fanout in choice.fanouts.iter().copied() {
        for delay in choice.delays.iter().copied() {
            let stand = Stand::start(database, MERCHANTS, fanout).await;
            stand.receivers.delay(delay);
            for clients in choice.clients.iter().copied() {
                let bound = bound(choice, fanout, delay);
                for side in Side::BOTH {
                    stand.closed(side, clients, fanout, Bound { time: WARM_UP, ..bound }).await;
                }
                let mut turns = [Vec::new(), Vec::new()];
                for _ in 0..choice.rounds {
                    for (side, turns) in Side::BOTH.into_iter().zip(&mut turns) {
                        turns.push(stand.closed(side, clients, fanout, bound).await);
                    }
                }
                let memory = Side::BOTH.map(|side| stand.peak_memory_mib(side));
                let name = database.kind.name();
                println!("| {name} | {clients} | {fanout} | {delay} | {}", line(&turns, memory));
                let [authority, floor] = &turns;
                let delivered = of(authority, |turn| turn.delivered);
                let mut goal = |what: &str, figure, bound| {
                    goals.note(&format!("{name}, {clients} clients: {what}"), figure, bound);
                };
                match (clients, fanout, allowed(fanout, delay)) {
                    (64, 1, None) => {
                        alone = Some(delivered);
                        goal(
                            "deliveries in parts of the floor's",
                            ratio(authority, floor, |turn| turn.delivered),
                            AtLeast(0.5),
                        );
                        goal("deliveries in parts of the best open peer's", delivered / PEER, AtLeast(8.0));
                    }
                    (64, fanout, None) => {
                        let what = format!("deliveries at fan-out {fanout} in parts of those at 1");
                        goal(&what, delivered / alone.unwrap_or(f64::NAN), AtLeast(1.5));
                    }
                    (64, fanout, Some(allowed)) => {
                        let possible = allowed.min(of(floor, |turn| turn.delivered));
                        let what = format!(
                            "fan-out {fanout}, slow receivers: deliveries in parts of what is possible"
                        );
                        goal(&what, delivered / possible, AtLeast(0.9));
                    }
                    (128, fanout, _) => {
                        let what = format!("fan-out {fanout}, delay {delay} ms: memory, MiB");
                        goal(&what, memory[0] as f64, AtMost(200.0));
                    }
                    _ => {}
                }
            }
        }
    }
}

/// Slow receivers get no more than they can take in the time: what waits is delivered before the next turn.
fn bound(choice: &Choice, fanout: usize, delay: u64) -> Bound {
    let time = choice.turn;
    let requests = match allowed(fanout, delay) {
        Some(allowed) => (allowed * time.as_secs_f64() / fanout as f64) as usize,
        None => usize::MAX,
    };
    Bound { time, requests }
}

/// What the places for quick requests allow with such a delay, per second; `None` when receivers do not wait.
pub(crate) fn allowed(fanout: usize, delay: u64) -> Option<f64> {
    let in_flight = (MERCHANTS * fanout * 128).min(512);
    (delay > 0).then(|| in_flight as f64 * 1e3 / delay as f64)
}

fn line(turns: &[Vec<Turn>; 2], memory: [u64; 2]) -> String {
    let [authority, floor] = turns;
    let pair = |figure: fn(&Turn) -> f64, digits: usize| {
        format!("{:.digits$} / {:.digits$}", of(authority, figure), of(floor, figure))
    };
    format!(
        "{} | {} | {:.2} | {} / {} | {} / {} | {} ({}; {}) | {} | {} / {} |",
        pair(|turn| turn.accepted, 0),
        pair(|turn| turn.delivered, 0),
        ratio(authority, floor, |turn| turn.delivered),
        waits(authority, |turn| turn.from_due),
        waits(floor, |turn| turn.from_due),
        waits(authority, |turn| turn.from_answer),
        waits(floor, |turn| turn.from_answer),
        pair(|turn| turn.cpu_us, 0),
        pair(|turn| turn.database_cpu_us, 0),
        pair(|turn| turn.load_cpu_us, 0),
        pair(|turn| turn.written_kib, 1),
        memory[0],
        memory[1],
    )
}
