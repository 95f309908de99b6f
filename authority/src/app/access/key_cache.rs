//! A short-lived cache of API keys, so that not every request queries the database to authenticate its caller.
//!
//! A key is looked up by its hash, as in the database. A result is trusted for [`TRUSTED`], counted from the start
//! of the lookup. A key that any instance revokes, or a merchant that any instance suspends, therefore works for
//! at most that long (contract 6.2). A change made by this instance takes effect at once: its use case calls
//! [`KeyCache::forget`] after the commit. The result of a lookup that began before that call is not cached.
//!
//! Deliberately absent: unknown keys, which are not worth caching, and judgement. The caller checks revocation,
//! expiry and status at every request.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a cached result is trusted (contract 6.2: at most 1 s).
pub(in crate::app) const TRUSTED: Duration = Duration::from_secs(1);

/// Most entries cached at a time: more keys than are used within a second. About a kilobyte each.
const KEPT_MAX: usize = 4_096;

/// Cached results by key.
pub(in crate::app) struct KeyCache<K, V> {
    kept: Mutex<Entries<K, V>>,
}

struct Entries<K, V> {
    findings: HashMap<K, (Duration, V)>,
    /// How often the cache was cleared.
    forgotten: u64,
}

/// A lookup in the database that is under way, and when it began.
#[derive(Clone, Copy, Debug)]
pub(in crate::app) struct LookupStart {
    at: Duration,
    forgotten: u64,
}

impl<K, V> Default for KeyCache<K, V> {
    fn default() -> Self {
        Self { kept: Mutex::new(Entries { findings: HashMap::new(), forgotten: 0 }) }
    }
}

impl<K: Eq + Hash, V: Clone> KeyCache<K, V> {
    /// The cached result for `key`; `Err` when it must be looked up. `now` is monotonic.
    pub(in crate::app) fn get(&self, key: &K, now: Duration) -> Result<V, LookupStart> {
        let kept = self.lock();
        match kept.findings.get(key) {
            Some((at, finding)) if now.saturating_sub(*at) < TRUSTED => Ok(finding.clone()),
            _ => Err(LookupStart { at: now, forgotten: kept.forgotten }),
        }
    }

    /// Caches the result of the lookup `asked`.
    pub(in crate::app) fn keep(&self, asked: LookupStart, key: K, finding: V) {
        let mut kept = self.lock();
        if kept.forgotten != asked.forgotten {
            return;
        }
        if kept.findings.len() >= KEPT_MAX && !kept.findings.contains_key(&key) {
            kept.findings.retain(|_, (at, _)| asked.at.saturating_sub(*at) < TRUSTED);
            if kept.findings.len() >= KEPT_MAX {
                return;
            }
        }
        kept.findings.insert(key, (asked.at, finding));
    }

    /// Clears the cache.
    pub(in crate::app) fn forget(&self) {
        let mut kept = self.lock();
        kept.forgotten = kept.forgotten.wrapping_add(1);
        kept.findings.clear();
    }

    fn lock(&self) -> MutexGuard<'_, Entries<K, V>> {
        // No code that holds this lock can panic half way.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// Looks `key` up, finds `value` in the database and caches it.
    fn find(cache: &KeyCache<u32, &'static str>, key: u32, now: Duration, value: &'static str) {
        let asked = cache.get(&key, now).unwrap_err();
        cache.keep(asked, key, value);
    }

    #[test]
    fn a_finding_is_trusted_for_less_than_a_second_from_the_question() {
        let cache = KeyCache::default();
        find(&cache, 1, at(100), "one");
        assert_eq!(cache.get(&1, at(1_099)).ok(), Some("one"));
        assert!(cache.get(&1, at(1_100)).is_err());
        assert!(cache.get(&2, at(100)).is_err());
        find(&cache, 1, at(1_100), "new");
        assert_eq!(cache.get(&1, at(1_100)).ok(), Some("new"));
    }

    #[test]
    fn what_was_asked_before_a_change_is_not_kept_after_it() {
        let cache = KeyCache::default();
        find(&cache, 1, at(0), "old");
        let asked = cache.get(&2, at(0)).unwrap_err();
        cache.forget();
        assert!(cache.get(&1, at(0)).is_err());
        cache.keep(asked, 2, "old");
        assert!(cache.get(&2, at(0)).is_err());
        find(&cache, 2, at(0), "new");
        assert_eq!(cache.get(&2, at(0)).ok(), Some("new"));
    }

    #[test]
    fn it_is_bounded_and_makes_room_for_those_in_use() {
        let cache = KeyCache::default();
        let many = u32::try_from(KEPT_MAX).unwrap();
        for key in 0..many {
            find(&cache, key, at(0), "first");
        }
        find(&cache, many, at(999), "no room");
        assert!(cache.get(&many, at(999)).is_err());
        find(&cache, 0, at(1_000), "again");
        find(&cache, many, at(1_000), "room");
        assert_eq!(cache.get(&many, at(1_000)).ok(), Some("room"));
        assert_eq!(cache.get(&0, at(1_000)).ok(), Some("again"));
        assert_eq!(cache.lock().findings.len(), 2);
    }
}
