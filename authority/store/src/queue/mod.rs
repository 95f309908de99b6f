//! The writer's queue: the jobs of this instance in the order they came, and which shards its transactions hold.
//!
//! A worker takes a batch: jobs whose shards no other worker of this instance has. Jobs that need the same shard run in
//! the order they came, so a job that has to wait reserves its shards against the jobs behind it. A job whose turn
//! another instance holds is put back. One of the next batches then waits for that turn, and for nothing else; a few
//! workers at most wait like that, so that the others go on. Once it has the turn, the transaction takes along whatever
//! else is queued and free ([`Queue::also`]): with several instances, each turn that is waited for would else cost a
//! transaction for a job or two.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::job::Job;
use crate::shards::{ShardSet, Turns};
use crate::{Result, StoreError};

/// Jobs that may be queued for the writer; beyond it, senders wait.
const QUEUE_MAX: usize = 1024;

/// Jobs that may share one transaction: enough to share an fsync, few enough to keep the first one's wait short.
pub(crate) const BATCH_MAX: usize = 128;

/// A job that is counted until it is answered.
pub(crate) struct Counted {
    pub(crate) job: Box<Job>,
    /// What it has of the room in the queue, until it is taken for the first time.
    permit: Option<OwnedSemaphorePermit>,
    /// How often a transaction waited for its turns in vain.
    pub(crate) waits: u32,
    /// How often it ran again: the database refused its rows, or lost its transaction before the commit.
    pub(crate) repeats: u32,
    /// When it was first in a transaction.
    pub(crate) first_run: Option<Instant>,
    _count: Count,
}

/// The count of one job that is not answered yet.
struct Count(Arc<AtomicUsize>);

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

/// The queue. Shared by the workers and whoever submits jobs.
pub(crate) struct Queue {
    state: Mutex<State>,
    /// Something that a worker may be waiting for has changed.
    changed: Notify,
    room: Arc<Semaphore>,
    unanswered: Arc<AtomicUsize>,
    /// How many batches may wait for turns at a time.
    most_waiting: usize,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Counted>,
    /// The shards of batches that were taken and not released.
    busy: ShardSet,
    /// Shards of queued jobs whose turn another instance held at the last try.
    contended: ShardSet,
    /// Batches that wait for turns.
    waiting: usize,
    closing: bool,
}

impl Queue {
    pub(crate) fn new(most_waiting: usize) -> Self {
        Self {
            state: Mutex::default(),
            changed: Notify::new(),
            room: Arc::new(Semaphore::new(QUEUE_MAX)),
            unanswered: Arc::default(),
            most_waiting,
        }
    }

    /// Queued jobs and those of open transactions.
    pub(crate) fn unanswered(&self) -> usize {
        self.unanswered.load(Ordering::Relaxed)
    }

    /// Whether it takes no more jobs.
    pub(crate) fn is_closed(&self) -> bool {
        self.room.is_closed()
    }

    /// Adds a job.
    ///
    /// # Errors
    /// [`StoreError::Closed`] when the queue is closed.
    pub(crate) async fn submit(&self, job: Job) -> Result<()> {
        // Counted after it has a place: a caller that hangs up while the queue is full has submitted nothing.
        let permit = Arc::clone(&self.room).acquire_owned().await.map_err(|_| StoreError::Closed)?;
        let mut state = self.state();
        if state.closing {
            return Err(StoreError::Closed);
        }
        self.unanswered.fetch_add(1, Ordering::Relaxed);
        let count = Count(Arc::clone(&self.unanswered));
        state.jobs.push_back(Counted {
            job: Box::new(job),
            permit: Some(permit),
            waits: 0,
            repeats: 0,
            first_run: None,
            _count: count,
        });
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    /// Waits for jobs that can run now; `None` when the queue is closed and empty. The shards of the batch belong to
    /// the caller until it calls [`Queue::release`].
    pub(crate) async fn next(&self) -> Option<Batch> {
        loop {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            {
                let mut state = self.state();
                let batch = state.take(self.most_waiting);
                if !batch.jobs.is_empty() {
                    let more = !state.jobs.is_empty();
                    drop(state);
                    if more {
                        self.changed.notify_one();
                    }
                    return Some(batch);
                }
                if state.closing && state.jobs.is_empty() {
                    return None;
                }
            }
            changed.await;
        }
    }

    /// More jobs, at most `most`, for a transaction that has waited for a turn: whatever no worker of this instance has
    /// taken. Another instance may hold their turns. Their shards belong to the caller like those of
    /// [`Queue::next`].
    pub(crate) fn also(&self, most: usize) -> Batch {
        let mut state = self.state();
        let (busy, mut turns) = (state.busy, ShardSet::NONE);
        let jobs = state.pick(most, |job, reserved| {
            let free = job.shards.without(busy.or(reserved));
            let runs = !job.part && !free.is_empty() && free == job.shards;
            if runs {
                turns = turns.or(free);
            }
            runs
        });
        state.busy = state.busy.or(turns);
        state.contended = state.contended.without(turns);
        Batch { jobs, turns, wait: false }
    }

    /// Takes up to `most` more jobs for a transaction that holds these turns.
    pub(crate) fn more(&self, held: ShardSet, most: usize) -> VecDeque<Counted> {
        self.state().pick(most, |job, reserved| held.without(reserved).contains(job.shards))
    }

    /// The transaction of a batch that waited for turns has them now, or has given up.
    pub(crate) fn waited(&self) {
        self.state().waiting -= 1;
    }

    /// Puts jobs back to the front, in their order; `contended` are the turns that another instance holds.
    pub(crate) fn put_back(&self, jobs: Vec<Counted>, contended: ShardSet) {
        let mut state = self.state();
        state.contended = state.contended.or(contended);
        for job in jobs.into_iter().rev() {
            state.jobs.push_front(job);
        }
    }

    /// Gives back the shards of a batch.
    pub(crate) fn release(&self, turns: ShardSet) {
        let mut state = self.state();
        state.busy = state.busy.without(turns);
        drop(state);
        self.changed.notify_waiters();
    }

    /// Takes no more jobs; workers end when they have run the ones that were submitted before.
    pub(crate) fn close(&self) {
        self.state().closing = true;
        self.room.close();
        self.changed.notify_waiters();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No code panics half way while it holds the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The next batch, empty when no job can run now.
    fn take(&mut self, most_waiting: usize) -> Batch {
        let State { busy, contended, waiting, .. } = *self;
        let (mut batch, mut is_first) = (Batch::default(), true);
        batch.jobs = self.pick(BATCH_MAX, |job, reserved| {
            let free = job.shards.without(busy.or(reserved));
            // A batch that waits takes nobody along who could go on without.
            let joins_wait = !job.part && !job.shards.is_empty() && batch.turns.contains(job.shards);
            let waits = job.shards.overlaps(contended) && !job.part;
            let begins_wait = waits && is_first && waiting < most_waiting;
            let runs = match job.part {
                _ if batch.wait && !joins_wait => false,
                true => !free.is_empty() || job.shards.is_empty(),
                false => free == job.shards && (!waits || begins_wait || batch.wait),
            };
            if runs {
                batch.wait |= begins_wait;
                batch.turns = batch.turns.or(free);
                is_first = false;
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

#[cfg(test)]
mod tests;
