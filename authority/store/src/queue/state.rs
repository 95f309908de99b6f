//! Which jobs a batch takes: by the shards that others hold, wait for or have reserved.

use std::collections::VecDeque;

use super::{BATCH_MAX, Batch, Counted};
use crate::shards::{ShardSet, Turns};

#[derive(Default)]
pub(super) struct State {
    pub(super) jobs: VecDeque<Counted>,
    /// The shards of batches that were taken and not released.
    pub(super) busy: ShardSet,
    /// Shards of queued jobs whose turn another instance held at the last try.
    pub(super) contended: ShardSet,
    /// Batches that wait for turns.
    pub(super) waiting: usize,
    /// Workers that take no batches for a while.
    pub(super) resting: usize,
    pub(super) closing: bool,
}

impl State {
    /// The next batch, empty when no job can run now.
    pub(super) fn take(&mut self, most_waiting: usize) -> Batch {
        let mut batch = Batch::default();
        let mut reserved = ShardSet::NONE;
        let mut left = VecDeque::with_capacity(self.jobs.len());
        while let Some(mut job) = self.jobs.pop_front() {
            let turns = job.job.turns;
            let free = turns.shards.without(self.busy.or(reserved));
            let full = batch.jobs.len() == BATCH_MAX;
            // A batch that waits takes nobody along who could go on without.
            let joins_wait = !turns.part && !turns.shards.is_empty() && batch.turns.contains(turns.shards);
            let fits = !full && (!batch.wait || joins_wait);
            let waits = turns.shards.overlaps(self.contended) && !turns.part;
            let begins_wait = waits && batch.jobs.is_empty() && self.waiting < most_waiting;
            let runs = match turns.part {
                true => fits && (!free.is_empty() || turns.shards.is_empty()),
                false => fits && free == turns.shards && (!waits || begins_wait || batch.wait),
            };
            if runs {
                batch.wait |= begins_wait;
                batch.turns = batch.turns.or(free);
                job.permit = None;
                batch.jobs.push_back(job);
            } else {
                if !turns.part {
                    reserved = reserved.or(turns.shards);
                }
                left.push_back(job);
            }
        }
        self.jobs = left;
        self.busy = self.busy.or(batch.turns);
        if batch.wait {
            self.waiting += 1;
            self.contended = self.contended.without(batch.turns);
        }
        batch
    }

    pub(super) fn also(&mut self, most: usize) -> Batch {
        let (busy, mut turns) = (self.busy, ShardSet::NONE);
        let jobs = self.pick(most, |job, reserved| {
            let free = job.shards.without(busy.or(reserved));
            let runs = !job.part && !free.is_empty() && free == job.shards;
            if runs {
                turns = turns.or(free);
            }
            runs
        });
        self.busy = self.busy.or(turns);
        self.contended = self.contended.without(turns);
        Batch { jobs, turns, wait: false }
    }

    pub(super) fn join(&mut self, held: ShardSet, most: usize) -> VecDeque<Counted> {
        self.pick(most, |job, reserved| held.without(reserved).contains(job.shards))
    }

    /// Takes up to `most` of the jobs that `runs` allows, by their turns and what jobs that were left before them have
    /// reserved.
    fn pick(&mut self, most: usize, mut runs: impl FnMut(Turns, ShardSet) -> bool) -> VecDeque<Counted> {
        let (mut picked, mut reserved) = (VecDeque::new(), ShardSet::NONE);
        let mut left = VecDeque::with_capacity(self.jobs.len());
        while let Some(mut job) = self.jobs.pop_front() {
            let turns = job.job.turns;
            if picked.len() < most && runs(turns, reserved) {
                job.permit = None;
                picked.push_back(job);
            } else {
                if !turns.part {
                    reserved = reserved.or(turns.shards);
                }
                left.push_back(job);
            }
        }
        self.jobs = left;
        picked
    }
}
