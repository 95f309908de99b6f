//! The writer: a few workers, each with a connection of its own, and one transaction for all queued jobs that can share
//! it (contract 12 T1, 21.2).
//!
//! A worker takes a batch of jobs from the queue, opens a transaction that holds the turns of their shards, runs each
//! job behind a savepoint, and commits once. A job that refuses is undone alone. No job is answered before the commit.
//! When the commit fails, every job in the transaction gets an error. A transaction that is lost before its commit was
//! sent has written nothing: where others write, its jobs run again, a few times at most, so that an instance which the
//! server took for silent answers its callers all the same. A job runs here and not in its request's future, so that a
//! client that hangs up cannot cancel it half way (T10).
//!
//! Jobs whose turn another instance holds go back to the queue, and the rest of the batch goes on without them. A job
//! that needs a turn that its transaction does not hold is undone and goes back as well. So does the rest of a batch
//! that computes for too long.
//!
//! SQLite has one worker, which holds every turn, and whose transaction also takes the jobs that come while it runs.
//!
//! Measured before it was chosen: with FULL durability, coalescing carries ten to twenty times as many writes on
//! SQLite as one transaction each.

mod progress;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::task::JoinHandle;

use self::progress::Progress;
use crate::Result;
use crate::job::{CommitEffects, CommitListeners, End, Failed, Job, Ran};
use crate::queue::{BATCH_MAX, Batch, Counted, Queue};
use crate::shards::ShardSet;
use crate::tx::Prefetch;
use crate::writing_connection::WritingConnection;

/// A job's transaction waits so often for its turns, nearly a second each time.
const WAITS_MAX: u32 = 6;

/// How long the jobs of a transaction may compute after its last statement before the rest goes back to the queue. A
/// third of what the server takes for silence, so that one machine with too much to do loses no transaction by it.
const COMPUTING_MAX: Duration = Duration::from_millis(300);

/// The handle through which jobs are submitted to the writer.
#[derive(Clone)]
pub(crate) struct Writer {
    queue: Arc<Queue>,
    workers: Arc<Mutex<Vec<JoinHandle<()>>>>,
}

impl Writer {
    /// Starts a worker for each connection.
    pub(crate) fn start(connections: Vec<Box<dyn WritingConnection>>, listeners: &CommitListeners) -> Self {
        // At least one worker never waits for a turn, unless there is only one.
        let queue = Arc::new(Queue::new((connections.len() / 2).max(1)));
        let several = connections.len() > 1;
        let worker = |connection| {
            let worker =
                Worker { connection, queue: Arc::clone(&queue), listeners: listeners.clone(), several };
            tokio::spawn(worker.work())
        };
        let workers = connections.into_iter().map(worker).collect();
        Self { queue, workers: Arc::new(Mutex::new(workers)) }
    }

    /// Whether it takes no more jobs.
    pub(crate) fn is_closed(&self) -> bool {
        self.queue.is_closed()
    }

    /// The number of queued jobs and of jobs in open transactions.
    pub(crate) fn unanswered(&self) -> usize {
        self.queue.unanswered()
    }

    pub(crate) async fn submit(&self, job: Job) -> Result<()> {
        self.queue.submit(job).await
    }

    /// Waits for the jobs already submitted, then ends the workers.
    pub(crate) async fn close(&self) {
        self.queue.close();
        let workers = std::mem::take(&mut *self.workers.lock().unwrap_or_else(PoisonError::into_inner));
        for worker in workers {
            let _ = worker.await;
        }
    }
}

/// How long it is since this call.
#[expect(
    clippy::disallowed_methods,
    reason = "decides which transaction a job is in, and nothing that is stored"
)]
fn stopwatch() -> impl Fn() -> Duration {
    let begun = Instant::now();
    move || begun.elapsed()
}

/// Counts a vain wait for turns; answers the job when it was the last one.
fn waited_in_vain(mut job: Counted) -> Option<Counted> {
    job.waits += 1;
    if job.waits < WAITS_MAX {
        return Some(job);
    }
    tracing::error!("a write waited too long for its turns");
    job.answer(End::Lost);
    None
}

struct Worker {
    connection: Box<dyn WritingConnection>,
    queue: Arc<Queue>,
    listeners: CommitListeners,
    /// There are others, in this instance or in another one.
    several: bool,
}

impl Worker {
    async fn work(mut self) {
        while let Some(batch) = self.queue.next().await {
            let held = self.transaction(batch).await;
            self.queue.release(held);
        }
        self.connection.close().await;
    }

    /// Runs a batch in one transaction. Returns the shards of the batch that are not released yet.
    async fn transaction(&mut self, batch: Batch) -> ShardSet {
        let begun = self.connection.begin(batch.turns, batch.wait).await;
        if batch.wait {
            self.queue.waited();
        }
        let mut held = match begun {
            Ok(Some(held)) => held,
            Ok(None) => {
                let back = batch.jobs.into_iter().filter_map(waited_in_vain).collect();
                self.queue.put_back(back, batch.turns);
                return batch.turns;
            }
            Err(error) => {
                tracing::error!(error = %error, "no transaction could be opened");
                // Those that came meanwhile would each wait for the same lock in turn.
                let shards = if self.several { batch.turns } else { ShardSet::ALL };
                let meanwhile = self.queue.more(shards, usize::MAX);
                batch.jobs.into_iter().chain(meanwhile).for_each(|job| job.answer(End::Lost));
                return batch.turns;
            }
        };
        let mut batch = batch;
        if batch.wait {
            let Some(also) = self.take_along(&mut batch).await else { return batch.turns };
            held = held.or(also);
        }
        let (jobs, back): (VecDeque<_>, VecDeque<_>) =
            batch.jobs.into_iter().partition(|job| job.job.turns.allow(held));
        let wanted = back.iter().fold(ShardSet::NONE, |all, job| all.or(job.job.turns.shards));
        self.queue.put_back(back.into(), wanted.without(held));
        self.queue.release(batch.turns.without(held));
        let kept = batch.turns.and(held);
        if jobs.is_empty() {
            self.connection.rollback().await;
            return kept;
        }
        let mut progress = self.run_all(jobs, held).await;
        let committed = self.commit(&mut progress).await;
        if committed.is_none() {
            self.connection.rollback().await;
        }
        let ended = progress.end(committed, self.several);
        self.queue.put_back(ended.again, ShardSet::NONE);
        // The effects come first: the caller that made an event waits no longer for its answer than for the delivery.
        self.listeners.committed(ended.effects);
        for (job, end) in ended.answers {
            job.answer(end);
        }
        kept
    }

    /// Adds what else is queued to a batch that has waited, and takes the free turns for it; returns those. `None`:
    /// the transaction is gone, and all jobs are answered.
    async fn take_along(&mut self, batch: &mut Batch) -> Option<ShardSet> {
        let also = self.queue.also(BATCH_MAX.saturating_sub(batch.jobs.len()));
        batch.jobs.extend(also.jobs);
        batch.turns = batch.turns.or(also.turns);
        if also.turns.is_empty() {
            return Some(ShardSet::NONE);
        }
        match self.connection.take_also(also.turns).await {
            Ok(held) => Some(held),
            Err(error) => {
                tracing::error!(error = %error, "the transaction is lost");
                batch.jobs.drain(..).for_each(|job| job.answer(End::Lost));
                None
            }
        }
    }

    /// Runs the jobs. Where nobody else writes, also those that are queued meanwhile; elsewhere others may wait for the
    /// turns, so the transaction does not grow.
    async fn run_all(&mut self, mut jobs: VecDeque<Counted>, held: ShardSet) -> Progress {
        let mut progress = Progress::default();
        while !jobs.is_empty() {
            self.run_together(jobs, &mut progress).await;
            if self.several || progress.lost {
                break;
            }
            jobs = self.queue.more(held, BATCH_MAX.saturating_sub(progress.ran.len()));
        }
        progress
    }

    async fn run_together(&mut self, jobs: VecDeque<Counted>, progress: &mut Progress) {
        // Jobs without a prefetch go first. Most of them write outcomes, which frees capacity; and they clear the
        // transaction's cache.
        let (unknown, known): (Vec<_>, Vec<_>) = jobs.into_iter().partition(|job| job.job.ahead.is_none());
        for job in unknown {
            self.run(progress, job).await;
        }
        let ahead: Vec<&Prefetch> = known.iter().filter_map(|job| job.job.ahead.as_ref()).collect();
        if !progress.lost
            && !ahead.is_empty()
            && let Err(error) = self.connection.prefetch(&ahead, self.listeners.dispatch.get()).await
        {
            tracing::error!(error = %error, "the transaction is lost");
            progress.lost = true;
        }
        let computed = stopwatch();
        for job in known {
            if self.several && !progress.ran.is_empty() && computed() > COMPUTING_MAX {
                progress.again.push(job);
            } else {
                self.run(progress, job).await;
            }
        }
    }

    /// Runs one job; puts it off when the transaction is lost.
    async fn run(&mut self, progress: &mut Progress, mut job: Counted) {
        if progress.lost {
            progress.again.push(job);
            return;
        }
        let effects = match self.connection.run(progress.ran.len(), &mut job.job).await {
            Ok((Ran::Keep, effects)) => effects,
            Ok((Ran::Undo, _)) => CommitEffects::default(),
            Ok((Ran::Again(missing), _)) => {
                job.job.turns.shards = job.job.turns.shards.or(missing);
                progress.again.push(job);
                return;
            }
            Ok((Ran::Abort, _)) => {
                progress.lost = true;
                CommitEffects::default()
            }
            Err(error) => {
                tracing::error!(error = %error, "the transaction is lost");
                progress.lost = true;
                CommitEffects::default()
            }
        };
        progress.ran.push((job, effects));
    }

    /// Commits, unless the transaction is lost. Returns the jobs whose writes the database refused.
    async fn commit(&mut self, progress: &mut Progress) -> Option<Failed> {
        if progress.lost {
            return None;
        }
        let failed = match self.connection.finish().await {
            Ok(failed) => failed,
            Err(error) => {
                tracing::error!(error = %error, "the transaction is lost");
                progress.lost = true;
                return None;
            }
        };
        match self.connection.commit().await {
            Ok(true) => Some(failed),
            Ok(false) => {
                tracing::warn!("the server took this instance for silent and ended its transaction");
                progress.lost = true;
                None
            }
            Err(error) => {
                tracing::error!(error = %error, "the commit failed");
                None
            }
        }
    }
}
