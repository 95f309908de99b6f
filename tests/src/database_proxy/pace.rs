//! Punctual waits. The runtime's timers know whole milliseconds only, and half a round trip may be 0.25 ms.
//!
//! A thread keeps the due times and sleeps until the next one; the kernel wakes it some tens of microseconds late, and
//! the task it wakes is later still. So it wakes early, by as much as the median wait was late so far: it corrects
//! itself by a microsecond after every wait. What is left is told by [`Lateness`].

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

/// After every wait the correction grows or shrinks by this.
const STEP: Duration = Duration::from_micros(1);
/// The correction at most.
const MOST: Duration = Duration::from_micros(300);
/// So many waits are remembered, until they are taken.
const KEPT: usize = 1_000_000;

/// Waits until given times.
#[derive(Debug)]
pub(super) struct Pacer {
    queue: Arc<Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    waits: Mutex<Waits>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Waits {
    heap: BinaryHeap<Reverse<Wait>>,
    /// How much earlier than asked the thread wakes a waiting task.
    early: Duration,
    lateness: Vec<i32>,
    closed: bool,
}

#[derive(Debug)]
struct Wait {
    due: Instant,
    waiting: oneshot::Sender<()>,
}

/// How far from their due times waits ended, in microseconds; negative is early.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lateness {
    /// How many waits.
    pub waits: usize,
    /// One in a hundred was earlier.
    pub p1_us: i32,
    /// The middle one.
    pub p50_us: i32,
    /// Nine in ten were not later.
    pub p90_us: i32,
    /// 99 in a hundred were not later.
    pub p99_us: i32,
}

impl fmt::Display for Lateness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { waits, p1_us, p50_us, p90_us, p99_us } = self;
        write!(f, "late by {p50_us} µs (p1 {p1_us}, p90 {p90_us}, p99 {p99_us}; {waits} pieces)")
    }
}

impl Pacer {
    pub(super) fn start() -> Self {
        let queue = Arc::<Queue>::default();
        let own = Arc::clone(&queue);
        std::thread::spawn(move || {
            super::raise_priority();
            own.keep();
        });
        Self { queue }
    }

    /// Returns at `due`; at once when it has passed.
    pub(super) async fn until(&self, due: Instant) {
        let woken = self.enter(due);
        let waited = woken.is_some();
        if let Some(woken) = woken {
            // The thread lives as long as this value.
            let _ = woken.await;
        }
        self.queue.waits.lock().unwrap().ended(due, waited);
    }

    /// Asks to be woken at `due`, when that is to come.
    fn enter(&self, due: Instant) -> Option<oneshot::Receiver<()>> {
        let mut waits = self.queue.waits.lock().unwrap();
        if due <= now() + waits.early {
            return None;
        }
        let (waiting, woken) = oneshot::channel();
        waits.heap.push(Reverse(Wait { due, waiting }));
        drop(waits);
        self.queue.changed.notify_one();
        Some(woken)
    }

    pub(super) fn take_lateness(&self) -> Lateness {
        let mut all = std::mem::take(&mut self.queue.waits.lock().unwrap().lateness);
        all.sort_unstable();
        let at = |share: usize| all.get(all.len() * share / 100).copied().unwrap_or_default();
        Lateness { waits: all.len(), p1_us: at(1), p50_us: at(50), p90_us: at(90), p99_us: at(99) }
    }
}

impl Waits {
    fn ended(&mut self, due: Instant, waited: bool) {
        let now = now();
        let late = now.saturating_duration_since(due);
        if waited && late.is_zero() {
            self.early = self.early.saturating_sub(STEP);
        } else if waited {
            self.early = (self.early + STEP).min(MOST);
        }
        if self.lateness.len() < KEPT {
            let micros = |time: Duration| i32::try_from(time.as_micros()).unwrap_or(i32::MAX);
            self.lateness.push(micros(late) - micros(due.saturating_duration_since(now)));
        }
    }
}

impl Drop for Pacer {
    fn drop(&mut self) {
        self.queue.waits.lock().unwrap().closed = true;
        self.queue.changed.notify_one();
    }
}

impl Queue {
    /// Wakes whoever is due, until the pacer is gone.
    fn keep(&self) {
        let mut waits = self.waits.lock().unwrap();
        while !waits.closed {
            let early = waits.early;
            let Some(Reverse(next)) = waits.heap.peek() else {
                waits = self.changed.wait(waits).unwrap();
                continue;
            };
            let rest = next.due.saturating_duration_since(now() + early);
            if rest.is_zero() {
                if let Some(Reverse(wait)) = waits.heap.pop() {
                    // The connection may be gone.
                    let _ = wait.waiting.send(());
                }
            } else {
                waits = self.changed.wait_timeout(waits, rest).unwrap().0;
            }
        }
    }
}

impl PartialEq for Wait {
    fn eq(&self, other: &Self) -> bool {
        self.due == other.due
    }
}

impl Eq for Wait {}

impl PartialOrd for Wait {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Wait {
    fn cmp(&self, other: &Self) -> Ordering {
        self.due.cmp(&other.due)
    }
}

#[expect(clippy::disallowed_methods, reason = "a network's delay goes by the machine's clock")]
fn now() -> Instant {
    Instant::now()
}
