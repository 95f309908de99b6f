//! Batches and their jobs: which jobs a batch takes, by the shards that others hold, wait for or have reserved.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use tokio::sync::OwnedSemaphorePermit;

use crate::job::Job;
use crate::shards::{ShardSet, Turns};

/// Jobs that may share one transaction: enough to share an fsync, few enough to keep the first one's wait short.
pub(crate) const BATCH_MAX: usize = 128;

/// A job that is counted until it is answered.
pub(crate) struct Counted {
    pub(crate) job: Box<Job>,
    /// What it has of the room in the queue, until it is taken for the first time.
    pub(super) permit: Option<OwnedSemaphorePermit>,
    /// How often a transaction waited for its turns in vain.
    pub(crate) waits: u32,
    /// How often it ran again: the database refused its rows, or lost its transaction before the commit.
    pub(crate) repeats: u32,
    /// When it was first in a transaction.
    pub(crate) first_run: Option<Instant>,
    pub(super) _count: Count,
}

/// The count of one job that is not answered yet.
pub(super) struct Count(pub(super) Arc<AtomicUsize>);

impl Drop for Count {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Jobs for one transaction.
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) jobs: VecDeque<Counted>,
    /// The turns to take.
    pub(crate) turns: ShardSet,
    /// Another instance holds them: the transaction waits for them.
    pub(crate) wait: bool,
}

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
    /// The next batch, empty when no job can run now. Where there are `several` workers, jobs without turns share one
    /// with one another only: the rows that they write are no shard's, and whoever else wants one would wait for the
    /// shards of the batch.
    pub(super) fn take(&mut self, most_waiting: usize, several: bool) -> Batch {
        let State { busy, contended, waiting, .. } = *self;
        let (mut batch, mut first) = (Batch::default(), None);
        batch.jobs = self.pick(BATCH_MAX, |job, reserved| {
            if several && first.is_some_and(|first: Turns| (first == Turns::NONE) != (job == Turns::NONE)) {
                return false;
            }
            let free = job.shards.without(busy.or(reserved));
            // A batch that waits takes nobody along who could go on without.
            let joins_wait = !job.part && !job.shards.is_empty() && batch.turns.contains(job.shards);
            let waits = job.shards.overlaps(contended) && !job.part;
            let begins_wait = waits && first.is_none() && waiting < most_waiting;
            let runs = match job.part {
                _ if batch.wait && !joins_wait => false,
                true => job.at_once || !free.is_empty() || job.shards.is_empty(),
                false => free == job.shards && (!waits || begins_wait || batch.wait),
            };
            if runs {
                batch.wait |= begins_wait;
                batch.turns = batch.turns.or(free);
                first = first.or(Some(job));
            }
            runs
        });
        self.busy = self.busy.or(batch.turns);
        if batch.wait {
            self.waiting += 1;
            self.contended = self.contended.without(batch.turns);
        }
        batch
    }

    /// Takes up to `most` of the jobs that `runs` allows, by their turns and what jobs that were left before them have
    /// reserved.
    pub(super) fn pick(
        &mut self,
        most: usize,
        mut runs: impl FnMut(Turns, ShardSet) -> bool,
    ) -> VecDeque<Counted> {
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
