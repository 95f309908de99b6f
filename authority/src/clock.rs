//! The one place where the service learns what time it is.
//!
//! Code that decides takes a time as an argument; its caller holds a [`Clock`] and asks it once per decision. Tests
//! use a clock that they set by hand. `clippy.toml` bans every other source of time. Deliberately absent: time zones
//! (the service knows UTC only) and sleeping.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A source of time.
pub trait Clock: Send + Sync {
    /// Wall time in milliseconds since the Unix epoch. May step back when the machine's clock is corrected.
    fn now_ms(&self) -> i64;

    /// Time since some fixed point of this clock. Never steps back; for deadlines and durations.
    fn monotonic(&self) -> Duration;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    origin: Instant,
}

impl SystemClock {
    /// A clock whose monotonic time starts at zero now.
    #[expect(clippy::disallowed_methods, reason = "this is the clock that is handed in")]
    pub fn new() -> Self {
        Self { origin: Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock that is handed in")]
    fn now_ms(&self) -> i64 {
        // A machine clock before 1970 reads as 1970: every receiver then answers `stale_timestamp`, loudly.
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX)
    }

    fn monotonic(&self) -> Duration {
        self.origin.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_clock_is_in_this_century_and_never_steps_back() {
        let clock = SystemClock::new();
        // 2026-01-01T00:00:00Z and 2100-01-01T00:00:00Z
        assert!((1_767_225_600_000..4_102_444_800_000).contains(&clock.now_ms()));
        let first = clock.monotonic();
        assert!(clock.monotonic() >= first);
    }
}
