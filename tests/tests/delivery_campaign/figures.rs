//! A run in numbers.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::time::Duration;

use crate::judge::{Evidence, Findings};
use crate::plan::Plan;
use crate::receiver::Arrival;

/// What was done to the service.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deeds {
    pub(crate) kills: usize,
    pub(crate) stops: usize,
    /// What happened to the database server, and how often.
    pub(crate) faults: BTreeMap<String, usize>,
    /// Under load, until the last kill.
    pub(crate) lasted: Duration,
    /// From when the receiver was well until nothing waited.
    pub(crate) healed_in: Duration,
    /// From when all endpoints were asked to catch up until nothing waited.
    pub(crate) recovered_in: Duration,
}

/// The table that a run ends with.
pub(crate) struct Figures {
    rows: Vec<(String, String)>,
}

impl Figures {
    pub(crate) fn of(plan: &Plan, deeds: &Deeds, evidence: &Evidence, findings: &Findings) -> Self {
        let Evidence { acknowledged, facts, record, histories } = evidence;
        let mut rows = Vec::new();
        let mut row = |name: &str, value: String| rows.push((name.to_owned(), value));
        row("seed", plan.seed.to_string());
        row("database, instances", format!("{:?}, {}", plan.database, plan.instances()));
        row("kills", deeds.kills.to_string());
        row("stops in order", deeds.stops.to_string());
        for (fault, times) in &deeds.faults {
            row(&format!("database server: {fault}"), times.to_string());
        }
        row("under load", format!("{} s", deeds.lasted.as_secs()));
        row("acknowledged writes", acknowledged.len().to_string());
        let changes: usize = histories.iter().map(|history| history.eras.len()).sum();
        row("endpoints, their changes", format!("{}, {changes}", histories.len()));
        row("events", facts.events.len().to_string());
        row("deliveries", facts.deliveries.len().to_string());
        let mut fates: BTreeMap<String, usize> = BTreeMap::new();
        for delivery in &facts.deliveries {
            let reason = delivery.failure_reason.as_deref().map(|reason| format!(" ({reason})"));
            *fates.entry(format!("  {}{}", delivery.status, reason.unwrap_or_default())).or_default() += 1;
        }
        for (fate, count) in fates {
            row(&fate, count.to_string());
        }
        row("attempts recorded", facts.attempts.len().to_string());
        row("arrivals", record.arrivals.len().to_string());
        for (name, value) in duplicates(evidence) {
            row(name, value);
        }
        row("time to heal", format!("{:.1} s", deeds.healed_in.as_secs_f64()));
        let recovered = facts.deliveries.iter().filter(|row| row.triggered_by == "recovery").count();
        row("recovered in the end", format!("{recovered}, in {:.1} s", deeds.recovered_in.as_secs_f64()));
        row("lost", findings.lost.len().to_string());
        row("wrong", findings.wrong.len().to_string());
        Self { rows }
    }
}

/// Arrivals that were answered with a 2xx although one of the same delivery was before, and why the earlier one did not
/// end it.
fn duplicates(evidence: &Evidence) -> [(&'static str, String); 3] {
    let recorded: HashSet<_> = (evidence.facts.attempts.iter())
        .map(|row| (row.delivery_id.as_str(), row.number, row.signed_timestamp))
        .collect();
    let mut last: HashMap<&str, &Arrival> = HashMap::new();
    let (mut too_late, mut unwritten) = (0, 0);
    for arrival in evidence.record.arrivals.iter().filter(|arrival| arrival.acknowledged()) {
        if let Some(earlier) = last.insert(&arrival.delivery, arrival) {
            let attempt = (earlier.delivery.as_str(), earlier.attempt, earlier.timestamp);
            *if recorded.contains(&attempt) { &mut too_late } else { &mut unwritten } += 1;
        }
    }
    let all = too_late + unwritten;
    let share = all as f64 * 1000.0 / last.len().max(1) as f64;
    [
        ("duplicates", format!("{all}, {share:.1} per 1,000 deliveries that arrived")),
        ("  the outcome was not written", unwritten.to_string()),
        ("  the answer came after the deadline", too_late.to_string()),
    ]
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        self.rows.iter().try_for_each(|(name, value)| writeln!(f, "| {name:width$} | {value:>40} |"))
    }
}
