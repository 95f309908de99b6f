//! The writer's queue: the jobs of this instance in the order they came, and which shards its transactions hold.
//!
//! A worker takes a batch: jobs whose shards no other worker of this instance has. Jobs that need the same shard run in
//! the order they came, so a job that has to wait reserves its shards against the jobs behind it. A job whose turn
//! another instance holds is put back. One of the next batches then waits for that turn, and for nothing else; a few
//! workers at most wait like that, so that the others go on. Once it has the turn, the transaction takes along whatever
//! else is queued and free ([`Queue::also`]): with several instances, each turn that is waited for would else cost a
//! transaction for a job or two. So it takes the jobs that wait for nothing and make do with that turn: where several
//! instances write for one merchant, its turn goes from one who waits to the next and is never free. Those about many
//! merchants, which would hold up others if they stood in the queue, run with no turn where none is free.

mod state;

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, Semaphore};
use tokio::time::timeout;

pub(crate) use self::state::{BATCH_MAX, Batch, Counted};
use self::state::{Count, State};
use crate::error::{Result, StoreError};
use crate::job::Job;
use crate::shards::ShardSet;

/// Jobs that may be queued for the writer; beyond it, senders wait.
const QUEUE_MAX: usize = 1024;

/// The queue. Shared by the workers and whoever submits jobs.
pub(crate) struct Queue {
    state: Mutex<State>,
    /// Something that a worker may be waiting for has changed.
    changed: Notify,
    /// [`Queue::close`] was called.
    closed: Notify,
    room: Arc<Semaphore>,
    unanswered: Arc<AtomicUsize>,
    /// How many take batches.
    workers: usize,
}

impl Queue {
    /// A queue for so many workers.
    pub(crate) fn new(workers: usize) -> Self {
        Self {
            state: Mutex::default(),
            changed: Notify::new(),
            closed: Notify::new(),
            room: Arc::new(Semaphore::new(QUEUE_MAX)),
            unanswered: Arc::default(),
            workers,
        }
    }

    /// Puts a batch back for the other workers; whoever had it takes no other one before [`Queue::rest`] is over.
    /// Returns whether it was put back: one worker always goes on, so that every job is answered, and nobody rests once
    /// the queue is closed, when the others may have ended.
    pub(crate) fn hand_back(&self, batch: &mut Batch) -> bool {
        let mut state = self.state();
        if state.closing || state.resting + 1 == self.workers {
            return false;
        }
        state.resting += 1;
        if batch.wait {
            state.contended = state.contended.or(batch.turns);
        }
        for job in batch.jobs.drain(..).rev() {
            state.jobs.push_front(job);
        }
        true
    }

    /// Waits after [`Queue::hand_back`]. Returns whether the worker goes on: once the queue is closed, the others run
    /// what is left.
    pub(crate) async fn rest(&self, time: Duration) -> bool {
        let mut closed = pin!(self.closed.notified());
        closed.as_mut().enable();
        if self.is_closed() || timeout(time, closed).await.is_ok() {
            return false;
        }
        self.state().resting -= 1;
        true
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
                // Of those that begin now, at least one does not wait for a turn, unless there is only one.
                let most_waiting = ((self.workers - state.resting) / 2).max(1);
                let batch = state.take(most_waiting, self.workers > 1);
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

    /// More jobs for a transaction that has waited for these turns and has them: whatever does what it can with a part
    /// of them, and at most `most` of those that no worker of this instance has taken. Another instance may hold their
    /// turns. Their shards belong to the caller like those of [`Queue::next`].
    pub(crate) fn also(&self, held: ShardSet, most: usize) -> Batch {
        let mut state = self.state();
        let (busy, mut turns, mut left) = (state.busy, ShardSet::NONE, most);
        let jobs = state.pick(usize::MAX, |job, reserved| {
            let free = job.shards.without(busy.or(reserved));
            let runs = match job.part {
                // Whoever has reserved the turn does not get it sooner without them.
                true => job.shards.overlaps(held),
                false => left > 0 && !free.is_empty() && free == job.shards,
            };
            if runs {
                turns = turns.or(free);
                left -= usize::from(!job.part);
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
        self.closed.notify_waiters();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No code panics half way while it holds the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
