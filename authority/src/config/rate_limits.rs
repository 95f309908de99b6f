//! The settings of the token buckets (contract 5.5).

use std::num::NonZeroU32;
use std::time::Duration;

use authority_domain::merchant::limits::{DefaultRates, RATE_MAX};

use super::variables::{ConfigError, Lookup, count, nonzero, word};

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
/// One token per microsecond: a higher limit has no effect, and `AUTHORITY_RATE_LIMITS=off` states that openly.
const MAX_QUOTA: u32 = 1_000_000;
const _: () = assert!(MAX_QUOTA as i64 == RATE_MAX);

/// One token bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// Tokens added in each window.
    pub refill: NonZeroU32,
    /// The window: one second or one minute.
    pub window: Duration,
    /// Tokens that a full bucket holds.
    pub burst: NonZeroU32,
}

impl Quota {
    /// A bucket refilled every second; a burst may take twice the refill.
    const fn per_second(refill: NonZeroU32) -> Self {
        Self { refill, window: SECOND, burst: refill.saturating_mul(nonzero::<2>()) }
    }

    /// The same bucket with another refill; the burst changes in proportion.
    #[must_use]
    pub fn refilled_by(self, refill: NonZeroU32) -> Self {
        if self.window == MINUTE { Self::per_minute(refill) } else { Self::per_second(refill) }
    }

    /// A bucket refilled every minute; a burst may take as much as the refill.
    const fn per_minute(refill: NonZeroU32) -> Self {
        Self { refill, window: MINUTE, burst: refill }
    }
}

/// The buckets of each (merchant, mode), and the one for failed authentication of each client address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimits {
    /// GET and HEAD with a live key.
    pub read_live: Quota,
    /// GET and HEAD with a test key.
    pub read_test: Quota,
    /// Other methods with a live key.
    pub write_live: Quota,
    /// Other methods with a test key.
    pub write_test: Quota,
    /// Test events, replay and recovery.
    pub delivery: Quota,
    /// Failed authentication, per client address.
    pub auth: Quota,
}

impl From<&RateLimits> for DefaultRates {
    fn from(limits: &RateLimits) -> Self {
        let rate = |quota: Quota| i64::from(quota.refill.get());
        Self {
            read_live_per_second: rate(limits.read_live),
            read_test_per_second: rate(limits.read_test),
            write_live_per_second: rate(limits.write_live),
            write_test_per_second: rate(limits.write_test),
            delivery_per_minute: rate(limits.delivery),
        }
    }
}

impl Default for RateLimits {
    /// The defaults of contract 5.5.
    fn default() -> Self {
        Self {
            read_live: Quota::per_second(nonzero::<100>()),
            read_test: Quota::per_second(nonzero::<25>()),
            write_live: Quota::per_second(nonzero::<25>()),
            write_test: Quota::per_second(nonzero::<10>()),
            delivery: Quota::per_minute(nonzero::<60>()),
            auth: Quota::per_minute(nonzero::<20>()),
        }
    }
}

impl RateLimits {
    /// Returns `None` when `AUTHORITY_RATE_LIMITS=off`; the numbers are checked anyway.
    pub(super) fn read(lookup: Lookup<'_>) -> Result<Option<Self>, ConfigError> {
        let default = Self::default();
        let per_second = |variable, default: Quota| {
            count(lookup, variable, MAX_QUOTA, default.refill).map(Quota::per_second)
        };
        let per_minute = |variable, default: Quota| {
            count(lookup, variable, MAX_QUOTA, default.refill).map(Quota::per_minute)
        };
        let limits = Self {
            read_live: per_second("AUTHORITY_RATE_READ_LIVE_PER_SECOND", default.read_live)?,
            read_test: per_second("AUTHORITY_RATE_READ_TEST_PER_SECOND", default.read_test)?,
            write_live: per_second("AUTHORITY_RATE_WRITE_LIVE_PER_SECOND", default.write_live)?,
            write_test: per_second("AUTHORITY_RATE_WRITE_TEST_PER_SECOND", default.write_test)?,
            delivery: per_minute("AUTHORITY_RATE_DELIVERY_PER_MINUTE", default.delivery)?,
            auth: per_minute("AUTHORITY_RATE_AUTH_PER_MINUTE", default.auth)?,
        };
        let enabled = word(lookup, "AUTHORITY_RATE_LIMITS", &[("on", true), ("off", false)], true)?;
        Ok(enabled.then_some(limits))
    }
}
