//! The frame of every writing use case: idempotency, the clock and the dice, one transaction (contract 4.3, T1).
//!
//! Inside the transaction: look up the idempotency key (a finished request gets its stored answer again, a
//! different request under the same key is refused), run the use case, store the answer. Requests of one tenant run one
//! after the other, so a concurrent request with the same key always sees the finished row. Two of the operator's under
//! one key may be about merchants of different shards: the database refuses the later one, and it runs again.

mod idempotency;
mod job;

use authority_domain::audit_log::Author;
use authority_domain::error_code::ErrorCode;
use authority_domain::event::cause::{Cause, TraceParent};
use authority_domain::event::change::Change;
use authority_domain::id::RequestId;
use authority_domain::merchant::Merchant;
use authority_domain::refusal::Refusal;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;
use authority_store::StoreError;
use authority_store::commit::{Audience, Commit, commit_changes};
use authority_store::shards::Turns;
use authority_store::tx::{FirstRead, KeyScope, OwnedRecord, Prefetch, Tx};
use futures_util::future::BoxFuture;
use rand::SeedableRng;
use rand::rngs::StdRng;

pub use self::idempotency::IdempotencyKey;
pub(super) use self::idempotency::made_before;
use self::job::Job;
use super::{Answer, App};

/// The version that a change expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfMatch {
    /// `*`: any version, as long as the record exists.
    Any,
    /// This version.
    Version(i64),
}

/// A writing request, except for its body.
#[derive(Clone, Debug)]
pub struct Mutation {
    /// The operation's name, for the record.
    pub operation: &'static str,
    /// The id of the request.
    pub request_id: RequestId,
    /// The trace that the request is part of.
    pub trace: Option<TraceParent>,
    /// Sent by most clients.
    pub idempotency: Option<IdempotencyKey>,
    /// Sent by careful clients.
    pub if_match: Option<IfMatch>,
    /// The author for the audit log; `None` for a merchant's request.
    pub author: Option<Author>,
}

/// What a use case works with inside its transaction.
pub(super) struct Work<'t> {
    pub(super) tx: &'t mut Tx,
    pub(super) now: Timestamp,
    pub(super) dice: StdRng,
    /// The idempotency key, for records that store it permanently.
    pub(super) key: Option<IdempotencyKey>,
    /// The cause of the events.
    pub(super) cause: Cause,
    /// The operator's reason, for operations that require one.
    pub(super) reason: Option<String>,
}

/// The work of a request. It may run more than once, and the writes of its last run alone count.
pub(super) trait UseCase:
    for<'t> FnOnce(&'t mut Work<'_>) -> BoxFuture<'t, Result<Answer, Refusal>> + Clone + Send + 'static
{
}

impl<F> UseCase for F where
    F: for<'t> FnOnce(&'t mut Work<'_>) -> BoxFuture<'t, Result<Answer, Refusal>> + Clone + Send + 'static
{
}

impl Mutation {
    /// Refuses a change that expects another version (contract 4.4). `strict` is the merchant's setting.
    pub(super) fn check_version(
        if_match: Option<IfMatch>,
        current: i64,
        strict: bool,
    ) -> Result<(), Refusal> {
        match if_match {
            Some(IfMatch::Version(supplied)) if supplied != current => Err(Refusal::new(
                ErrorCode::ResourceVersionConflict,
                format!("The record is at version {current}; the request was made for version {supplied}."),
            )
            .with("current_version", current)
            .with("supplied_version", supplied)),
            None if strict => Err(Refusal::new(
                ErrorCode::PreconditionRequired,
                "This merchant's changes need If-Match with the current version.",
            )
            .param("If-Match")),
            _ => Ok(()),
        }
    }

    /// Runs `work` in one transaction, at most once per idempotency key. The transaction holds the turn of the tenant
    /// that the scope names; an operator's request that names none holds every turn.
    pub(super) async fn run<F>(self, app: &App, scope: KeyScope, work: F) -> Result<Answer, Refusal>
    where
        F: UseCase,
    {
        self.run_reading(app, scope, Vec::new(), work).await
    }

    /// The same with the records that the work will read first, so that they are read for all waiting requests at once.
    pub(super) async fn run_reading<F>(
        self,
        app: &App,
        scope: KeyScope,
        reads: Vec<FirstRead>,
        work: F,
    ) -> Result<Answer, Refusal>
    where
        F: UseCase,
    {
        let tenant = match &scope {
            KeyScope::Merchant(tenant) | KeyScope::OperatorFor(tenant) => Some(tenant.clone()),
            KeyScope::Operator => None,
        };
        self.run_for(app, scope, tenant, reads, work).await
    }

    /// The same for an operator's request about a record: the transaction holds the turn of the record's tenant.
    /// `None` is a malformed id.
    pub(super) async fn run_about<F>(
        self,
        app: &App,
        record: Option<OwnedRecord>,
        work: F,
    ) -> Result<Answer, Refusal>
    where
        F: UseCase,
    {
        let owner = match record {
            Some(record) => app.owner_of(record).await?,
            None => None,
        };
        self.run_for(app, KeyScope::Operator, owner, Vec::new(), work).await
    }

    /// Runs `work` with the turn of this tenant, or with every turn.
    pub(super) async fn run_for<F>(
        self,
        app: &App,
        scope: KeyScope,
        tenant: Option<Tenant>,
        reads: Vec<FirstRead>,
        work: F,
    ) -> Result<Answer, Refusal>
    where
        F: UseCase,
    {
        let key = self.idempotency.as_ref().map(|key| (scope.clone(), key.key.clone()));
        let ahead = Prefetch { tenant, key, reads, now: app.now() };
        let job = Job { app: app.clone(), scope, mutation: self };
        app.store.write_ahead(ahead, move |tx: &mut Tx| Box::pin(job.run(tx, work))).await
    }
}

impl App {
    /// The tenant of a record.
    pub(super) async fn owner_of(&self, record: OwnedRecord) -> Result<Option<Tenant>, StoreError> {
        self.store.read(move |tx: &mut Tx| Box::pin(async move { tx.owner_of(&record).await })).await
    }
}

impl Work<'_> {
    /// Writes changes and their events for all subscribers; writes nothing when there are no changes.
    pub(super) async fn commit(
        &mut self,
        tenant: &Tenant,
        merchant: &Merchant,
        changes: &[Change],
    ) -> Result<(), Refusal> {
        if changes.is_empty() {
            return Ok(());
        }
        let (merchant, audience) = (&merchant.context(), &Audience::Subscribers);
        let commit = Commit { tenant, merchant, changes, audience, cause: &self.cause, now: self.now };
        commit_changes(self.tx, commit, &mut self.dice).await?;
        Ok(())
    }
}

/// Runs `work` in one transaction started by the service itself: no request, so no idempotency key and no answer.
pub(super) async fn on_its_own<T, F>(app: &App, turns: Turns, work: F) -> Result<T, Refusal>
where
    F: for<'t> FnOnce(&'t mut Work<'_>) -> BoxFuture<'t, Result<T, Refusal>> + Clone + Send + 'static,
    T: Send + 'static,
{
    let app_inside = app.clone();
    app.store
        .write_with(turns, move |tx: &mut Tx| {
            Box::pin(async move {
                work(&mut frame(&app_inside, tx, app_inside.now(), None, Cause::default())).await
            })
        })
        .await
}

fn frame<'t>(
    app: &App,
    tx: &'t mut Tx,
    now: Timestamp,
    key: Option<IdempotencyKey>,
    cause: Cause,
) -> Work<'t> {
    let mut seed = [0; 32];
    app.dice.fill(&mut seed);
    Work { tx, now, dice: StdRng::from_seed(seed), key, cause, reason: None }
}

/// The scope of an operator's request about `tenant`; `None` when the path names no tenant.
pub(super) fn operator_scope(tenant: Option<Tenant>) -> KeyScope {
    tenant.map_or(KeyScope::Operator, KeyScope::OperatorFor)
}
