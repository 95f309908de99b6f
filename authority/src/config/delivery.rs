//! How events are delivered (contract 7, 6.5).

use std::num::NonZeroU32;
use std::time::Duration;

use super::variables::{ConfigError, Lookup, count, decimal, nonzero, parsed, time_limit_ms};

/// Attempts a schedule may have, far above any sensible one.
const MAX_ATTEMPTS: usize = 50;
/// Seven days in seconds, the longest single wait.
const MAX_WAIT_SECONDS: u32 = 7 * 24 * 60 * 60;
/// A lease lasts 60 s (contract 7.4). An attempt with this deadline, 2 s to drain the answer (contract 15.5) and the
/// time to record the outcome still end inside it, so that no second worker takes the delivery meanwhile.
const MAX_TIMEOUT_MS: u32 = 50_000;

const RETRY_SCHEDULE: &str = "AUTHORITY_RETRY_SCHEDULE";
const RETRY_SCHEDULE_FORM: &str = "a comma-separated list of 1 to 50 waits, each 0 to 604800 whole seconds";
const RETRY_JITTER: &str = "AUTHORITY_RETRY_JITTER";

/// The delivery policy's settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Delivery {
    /// The wait before each attempt, the first included; as many attempts as waits.
    pub retry_schedule: Vec<Duration>,
    /// Every wait is multiplied by a random factor in 1 ± this, 0–1.
    pub retry_jitter: f64,
    /// Attempts after answers of the class `rejected` (contract 7.3), at least 1.
    pub rejected_attempts: NonZeroU32,
    /// Limit for connecting, TLS included.
    pub connect_timeout: Duration,
    /// One deadline for the whole attempt, from name resolution to the end of the response headers.
    pub timeout: Duration,
    /// Requests in flight, all endpoints together.
    pub concurrency: NonZeroU32,
    /// Requests in flight to one endpoint.
    pub concurrency_per_endpoint: NonZeroU32,
}

impl Default for Delivery {
    /// Contract 6.5 and 7.2.
    fn default() -> Self {
        let schedule = [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
        Self {
            retry_schedule: schedule.map(Duration::from_secs).to_vec(),
            retry_jitter: 0.2,
            rejected_attempts: nonzero::<4>(),
            connect_timeout: Duration::from_millis(5_000),
            timeout: Duration::from_millis(15_000),
            concurrency: nonzero::<256>(),
            concurrency_per_endpoint: nonzero::<8>(),
        }
    }
}

impl Delivery {
    pub(super) fn read(lookup: Lookup<'_>) -> Result<Self, ConfigError> {
        let default = Self::default();
        let jitter_form = "a number from 0 to 1";
        Ok(Self {
            retry_schedule: parsed(lookup, RETRY_SCHEDULE, RETRY_SCHEDULE_FORM, schedule)?
                .unwrap_or(default.retry_schedule),
            retry_jitter: parsed(lookup, RETRY_JITTER, jitter_form, fraction)?
                .unwrap_or(default.retry_jitter),
            rejected_attempts: count(lookup, "AUTHORITY_REJECTED_ATTEMPTS", 50, default.rejected_attempts)?,
            connect_timeout: time_limit_ms(
                lookup,
                "AUTHORITY_CONNECT_TIMEOUT_MS",
                MAX_TIMEOUT_MS,
                default.connect_timeout,
            )?,
            timeout: time_limit_ms(lookup, "AUTHORITY_DELIVERY_TIMEOUT_MS", MAX_TIMEOUT_MS, default.timeout)?,
            concurrency: count(lookup, "AUTHORITY_DELIVERY_CONCURRENCY", 4_096, default.concurrency)?,
            concurrency_per_endpoint: count(
                lookup,
                "AUTHORITY_DELIVERY_CONCURRENCY_PER_ENDPOINT",
                256,
                default.concurrency_per_endpoint,
            )?,
        })
    }
}

fn schedule(list: &str) -> Option<Vec<Duration>> {
    let wait = |item: &str| {
        decimal(item, &(0..=MAX_WAIT_SECONDS)).map(|seconds| Duration::from_secs(seconds.into()))
    };
    let waits = list.split(',').map(wait).collect::<Option<Vec<_>>>()?;
    (waits.len() <= MAX_ATTEMPTS).then_some(waits)
}

fn fraction(value: &str) -> Option<f64> {
    value.parse().ok().filter(|fraction| (0.0..=1.0).contains(fraction))
}
