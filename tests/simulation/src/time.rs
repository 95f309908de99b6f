//! Time that is turned by hand: one clock for everything, the runtime's timers included.
//!
//! There are two readings. The elapsed time only grows and moves the runtime's timers along. The wall time is the
//! elapsed time and a skew, which steps a few seconds back and forth as a machine's clock does when it is corrected.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use authority::clock::Clock;

/// 2026-09-01T12:00:00Z, when every simulation begins.
const BEGINNING_MS: i64 = 1_788_264_000_000;

/// Steps back that are so close to one another count together.
const SET_BACK_TOGETHER_MS: i64 = 5_000;

/// The time of a simulation.
#[derive(Debug, Default)]
pub(crate) struct Time {
    elapsed_ms: AtomicI64,
    skew_ms: AtomicI64,
    /// When the clock was last set back, in elapsed time, and by how much.
    set_back_at_ms: AtomicI64,
    set_back_by_ms: AtomicI64,
}

impl Time {
    /// Milliseconds since the beginning.
    pub(crate) fn elapsed(&self) -> i64 {
        self.elapsed_ms.load(Ordering::Relaxed)
    }

    /// What the machine's clock shows, in Unix milliseconds.
    pub(crate) fn wall(&self) -> i64 {
        BEGINNING_MS + self.elapsed() + self.skew_ms.load(Ordering::Relaxed)
    }

    /// When the wall time will be `wall`, unless the clock steps.
    pub(crate) fn elapsed_at(&self, wall: i64) -> i64 {
        wall - BEGINNING_MS - self.skew_ms.load(Ordering::Relaxed)
    }

    /// Steps the wall time.
    pub(crate) fn step(&self, by_ms: i64) {
        self.skew_ms.fetch_add(by_ms, Ordering::Relaxed);
        if by_ms < 0 {
            let by = self.set_back_within(SET_BACK_TOGETHER_MS) - by_ms;
            self.set_back_at_ms.store(self.elapsed(), Ordering::Relaxed);
            self.set_back_by_ms.store(by, Ordering::Relaxed);
        }
    }

    /// By how much the clock was set back within the last `ms`: what was read before may be so much ahead of the wall.
    pub(crate) fn set_back_within(&self, ms: i64) -> i64 {
        let lately = self.elapsed() - self.set_back_at_ms.load(Ordering::Relaxed) <= ms;
        if lately { self.set_back_by_ms.load(Ordering::Relaxed) } else { 0 }
    }

    /// Lets time pass, in one jump.
    pub(crate) async fn pass(&self, ms: i64) {
        self.elapsed_ms.fetch_add(ms, Ordering::Relaxed);
        tokio::time::advance(Duration::from_millis(u64::try_from(ms).unwrap_or(0))).await;
    }
}

impl Clock for Time {
    fn now_ms(&self) -> i64 {
        self.wall()
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis(u64::try_from(self.elapsed()).unwrap_or(0))
    }
}
