//! One side beside another: a build beside another build, four instances beside one. All sides of a comparison run at
//! once and are asked in turns.

use std::time::Duration;

use bench_kit::database::Database;
use bench_kit::figures::{of, ratio};

use crate::choice::Choice;
use crate::figures::{Goals, HEAD, Rounds, accepted, explain, line};
use crate::load::{Seen, drive};
use crate::stand::{Build, FAR, Listeners, Plan, Stand};
use crate::work::{Stock, Work};
use bench_kit::goals::Bound::{AtLeast, AtMost};

/// Paid orders of each merchant, of which refunds are asked.
const REFUNDABLE: usize = 4;
/// Clients of each instance, where each has its own.
const EACH: usize = 64;
/// Clients in all, where instances share them.
const SHARED: usize = 16;

/// A stand, and how many clients ask it.
pub(crate) struct Side {
    pub(crate) stand: Stand,
    pub(crate) stock: Stock,
    pub(crate) clients: usize,
}

impl Side {
    pub(crate) async fn start(database: &Database, plan: Plan, clients: usize) -> Self {
        let stand = Stand::start(database, plan).await;
        Self { stock: Stock::of(&stand), stand, clients }
    }

    /// Makes what `work` needs and does not use up.
    pub(crate) async fn prepare(&self, work: Work) {
        self.stock.fill(&self.stand, work, REFUNDABLE * crate::MERCHANTS).await;
    }
}

/// Asks all sides in turns, and prints a line for each.
pub(crate) async fn ask(sides: &[Side], work: Work, choice: &Choice) -> Vec<Rounds> {
    let mut all: Vec<Rounds> = vec![Vec::new(); sides.len()];
    for _ in 0..choice.rounds {
        for (side, rounds) in sides.iter().zip(&mut all) {
            rounds.push(drive(&side.stand, &side.stock, work, side.clients, choice.window.of(work)).await);
            side.stand.drained().await;
        }
    }
    for (side, rounds) in sides.iter().zip(&all) {
        print(&side.stand.plan, work, side.clients, rounds, choice);
    }
    all
}

/// Prints a line, and what the longest transaction did where that is asked for.
pub(crate) fn print(plan: &Plan, work: Work, clients: usize, rounds: &Rounds, choice: &Choice) {
    println!("{}", line(plan, work, clients, rounds));
    let longest = rounds.iter().filter_map(|seen| seen.trips.as_ref()).max_by_key(|trips| trips.most());
    if let Some(longest) = longest.filter(|_| choice.explain) {
        explain(plan.build.name, longest);
    }
}

/// Row 2: paid orders on one instance.
pub(crate) async fn paid(database: &Database, choice: &Choice, goals: &mut Goals) {
    println!("{HEAD}");
    let mut sides = Vec::new();
    for build in &choice.builds {
        sides.push(Side::start(database, plan(build, 1, Some(FAR), Listeners::None), EACH).await);
    }
    let all = ask(&sides, Work::PaidOrder, choice).await;
    goals.note("this", "2: paid orders, p50 ms", of(&all[0], |seen| seen.took.p50), AtMost(120.0));
    if let [this, against] = all.as_slice() {
        let times = ratio(this, against, accepted);
        goals.note("this : against", "2: paid orders, 64 clients, one instance", times, AtLeast(8.0));
    }
}

/// Row 3: four instances beside one, the same clients for each.
pub(crate) async fn instances(database: &Database, choice: &Choice, goals: &mut Goals) {
    println!("{HEAD}");
    for build in &choice.builds {
        let pair = one_and_four(database, build, Listeners::None, |instances| EACH * instances).await;
        for (work, goal) in [(Work::PaidOrder, 3.2), (Work::Checkout, 3.0)] {
            let what = format!("3: {}, 64 clients per instance, 4 instances : 1", work.name());
            compare(&pair, work, choice, goals, &what, AtLeast(goal)).await;
        }
        drop(pair);
        let pair = one_and_four(database, build, Listeners::Each, |instances| EACH * instances).await;
        let what = "3: checkout, an endpoint each, accepted, 4 instances : 1";
        let all = compare(&pair, Work::Checkout, choice, goals, what, AtLeast(2.8)).await;
        let times = ratio(&all[1], &all[0], |seen| seen.delivered);
        goals.note(build.name, "3: … delivered", times, AtLeast(2.8));
    }
}

/// Row 4: four instances beside one, the same clients in all.
pub(crate) async fn few(database: &Database, choice: &Choice, goals: &mut Goals) {
    println!("{HEAD}");
    for build in &choice.builds {
        let pair = one_and_four(database, build, Listeners::None, |_| SHARED).await;
        for work in [Work::Checkout, Work::PaidOrder] {
            let what = format!("4: {}, 16 clients in all, 4 instances : 1", work.name());
            compare(&pair, work, choice, goals, &what, AtLeast(0.95)).await;
        }
    }
}

async fn one_and_four(
    database: &Database,
    build: &Build,
    listeners: Listeners,
    clients: impl Fn(usize) -> usize,
) -> Vec<Side> {
    let mut sides = Vec::new();
    for instances in [1, 4] {
        let plan = plan(build, instances, Some(FAR), listeners);
        sides.push(Side::start(database, plan, clients(instances)).await);
    }
    sides
}

async fn compare(
    sides: &[Side],
    work: Work,
    choice: &Choice,
    goals: &mut Goals,
    what: &str,
    bound: bench_kit::goals::Bound,
) -> Vec<Rounds> {
    let all = ask(sides, work, choice).await;
    goals.note(sides[0].stand.plan.build.name, what, ratio(&all[1], &all[0], accepted), bound);
    all
}

/// Row 7: a database on the same machine, one instance, this build beside the other.
pub(crate) async fn near(database: &Database, choice: &Choice, goals: &mut Goals) {
    println!("{HEAD}");
    for (work, listeners) in [
        (Work::Checkout, Listeners::None),
        (Work::PaidOrder, Listeners::None),
        (Work::Refund, Listeners::None),
        (Work::Checkout, Listeners::Each),
    ] {
        let mut sides = Vec::new();
        for build in &choice.builds {
            let side = Side::start(database, plan(build, 1, None, listeners), EACH).await;
            side.prepare(work).await;
            sides.push(side);
        }
        let all = ask(&sides, work, choice).await;
        if let [this, against] = all.as_slice() {
            let times = ratio(this, against, accepted);
            let what = format!("7: near, {}, {}", work.name(), listeners.name());
            goals.note("this : against", &what, times, AtLeast(0.95));
        }
    }
}

/// What one node carries: one instance, one database, receivers that answer at once.
pub(crate) async fn node(database: &Database, choice: &Choice) {
    println!("{HEAD}");
    let mut told = Vec::new();
    for build in &choice.builds {
        for round_trip in [None, Some(FAR)] {
            let side = Side::start(database, plan(build, 1, round_trip, Listeners::Each), 2 * EACH).await;
            let all = ask(&[side], Work::Checkout, choice).await;
            let figure = |figure: fn(&Seen) -> f64| of(&all[0], figure);
            told.push(format!(
                "{}, RTT {}: the service kept {:.2} cores busy; accepted {:.0}, delivered {:.0} per second and core",
                build.name,
                round_trip.map_or("none".to_owned(), |time| format!("{} ms", time.as_millis())),
                figure(|seen| seen.cores),
                figure(|seen| seen.accepted / seen.cores),
                figure(|seen| seen.delivered / seen.cores),
            ));
        }
    }
    println!("\n{}", told.join("\n"));
}

/// Everything with everything.
pub(crate) async fn grid(database: &Database, choice: &Choice) {
    println!("{HEAD}");
    for listeners in Listeners::ALL {
        let mut sides = Vec::new();
        for build in &choice.builds {
            for instances in &choice.instances {
                let side = Side::start(database, plan(build, *instances, Some(FAR), listeners), 0).await;
                side.prepare(Work::Refund).await;
                sides.push(side);
            }
        }
        for ms in &choice.round_trips {
            for clients in choice.clients.iter().copied().map(Some).chain([None]) {
                for side in &mut sides {
                    let round_trip = Duration::from_secs_f64(ms / 1e3);
                    side.stand.plan.round_trip = Some(round_trip);
                    side.stand.delay(round_trip);
                    side.clients = clients.unwrap_or(EACH * side.stand.plan.instances);
                }
                for work in [Work::Checkout, Work::PaidOrder, Work::Refund] {
                    ask(&sides, work, choice).await;
                }
            }
        }
    }
}

pub(crate) fn plan(
    build: &Build,
    instances: usize,
    round_trip: Option<Duration>,
    listeners: Listeners,
) -> Plan {
    Plan { build: build.clone(), instances, round_trip, listeners }
}
