//! Jobs: what the writer runs inside its transactions, and how their callers get the result.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use authority_domain::id::EndpointId;
use authority_domain::refusal::Refusal;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::oneshot;

use crate::StoreError;
use crate::hand_off::{CurrentDispatchHandle, DispatchHandle, HandedOff, claim_asked_for};
use crate::shards::{ShardSet, Turns};
use crate::tx::{Prefetch, Tx};

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
    pub(crate) fn add(&mut self, more: Self) {
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
    pub(crate) dispatch: CurrentDispatchHandle,
    /// All events that were committed.
    pub(crate) events: Arc<AtomicU64>,
}

impl CommitListeners {
    pub(crate) fn committed(&self, effects: CommitEffects) {
        self.events.fetch_add(u64::try_from(effects.events).unwrap_or(u64::MAX), Ordering::Relaxed);
        if let Some(dispatch) = self.dispatch.get().filter(|_| !effects.recalled.is_empty()) {
            for endpoint in &effects.recalled {
                dispatch.slots.changed(endpoint);
                (dispatch.recall)(endpoint);
            }
        }
        for delivery in effects.handed_off {
            delivery.begin();
        }
        if !effects.left_behind.is_empty()
            && let Some(dispatch) = self.dispatch.get()
        {
            dispatch.slots.committed_behind(&effects.left_behind);
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
    /// It needs these turns as well: it is undone, and runs again in a transaction that holds them.
    Again(ShardSet),
}

/// A unit of work whose type the writer does not know.
pub(crate) trait Job: Send {
    /// What it will read first, if that is known.
    fn ahead(&self) -> Option<&Prefetch>;

    /// The turns that it needs.
    fn turns(&self) -> Turns;

    /// Adds to the turns that it needs.
    fn needs_also(&mut self, missing: ShardSet);

    /// Whether it can run once more.
    fn may_repeat(&self) -> bool;

    /// Runs inside the open transaction.
    fn run<'t>(&'t mut self, tx: &'t mut Tx) -> BoxFuture<'t, Ran>;

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

/// What a job does. It is asked for each time the job runs; `None` when it can run only once and has.
type NextRun<F> = Box<dyn FnMut() -> Option<F> + Send>;

/// A job with its result type.
pub(crate) struct TypedJob<F, T, E> {
    work: NextRun<F>,
    may_repeat: bool,
    turns: Turns,
    /// The dispatcher of this instance.
    dispatch: Option<Arc<DispatchHandle>>,
    ahead: Option<Prefetch>,
    result: Option<Result<T, E>>,
    waiting: oneshot::Sender<Result<T, E>>,
}

impl<F: Send + 'static, T, E> TypedJob<F, T, E> {
    /// A job with every turn. It needs no other, so it runs once.
    pub(crate) fn once(
        work: F,
        dispatch: Option<Arc<DispatchHandle>>,
    ) -> (Self, oneshot::Receiver<Result<T, E>>) {
        let mut work = Some(work);
        let (waiting, answer) = oneshot::channel();
        let work = Box::new(move || work.take());
        let job =
            Self { work, may_repeat: false, turns: Turns::ALL, dispatch, ahead: None, result: None, waiting };
        (job, answer)
    }

    /// A job with the turns that it names; it runs again when it turns out to need more.
    pub(crate) fn repeatable(
        work: F,
        turns: Turns,
        ahead: Option<Prefetch>,
        dispatch: Option<Arc<DispatchHandle>>,
    ) -> (Self, oneshot::Receiver<Result<T, E>>)
    where
        F: Clone,
    {
        let (waiting, answer) = oneshot::channel();
        let work = Box::new(move || Some(work.clone()));
        (Self { work, may_repeat: true, turns, dispatch, ahead, result: None, waiting }, answer)
    }
}

impl<F, T, E> Job for TypedJob<F, T, E>
where
    F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Send,
    T: Send,
    E: JobError,
{
    fn ahead(&self) -> Option<&Prefetch> {
        self.ahead.as_ref()
    }

    fn turns(&self) -> Turns {
        self.turns
    }

    fn needs_also(&mut self, missing: ShardSet) {
        self.turns.shards = self.turns.shards.or(missing);
    }

    fn may_repeat(&self) -> bool {
        self.may_repeat
    }

    fn run<'t>(&'t mut self, tx: &'t mut Tx) -> BoxFuture<'t, Ran> {
        Box::pin(async move {
            self.result = None;
            let Some(work) = (self.work)() else { return Ran::Undo };
            tx.set_dispatch(self.dispatch.clone());
            // A panic in one job must not end the writer, which would fail every other request.
            let worked = async {
                let value = work(tx).await?;
                claim_asked_for(tx).await?;
                Ok::<T, E>(value)
            };
            let ended = AssertUnwindSafe(worked).catch_unwind().await;
            // Whatever it made of that: without the turn it may have seen what does not hold.
            if let Some(missing) = tx.missing_turns() {
                return Ran::Again(missing);
            }
            let (result, ran) = match ended {
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
