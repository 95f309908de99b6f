//! The events and the attempts of the last 24 hours, and how long attempts took, as bars. The numbers stand in a table
//! beside each picture.

use authority_domain::Timestamp;

use super::view::{Cell, Table};
use crate::app::console::HourFigures;

const HOUR_MS: i64 = 60 * 60 * 1000;
const HOURS: i64 = 24;
/// The height of the picture in units; bars are 10 wide, with 2 between them.
const HEIGHT: i64 = 80;

/// The upper ends of the ranges of latency, in milliseconds; attempts of one range are about as quick to the eye.
const RANGES_MS: [i64; 8] = [10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000];

/// A picture and its numbers.
pub(crate) struct Chart {
    /// For those who do not see it.
    pub(crate) label: String,
    /// From the oldest hour to the present one, or from the quickest range to the slowest.
    pub(crate) bars: Vec<Bar>,
    /// What the numbers are folded under.
    pub(crate) summary: &'static str,
    /// The numbers: newest hours first, empty ones left out; or the ranges.
    pub(crate) numbers: Table,
    /// There is something to show.
    pub(crate) any: bool,
}

/// One hour or range.
pub(crate) struct Bar {
    /// From the left.
    pub(crate) x: i64,
    /// Events, or attempts that succeeded, at the bottom: top and height.
    pub(crate) good: (i64, i64),
    /// Attempts that failed, above them.
    pub(crate) failed: (i64, i64),
}

/// The first of the hours that are shown, counted since 1970.
fn first_hour(now: Timestamp) -> i64 {
    now.as_ms().div_euclid(HOUR_MS) - HOURS + 1
}

/// The chart of the events of these hours, which are in their order.
pub(crate) fn events(hours: &[(Timestamp, i64)], now: Timestamp) -> Chart {
    let first = first_hour(now);
    let recent = || hours.iter().filter(|(since, _)| since.as_ms().div_euclid(HOUR_MS) >= first);
    let most = recent().map(|(_, events)| *events).max().unwrap_or(0).max(1);
    let bar = |(since, events): &(Timestamp, i64)| {
        let height = scaled(*events, most);
        let x = (since.as_ms().div_euclid(HOUR_MS) - first) * 12;
        Bar { x, good: (HEIGHT - height, height), failed: (HEIGHT - height, 0) }
    };
    let all: i64 = recent().map(|(_, events)| events).sum();
    let rows = recent().filter(|(_, events)| *events > 0);
    Chart {
        label: format!("Events by hour in the last 24 hours: {all}."),
        bars: recent().map(bar).collect(),
        summary: "The events of each hour",
        numbers: Table {
            caption: "Events by hour (UTC)",
            head: &["Hour", "Events"],
            rows: rows.map(|(since, events)| vec![Cell::at(*since), Cell::text(events)]).rev().collect(),
            empty: "Nothing happened in the last 24 hours.",
        },
        any: all > 0,
    }
}

/// The height of a bar.
fn scaled(count: i64, most: i64) -> i64 {
    if count == 0 { 0 } else { (count.saturating_mul(HEIGHT) / most).max(1) }
}

/// The chart of the attempts of these hours, which are in their order.
pub(crate) fn attempts(hours: &[HourFigures], now: Timestamp) -> Chart {
    let first = first_hour(now);
    let recent = || hours.iter().filter(|hour| hour.since.as_ms().div_euclid(HOUR_MS) >= first);
    let most = recent().map(|hour| hour.attempts).max().unwrap_or(0).max(1);
    let bars = recent().map(|hour| bar(hour, first, most)).collect();
    let (attempts, failed) =
        recent().fold((0, 0), |(all, failed), hour| (all + hour.attempts, failed + hour.failed_attempts));
    let rows = recent().filter(|hour| hour.attempts + hour.failed_deliveries > 0).map(row);
    Chart {
        label: format!("Attempts by hour in the last 24 hours: {attempts}, of which {failed} failed."),
        bars,
        summary: "The numbers of each hour",
        numbers: Table {
            caption: "Attempts by hour (UTC)",
            head: &["Hour", "Attempts", "Failed attempts", "Deliveries that failed for good"],
            rows: rows.rev().collect(),
            empty: "Nothing was sent in the last 24 hours.",
        },
        any: attempts > 0,
    }
}

fn bar(hour: &HourFigures, first: i64, most: i64) -> Bar {
    let failed = scaled(hour.failed_attempts, most);
    let good = scaled(hour.attempts - hour.failed_attempts, most).min(HEIGHT - failed);
    Bar {
        x: (hour.since.as_ms().div_euclid(HOUR_MS) - first) * 12,
        good: (HEIGHT - good, good),
        failed: (HEIGHT - good - failed, failed),
    }
}

fn row(hour: &HourFigures) -> Vec<Cell> {
    let HourFigures { since, attempts, failed_attempts, failed_deliveries, .. } = *hour;
    vec![Cell::at(since), Cell::text(attempts), Cell::text(failed_attempts), Cell::text(failed_deliveries)]
}

/// The chart of the latencies of the newest attempts.
pub(crate) fn latencies(durations_ms: &[i64]) -> Chart {
    let mut counts = RANGES_MS.map(|most| (most, 0));
    for took in durations_ms {
        // The longest attempt that is allowed ends within the last range.
        let range = RANGES_MS.iter().position(|most| took <= most).unwrap_or(RANGES_MS.len() - 1);
        if let Some((_, count)) = counts.get_mut(range) {
            *count += 1;
        }
    }
    let most = counts.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
    let bars = (0..).zip(&counts).map(|(range, (_, count))| {
        let height = scaled(*count, most);
        Bar { x: range * 36 + 13, good: (HEIGHT - height, height), failed: (HEIGHT - height, 0) }
    });
    let within = |share| percentile(durations_ms, share).unwrap_or(0);
    let rows = counts.iter().map(|(most, count)| vec![Cell::text(format!("{most} ms")), Cell::text(count)]);
    Chart {
        label: format!(
            "How long the last {} attempts took: half within {} ms, 95 % within {} ms, 99 % within {} ms.",
            durations_ms.len(),
            within(50),
            within(95),
            within(99),
        ),
        bars: bars.collect(),
        summary: "The numbers of each range",
        numbers: Table {
            caption: "Attempts by latency",
            head: &["Took at most", "Attempts"],
            rows: rows.collect(),
            empty: "Nothing was sent in the last 24 hours.",
        },
        any: !durations_ms.is_empty(),
    }
}

/// The value below which this share (of 100) of the values lies.
pub(crate) fn percentile(values: &[i64], share: usize) -> Option<i64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let at = (sorted.len() * share).div_ceil(100).max(1) - 1;
    sorted.get(at).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hour(since: i64, attempts: i64, failed_attempts: i64) -> HourFigures {
        let since = Timestamp::from_ms(since * HOUR_MS);
        HourFigures { since, events: 0, attempts, failed_attempts, failed_deliveries: 0 }
    }

    #[test]
    fn bars_share_the_height_of_the_busiest_hour() {
        let now = Timestamp::from_ms(100 * HOUR_MS + 5);
        let drawn = attempts(&[hour(70, 9, 9), hour(77, 40, 10), hour(100, 1, 1)], now);
        let bars: Vec<_> = drawn.bars.iter().map(|bar| (bar.x, bar.good, bar.failed)).collect();
        assert_eq!(bars, [(0, (20, 60), (0, 20)), (276, (80, 0), (78, 2))]);
        assert_eq!(drawn.label, "Attempts by hour in the last 24 hours: 41, of which 11 failed.");
        assert_eq!(drawn.numbers.rows.len(), 2);
        assert!(!attempts(&[], now).any);
    }

    #[test]
    fn events_stand_where_their_hours_are() {
        let at = |hour: i64| Timestamp::from_ms(hour * HOUR_MS);
        let drawn = events(&[(at(76), 50), (at(77), 40), (at(99), 0), (at(100), 10)], at(100));
        let bars: Vec<_> = drawn.bars.iter().map(|bar| (bar.x, bar.good, bar.failed)).collect();
        assert_eq!(bars, [(0, (0, 80), (0, 0)), (264, (80, 0), (80, 0)), (276, (60, 20), (60, 0))]);
        assert_eq!(drawn.label, "Events by hour in the last 24 hours: 50.");
        assert_eq!(drawn.numbers.rows.len(), 2);
        assert!(!events(&[], at(100)).any);
    }

    #[test]
    fn latencies_stand_in_ranges_from_the_quickest_to_the_slowest() {
        let drawn = latencies(&[4, 10, 11, 40_000, 8, 9]);
        let heights: Vec<_> = drawn.bars.iter().map(|bar| (bar.x, bar.good.1)).collect();
        assert_eq!(heights, [(13, 80), (49, 20), (85, 0), (121, 0), (157, 0), (193, 0), (229, 0), (265, 20)]);
        assert_eq!(
            drawn.label,
            "How long the last 6 attempts took: half within 9 ms, 95 % within 40000 ms, 99 % within 40000 ms."
        );
        assert!(!latencies(&[]).any);
    }

    #[test]
    fn a_percentile_is_one_of_the_values() {
        assert_eq!(percentile(&[], 50), None);
        assert_eq!(percentile(&[7], 95), Some(7));
        assert_eq!((percentile(&[4, 1, 3, 2], 50), percentile(&[4, 1, 3, 2], 95)), (Some(2), Some(4)));
    }
}
