//! The delivery engine in simulated time (contract 7, 15): the real dispatchers, the real use cases on a real SQLite
//! file, a model network with model receivers, a clock that jumps from one moment to the next, and seeded dice.
//!
//! A run lives through random days: events, rotations, switches, replays; receivers that are slow, hang, refuse, ask
//! for time or vanish for days; instances that die in the middle of their work; answers that come when their lease
//! has run out; clocks that step. A judge keeps a model of its own, written from the contract, and compares with it
//! every request, every outcome and what is stored. The same seed gives the same run, to the last line of its
//! journal.
//!
//! `world` turns the clock, `operate` does what people do, `network` and `receiver` are the outside, `judge` and
//! `compare` hold what happened against `model`; `planted` has the bugs that show that the judge is awake.
//! Deliberately absent: a stand-in for any part of the product. What is real on both sides of the transport is tested
//! elsewhere, over sockets.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking, and so does what it is made of"
)]

mod compare;
mod dice;
mod instances;
mod journal;
mod judge;
mod judge_requests;
mod limits;
mod model;
mod neglect;
mod network;
mod operate;
mod operate_endpoints;
mod operate_events;
mod planted;
mod processor;
mod receiver;
mod rows;
mod runtime;
mod setting_up;
mod time;
mod world;

use std::fmt;

pub use journal::Violation;
pub use model::DeliveryCounts;
pub use planted::Planted;

/// What decides a run.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Decides everything that is left to chance.
    pub seed: u64,
    /// Simulated days until all is well; then what waits is delivered.
    pub days: i64,
    /// A bug, to see it found.
    pub planted: Option<Planted>,
    /// Whether the journal is printed as it is written.
    pub shown: bool,
}

/// What there was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Tally {
    pub moments: u64,
    pub events: u64,
    /// Requests that arrived.
    pub attempts: u64,
    /// Requests for deliveries that the receiver had acknowledged already.
    pub duplicates: u64,
    /// Requests whose dispatcher died before their answer.
    pub lost_calls: u64,
    /// Answers that reached a dispatcher which did not hold the delivery any more.
    pub stale_outcomes: u64,
    pub deaths: u64,
    /// Endpoints that were disabled because they failed for too long.
    pub disabled_for_failing: u64,
}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Report {
    /// The settings it ran with.
    pub settings: Settings,
    /// Simulated days until nothing waited any more.
    pub days: i64,
    /// The same for the same run.
    pub digest: u64,
    /// What there was.
    pub tally: Tally,
    /// How the deliveries ended.
    pub ended: DeliveryCounts,
    /// The rule that was broken.
    pub violation: Option<Violation>,
    /// The last lines of the journal.
    pub journal: Vec<String>,
}

impl Report {
    /// The command that runs it again and shows everything.
    #[must_use]
    pub fn command(&self) -> String {
        let Settings { seed, days, .. } = self.settings;
        format!("cargo run -p simulation -- --seed {seed} --days {days} --shown")
    }

    /// # Panics
    /// When a rule was broken: with the journal, the rule, and how to see it again.
    pub fn expect_no_violation(&self) {
        if let Some(violation) = &self.violation {
            let journal = self.journal.join("\n");
            panic!("{journal}\n\nseed {}: {violation}\nagain with: {}", self.settings.seed, self.command());
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tally, ended) = (&self.tally, &self.ended);
        write!(
            f,
            "seed {}: {} days, {} moments, {} events; {} deliveries succeeded, {} failed, {} were cancelled; {} attempts, \
             {} duplicates; {} deaths took {} requests along, {} outcomes came too late; {} endpoints disabled for \
             failing; digest {:016x}",
            self.settings.seed,
            self.days,
            tally.moments,
            tally.events,
            ended.succeeded,
            ended.failed,
            ended.cancelled,
            tally.attempts,
            tally.duplicates,
            tally.deaths,
            tally.lost_calls,
            tally.stale_outcomes,
            tally.disabled_for_failing,
            self.digest
        )
    }
}

/// Runs a simulation to its end, or to the first rule that is broken.
#[must_use]
pub fn run(settings: Settings) -> Report {
    let empty = setting_up::empty_database();
    runtime::in_simulated_time(async move {
        let (mut world, folder) = setting_up::world(settings, empty).await;
        let violation = world.live().await.err();
        let report = Report {
            settings,
            days: world.time.elapsed() / 86_400_000,
            digest: world.journal.digest(),
            tally: world.tally,
            ended: world.model.ended,
            violation,
            journal: world.journal.into_lines(),
        };
        drop(folder);
        report
    })
}
