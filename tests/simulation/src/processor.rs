//! A processor for each simulation: its thread and those of its SQLite hand every statement to each other, and to wake
//! a thread of another processor takes longer than most statements. Fifty simulations take 51 s of processor time
//! instead of 72 s.
//!
//! Simulations side by side get different processors, as far as there are enough. A simulation that cannot be bound to
//! one runs where the system puts it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The processors on which simulations run now, one entry for each.
static TAKEN: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// Binds this thread, and all that it starts from now on, to one processor, until it is dropped.
pub(crate) struct Bound {
    before: CpuSet,
    processor: usize,
}

impl Bound {
    pub(crate) fn to_the_least_used() -> Option<Self> {
        let before = sched_getaffinity(None).ok()?;
        let mut taken = taken();
        let simulations = |processor: &usize| taken.iter().filter(|other| *other == processor).count();
        let allowed = (0..CpuSet::MAX_CPU).filter(|processor| before.is_set(*processor));
        let processor = allowed.min_by_key(simulations)?;
        let mut one = CpuSet::new();
        one.set(processor);
        sched_setaffinity(None, &one).ok()?;
        taken.push(processor);
        Some(Self { before, processor })
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        let _ = sched_setaffinity(None, &self.before);
        let mut taken = taken();
        if let Some(at) = taken.iter().position(|processor| *processor == self.processor) {
            taken.swap_remove(at);
        }
    }
}

fn taken() -> MutexGuard<'static, Vec<usize>> {
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}
