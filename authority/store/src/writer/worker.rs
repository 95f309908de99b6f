//! A worker: takes batches from the queue, and runs each in a transaction of its connection.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::progress::Progress;
use crate::error::StoreError;
use crate::hand_off::{CommitEffects, CommitListeners};
use crate::job::End;
use crate::queue::{BATCH_MAX, Batch, Counted, Queue};
use crate::shards::ShardSet;
use crate::sql::transaction::first_reads::Prefetch;
use crate::sql::transaction::write_batch::{Failed, Ran};
use crate::writing_connection::WritingConnection;

/// A job's transaction waits so often for its turns, nearly a second each time.
const WAITS_MAX: u32 = 6;

/// How often jobs that run together prefetch again for the rest of them, when one has cleared the cache.
const PREFETCHED_AGAIN_MAX: u32 = 4;

/// How long the jobs of a transaction may compute after its last statement before the rest goes back to the queue. A
/// third of what the server takes for silence, so that one machine with too much to do loses no transaction by it.
const COMPUTING_MAX: Duration = Duration::from_millis(300);

/// How long a worker rests for which the server has no connection left, while others of this instance write.
const REST: Duration = Duration::from_secs(5);

/// The present moment.
#[expect(
    clippy::disallowed_methods,
    reason = "decides which transaction a job is in, and nothing that is stored"
)]
fn now() -> Instant {
    Instant::now()
}

/// Counts a vain wait for turns; answers the job when it was the last one.
fn waited_in_vain(mut job: Counted) -> Option<Counted> {
    job.waits += 1;
    if job.waits < WAITS_MAX {
        return Some(job);
    }
    tracing::error!("a write waited too long for its turns");
    job.job.answer(End::Lost);
    None
}

fn is_of_merchant(job: &Counted) -> bool {
    job.job.ahead.as_ref().is_some_and(Prefetch::is_of_merchant)
}

fn prefetches(jobs: &VecDeque<Counted>) -> Vec<&Prefetch> {
    jobs.iter().filter_map(|job| job.job.ahead.as_ref()).collect()
}

pub(super) struct Worker {
    pub(super) connection: Box<dyn WritingConnection>,
    pub(super) queue: Arc<Queue>,
    pub(super) listeners: CommitListeners,
    /// There are others, in this instance or in another one.
    pub(super) several: bool,
    /// It takes no batch for a while.
    pub(super) rests: bool,
}

impl Worker {
    pub(super) async fn work(mut self) {
        while let Some(batch) = self.queue.next().await {
            let held = self.transaction(batch).await;
            self.queue.release(held);
            if std::mem::take(&mut self.rests) && !self.queue.rest(REST).await {
                break;
            }
        }
        self.connection.close().await;
    }

    /// Runs a batch in one transaction. Returns the shards of the batch that are not released yet.
    async fn transaction(&mut self, mut batch: Batch) -> ShardSet {
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
                if matches!(error, StoreError::NoConnectionLeft(_)) && self.queue.hand_back(&mut batch) {
                    tracing::warn!(error = %error, "fewer transactions than usual are written at a time");
                    self.rests = true;
                    return batch.turns;
                }
                tracing::error!(error = %error, "no transaction could be opened");
                // Those that came meanwhile would each wait for the same lock in turn.
                let shards = if self.several { batch.turns } else { ShardSet::ALL };
                let meanwhile = self.queue.more(shards, usize::MAX);
                batch.jobs.into_iter().chain(meanwhile).for_each(|job| job.job.answer(End::Lost));
                return batch.turns;
            }
        };
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
            job.job.answer(end);
        }
        kept
    }

    /// Adds what else is queued to a batch that has waited, and takes the free turns for it; returns those. `None`:
    /// the transaction is gone, and all jobs are answered.
    async fn take_along(&mut self, batch: &mut Batch) -> Option<ShardSet> {
        let also = self.queue.also(batch.turns, BATCH_MAX.saturating_sub(batch.jobs.len()));
        batch.jobs.extend(also.jobs);
        batch.turns = batch.turns.or(also.turns);
        if also.turns.is_empty() {
            return Some(ShardSet::NONE);
        }
        match self.connection.take_also(also.turns).await {
            Ok(held) => Some(held),
            Err(error) => {
                tracing::error!(error = %error, "the transaction is lost");
                batch.jobs.drain(..).for_each(|job| job.job.answer(End::Lost));
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

    async fn run_together(&mut self, mut jobs: VecDeque<Counted>, progress: &mut Progress) {
        let this_run = Some(now());
        jobs.iter_mut().for_each(|job| job.first_run = job.first_run.or(this_run));
        // Jobs without a prefetch go first. Most of them write outcomes, which frees capacity; and they clear the
        // transaction's cache.
        let (unknown, mut known): (Vec<_>, Vec<_>) =
            jobs.into_iter().partition(|job| job.job.ahead.is_none());
        for job in unknown {
            self.run(progress, job).await;
        }
        // What the platform asks for comes next: more of it clears the cache.
        known.sort_by_key(is_of_merchant);
        let mut known = VecDeque::from(known);
        self.prefetch(prefetches(&known), progress).await;
        let (begun, mut again) = (now(), PREFETCHED_AGAIN_MAX);
        while let Some(job) = known.pop_front() {
            if self.several && !progress.ran.is_empty() && begun.elapsed() > COMPUTING_MAX {
                progress.again.push(job);
                continue;
            }
            self.run(progress, job).await;
            if again > 0 && known.front().is_some_and(is_of_merchant) && self.connection.take_cleared() {
                again -= 1;
                self.prefetch(prefetches(&known), progress).await;
            }
        }
    }

    async fn prefetch(&mut self, jobs: Vec<&Prefetch>, progress: &mut Progress) {
        if !progress.lost
            && !jobs.is_empty()
            && let Err(error) = self.connection.prefetch(&jobs, self.listeners.dispatch.get()).await
        {
            progress.lose(&error);
        }
        let _ = self.connection.take_cleared();
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
                progress.lose(&error);
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
                progress.lose(&error);
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
