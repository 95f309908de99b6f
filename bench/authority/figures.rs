//! From rounds to a line of the table: medians, and medians of the ratios within a round.

use std::collections::BTreeMap;
use std::fmt;

use bench_kit::figures::median;

use crate::load::Measured;
use crate::work::{Side, Work};

/// What each side did in one round.
pub(crate) type Round = BTreeMap<Side, Measured>;

/// All rounds of one work on one database.
pub(crate) struct Figures {
    database: &'static str,
    work: Work,
    rounds: Vec<Round>,
}

impl Figures {
    pub(crate) const HEAD: &'static str = "\
| database | work | per second: authority / floor | ratio | p50 ms: authority / floor | p99 ms: authority / floor | p99 ratio | CPU µs each: authority / floor (database server) |\n\
|---|---|---:|---:|---:|---:|---:|---:|";

    pub(crate) fn new(database: &'static str, work: Work) -> Self {
        Self { database, work, rounds: Vec::new() }
    }

    pub(crate) fn push(&mut self, round: Round) {
        self.rounds.push(round);
    }

    fn median(&self, of: impl Fn(&Round) -> f64) -> f64 {
        median(self.rounds.iter().map(of).collect())
    }

    /// One side's figure.
    fn of(&self, side: Side, figure: fn(&Measured) -> f64) -> f64 {
        self.median(|round| figure(&round[&side]))
    }

    /// The authority's figure in parts of the other side's, within each round.
    fn ratio(&self, other: Side, figure: fn(&Measured) -> f64) -> f64 {
        self.median(|round| figure(&round[&Side::Authority]) / figure(&round[&other]))
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { database, work, .. } = self;
        let other = work.measure();
        let pair = |figure: fn(&Measured) -> f64, digits: usize| {
            format!("{:.digits$} / {:.digits$}", self.of(Side::Authority, figure), self.of(other, figure))
        };
        writeln!(
            f,
            "| {database} | {} | {} | {:.2} | {} | {} | {:.2} | {} ({}) |",
            work.name(),
            pair(|m| m.per_second, 0),
            self.ratio(other, |m| m.per_second),
            pair(|m| m.p50_ms, 2),
            pair(|m| m.p99_ms, 2),
            self.ratio(other, |m| m.p99_ms),
            pair(|m| m.cpu_us, 0),
            pair(|m| m.database_cpu_us, 0),
        )
    }
}
