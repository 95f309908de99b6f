//! Jobs: what the writer runs inside its transactions, and how their callers get the result.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use authority_domain::Refusal;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::{oneshot, watch};

use crate::claims::claim_asked_for;
use crate::error::StoreError;
use crate::hand_off::{CommitEffects, DispatchHandle};
use crate::shards::Turns;
use crate::sql::transaction::Tx;
use crate::sql::transaction::first_reads::Prefetch;
use crate::sql::transaction::tx::JobState;
use crate::sql::transaction::write_batch::Ran;

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
        self.fault.as_ref().is_some_and(|fault| fault.of_storage)
    }
}

/// What a job does with its [`Tx`].
pub trait Work<T, E>: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Send + 'static {}

impl<T, E, F> Work<T, E> for F where
    F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Send + 'static
{
}

/// How the transaction ended for a job.
pub(crate) enum End {
    /// Committed, as the job left it.
    Committed,
    /// The transaction was not committed.
    Lost,
    /// The others' writes were committed; the database refused this job's writes, and they are not stored.
    Refused(StoreError),
}

/// A value whose type only the caller knows. The writer and the readers are compiled once, not for each job.
type Erased = Box<dyn Any + Send>;

/// Why a job failed.
pub(crate) enum JobFailure {
    /// With an error of its own.
    OfWork {
        /// It, of the caller's type.
        error: Erased,
        /// As [`JobError::ends_transaction`] says.
        ends_transaction: bool,
    },
    /// By the store.
    OfStore(StoreError),
}

impl JobFailure {
    fn ends_transaction(&self) -> bool {
        match self {
            Self::OfWork { ends_transaction, .. } => *ends_transaction,
            Self::OfStore(error) => error.ends_transaction(),
        }
    }
}

/// What a job returned.
pub(crate) type Worked = Result<Erased, JobFailure>;

/// Runs work, and takes the type from its result.
pub(crate) async fn erased<T: Send + 'static, E: JobError>(work: BoxFuture<'_, Result<T, E>>) -> Worked {
    match work.await {
        Ok(value) => Ok(Box::new(value)),
        Err(error) => {
            Err(JobFailure::OfWork { ends_transaction: error.ends_transaction(), error: Box::new(error) })
        }
    }
}

/// Gives a result its type again: that with which it was [`erased`].
pub(crate) fn typed<T: 'static, E: JobError>(worked: Worked) -> Result<T, E> {
    let other = || StoreError::Broken("a job returned a value of another type".to_owned()).into();
    match worked {
        Ok(value) => value.downcast().map(|value| *value).map_err(|_| other()),
        Err(JobFailure::OfWork { error, .. }) => {
            Err(error.downcast().map_or_else(|_| other(), |error| *error))
        }
        Err(JobFailure::OfStore(error)) => Err(error.into()),
    }
}

impl Tx {
    /// Runs the job with this `index` in the transaction, and keeps or undoes it. Returns its effects.
    pub(crate) async fn run(
        &mut self,
        index: usize,
        job: &mut Job,
    ) -> crate::error::Result<(Ran, CommitEffects)> {
        self.conn.begin_job(index);
        self.job = JobState::default();
        let ran = job.run(self).await;
        let effects = std::mem::take(&mut self.job).effects;
        Ok((self.conn.end_job(ran).await?, effects))
    }
}

/// What a job does, each time it runs; `None` when it can run only once and has.
type NextRun = Box<dyn for<'t> FnMut(&'t mut Tx) -> Option<BoxFuture<'t, Worked>> + Send>;

/// A unit of work for the writer.
pub(crate) struct Job {
    work: NextRun,
    /// Whether it can run once more.
    pub(crate) may_repeat: bool,
    /// The turns that it needs.
    pub(crate) turns: Turns,
    /// The dispatcher of this instance.
    dispatch: Option<Arc<DispatchHandle>>,
    /// Lets the dispatcher wait for the job when it stops.
    _unanswered: Option<watch::Receiver<()>>,
    /// What it will read first, if that is known.
    pub(crate) ahead: Option<Prefetch>,
    result: Option<Worked>,
    waiting: oneshot::Sender<Worked>,
}

impl Job {
    /// A job with every turn. It needs no other, so it runs once.
    pub(crate) fn once<T: Send + 'static, E: JobError>(
        work: impl Work<T, E>,
        dispatch: Option<Arc<DispatchHandle>>,
    ) -> (Self, oneshot::Receiver<Worked>) {
        let mut work = Some(work);
        let work: NextRun = Box::new(move |tx| Some(Box::pin(erased((work.take()?)(tx)))));
        Self::new(work, false, Turns::ALL, None, dispatch)
    }

    /// A job with the turns that it names; it runs again when it turns out to need more.
    pub(crate) fn repeatable<T: Send + 'static, E: JobError>(
        work: impl Work<T, E> + Clone,
        turns: Turns,
        ahead: Option<Prefetch>,
        dispatch: Option<Arc<DispatchHandle>>,
    ) -> (Self, oneshot::Receiver<Worked>) {
        let work: NextRun = Box::new(move |tx| Some(Box::pin(erased((work.clone())(tx)))));
        Self::new(work, true, turns, ahead, dispatch)
    }

    fn new(
        work: NextRun,
        may_repeat: bool,
        turns: Turns,
        ahead: Option<Prefetch>,
        dispatch: Option<Arc<DispatchHandle>>,
    ) -> (Self, oneshot::Receiver<Worked>) {
        let (waiting, answer) = oneshot::channel();
        let unanswered = dispatch.as_ref().map(|dispatch| dispatch.jobs.subscribe());
        (
            Self { work, may_repeat, turns, dispatch, _unanswered: unanswered, ahead, result: None, waiting },
            answer,
        )
    }

    /// Runs inside the open transaction.
    pub(crate) async fn run(&mut self, tx: &mut Tx) -> Ran {
        self.result = None;
        tx.job.dispatch = self.dispatch.clone();
        let work = &mut self.work;
        // A panic in one job must not end the writer, which would fail every other request.
        let worked = async {
            let value = work(&mut *tx)?.await;
            let claimed = if value.is_ok() { claim_asked_for(tx).await } else { Ok(()) };
            Some(claimed.map_err(JobFailure::OfStore).and(value))
        };
        let ended = AssertUnwindSafe(worked).catch_unwind().await;
        // Whatever it made of that: without the turn it may have seen what does not hold.
        if let Some(missing) = tx.missing_turns() {
            return Ran::Again(missing);
        }
        let (result, ran) = match ended {
            Ok(None) => return Ran::Undo,
            Ok(Some(Ok(value))) => (Ok(value), Ran::Keep),
            Ok(Some(Err(failure))) if failure.ends_transaction() => (Err(failure), Ran::Abort),
            Ok(Some(Err(failure))) => (Err(failure), Ran::Undo),
            Err(_) => {
                tracing::error!("a writing job panicked; its writes are undone");
                let error = StoreError::Broken("a writing job panicked".to_owned());
                (Err(JobFailure::OfStore(error)), Ran::Undo)
            }
        };
        self.result = Some(result);
        ran
    }

    /// Answers the caller, after the commit or the rollback.
    pub(crate) fn answer(self, end: End) {
        // A refusal, too, holds only when the transaction commits: it may rest on what another job of the transaction
        // wrote. The job whose error ended the transaction gets that error.
        let result = match (self.result, end) {
            (Some(result), End::Committed) => result,
            (_, End::Refused(error)) => Err(JobFailure::OfStore(error)),
            (Some(Err(failure)), End::Lost) if failure.ends_transaction() => Err(failure),
            _ => Err(JobFailure::OfStore(StoreError::Unavailable(
                "the transaction was not committed".to_owned(),
            ))),
        };
        // The caller may have hung up; the work is done all the same.
        let _ = self.waiting.send(result);
    }
}
