//! The writer: one task, one connection, and as many waiting jobs in a transaction as there are (contract 12 T1).
//!
//! It waits for a job, opens a transaction, runs the job behind a savepoint, takes whatever else waits meanwhile, and
//! commits once. A job that refuses is undone alone. Nobody is answered before the commit; when the commit fails,
//! everybody in it is told so and nothing of it happened. A job runs here and not in its request's future, so that a
//! client that hangs up cannot cancel it half way (T10).
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

/// What a job made that others are told of after the commit.
#[derive(Debug, Default)]
pub(crate) struct CommitEffects {
    /// How many events.
    pub(crate) events: usize,
    /// Deliveries that this instance sends. Dropped with a job that is undone, and so are their slots.
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

/// What the world is told of commits.
#[derive(Clone, Debug, Default)]
pub(crate) struct CommitListeners {
    /// Where the dispatcher of this instance takes deliveries.
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

/// What is left to do after a job ran.
pub(crate) enum Ran {
    /// It succeeded; its writes stay.
    Keep,
    /// It refused; its writes go, the others' stay.
    Undo,
    /// The database failed under it; the transaction goes.
    Abort,
}

/// A unit of work whose type the writer does not know.
pub(crate) trait Job: Send {
    /// What it will ask for first, where that is known.
    fn ahead(&self) -> Option<&Prefetch>;

    /// Runs inside the open transaction.
    fn run<'t>(&'t mut self, tx: &'t mut dyn Tx) -> BoxFuture<'t, Ran>;

    /// Tells whoever waits; called exactly once, after the commit or the rollback.
    fn answer(self: Box<Self>, end: End);
}

/// How it ended for a job.
pub(crate) enum End {
    /// Committed, as the job left it.
    Committed,
    /// The transaction is gone.
    Lost,
    /// The others' writes were committed, those of this job were refused and are not there.
    Refused(StoreError),
}

/// The jobs, by their places in the transaction, whose writes the database refused after they had ended.
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
            // A panic in one job must not take the writer, and with it every other request, away.
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
        // A refusal, too, holds only when the transaction does: it may rest on what another job of it wrote. The error
        // that ended the transaction is its own reason.
        let result = match (self.result, end) {
            (Some(result), End::Committed) => result,
            (_, End::Refused(error)) => Err(error.into()),
            (Some(Err(error)), End::Lost) if error.ends_transaction() => Err(error),
            _ => Err(StoreError::Unavailable("the transaction was not committed".to_owned()).into()),
        };
        // Whoever asked may have hung up; the work is done all the same.
        let _ = self.waiting.send(result);
    }
}

/// A connection that the writer drives.
#[async_trait]
pub(crate) trait WritingConnection: Send + 'static {
    /// Opens a transaction that may write.
    async fn begin(&mut self) -> Result<(), StoreError>;
    /// Asks at once for what several jobs will ask for first, where that is worth it. What it cannot have, they ask for.
    async fn prefetch(
        &mut self,
        jobs: &[&Prefetch],
        desk: Option<Arc<DispatchHandle>>,
    ) -> Result<(), StoreError>;
    /// Runs the `place`-th job of the transaction, and undoes it alone when it refused. Tells what the job made.
    async fn run(&mut self, place: usize, job: &mut dyn Job) -> Result<(Ran, CommitEffects), StoreError>;
    /// Makes everything since `begin` durable, but for the jobs that failed by it.
    async fn commit(&mut self) -> Result<Failed, StoreError>;
    /// Undoes everything since `begin`, whatever state the transaction is in.
    async fn rollback(&mut self);
    /// Leaves the database tidy at the end.
    async fn close(self: Box<Self>);
}

/// The writer's door.
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

    /// Jobs that wait, and those of the open transaction.
    pub(crate) fn unanswered(&self) -> usize {
        self.unanswered.load(Ordering::Relaxed)
    }

    pub(crate) async fn submit(&self, job: Box<dyn Job>) -> Result<(), StoreError> {
        // Reserved before it is counted: whoever hangs up while the queue is full has asked for nothing.
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

/// Runs what waits in one transaction.
async fn batch(connection: &mut dyn WritingConnection, queue: &mut Queue, told: &CommitListeners) {
    if let Err(error) = connection.begin().await {
        tracing::error!(error = %error, "no transaction could be opened");
        refuse_waiting(queue);
        return;
    }
    let mut ran: Vec<(Counted, CommitEffects)> = Vec::new();
    let mut sound = true;
    while sound && ran.len() < BATCH_MAX && queue.take(BATCH_MAX - ran.len()) {
        // Those of which nothing is known go first. Most write outcomes, and free places with them; and they make the
        // transaction forget what was looked up.
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

/// Runs one job; whether the transaction can go on.
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

/// Answers every job, and tells the world what was made.
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
    // First of all: whoever made an event waits for its answer no longer than for its delivery.
    told.committed(made);
    for (job, end) in answers {
        job.answer(end);
    }
}

/// Refuses everyone who waits: what could not be begun for one cannot be begun for the others, and each of them would
/// wait for the database's lock in its turn.
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
