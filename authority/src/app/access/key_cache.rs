//! What is known of the keys in use, for a moment: so that not every request asks the database who it is from.
//!
//! A key is looked up by its hash, as in the database. What was found is trusted for [`TRUSTED`] from the moment the
//! database was asked, so that a key that is revoked, or a merchant that is suspended, by any instance works no longer
//! than that (contract 6.2). A change made by this instance counts at once: whoever makes it says
//! [`KeyCache::forget`] after its commit. What a lookup brings that began before that is not kept.
//!
//! Deliberately absent: unknown keys, which are not worth remembering, and judgement: revocation, expiry and status are
//! judged by whoever asks, at every request.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a finding is trusted (contract 6.2: at most 1 s).
pub(in crate::app) const TRUSTED: Duration = Duration::from_secs(1);

/// Findings kept at a time: more keys than are in use within a second. About a kilobyte each.
const KEPT_MAX: usize = 4_096;

/// Findings by key.
pub(in crate::app) struct KeyCache<K, V> {
    kept: Mutex<Entries<K, V>>,
}

struct Entries<K, V> {
    findings: HashMap<K, (Duration, V)>,
    /// How often everything was forgotten.
    forgotten: u64,
}

/// That the database is being asked, since when.
#[derive(Clone, Copy, Debug)]
pub(in crate::app) struct LookupStart {
    at: Duration,
    forgotten: u64,
}

impl<K: Eq + Hash, V: Clone> KeyCache<K, V> {
    pub(in crate::app) fn new() -> Self {
        Self { kept: Mutex::new(Entries { findings: HashMap::new(), forgotten: 0 }) }
    }

    /// What is known of `key`, or that it has to be asked for. `now` is monotonic.
    pub(in crate::app) fn get(&self, key: &K, now: Duration) -> Result<V, LookupStart> {
        let kept = self.lock();
        match kept.findings.get(key) {
            Some((at, finding)) if now.saturating_sub(*at) < TRUSTED => Ok(finding.clone()),
            _ => Err(LookupStart { at: now, forgotten: kept.forgotten }),
        }
    }

    /// Keeps what the database said to a question that was `asked`.
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

    /// Everything has to be asked for again.
    pub(in crate::app) fn forget(&self) {
        let mut kept = self.lock();
        kept.forgotten = kept.forgotten.wrapping_add(1);
        kept.findings.clear();
    }

    fn lock(&self) -> MutexGuard<'_, Entries<K, V>> {
        // Nothing in here panics half way.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// Asks and keeps, as one who finds `value` in the database.
    fn find(cache: &KeyCache<u32, &'static str>, key: u32, now: Duration, value: &'static str) {
        let asked = cache.get(&key, now).unwrap_err();
        cache.keep(asked, key, value);
    }

    #[test]
    fn a_finding_is_trusted_for_less_than_a_second_from_the_question() {
        let cache = KeyCache::new();
        find(&cache, 1, at(100), "one");
        assert_eq!(cache.get(&1, at(1_099)).ok(), Some("one"));
        assert!(cache.get(&1, at(1_100)).is_err());
        assert!(cache.get(&2, at(100)).is_err());
        find(&cache, 1, at(1_100), "new");
        assert_eq!(cache.get(&1, at(1_100)).ok(), Some("new"));
    }

    #[test]
    fn what_was_asked_before_a_change_is_not_kept_after_it() {
        let cache = KeyCache::new();
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
        let cache = KeyCache::new();
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
