//! The calendar against dates written down by hand, and against one that is computed here from the lengths of months.

use proptest::prelude::*;

use super::{Cadence, Interval, next_boundary};

use crate::time::Timestamp;

fn at(date: &str) -> Timestamp {
    Timestamp::parse(&format!("{date}T09:30:15.250Z")).unwrap()
}

/// Every boundary after the anchor, until there are as many as expected.
fn boundaries(anchor: &str, interval: Interval, count: i64, number: usize) -> Vec<String> {
    let cadence = Cadence { interval, count };
    let mut last = at(anchor);
    let mut dates = Vec::new();
    for _ in 0..number {
        last = next_boundary(at(anchor), cadence, last).unwrap();
        dates.push(last.to_string().replace("T09:30:15.250Z", ""));
    }
    dates
}

#[test]
fn months_keep_the_anchors_day_wherever_they_have_it() {
    let table: [(&str, Interval, i64, &[&str]); 9] = [
        ("2026-01-31", Interval::Month, 1, &["2026-02-28", "2026-03-31", "2026-04-30", "2026-05-31"]),
        ("2028-01-30", Interval::Month, 1, &["2028-02-29", "2028-03-30"]),
        ("2026-04-30", Interval::Month, 1, &["2026-05-30", "2026-06-30"]),
        ("2026-12-31", Interval::Month, 2, &["2027-02-28", "2027-04-30", "2027-06-30", "2027-08-31"]),
        ("2026-11-15", Interval::Month, 3, &["2027-02-15", "2027-05-15"]),
        ("2028-02-29", Interval::Year, 1, &["2029-02-28", "2030-02-28", "2031-02-28", "2032-02-29"]),
        ("2026-02-28", Interval::Year, 2, &["2028-02-28", "2030-02-28"]),
        ("2026-12-30", Interval::Day, 1, &["2026-12-31", "2027-01-01"]),
        ("2028-02-22", Interval::Week, 1, &["2028-02-29", "2028-03-07"]),
    ];
    for (anchor, interval, count, expected) in table {
        assert_eq!(boundaries(anchor, interval, count, expected.len()), expected, "{anchor} {interval}");
    }
}

#[test]
fn a_boundary_lies_after_the_moment_even_when_that_is_one_itself() {
    let monthly = Cadence { interval: Interval::Month, count: 1 };
    let end = at("2026-02-28");
    assert_eq!(next_boundary(at("2026-01-31"), monthly, end.plus_ms(-1)), Some(end));
    assert_eq!(next_boundary(at("2026-01-31"), monthly, end), Some(at("2026-03-31")));
    // A moment before the anchor is followed by the anchor.
    assert_eq!(next_boundary(at("2026-01-31"), monthly, at("2025-06-01")), Some(at("2026-01-31")));
}

#[test]
fn there_is_no_boundary_where_there_is_no_time() {
    let yearly = Cadence { interval: Interval::Year, count: 36 };
    assert_eq!(next_boundary(at("9990-01-01"), yearly, at("9990-01-01")), None);
    assert_eq!(next_boundary(at("2026-01-01"), Cadence { count: 0, ..yearly }, at("2026-01-01")), None);
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

proptest! {
    /// Months and years: the day is the anchor's, or the last one of a month that is shorter.
    #[test]
    fn months_count_as_a_calendar_on_paper_does(
        year in 1970_i64..2200, month in 1_i64..=12, day in 1_i64..=31, count in 1_i64..=36, years in any::<bool>(),
        passed in 0_i64..200,
    ) {
        let day = day.min(days_in(year, month));
        let anchor = at(&format!("{year:04}-{month:02}-{day:02}"));
        let cadence = Cadence { interval: if years { Interval::Year } else { Interval::Month }, count };
        let step = if years { 12 * count } else { count };
        let on_paper = |n: i64| {
            let months = year * 12 + month - 1 + n * step;
            let (year, month) = (months / 12, months % 12 + 1);
            at(&format!("{year:04}-{month:02}-{:02}", day.min(days_in(year, month))))
        };
        prop_assume!(year * 12 + (passed + 1) * step < 9_990 * 12);
        let (begun, next) = (on_paper(passed), on_paper(passed + 1));
        prop_assert_eq!(next_boundary(anchor, cadence, begun), Some(next));
        prop_assert_eq!(next_boundary(anchor, cadence, next.plus_ms(-1)), Some(next));
    }

    /// Days and weeks have one length in UTC.
    #[test]
    fn days_and_weeks_are_multiples_of_a_day(
        anchor in 0_i64..4_000_000_000_000, offset in 0_i64..400_000_000_000, count in 1_i64..=36, weeks in any::<bool>(),
    ) {
        let cadence = Cadence { interval: if weeks { Interval::Week } else { Interval::Day }, count };
        let step = count * if weeks { 7 } else { 1 } * 86_400_000;
        let expected = anchor + (offset / step + 1) * step;
        let found = next_boundary(Timestamp::from_ms(anchor), cadence, Timestamp::from_ms(anchor + offset));
        prop_assert_eq!(found, Some(Timestamp::from_ms(expected)));
    }
}
