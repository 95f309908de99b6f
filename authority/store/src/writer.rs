//! The writer: one task, one connection, and one transaction for all queued jobs, up to a limit (contract 12 T1).
//!
//! It waits for a job, opens a transaction, runs the job behind a savepoint, takes the jobs that were queued
//! meanwhile, and commits once. A job that refuses is undone alone. No job is answered before the commit. When the
//! commit fails, every job in the transaction gets an error and none of its writes happened. A job runs here and not
//! in its request's future, so that a client that hangs up cannot cancel it half way (T10).
//!
//! Measured before it was chosen: with FULL durability, coalescing carries ten to twenty times as many writes on
//! SQLite as one transaction each.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use async_trait::async_trait;
use authority_domain::id::EndpointId;
use authority_domain::refusal::Refusal;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::{mpsc, oneshot};

use crate::StoreError;
use crate::hand_off::{CurrentDispatchHandle, DispatchHandle, HandedOff, claim_asked_for};
use crate::ports::{Prefetch, Tx};
use crate::queue::{Counted, Message, Queue};

/// Jobs that may share one transaction: enough to share an fsync, few enough to keep the first one's wait short.
const BATCH_MAX: usize = 128;

/// An error that a job can end with.
pub trait JobError: From<StoreError> + Send + 'static {
    /// Whether the database itself failed, so that the whole transaction is in doubt.
    fn ends_transaction(&self) -> bool;
}

impl JobError for StoreError {
    fn ends_transaction(&self) -> bool {
        self.ends_transaction()
    }
}

impl JobError for Refusal {
    fn ends_transaction(&self) -> bool {
        self.storage_failed
    }
}

/// The effects of a job that are published after the commit.
#[derive(Debug, Default)]
pub(crate) struct CommitEffects {
    /// How many events.
    pub(crate) events: usize,
    /// Deliveries that this instance sends. When a job is undone they are dropped, and their slots with them.
    pub(crate) handed_off: Vec<HandedOff>,
    /// The endpoints of deliveries that nobody holds.
    pub(crate) left_behind: Vec<EndpointId>,
    /// Endpoints that were changed.
    pub(crate) recalled: Vec<EndpointId>,
}

impl CommitEffects {
    fn add(&mut self, more: Self) {
        self.events += more.events;
        self.handed_off.extend(more.handed_off);
        self.left_behind.extend(more.left_behind);
        self.recalled.extend(more.recalled);
    }
}

/// Who is notified of commits: the dispatcher of this instance, and the counter of events.
#[derive(Clone, Debug, Default)]
pub(crate) struct CommitListeners {
    /// The dispatch handle of this instance, if there is one.
    pub(crate) desk: CurrentDispatchHandle,
    /// All events that were committed.
    pub(crate) events: Arc<AtomicU64>,
}

impl CommitListeners {
    fn committed(&self, made: CommitEffects) {
        self.events.fetch_add(u64::try_from(made.events).unwrap_or(u64::MAX), Ordering::Relaxed);
        if let Some(desk) = self.desk.desk().filter(|_| !made.recalled.is_empty()) {
            for endpoint in &made.recalled {
                desk.slots.changed(endpoint);
                (desk.recall)(endpoint);
            }
        }
        for delivery in made.handed_off {
            delivery.begin();
        }
        if !made.left_behind.is_empty()
            && let Some(desk) = self.desk.desk()
        {
            desk.slots.committed_behind(&made.left_behind);
        }
    }
}

/// What the writer does after a job ran.
pub(crate) enum Ran {
    /// It succeeded; its writes stay.
    Keep,
    /// It refused; its writes are undone, the others' stay.
    Undo,
    /// The database failed during it; the whole transaction is undone.
    Abort,
}

/// A unit of work whose type the writer does not know.
pub(crate) trait Job: Send {
    /// What it will read first, if that is known.
    fn ahead(&self) -> Option<&Prefetch>;

    /// Runs inside the open transaction.
    fn run<'t>(&'t mut self, tx: &'t mut dyn Tx) -> BoxFuture<'t, Ran>;

    /// Answers the caller; called exactly once, after the commit or the rollback.
    fn answer(self: Box<Self>, end: End);
}

/// How it ended for a job.
pub(crate) enum End {
    /// Committed, as the job left it.
    Committed,
    /// The transaction was not committed.
    Lost,
    /// The others' writes were committed; the database refused this job's writes, and they are not stored.
    Refused(StoreError),
}

/// The jobs, by their index in the transaction, whose writes the database refused after they had ended.
pub(crate) type Failed = Vec<(usize, StoreError)>;

/// A job with its result type.
pub(crate) struct TypedJob<F, T, E> {
    work: Option<F>,
    /// The dispatcher of this instance.
    desk: Option<Arc<DispatchHandle>>,
    ahead: Option<Prefetch>,
    result: Option<Result<T, E>>,
    waiting: oneshot::Sender<Result<T, E>>,
}

impl<F, T, E> TypedJob<F, T, E> {
    pub(crate) fn new(
        work: F,
        ahead: Option<Prefetch>,
        desk: Option<Arc<DispatchHandle>>,
    ) -> (Self, oneshot::Receiver<Result<T, E>>) {
        let (waiting, answer) = oneshot::channel();
        (Self { work: Some(work), desk, ahead, result: None, waiting }, answer)
    }
}

impl<F, T, E> Job for TypedJob<F, T, E>
where
    F: for<'t> FnOnce(&'t mut dyn Tx) -> BoxFuture<'t, Result<T, E>> + Send,
    T: Send,
    E: JobError,
{
    fn ahead(&self) -> Option<&Prefetch> {
        self.ahead.as_ref()
    }

    fn run<'t>(&'t mut self, tx: &'t mut dyn Tx) -> BoxFuture<'t, Ran> {
        Box::pin(async move {
            let Some(work) = self.work.take() else { return Ran::Undo };
            tx.set_desk(self.desk.take());
            // A panic in one job must not end the writer, which would fail every other request.
            let worked = async {
                let value = work(tx).await?;
                claim_asked_for(tx).await?;
                Ok::<T, E>(value)
            };
            let (result, ran) = match AssertUnwindSafe(worked).catch_unwind().await {
                Ok(Ok(value)) => (Ok(value), Ran::Keep),
                Ok(Err(error)) if error.ends_transaction() => (Err(error), Ran::Abort),
                Ok(Err(error)) => (Err(error), Ran::Undo),
                Err(_) => {
                    tracing::error!("a writing job panicked; its writes are undone");
                    (Err(StoreError::Broken("a writing job panicked".to_owned()).into()), Ran::Undo)
                }
            };
            self.result = Some(result);
            ran
        })
    }

    fn answer(self: Box<Self>, end: End) {
        // A refusal, too, holds only when the transaction commits: it may rest on what another job of the transaction
        // wrote. The job whose error ended the transaction gets that error.
        let result = match (self.result, end) {
            (Some(result), End::Committed) => result,
            (_, End::Refused(error)) => Err(error.into()),
            (Some(Err(error)), End::Lost) if error.ends_transaction() => Err(error),
            _ => Err(StoreError::Unavailable("the transaction was not committed".to_owned()).into()),
        };
        // The caller may have hung up; the work is done all the same.
        let _ = self.waiting.send(result);
    }
}

/// A connection that the writer drives.
#[async_trait]
pub(crate) trait WritingConnection: Send + 'static {
    /// Opens a transaction that may write.
    async fn begin(&mut self) -> Result<(), StoreError>;
    /// Reads at once what several jobs will ask for first, where that is worth it. What it does not read, the jobs
    /// read themselves.
    async fn prefetch(
        &mut self,
        jobs: &[&Prefetch],
        desk: Option<Arc<DispatchHandle>>,
    ) -> Result<(), StoreError>;
    /// Runs the job with index `place` in the transaction, and undoes it alone when it refused. Returns the job's
    /// effects.
    async fn run(&mut self, place: usize, job: &mut dyn Job) -> Result<(Ran, CommitEffects), StoreError>;
    /// Makes everything since `begin` durable. Returns the jobs whose writes the database refused; those are left
    /// out.
    async fn commit(&mut self) -> Result<Failed, StoreError>;
    /// Undoes everything since `begin`, whatever state the transaction is in.
    async fn rollback(&mut self);
    /// Closes the database properly at the end.
    async fn close(self: Box<Self>);
}

/// The handle through which jobs are submitted to the writer.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    jobs: mpsc::Sender<Message>,
    unanswered: Arc<AtomicUsize>,
}

impl Writer {
    /// Starts the task.
    pub(crate) fn start(connection: Box<dyn WritingConnection>, told: CommitListeners) -> Self {
        let (jobs, queue) = Queue::open();
        tokio::spawn(write(connection, queue, told));
        Self { jobs, unanswered: Arc::default() }
    }

    /// The number of queued jobs and of jobs in the open transaction.
    pub(crate) fn unanswered(&self) -> usize {
        self.unanswered.load(Ordering::Relaxed)
    }

    pub(crate) async fn submit(&self, job: Box<dyn Job>) -> Result<(), StoreError> {
        // Reserved before it is counted: a caller that hangs up while the queue is full has submitted nothing.
        let place = self.jobs.reserve().await.map_err(|_| closed())?;
        place.send(Message::Job(Counted::new(job, &self.unanswered)));
        Ok(())
    }

    /// Waits for the jobs already submitted, then ends the task.
    pub(crate) async fn close(&self) {
        let (done, closed) = oneshot::channel();
        if self.jobs.send(Message::Close(done)).await.is_ok() {
            let _ = closed.await;
        }
    }
}

pub(crate) fn closed() -> StoreError {
    StoreError::Unavailable("the store is closed".to_owned())
}

async fn write(mut connection: Box<dyn WritingConnection>, mut queue: Queue, told: CommitListeners) {
    while queue.wait().await {
        batch(&mut *connection, &mut queue, &told).await;
    }
    connection.close().await;
    queue.closed();
}

/// Runs the queued jobs in one transaction.
async fn batch(connection: &mut dyn WritingConnection, queue: &mut Queue, told: &CommitListeners) {
    if let Err(error) = connection.begin().await {
        tracing::error!(error = %error, "no transaction could be opened");
        refuse_waiting(queue);
        return;
    }
    let mut ran: Vec<(Counted, CommitEffects)> = Vec::new();
    let mut sound = true;
    while sound && ran.len() < BATCH_MAX && queue.take(BATCH_MAX - ran.len()) {
        // Jobs without a prefetch go first. Most of them write outcomes, which frees capacity; and they clear the
        // transaction's cache.
        while sound && let Some(job) = queue.pop_unknown() {
            sound = run(connection, &mut ran, job).await;
        }
        let ahead: Vec<&Prefetch> = queue.jobs().filter_map(|waiting| waiting.job.ahead()).collect();
        if sound && let Err(error) = connection.prefetch(&ahead, told.desk.desk()).await {
            tracing::error!(error = %error, "the transaction is lost");
            sound = false;
        }
        while sound && let Some(job) = queue.pop() {
            sound = run(connection, &mut ran, job).await;
        }
    }
    let committed = if sound { commit(connection).await } else { None };
    if committed.is_none() {
        connection.rollback().await;
    }
    answer(ran, committed, told);
}

/// Runs one job; returns whether the transaction can continue.
async fn run(
    connection: &mut dyn WritingConnection,
    ran: &mut Vec<(Counted, CommitEffects)>,
    mut job: Counted,
) -> bool {
    let (made, sound) = match connection.run(ran.len(), &mut *job.job).await {
        Ok((Ran::Keep, made)) => (made, true),
        Ok((Ran::Undo, _)) => (CommitEffects::default(), true),
        Ok((Ran::Abort, _)) => (CommitEffects::default(), false),
        Err(error) => {
            tracing::error!(error = %error, "the transaction is lost");
            (CommitEffects::default(), false)
        }
    };
    ran.push((job, made));
    sound
}

/// Publishes the effects of the committed jobs, and answers every job.
fn answer(ran: Vec<(Counted, CommitEffects)>, committed: Option<Failed>, told: &CommitListeners) {
    let Some(mut failed) = committed else {
        for (job, _) in ran {
            job.answer(End::Lost);
        }
        return;
    };
    let mut made = CommitEffects::default();
    let mut answers = Vec::with_capacity(ran.len());
    for (place, (job, by_job)) in ran.into_iter().enumerate() {
        match failed.iter().position(|(failed, _)| *failed == place) {
            Some(refused) => answers.push((job, End::Refused(failed.swap_remove(refused).1))),
            None => {
                made.add(by_job);
                answers.push((job, End::Committed));
            }
        }
    }
    // The effects come first: the caller that made an event waits no longer for its answer than for the delivery.
    told.committed(made);
    for (job, end) in answers {
        job.answer(end);
    }
}

/// Refuses all queued jobs: if no transaction could be opened for one, none can be opened for the others, and each of
/// them would wait for the database's lock in turn.
fn refuse_waiting(queue: &mut Queue) {
    queue.take(usize::MAX);
    while let Some(job) = queue.pop() {
        job.answer(End::Lost);
    }
}

async fn commit(connection: &mut dyn WritingConnection) -> Option<Failed> {
    match connection.commit().await {
        Ok(failed) => Some(failed),
        Err(error) => {
            tracing::error!(error = %error, "the commit failed");
            None
        }
    }
}
