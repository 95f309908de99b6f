//! Rate limit buckets: each request takes a token of its (merchant, mode) and policy, each failed authentication one of
//! its address (contract 5.5, 18.4-9).
//!
//! A bucket is stored as one time, as in the generic cell rate algorithm: the time when it will be full again. A
//! request moves that time forward by the refill time of one token, and is refused when it would then be further
//! away than the refill time of a whole bucket. The remaining tokens are thus a fraction of the bucket, and that
//! fraction stays the same when the operator sets another rate or the number of instances changes: nobody gets a
//! new burst. Buckets of merchants are divided by the number of instances, so that all instances together obey the
//! limit; each instance has at least one token.
//!
//! Why not `governor`: one of its limiters has one quota for all its keys, and a key that moves to another limiter
//! begins with a full bucket. Here every merchant may have its own rates, which can change at any time. Deliberately
//! absent: the rates themselves; the caller passes them.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::config::Quota;

/// The buckets of one policy, by what has one: a tenant, or an address.
pub(super) struct TokenBuckets<K> {
    /// When each bucket is full again. A bucket without an entry is full.
    full_at: Mutex<HashMap<K, Duration>>,
}

impl<K> Default for TokenBuckets<K> {
    fn default() -> Self {
        Self { full_at: Mutex::default() }
    }
}

/// The result of one request for a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    /// Requests that may follow immediately.
    pub(super) remaining: u32,
    /// How long the bucket needs to be full again.
    pub(super) full_after: Duration,
    /// If no token was left: the time until the next one.
    pub(super) refused_for: Option<Duration>,
}

impl<K: Clone + Eq + Hash> TokenBuckets<K> {
    /// Takes a token; `instances` share the quota. `now` is monotonic.
    pub(super) fn take(&self, key: &K, quota: Quota, instances: u32, now: Duration) -> Taken {
        let token = time_of_token(quota, instances);
        // This instance's share of the burst, as the refill time of that many tokens.
        let depth = (token.saturating_mul(quota.burst.get()) / instances.max(1)).max(token);
        let mut buckets = self.lock();
        let known = buckets.get(key).copied().unwrap_or(now);
        // After a change of the quota a bucket is never emptier than empty.
        let full_at = known.clamp(now, now.saturating_add(depth));
        let next = full_at.saturating_add(token);
        let empty_at = now.saturating_add(depth);
        if next > empty_at {
            let refused_for = Some(next.saturating_sub(empty_at));
            return Taken { remaining: 0, full_after: full_at.saturating_sub(now), refused_for };
        }
        match buckets.get_mut(key) {
            Some(full_at) => *full_at = next,
            None => {
                buckets.insert(key.clone(), next);
            }
        }
        drop(buckets);
        let left = empty_at.saturating_sub(next).as_nanos() / token.as_nanos().max(1);
        Taken {
            remaining: u32::try_from(left).unwrap_or(u32::MAX),
            full_after: next.saturating_sub(now),
            refused_for: None,
        }
    }

    /// Removes the buckets that are full.
    pub(super) fn sweep(&self, now: Duration) {
        self.lock().retain(|_, full_at| *full_at > now);
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, HashMap<K, Duration>> {
        // No code that holds this lock can panic half way.
        self.full_at.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The refill time of one token, rounded up, so that rounding never exceeds a limit.
fn time_of_token(quota: Quota, instances: u32) -> Duration {
    let window = u64::try_from(quota.window.as_nanos()).unwrap_or(u64::MAX);
    let of_all = window.saturating_mul(u64::from(instances));
    Duration::from_nanos(of_all.div_ceil(u64::from(quota.refill.get())))
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use authority_domain::{MerchantId, Tenant};
    use proptest::prelude::*;

    use super::*;
    use crate::config::RateLimits;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn tenant(merchant: &str) -> Tenant {
        Tenant { merchant_id: MerchantId::from_store(merchant.to_owned()), livemode: true }
    }

    /// 10 a second, 20 at once.
    fn ten() -> Quota {
        RateLimits::default().write_test
    }

    fn quota(refill: u32) -> Quota {
        ten().refilled_by(NonZeroU32::new(refill).unwrap())
    }

    /// The number of tokens that can be taken now.
    fn drain(buckets: &TokenBuckets<Tenant>, quota: Quota, instances: u32, now: Duration) -> usize {
        let tenant = tenant("mer_a");
        (0..10_000).take_while(|_| buckets.take(&tenant, quota, instances, now).refused_for.is_none()).count()
    }

    #[test]
    fn each_instance_has_its_part_of_the_burst_and_of_the_refill() {
        // Instances → tokens taken at once from a full bucket, and in the ten seconds after.
        for (instances, at_once, later) in [(1, 20, 100), (2, 10, 50), (3, 6, 34), (20, 1, 5), (50, 1, 2)] {
            let buckets = TokenBuckets::default();
            assert_eq!(drain(&buckets, ten(), instances, MS(0)), at_once, "{instances}");
            let tenant = tenant("mer_a");
            let granted = |ms: &u64| buckets.take(&tenant, ten(), instances, MS(*ms)).refused_for.is_none();
            assert_eq!((1..=10_000).filter(granted).count(), later, "{instances}");
        }
    }

    #[test]
    fn a_change_of_instances_or_rate_keeps_the_part_that_is_left() {
        let buckets = TokenBuckets::default();
        // Half of the bucket is used; then there are two instances, and then the rate is ten times as high.
        for n in 0..10 {
            assert_eq!(buckets.take(&tenant("mer_a"), ten(), 1, MS(0)).remaining, 19 - n);
        }
        assert_eq!(buckets.take(&tenant("mer_a"), ten(), 2, MS(0)).remaining, 4);
        assert_eq!(buckets.take(&tenant("mer_a"), quota(100), 2, MS(0)).remaining, 39);
        // An empty one stays empty, whatever changes.
        assert_eq!(drain(&buckets, quota(100), 2, MS(0)), 39);
        for (quota, instances) in [(quota(1), 1), (quota(1_000_000), 1), (ten(), 7)] {
            let taken = buckets.take(&tenant("mer_a"), quota, instances, MS(0));
            assert!(taken.remaining == 0 && taken.refused_for.is_some(), "{quota:?} {instances}: {taken:?}");
        }
    }

    #[test]
    fn nobody_owes_more_than_a_bucket() {
        let buckets = TokenBuckets::default();
        // Of ten instances, each has one token of a bucket of two, which takes ten seconds to come back.
        assert_eq!(drain(&buckets, quota(1), 10, MS(0)), 1);
        assert_eq!(buckets.take(&tenant("mer_a"), quota(1), 10, MS(0)).refused_for, Some(MS(10_000)));
        // The others are gone: the bucket of one instance is empty, and no emptier.
        assert_eq!(buckets.take(&tenant("mer_a"), quota(1), 1, MS(0)).refused_for, Some(MS(1_000)));
    }

    #[test]
    fn full_buckets_are_forgotten() {
        let buckets = TokenBuckets::default();
        for (merchant, ms) in [("mer_a", 0), ("mer_b", 50)] {
            assert_eq!(buckets.take(&tenant(merchant), ten(), 1, MS(ms)).remaining, 19);
        }
        buckets.sweep(MS(100));
        assert_eq!(buckets.lock().keys().cloned().collect::<Vec<_>>(), [tenant("mer_b")]);
    }

    proptest! {
        /// Whatever is asked of which instance when, and however often the number of instances changes together.
        #[test]
        fn all_instances_together_never_exceed_the_limit(
            instances in 1_usize..5,
            refill in 5_u32..200,
            steps in prop::collection::vec((0_u64..300, 0_usize..5), 1..400),
        ) {
            let all: Vec<TokenBuckets<_>> = (0..instances).map(|_| TokenBuckets::default()).collect();
            let (tenant, quota) = (tenant("mer_a"), quota(refill));
            let (mut now, mut granted) = (0, 0_u64);
            for (gap, which) in steps {
                now += gap;
                let count = u32::try_from(instances).unwrap();
                let taken = all[which % instances].take(&tenant, quota, count, MS(now));
                granted += u64::from(taken.refused_for.is_none());
            }
            prop_assert!(granted <= 2 * u64::from(refill) + now * u64::from(refill) / 1_000);
        }

        #[test]
        fn one_that_keeps_asking_gets_the_rate(instances in 1_u32..9, refill in 1_u32..500, seconds in 1_u64..30) {
            let buckets = TokenBuckets::default();
            let (tenant, quota) = (tenant("mer_a"), quota(refill));
            drain(&buckets, quota, instances, MS(0));
            let mut now = Duration::ZERO;
            let mut granted = 0_u64;
            loop {
                match buckets.take(&tenant, quota, instances, now).refused_for {
                    None => granted += 1,
                    Some(wait) => now += wait,
                }
                if now > Duration::from_secs(seconds) {
                    break;
                }
            }
            let expected = seconds * u64::from(refill) / u64::from(instances);
            // A part of a token was left at the beginning, and one may be left at the end.
            prop_assert!(granted.abs_diff(expected) <= 1, "{granted} {expected}");
        }
    }
}
