//! Points in time: milliseconds since the Unix epoch, UTC, written in the one form of contract 1.
//!
//! The domain never reads a clock; every function that needs the time takes a [`Timestamp`].

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Milliseconds since 1970-01-01T00:00:00Z, within the years 0001–9999.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// 0001-01-01T00:00:00.000Z
const EARLIEST_MS: i64 = -62_135_596_800_000;
/// 9999-12-31T23:59:59.999Z, less the day that `jiff` keeps for offsets.
const LATEST_MS: i64 = 253_402_207_200_000;

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

    /// Reads an RFC 3339 time with any offset, as query parameters and request bodies may carry it.
    /// Digits beyond milliseconds are cut off. `None` when the text is no such time.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        // jiff also reads forms that RFC 3339 does not have (a space, a zone annotation, no offset).
        let bytes = text.as_bytes();
        if bytes.len() > 40 || bytes.get(10) != Some(&b'T') || bytes.contains(&b'[') {
            return None;
        }
        let time: jiff::Timestamp = text.parse().ok()?;
        let ms = time.as_nanosecond().div_euclid(1_000_000);
        i64::try_from(ms).ok().filter(|ms| (EARLIEST_MS..=LATEST_MS).contains(ms)).map(Self)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(time) => write!(f, "{time:.3}"),
            Err(_) => Err(fmt::Error), // unreachable: the constructor keeps the range
        }
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
impl schemars::JsonSchema for Timestamp {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "format": "date-time",
            "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$",
        })
    }
}

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
            (i64::MIN, "0001-01-01T00:00:00.000Z"),
        ] {
            assert_eq!(Timestamp::from_ms(ms).to_string(), text);
        }
        assert_eq!(Timestamp::from_ms(i64::MAX).to_string().len(), 24);
    }

    #[test]
    fn reads_every_offset_and_refuses_what_rfc_3339_does_not_have() {
        let noon = Some(Timestamp::from_ms(1_788_264_000_000));
        assert_eq!(Timestamp::parse("2026-09-01T12:00:00Z"), noon);
        assert_eq!(Timestamp::parse("2026-09-01T14:00:00.000999+02:00"), noon);
        for bad in ["", "2026-09-01", "2026-09-01 12:00:00Z", "2026-09-01T12:00:00", "2026-02-30T12:00:00Z"] {
            assert_eq!(Timestamp::parse(bad), None, "{bad}");
        }
    }
}
