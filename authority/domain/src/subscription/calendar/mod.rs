//! The calendar of subscriptions: where one period ends and the next begins (contract 2.6, 3.8).
//!
//! Periods are counted from an anchor, the start of the first period, in steps of the calendar in UTC. Every boundary
//! is computed from the anchor and not from the boundary before it: what began on the 31st ends a period on the 28th
//! of February and the next one on the 31st of March, instead of sliding to the 28th for good. The time of day never
//! changes. Deliberately absent: time zones and holidays, which are the platform's business; it may name a period's
//! bounds itself.

use jiff::civil::DateTime;
use jiff::tz::Offset;
use jiff::{Span, Unit};

use crate::text_enum::text_enum;
use crate::time::Timestamp;

text_enum! {
    /// The unit of a period.
    Interval as "SubscriptionInterval" {
        /// Day.
        Day = "day",
        /// Week.
        Week = "week",
        /// Month.
        Month = "month",
        /// Year.
        Year = "year",
    }
}

/// How often a subscription renews: every `count` units, 1–36 (contract 2.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cadence {
    /// The unit.
    pub interval: Interval,
    /// How many of them.
    pub count: i64,
}

/// The first of `anchor`, `anchor` + 1 step, `anchor` + 2 steps, … that lies after `after`. A day that the month does
/// not have is the month's last day. `None` beyond the supported years, or for a count below 1.
#[must_use]
pub fn next_boundary(anchor: Timestamp, cadence: Cadence, after: Timestamp) -> Option<Timestamp> {
    if cadence.count < 1 {
        return None;
    }
    let (start, after) = (civil(anchor)?, civil(after)?);
    // Rounding may be off by one around a month's end; the search goes on from one step before.
    let mut steps = (units_between(start, after, cadence.interval)? / cadence.count - 1).max(0);
    loop {
        let boundary = start.checked_add(span(cadence, steps)?).ok()?;
        if boundary > after {
            let time = Offset::UTC.to_timestamp(boundary).ok()?;
            return Some(Timestamp::from_ms(time.as_millisecond()));
        }
        steps += 1;
    }
}

fn civil(time: Timestamp) -> Option<DateTime> {
    Some(Offset::UTC.to_datetime(jiff::Timestamp::from_millisecond(time.as_ms()).ok()?))
}

fn units_between(start: DateTime, end: DateTime, interval: Interval) -> Option<i64> {
    let between = |unit: Unit| start.until((unit, end)).ok();
    Some(match interval {
        Interval::Day => i64::from(between(Unit::Day)?.get_days()),
        Interval::Week => i64::from(between(Unit::Week)?.get_weeks()),
        Interval::Month => i64::from(between(Unit::Month)?.get_months()),
        Interval::Year => i64::from(between(Unit::Year)?.get_years()),
    })
}

fn span(cadence: Cadence, steps: i64) -> Option<Span> {
    let units = steps.checked_mul(cadence.count)?;
    let span = Span::new();
    match cadence.interval {
        Interval::Day => span.try_days(units),
        Interval::Week => span.try_weeks(units),
        Interval::Month => span.try_months(units),
        Interval::Year => span.try_years(units),
    }
    .ok()
}

#[cfg(test)]
mod tests;
