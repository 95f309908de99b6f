//! Token buckets (contract 5.5) and the two header fields that tell a client its rate limit status.
//!
//! After authentication each request takes a token of its (merchant, mode) and policy; all keys of the merchant
//! share the buckets. A request without a credential, or with an invalid one, takes a token of its client address
//! instead, from a separate bucket for each of the two cases. When that bucket is empty, further failures get 429
//! instead of 401, while valid credentials from the same address still pass: an address may be shared. The header
//! fields follow the IETF draft "RateLimit header fields for HTTP", revision 10: the policy is the merchant's own
//! or the platform's, `r` is the number of requests that this instance accepts at once, burst included, `t` the
//! seconds until its bucket is full again.
//!
//! How a bucket works is said in `token_buckets`. Deliberately absent: buckets shared between instances; merchants'
//! buckets are divided by the number of instances ([`crate::background::instances`]).

mod status;

use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use authority_domain::merchant::limits::Limits;
use authority_domain::{ErrorCode, Refusal, Result, Tenant};
use http::Method;

pub use self::status::RateLimitStatus;
use super::token_buckets::TokenBuckets;
use crate::clock::Clock;
use crate::config::{Quota, RateLimits};

/// Number of requests after which full buckets are removed, so that addresses and merchants that no longer send
/// requests use no memory.
const SWEEP_EVERY: u32 = 4_096;

/// The bucket that a request draws from. An operation under `Delivery` draws only from that one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// GET and HEAD.
    Read,
    /// Other methods.
    Write,
    /// Test events, replay, recovery.
    Delivery,
}

/// How authentication failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Failure {
    /// There was no credential.
    NoCredential,
    /// The credential is invalid.
    WrongCredential,
}

impl Policy {
    /// The policy of an ordinary operation.
    #[must_use]
    pub fn of_method(method: &Method) -> Self {
        if method == Method::GET || method == Method::HEAD { Self::Read } else { Self::Write }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Delivery => "delivery",
        }
    }
}

/// All buckets of this instance.
pub struct RateLimiter {
    /// `None` when limits are disabled.
    buckets: ArcSwapOption<Buckets>,
    clock: Arc<dyn Clock>,
    instances: AtomicU32,
}

#[derive(Default)]
struct Buckets {
    /// Those of addresses, and of merchants that have no limits of their own.
    defaults: RateLimits,
    read: TokenBuckets<Tenant>,
    write: TokenBuckets<Tenant>,
    delivery: TokenBuckets<Tenant>,
    auth: TokenBuckets<(Failure, IpAddr)>,
    checks: AtomicU32,
}

impl RateLimiter {
    /// Starts with full buckets; `None` disables every limit.
    #[must_use]
    pub fn new(limits: Option<RateLimits>, clock: Arc<dyn Clock>) -> Self {
        let buckets = ArcSwapOption::from_pointee(limits.map(Buckets::new));
        Self { buckets, clock, instances: AtomicU32::new(1) }
    }

    /// Sets other limits. Where they differ from the present ones, all buckets start full once more.
    pub fn set(&self, limits: Option<RateLimits>) {
        let present = self.buckets.load().as_ref().map(|buckets| buckets.defaults);
        if present != limits {
            self.buckets.store(limits.map(|limits| Arc::new(Buckets::new(limits))));
        }
    }

    /// Sets the number of instances that share a merchant's limit, this one included.
    pub fn share_among(&self, instances: u32) {
        self.instances.store(instances.max(1), Ordering::Relaxed);
    }

    /// Takes a token. The status goes into the headers of the answer, whether or not a token was left.
    pub fn check(&self, tenant: &Tenant, limits: &Limits, policy: Policy) -> (RateLimitStatus, Result<()>) {
        let buckets = self.buckets.load();
        let Some(buckets) = buckets.as_deref() else { return (RateLimitStatus(None), Ok(())) };
        let now = self.clock.monotonic();
        buckets.sweep(now);
        let Limit { name, quota } = buckets.limit(policy, tenant.livemode, limits);
        let of_policy = match policy {
            Policy::Read => &buckets.read,
            Policy::Write => &buckets.write,
            Policy::Delivery => &buckets.delivery,
        };
        let instances = self.instances.load(Ordering::Relaxed);
        let taken = of_policy.take(tenant, quota, instances, now);
        let allowed = match taken.refused_for {
            None => Ok(()),
            Some(wait) => Err(over(name, quota).retry_after(whole_seconds(wait).max(1))),
        };
        (RateLimitStatus(Some((policy, quota, taken))), allowed)
    }

    /// Counts a failed authentication.
    ///
    /// # Errors
    /// `rate_limited` when the address has failed too often; it replaces the 401.
    pub fn authentication_failed(&self, failure: Failure, client: IpAddr) -> Result<()> {
        let buckets = self.buckets.load();
        let Some(buckets) = buckets.as_deref() else { return Ok(()) };
        let now = self.clock.monotonic();
        buckets.sweep(now);
        match buckets.auth.take(&(failure, subscriber(client)), buckets.defaults.auth, 1, now).refused_for {
            None => Ok(()),
            Some(wait) => {
                let refusal = Refusal::new(ErrorCode::RateLimited, "Too many requests; try again later.");
                Err(refusal.retry_after(whole_seconds(wait).max(1)))
            }
        }
    }
}

impl Buckets {
    fn new(defaults: RateLimits) -> Self {
        Self { defaults, ..Self::default() }
    }

    fn sweep(&self, now: Duration) {
        if self.checks.fetch_add(1, Ordering::Relaxed).is_multiple_of(SWEEP_EVERY) {
            for merchants in [&self.read, &self.write, &self.delivery] {
                merchants.sweep(now);
            }
            self.auth.sweep(now);
        }
    }

    /// The merchant's own limit, or the platform's.
    fn limit(&self, policy: Policy, livemode: bool, limits: &Limits) -> Limit {
        let (name, own, default) = match (policy, livemode) {
            (Policy::Read, true) => {
                ("read_live_per_second", limits.read_live_per_second, self.defaults.read_live)
            }
            (Policy::Read, false) => {
                ("read_test_per_second", limits.read_test_per_second, self.defaults.read_test)
            }
            (Policy::Write, true) => {
                ("write_live_per_second", limits.write_live_per_second, self.defaults.write_live)
            }
            (Policy::Write, false) => {
                ("write_test_per_second", limits.write_test_per_second, self.defaults.write_test)
            }
            (Policy::Delivery, _) => {
                ("delivery_per_minute", limits.delivery_per_minute, self.defaults.delivery)
            }
        };
        let own = own.and_then(|own| NonZeroU32::new(u32::try_from(own).ok()?));
        Limit { name, quota: own.map_or(default, |own| default.refilled_by(own)) }
    }
}

/// A limit, with its name in the merchant's record.
struct Limit {
    name: &'static str,
    quota: Quota,
}

/// The refusal, which names the limit and who can change it.
fn over(name: &'static str, quota: Quota) -> Refusal {
    let (limit, burst) = (quota.refill.get(), quota.burst.get());
    let detail = format!(
        "Too many requests: this merchant's limit {name} is {limit}, {burst} at once. Try again later; the \
         platform's operator can raise it."
    );
    Refusal::new(ErrorCode::RateLimited, detail).with("limit", name).with("limit_value", limit)
}

fn whole_seconds(duration: Duration) -> u32 {
    u32::try_from(duration.as_nanos().div_ceil(1_000_000_000)).unwrap_or(u32::MAX)
}

/// The source of a failure: an IPv4 address, or the /64 of one IPv6 subscriber, who can use any address in it.
fn subscriber(client: IpAddr) -> IpAddr {
    match client.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod own_limits;
#[cfg(test)]
mod tests;
