//! The time: for what stands outside the product (a receiver's own clock, dates that a client gives), and for a service
//! whose clock is in the test's hands.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use authority::clock::{Clock, SystemClock};

/// Now, in Unix milliseconds.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the outermost place: nobody hands a time to a test")]
pub fn now_ms() -> i64 {
    let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    i64::try_from(since_epoch.as_millis()).unwrap()
}

/// A clock that shows what the test says. What is measured, and not shown, goes by the machine.
#[derive(Debug)]
pub struct HandClock {
    machine: SystemClock,
    /// Unix milliseconds of a clock that stands, else the distance to the machine's.
    shows: AtomicI64,
    stands: bool,
}

impl HandClock {
    /// One that stands at the present moment until it is turned: every time that is derived from it is exact.
    #[must_use]
    pub fn standing() -> Arc<Self> {
        Arc::new(Self { machine: SystemClock::new(), shows: AtomicI64::new(now_ms()), stands: true })
    }

    /// One that follows the machine's at this distance in milliseconds.
    #[must_use]
    pub fn following(by_ms: i64) -> Arc<Self> {
        Arc::new(Self { machine: SystemClock::new(), shows: AtomicI64::new(by_ms), stands: false })
    }

    /// What it shows, in Unix milliseconds.
    #[must_use]
    pub fn shown(&self) -> i64 {
        self.now_ms()
    }

    /// Turns a standing clock on by so many milliseconds.
    pub fn turn(&self, by_ms: i64) {
        assert!(self.stands, "a clock that follows the machine is set to a distance");
        self.shows.fetch_add(by_ms, Ordering::SeqCst);
    }

    /// Sets a standing clock to a moment in Unix milliseconds.
    pub fn turn_to(&self, at_ms: i64) {
        assert!(self.stands, "a clock that follows the machine is set to a distance");
        self.shows.store(at_ms, Ordering::SeqCst);
    }

    /// Sets the distance, in milliseconds, of a clock that follows the machine's.
    pub fn follow_at(&self, by_ms: i64) {
        assert!(!self.stands, "a standing clock has no distance");
        self.shows.store(by_ms, Ordering::SeqCst);
    }
}

impl Clock for HandClock {
    fn now_ms(&self) -> i64 {
        let shows = self.shows.load(Ordering::SeqCst);
        if self.stands { shows } else { self.machine.now_ms() + shows }
    }

    fn monotonic(&self) -> Duration {
        self.machine.monotonic()
    }
}
