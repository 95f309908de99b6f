//! The health of an endpoint as its record shows it (contract 2.8, 7.5).

use serde::{Deserialize, Serialize};

use crate::text_enum::text_enum;
use crate::time::Timestamp;

text_enum! {
    /// What recent attempts say of an endpoint.
    HealthState as "EndpointHealthState" {
        /// Never tried.
        Unknown = "unknown",
        /// The last attempt succeeded, or few failed since.
        Healthy = "healthy",
        /// Five attempts in a row failed.
        Degraded = "degraded",
        /// A day without success, and ten failures or more.
        Failing = "failing",
    }
}

/// Attempts in a row that make an endpoint `degraded` (contract 7.5).
pub const DEGRADED_AFTER: i64 = 5;

/// Failures since the last success that, over [`FAILING_AFTER_MS`], make an endpoint `failing` (contract 7.5).
pub const FAILING_AFTER: i64 = 10;

/// The time without a success, from the first failure on, that makes an endpoint `failing`: 24 h, in milliseconds.
pub const FAILING_AFTER_MS: i64 = 24 * 60 * 60 * 1000;

/// What recent attempts say, in numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "EndpointHealthSummary"))]
pub struct Health {
    /// What it comes to.
    pub state: HealthState,
    /// Attempts in a row that failed.
    pub consecutive_failures: i64,
    /// When an attempt last succeeded.
    pub last_success_at: Option<Timestamp>,
    /// When an attempt last failed.
    pub last_failure_at: Option<Timestamp>,
    /// The HTTP status of the last answer.
    pub last_response_status: Option<i64>,
    /// What the last failure was, for people.
    pub last_error: Option<String>,
}

impl Health {
    /// That of an endpoint which was never tried.
    pub(crate) const UNTRIED: Self = Self {
        state: HealthState::Unknown,
        consecutive_failures: 0,
        last_success_at: None,
        last_failure_at: None,
        last_response_status: None,
        last_error: None,
    };
}
