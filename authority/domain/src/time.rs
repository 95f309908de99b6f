//! Points in time: milliseconds since the Unix epoch, UTC, written in the one form of contract 1.
//!
//! The domain never reads a clock; every function that needs the time takes a [`Timestamp`].

use std::fmt;

use jiff::civil::Date;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Milliseconds since 1970-01-01T00:00:00Z, within the years 0000–9999.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// 0000-01-01T00:00:00.000Z
const EARLIEST_MS: i64 = -62_167_219_200_000;
/// 9999-12-31T23:59:59.999Z
const LATEST_MS: i64 = 253_402_300_799_999;
const DAY_MS: i64 = 24 * 60 * 60 * 1000;
const EPOCH: Date = Date::constant(1970, 1, 1);

impl Timestamp {
    /// The time `ms` milliseconds after the Unix epoch; values outside the supported years are clamped.
    #[must_use]
    pub fn from_ms(ms: i64) -> Self {
        Self(ms.clamp(EARLIEST_MS, LATEST_MS))
    }

    /// Milliseconds since the Unix epoch.
    #[must_use]
    pub fn as_ms(self) -> i64 {
        self.0
    }

    /// Whole seconds since the Unix epoch, rounded down: the value of `Service-Timestamp`.
    #[must_use]
    pub fn as_unix_seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// This time moved by `ms` milliseconds.
    #[must_use]
    pub fn plus_ms(self, ms: i64) -> Self {
        Self::from_ms(self.0.saturating_add(ms))
    }

    /// Reads an RFC 3339 time with any offset, as query parameters and request bodies may carry it (contract 18.1).
    /// Digits beyond milliseconds are cut off; a leap second is read as the one before it; what an offset moves out of
    /// the supported years is the first or the last moment of them. `None` when the text is no such time.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        // By hand: the calendar's library reads many forms that RFC 3339 does not have.
        let (date, rest) = text.as_bytes().split_first_chunk::<10>()?;
        let [y1, y2, y3, y4, b'-', o1, o2, b'-', d1, d2] = date else { return None };
        let (year, month, day) = (number(&[*y1, *y2, *y3, *y4])?, number(&[*o1, *o2])?, number(&[*d1, *d2])?);
        let (&[b'T' | b't', h1, h2, b':', m1, m2, b':', s1, s2], rest) = rest.split_first_chunk::<9>()?
        else {
            return None;
        };
        let (hour, minute, second) = (number(&[h1, h2])?, number(&[m1, m2])?, number(&[s1, s2])?);
        let (fraction_ms, rest) = fraction(rest)?;
        let offset = offset_minutes(rest)?;
        let day = Date::new(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?).ok()?;
        let minutes = i64::from(hour * 60 + minute) - offset;
        // Leap seconds are the last of a day in UTC.
        let leap = second == 60 && minutes.rem_euclid(24 * 60) == 24 * 60 - 1;
        if hour > 23 || minute > 59 || (second > 59 && !leap) {
            return None;
        }
        let days_ms = day.duration_since(EPOCH).as_secs() * 1000;
        let second = i64::from(second.min(59));
        Some(Self::from_ms(days_ms + (minutes * 60 + second) * 1000 + fraction_ms))
    }
}

/// The number that ASCII digits write; `None` for anything else.
fn number(digits: &[u8]) -> Option<u32> {
    digits
        .iter()
        .try_fold(0, |value, byte| byte.is_ascii_digit().then(|| value * 10 + u32::from(byte - b'0')))
}

/// Milliseconds of an optional fraction of 1 to 9 digits, and what follows it.
fn fraction(text: &[u8]) -> Option<(i64, &[u8])> {
    let Some((b'.', rest)) = text.split_first() else { return Some((0, text)) };
    let (digits, rest) = rest.split_at(rest.iter().take_while(|byte| byte.is_ascii_digit()).count());
    if !(1..=9).contains(&digits.len()) {
        return None;
    }
    let first_three = digits.iter().chain([b'0', b'0'].iter()).take(3);
    let ms = first_three.fold(0, |ms, digit| ms * 10 + i64::from(digit - b'0'));
    Some((ms, rest))
}

/// `Z`, `z` or `±hh:mm`, and nothing behind it.
fn offset_minutes(text: &[u8]) -> Option<i64> {
    let [sign, h1, h2, b':', m1, m2] = text else { return matches!(text, b"Z" | b"z").then_some(0) };
    let (hours, minutes) = (number(&[*h1, *h2])?, number(&[*m1, *m2])?);
    let offset = i64::from(hours * 60 + minutes);
    match sign {
        _ if hours > 23 || minutes > 59 => None,
        b'+' => Some(offset),
        b'-' => Some(-offset),
        _ => None,
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Ok(time) = jiff::Timestamp::from_millisecond(self.0) {
            return write!(f, "{time:.3}");
        }
        // The last day of the year 9999, which jiff's own timestamps leave out for the sake of offsets.
        let (days, ms) = (self.0.div_euclid(DAY_MS), self.0.rem_euclid(DAY_MS));
        let day = EPOCH
            .checked_add(jiff::SignedDuration::from_secs(days * 24 * 60 * 60))
            .map_err(|_| fmt::Error)?;
        let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
        write!(f, "{day}T{hour:02}:{minute:02}:{second:02}.{:03}Z", ms % 1000)
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| de::Error::custom("not an RFC 3339 time"))
    }
}

#[cfg(feature = "schema")]
crate::schema::inline_schema!(
    Timestamp,
    schemars::json_schema!({
        "type": "string",
        "format": "date-time",
        "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$",
    })
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_written_with_three_fraction_digits_in_utc() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_788_264_000_000, "2026-09-01T12:00:00.000Z"),
            (1_788_264_000_120, "2026-09-01T12:00:00.120Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (i64::MIN, "0000-01-01T00:00:00.000Z"),
            (i64::MAX, "9999-12-31T23:59:59.999Z"),
            (253_402_214_400_000, "9999-12-31T00:00:00.000Z"),
        ] {
            assert_eq!(Timestamp::from_ms(ms).to_string(), text);
        }
    }

    #[test]
    fn reads_every_offset_and_refuses_what_rfc_3339_does_not_have() {
        for (text, ms) in [
            ("2026-09-01T12:00:00Z", 1_788_264_000_000),
            ("2026-09-01t12:00:00z", 1_788_264_000_000),
            ("2026-09-01T14:00:00.000999+02:00", 1_788_264_000_000),
            ("2026-09-01T11:30:00-00:30", 1_788_264_000_000),
            ("2026-09-01T12:00:00-00:00", 1_788_264_000_000),
            ("2026-09-01T12:00:00.1Z", 1_788_264_000_100),
            ("2026-09-01T12:00:00.123456789Z", 1_788_264_000_123),
            ("2016-12-31T23:59:60Z", 1_483_228_799_000),
            ("2016-12-31T15:59:60.5-08:00", 1_483_228_799_500),
            ("2024-02-29T00:00:00Z", 1_709_164_800_000),
            ("0000-01-01T00:00:00Z", EARLIEST_MS),
            ("0000-01-01T00:00:00+01:00", EARLIEST_MS),
            ("9999-12-31T23:59:59Z", LATEST_MS - 999),
            ("9999-12-31T23:59:59.999Z", LATEST_MS),
            ("9999-12-31T23:59:59-08:00", LATEST_MS),
        ] {
            assert_eq!(Timestamp::parse(text), Some(Timestamp(ms)), "{text}");
        }
        for bad in [
            "",
            "2026-09-01",
            "2026-09-01 12:00:00Z",
            "2026-09-01_12:00:00Z",
            "2026-09-01T12:00:00",
            "2026-09-01T12:00Z",
            "2026-09-01T12Z",
            "20260901T120000Z",
            "2026-09-01T12:00:00+0200",
            "2026-09-01T12:00:00+02",
            "2026-09-01T12:00:00+02:0",
            "2026-09-01T12:00:00+24:00",
            "2026-09-01T12:00:00+02:60",
            "2026-09-01T12:00:00+02:00:00",
            "2026-09-01T12:00:00,5Z",
            "2026-09-01T12:00:00.Z",
            "2026-09-01T12:00:00.1234567890Z",
            "2026-09-01T12:00:00ZZ",
            "2026-09-01T12:00:00Z[UTC]",
            "2026-09-01T12:00:00[Europe/Paris]",
            " 2026-09-01T12:00:00Z",
            "2026-09-01T12:00:00Z ",
            "2026-09-01T24:00:00Z",
            "2026-09-01T12:60:00Z",
            "2026-09-01T12:00:60Z",
            "2016-12-31T23:59:61Z",
            "2026-02-30T12:00:00Z",
            "2026-02-29T12:00:00Z",
            "2026-13-01T12:00:00Z",
            "2026-00-01T12:00:00Z",
            "2026-01-00T12:00:00Z",
            "-001-01-01T12:00:00Z",
            "+002026-09-01T12:00:00Z",
            "12026-09-01T12:00:00Z",
            "２026-09-01T12:00:00Z",
        ] {
            assert_eq!(Timestamp::parse(bad), None, "{bad}");
        }
    }
}
