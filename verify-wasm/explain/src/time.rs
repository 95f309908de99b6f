//! Timestamps: texts that are not ten digits, and times that are too far from the receiver's own.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use verify_core::header::TIMESTAMP;

use crate::absent_header;
use crate::cause::Cause;
use crate::report::Finding;
use crate::text::{count, duration, trim};
use crate::{Delivery, Trust, search};

const HOUR: u64 = 3_600;

/// Why the timestamp is absent or not ten digits.
pub(crate) fn malformed(delivery: &Delivery<'_>) -> Vec<Finding> {
    let Some(value) = delivery.headers.timestamp.filter(|value| !trim(value).is_empty()) else {
        return absent_header::causes(TIMESTAMP, delivery);
    };
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let (cause, evidence) = match value.len() {
        length @ (13 | 16 | 19) if digits == length => {
            let unit = match length {
                13 => "milliseconds",
                16 => "microseconds",
                _ => "nanoseconds",
            };
            (
                Cause::TimestampUnit,
                format!("Service-Timestamp has {length} digits, as {unit} have; seconds have 10."),
            )
        }
        length if digits == length => {
            (Cause::TimestampForm, format!("Service-Timestamp has {} instead of 10.", count(length, "digit")))
        }
        _ if is_repeated(value) => (
            Cause::HeaderRepeated,
            String::from("Service-Timestamp came in several lines, joined by commas."),
        ),
        _ if is_date(value) => (Cause::TimestampDate, String::from("Service-Timestamp holds a date.")),
        length => {
            let others = count(length - digits, "other character");
            let digits = count(digits, "digit");
            (Cause::TimestampForm, format!("Service-Timestamp consists of {digits} and {others}."))
        }
    };
    vec![Finding::new(cause, evidence)]
}

/// Numbers between commas; a date of HTTP has a comma too.
fn is_repeated(value: &[u8]) -> bool {
    let mut items = value.split(|byte| *byte == b',').map(trim);
    value.contains(&b',') && items.all(|item| !item.is_empty() && item.iter().all(u8::is_ascii_digit))
}

/// `2026-09-01T…`, or `Tue, 01 Sep 2026 …`.
fn is_date(value: &[u8]) -> bool {
    let is_iso = matches!(value, [a, b, c, d, b'-' | b'/', ..] if [a, b, c, d].iter().all(|byte| byte.is_ascii_digit()));
    let is_http = matches!(value, [a, b, c, b',' | b' ', ..] if [a, b, c].iter().all(|byte| byte.is_ascii_alphabetic()));
    is_iso || is_http
}

/// Why a timestamp is further from now than the tolerance.
pub(crate) fn stale(delivery: &Delivery<'_>, trust: &Trust<'_>) -> Vec<Finding> {
    let text = delivery.headers.timestamp.unwrap_or_default();
    let timestamp =
        core::str::from_utf8(text).ok().and_then(|text| text.parse::<i64>().ok()).unwrap_or_default();
    let apart = trust.now.abs_diff(timestamp);
    let direction = if timestamp < trust.now { "before" } else { "after" };
    let mut evidence = format!(
        "The timestamp is {} {direction} the receiver's time; {} are tolerated.",
        duration(apart),
        trust.tolerance.seconds()
    );
    evidence.push_str(if search::signature_holds(delivery, trust) {
        " The signature fits."
    } else {
        " The signature does not fit either."
    });
    let mut causes: Vec<Finding> = likely(timestamp, trust)
        .iter()
        .map(|cause| Finding::new(*cause, "Seen from the timestamp alone, this is possible as well."))
        .collect();
    if let Some(first) = causes.first_mut() {
        first.evidence = evidence;
    }
    causes
}

/// What a distance between timestamp and now suggests, the likeliest first.
fn likely(timestamp: i64, trust: &Trust<'_>) -> &'static [Cause] {
    let tolerance = u64::from(trust.tolerance.seconds());
    let now = trust.now;
    let apart = now.abs_diff(timestamp);
    let in_thousands = timestamp.abs_diff(now.saturating_mul(1000)) <= 1000 * (tolerance + 1)
        || timestamp.abs_diff(now / 1000) <= tolerance;
    if in_thousands {
        &[Cause::NowUnit]
    } else if is_zone_like(apart) {
        &[Cause::TimeZone, Cause::ClockSkew]
    } else if timestamp > now {
        &[Cause::ClockSkew]
    } else if apart > HOUR / 2 {
        &[Cause::OldDelivery, Cause::ClockSkew]
    } else {
        &[Cause::ClockSkew, Cause::OldDelivery]
    }
}

/// Zones differ by whole quarters of an hour, by at most 26 hours. Half a minute is left for the way.
fn is_zone_like(apart: u64) -> bool {
    let off = apart % (HOUR / 4);
    (HOUR / 2 - 30..=26 * HOUR + 30).contains(&apart) && (off <= 30 || off >= HOUR / 4 - 30)
}
