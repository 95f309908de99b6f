//! How events are delivered (contract 7, 6.5).

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use authority_domain::delivery::retry::{
    MAX_ATTEMPTS, MAX_WAIT_S, RetryPolicy, RetryPolicyError, STANDARD_SCHEDULE_S,
};
use authority_domain::endpoint::condition::DisablePolicy;
use authority_domain::endpoint::private_receivers::{
    EndpointOwner, PrivateReceivers, ReceiverList, ReceiverListError,
};

use super::EgressProxy;
use super::variables::{
    ConfigError, Lookup, count, decimal, malformed, nonzero, parsed, text, time_limit_ms,
};

/// A lease lasts 60 s (contract 7.4). It covers an attempt with this deadline, 2 s to drain the answer (contract 15.5)
/// and the time to record the outcome, so that no second worker takes the delivery meanwhile.
const MAX_TIMEOUT_MS: u32 = 50_000;

const RETRY_SCHEDULE: &str = "AUTHORITY_RETRY_SCHEDULE";
const RETRY_JITTER: &str = "AUTHORITY_RETRY_JITTER";
const REJECTED_ATTEMPTS: &str = "AUTHORITY_REJECTED_ATTEMPTS";

/// The delivery policy's settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Delivery {
    /// When a delivery is retried.
    pub retry: RetryPolicy,
    /// Time limit for connecting, including TLS.
    pub connect_timeout: Duration,
    /// One deadline for the whole attempt, from name resolution to the end of the response headers.
    pub timeout: Duration,
    /// When an endpoint that keeps failing is disabled.
    pub disable: DisablePolicy,
    /// The proxy through which public receivers are reached (contract 7.6 rule 6).
    pub egress_proxy: Option<EgressProxy>,
    /// The receivers in private networks that are allowed (contract 7.6).
    pub private: PrivateReceivers,
    /// A PEM file whose certificates are trusted besides the public authorities.
    pub extra_roots: Option<PathBuf>,
    /// Slots for quick requests, all endpoints together; slow requests have twice as many separate slots.
    pub concurrency: NonZeroU32,
    /// Requests in flight to an endpoint that has no `max_in_flight` of its own.
    pub concurrency_per_endpoint: NonZeroU32,
}

impl Default for Delivery {
    /// Contract 6.5 and 7.2.
    fn default() -> Self {
        Self {
            retry: RetryPolicy::standard(),
            connect_timeout: Duration::from_millis(5_000),
            timeout: Duration::from_millis(15_000),
            disable: DisablePolicy::default(),
            egress_proxy: None,
            private: PrivateReceivers::default(),
            extra_roots: None,
            concurrency: nonzero::<512>(),
            concurrency_per_endpoint: nonzero::<128>(),
        }
    }
}

impl Delivery {
    pub(super) fn read(lookup: Lookup<'_>) -> Result<Self, ConfigError> {
        let default = Self::default();
        Ok(Self {
            retry: retry_policy(lookup)?,
            connect_timeout: time_limit_ms(
                lookup,
                "AUTHORITY_CONNECT_TIMEOUT_MS",
                MAX_TIMEOUT_MS,
                default.connect_timeout,
            )?,
            timeout: time_limit_ms(lookup, "AUTHORITY_DELIVERY_TIMEOUT_MS", MAX_TIMEOUT_MS, default.timeout)?,
            disable: disable_policy(lookup)?,
            egress_proxy: EgressProxy::read(lookup)?,
            private: PrivateReceivers {
                merchants: receiver_list(lookup, "AUTHORITY_PRIVATE_RECEIVERS", EndpointOwner::Merchant)?,
                platform: receiver_list(
                    lookup,
                    "AUTHORITY_PLATFORM_PRIVATE_RECEIVERS",
                    EndpointOwner::Platform,
                )?,
            },
            extra_roots: parsed(lookup, "AUTHORITY_EXTRA_ROOTS", "the path of a PEM file", |path| {
                (!path.is_empty()).then(|| PathBuf::from(path))
            })?,
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

fn receiver_list(
    lookup: Lookup<'_>,
    variable: &'static str,
    owner: EndpointOwner,
) -> Result<ReceiverList, ConfigError> {
    let Some(list) = text(lookup, variable)? else { return Ok(ReceiverList::default()) };
    ReceiverList::parse(owner, &list).map_err(|error| match error {
        ReceiverListError::Entry => {
            malformed(variable, "a comma list of networks and host names, such as 10.20.0.0/16,corp.example")
        }
        ReceiverListError::NotPrivate => ConfigError::Conflict {
            variable,
            reason: "names a network that is not a private one, or one that receivers are never in",
        },
        ReceiverListError::NoHost => ConfigError::Conflict {
            variable,
            reason: "names networks but no host, so it would allow nothing",
        },
        ReceiverListError::NoNetwork => ConfigError::Conflict {
            variable,
            reason: "names hosts but no network, so it would allow nothing",
        },
    })
}

fn disable_policy(lookup: Lookup<'_>) -> Result<DisablePolicy, ConfigError> {
    /// A year: with a longer time the rule would have no effect.
    const MAX_HOURS: u32 = 8_760;
    let hours = count(lookup, "AUTHORITY_DISABLE_AFTER_HOURS", MAX_HOURS, nonzero::<120>())?;
    Ok(DisablePolicy { after_ms: i64::from(hours.get()) * 60 * 60 * 1000 })
}

fn retry_policy(lookup: Lookup<'_>) -> Result<RetryPolicy, ConfigError> {
    let schedule_form =
        format!("a comma-separated list of 1 to {MAX_ATTEMPTS} waits, each 0 to {MAX_WAIT_S} whole seconds");
    let jitter_form = "a number from 0 to 1";
    let rejected_form = "an integer from 1";
    let wait_s = |item: &str| decimal(item, &(0..=MAX_WAIT_S));
    let waits_s = |list: &str| list.split(',').map(wait_s).collect::<Option<Vec<u32>>>();
    let waits_s = parsed(lookup, RETRY_SCHEDULE, &schedule_form, waits_s)?;
    let jitter = parsed(lookup, RETRY_JITTER, jitter_form, |value| value.parse().ok())?;
    let rejected = parsed(lookup, REJECTED_ATTEMPTS, rejected_form, |value| decimal(value, &(1..=u32::MAX)))?;
    let waits_s = waits_s.unwrap_or_else(|| STANDARD_SCHEDULE_S.to_vec());
    RetryPolicy::new(waits_s, jitter.unwrap_or(0.2), rejected.unwrap_or(4)).map_err(|error| match error {
        RetryPolicyError::ScheduleLength | RetryPolicyError::WaitTooLong => {
            malformed(RETRY_SCHEDULE, schedule_form)
        }
        RetryPolicyError::JitterRange => malformed(RETRY_JITTER, jitter_form),
        RetryPolicyError::RejectedAttempts => malformed(REJECTED_ATTEMPTS, rejected_form),
    })
}
