//! From what was seen in rounds to the lines of the tables, and to what stands beside a goal.

use bench_kit::figures::of;
use bench_kit::goals::Bound;
use tests::database_proxy::Trips;

use crate::load::Seen;
use crate::stand::Plan;
use crate::work::Work;

/// One side's, in the order of the rounds.
pub(crate) type Rounds = Vec<Seen>;

pub(crate) const HEAD: &str = "
| build | work | events go to | instances | clients | RTT ms | accepted/s | p50 p95 p99 ms | 503 % | round trips: mean, most | delivered/s | delivered : accepted | service CPU s per 1,000 (database) |
|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|";

pub(crate) fn accepted(seen: &Seen) -> f64 {
    seen.accepted
}

/// One line of [`HEAD`]'s table.
pub(crate) fn line(plan: &Plan, work: Work, clients: usize, rounds: &Rounds) -> String {
    let figure = |figure: fn(&Seen) -> f64| of(rounds, figure);
    let trips = if plan.round_trip.is_some() {
        let most = rounds.iter().filter_map(|seen| Some(seen.trips.as_ref()?.most())).max().unwrap_or(0);
        format!("{:.1}, {most}", figure(|seen| seen.trips.as_ref().map_or(f64::NAN, |trips| trips.mean())))
    } else {
        "–".to_owned()
    };
    let round_trip = plan.round_trip.map_or("none".to_owned(), |time| (time.as_secs_f64() * 1e3).to_string());
    format!(
        "| {} | {} | {} | {} | {clients} | {round_trip} | {:.0} | {:.0} {:.0} {:.0} | {:.1} | {trips} | {:.0} | {:.2} | {:.2} ({:.2}) |",
        plan.build.name,
        work.name(),
        plan.listeners.name(),
        plan.instances,
        figure(accepted),
        figure(|seen| seen.took.p50),
        figure(|seen| seen.took.p95),
        figure(|seen| seen.took.p99),
        figure(|seen| seen.refused * 1e2),
        figure(|seen| seen.delivered),
        figure(|seen| seen.delivered / seen.accepted),
        figure(|seen| seen.service_s),
        figure(|seen| seen.database_s),
    )
}

/// Tells on standard error what the longest transaction did, round trip by round trip.
pub(crate) fn explain(build: &str, trips: &Trips) {
    for (step, what) in trips.longest.iter().enumerate() {
        eprintln!("{build}, {}: {what}", step + 1);
    }
}

/// What stands beside the goals of the whole, line by line.
#[derive(Debug, Default)]
pub(crate) struct Goals(Vec<String>);

impl Goals {
    /// Notes a figure of a build beside its goal.
    pub(crate) fn note(&mut self, build: &str, what: &str, seen: f64, bound: Bound) {
        let (sign, goal, reached) = bound.judge(seen);
        let verdict = if reached { "reached" } else { "**missed**" };
        self.0.push(format!("| {what} | {sign} {goal} | {build} | {seen:.2} | {verdict} |"));
    }

    pub(crate) fn print(&self) {
        if !self.0.is_empty() {
            println!("\n| figure | goal | build | seen | |\n|---|---:|---|---:|---|\n{}", self.0.join("\n"));
        }
    }
}
