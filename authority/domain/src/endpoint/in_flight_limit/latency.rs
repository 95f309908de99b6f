//! Whether a receiver gets slower: compares the mean latency of a round with the lowest recent one.

/// A rise in latency below this is ignored, in milliseconds.
pub const UNNOTICED_MS: u64 = 25;

/// The lowest latency counts for one to two of these, in milliseconds.
const LOWEST_FOR_MS: u64 = 60_000;

/// The lowest mean latency of a round, of this stretch of time and the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lowest {
    since: u64,
    now_ms: Option<u64>,
    before_ms: Option<u64>,
}

/// How the latency of a round compares with the lowest.
pub(crate) enum Slower {
    No,
    Some,
    /// The limit shrinks to such a part, in percent.
    Much(u64),
}

impl Lowest {
    /// Compares the mean latency of the round that is over at `now`.
    pub(crate) fn compare(&mut self, mean_ms: u64, now: u64) -> Slower {
        if now.saturating_sub(self.since) >= LOWEST_FOR_MS {
            self.before_ms = self.now_ms.take();
            self.since = now;
        }
        self.now_ms = Some(self.now_ms.map_or(mean_ms, |lowest| lowest.min(mean_ms)));
        let lowest_ms = self.now_ms.min(self.before_ms.or(self.now_ms)).unwrap_or(mean_ms);
        let unnoticed_ms = lowest_ms + UNNOTICED_MS;
        if mean_ms > (2 * lowest_ms).max(unnoticed_ms) {
            Slower::Much(150 * lowest_ms.max(UNNOTICED_MS) / mean_ms.max(1))
        } else if mean_ms > (lowest_ms + lowest_ms / 2).max(unnoticed_ms) {
            Slower::Some
        } else {
            Slower::No
        }
    }
}
