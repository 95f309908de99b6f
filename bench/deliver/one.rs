//! A busy merchant: one merchant with one endpoint, whose receiver takes so long over each request (contract 18.4-8).
//!
//! Beside the floor, which may have as many requests in flight, and beside the same authority with 32 merchants. A
//! receiver that answers at once gets what 64 clients can make; what a slow one is offered is bounded by what its
//! places allow, so that a turn ends soon after its load. At 500 events per second, which one that takes 100 ms can
//! take, the time from the request to the arrival is measured.

use std::time::Duration;

use bench_kit::database::Database;
use bench_kit::figures::{of, ratio};

use crate::choice::Choice;
use crate::load::Bound;
use crate::stand::{MERCHANTS, Side, Stand};
use crate::turn::{Turn, waits};
use bench_kit::goals::Bound::{AtLeast, AtMost};
use bench_kit::goals::Goals;

/// How long the receiver takes, in milliseconds.
const DELAYS: [u64; 4] = [0, 20, 100, 500];
const CLIENTS: [usize; 3] = [1, 16, 64];
/// Requests in flight that an endpoint may have by default.
const MAX_IN_FLIGHT: f64 = 128.0;
/// Long enough for an endpoint's places to be found out: they double with every round trip.
const WARM_UP: Duration = Duration::from_secs(3);
/// Events per second at which the time to the arrival is measured.
const RATE: f64 = 500.0;
/// A turn lasts so many times what it lasts in the grid: a slow receiver's last answers come late.
const LONGER: u32 = 3;
/// The best open peer, one endpoint that takes 100 ms, 64 clients: deliveries per second.
const PEER_AT_100_MS: f64 = 843.0;

const HEAD: &str = "\n\
| database | receiver ms | clients | accepted/s: authority / floor | delivered/s: authority / floor | arrived by the end of \
the load | asked to arrival ms, p50 p95 p99: authority / floor | peak MiB |\n\
|---|---:|---:|---:|---:|---:|---:|---:|";

pub(crate) async fn measure(database: &Database, choice: &Choice, goals: &mut Goals) {
    let name = database.kind.name();
    let many = Stand::start(database, MERCHANTS, 1).await;
    println!("{HEAD}");
    for delay in DELAYS {
        let one = Stand::start(database, 1, 1).await;
        one.receivers.delay(delay);
        for clients in CLIENTS {
            let sides: &[(&Stand, Side)] = match (delay, clients) {
                (0, 64) => &[(&one, Side::Authority), (&one, Side::Floor), (&many, Side::Authority)],
                _ => &[(&one, Side::Authority), (&one, Side::Floor)],
            };
            let turns = rounds(sides, choice, delay, clients).await;
            let memory = one.peak_memory_mib(Side::Authority);
            println!("| {name} | {delay} | {clients} | {} | {memory} |", line(&turns[0], &turns[1]));
            note(goals, name, (delay, clients), &turns, memory);
        }
        if delay == 100 {
            at_a_fixed_rate(&one, choice, name, goals).await;
        }
    }
}

async fn rounds(sides: &[(&Stand, Side)], choice: &Choice, delay: u64, clients: usize) -> Vec<Vec<Turn>> {
    let time = choice.turn * LONGER;
    let bound = |time: Duration| {
        let allowed = MAX_IN_FLIGHT * 1e3 / delay as f64 * time.as_secs_f64();
        Bound { time, requests: if delay == 0 { usize::MAX } else { allowed as usize } }
    };
    let mut turns = vec![Vec::new(); sides.len()];
    for (stand, side) in sides {
        stand.closed(*side, clients, 1, bound(WARM_UP)).await;
    }
    for _ in 0..choice.rounds {
        for ((stand, side), turns) in sides.iter().zip(&mut turns) {
            turns.push(stand.closed(*side, clients, 1, bound(time)).await);
        }
    }
    turns
}

fn note(goals: &mut Goals, name: &str, (delay, clients): (u64, usize), turns: &[Vec<Turn>], memory: u64) {
    let authority = &turns[0];
    let delivered = of(authority, |turn| turn.delivered);
    let mut goal = |what: &str, figure, bound| {
        goals.note(&format!("{name}, one endpoint, {delay} ms, {clients} clients: {what}"), figure, bound);
    };
    match (delay, clients) {
        (0, 64) => {
            goal(
                "arrived in parts of accepted while the load is on",
                of(authority, |t| t.kept_up),
                AtLeast(0.95),
            );
            let part = ratio(authority, &turns[2], |turn| turn.delivered);
            goal("delivered in parts of what 32 merchants get", part, AtLeast(0.9));
        }
        (100, 64) => {
            goal("delivered per second", delivered, AtLeast(1_000.0));
            goal("delivered in parts of the best open peer's", delivered / PEER_AT_100_MS, AtLeast(1.5));
        }
        (500, 64) => goal("delivered per second", delivered, AtLeast(240.0)),
        _ => {}
    }
    if clients == 64 {
        goal("memory, MiB", memory as f64, AtMost(200.0));
    }
}

async fn at_a_fixed_rate(stand: &Stand, choice: &Choice, name: &str, goals: &mut Goals) {
    let mut turns = Vec::new();
    for round in 0..=choice.rounds {
        let turn = stand.open(Side::Authority, RATE, choice.turn * LONGER).await;
        if round > 0 {
            turns.push(turn);
        }
    }
    println!(
        "| {name} | 100 | {RATE:.0}/s | due to arrival ms, p50 p95 p99: {} |",
        waits(&turns, |turn| turn.from_due)
    );
    let p50 = of(&turns, |turn| turn.from_due.p50);
    goals.note(
        &format!("{name}, one endpoint, 100 ms, {RATE:.0}/s: due to arrival, p50 ms"),
        p50,
        AtMost(150.0),
    );
}

fn line(authority: &[Turn], floor: &[Turn]) -> String {
    let pair = |figure: fn(&Turn) -> f64| format!("{:.0} / {:.0}", of(authority, figure), of(floor, figure));
    format!(
        "{} | {} | {:.2} / {:.2} | {} / {}",
        pair(|turn| turn.accepted),
        pair(|turn| turn.delivered),
        of(authority, |turn| turn.kept_up),
        of(floor, |turn| turn.kept_up),
        waits(authority, |turn| turn.from_due),
        waits(floor, |turn| turn.from_due),
    )
}
