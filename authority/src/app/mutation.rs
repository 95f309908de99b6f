//! The frame of every writing use case: idempotency, the clock and the dice, one transaction (contract 4.3, T1).
//!
//! Inside the transaction: look up the idempotency key (a finished request gets its stored answer again, a
//! different request under the same key is refused), run the use case, store the answer. Requests of one tenant run one
//! after the other, so a concurrent request with the same key always sees the finished row. Two of the operator's under
//! one key may be about merchants of different shards: the database refuses the later one, and it runs again.

use std::sync::Arc;

use authority_domain::audit_log::{AuditEntry, Author};
use authority_domain::error_code::ErrorCode;
use authority_domain::event::cause::{Cause, TraceParent};
use authority_domain::event::change::Change;
use authority_domain::id::{AuditId, RequestId};
use authority_domain::merchant::Merchant;
use authority_domain::refusal::Refusal;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;
use authority_store::StoreError;
use authority_store::commit::{Audience, Commit, commit_changes};
use authority_store::ports::{
    FirstRead, IdempotencyRecord, KeyScope, MadeUnderKey, OwnedRecord, Prefetch, Tx,
};
use authority_store::shards::Turns;
use futures_util::future::BoxFuture;
use rand::SeedableRng;
use rand::rngs::StdRng;

use super::{Answer, App};
use crate::secret_box::SecretBox;

/// Identifies a logical write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// As the client sent it, unquoted.
    pub key: String,
    /// SHA-256 over the contents of the request.
    pub fingerprint: [u8; 32],
}

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
    pub(super) tx: &'t mut dyn Tx,
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
        app.store.write_ahead(ahead, move |tx: &mut dyn Tx| Box::pin(job.run(tx, work))).await
    }
}

impl App {
    /// The tenant of a record.
    pub(super) async fn owner_of(&self, record: OwnedRecord) -> Result<Option<Tenant>, StoreError> {
        self.store.read(move |tx: &mut dyn Tx| Box::pin(async move { tx.owner_of(&record).await })).await
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
        .write_with(turns, move |tx: &mut dyn Tx| {
            Box::pin(async move {
                work(&mut frame(&app_inside, tx, app_inside.now(), None, Cause::default())).await
            })
        })
        .await
}

fn frame<'t>(
    app: &App,
    tx: &'t mut dyn Tx,
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

#[derive(Clone)]
struct Job {
    app: App,
    scope: KeyScope,
    mutation: Mutation,
}

impl Job {
    async fn run<F>(self, tx: &mut dyn Tx, work: F) -> Result<Answer, Refusal>
    where
        F: for<'t> FnOnce(&'t mut Work<'_>) -> BoxFuture<'t, Result<Answer, Refusal>> + Send,
    {
        // The time when the work runs, not when the request arrived: jobs queue for the writer.
        let now = self.app.now();
        if let Some(key) = &self.mutation.idempotency
            && let Some((fingerprint, answer)) = tx.idempotency_get(&self.scope, &key.key, now).await?
        {
            return replay(key, fingerprint, &answer, &self.app.secrets);
        }
        let Mutation { request_id, trace, idempotency, .. } = &self.mutation;
        let cause = Cause { request_id: Some(request_id.clone()), trace: *trace };
        let mut work_frame = frame(&self.app, tx, now, idempotency.clone(), cause);
        let answer = work(&mut work_frame).await?;
        if answer.replayed {
            // A record that stores its idempotency key was found: nothing was written.
            return Ok(answer);
        }
        self.audit(&mut work_frame, &answer).await?;
        self.keep(work_frame.tx, &answer, now).await?;
        Ok(answer)
    }

    /// Records an operator's write in the audit log, in the transaction that makes it (contract 6.1).
    async fn audit(&self, work: &mut Work<'_>, answer: &Answer) -> Result<(), Refusal> {
        let Some(author) = &self.mutation.author else { return Ok(()) };
        let named = match &self.scope {
            KeyScope::Merchant(tenant) | KeyScope::OperatorFor(tenant) => Some(tenant),
            KeyScope::Operator => None,
        };
        let written = work
            .tx
            .written()
            .iter()
            .rfind(|written| Some(&written.resource_id) == answer.resource_id.as_ref());
        let entry = AuditEntry {
            id: AuditId::generate(work.now, &mut work.dice),
            created_by: author.clone(),
            request_id: self.mutation.request_id.clone(),
            operation: self.mutation.operation.to_owned(),
            merchant_id: written.map_or_else(
                || named.map(|tenant| tenant.merchant_id.clone()),
                |written| written.merchant_id.clone(),
            ),
            livemode: written.map_or_else(|| named.map(|tenant| tenant.livemode), |written| written.livemode),
            resource_id: answer.resource_id.clone(),
            version_before: written.and_then(|written| written.before),
            version_after: written.map_or(answer.version, |written| written.after),
            reason: work.reason.take(),
            created_at: work.now,
        };
        work.tx.audit_insert(&entry).await?;
        Ok(())
    }

    async fn keep(self, tx: &mut dyn Tx, answer: &Answer, now: Timestamp) -> Result<(), Refusal> {
        let Some(IdempotencyKey { key, fingerprint }) = self.mutation.idempotency else { return Ok(()) };
        let record = IdempotencyRecord {
            scope: self.scope,
            fingerprint,
            operation: self.mutation.operation,
            answer: answer.keep(&key, &self.app.secrets, self.app.dice.as_ref())?,
            request_id: self.mutation.request_id,
            created_at: now,
            expires_at: now.plus_ms(self.app.idempotency_retention_ms),
            key,
        };
        tx.idempotency_insert(&record).await?;
        Ok(())
    }
}

fn replay(
    key: &IdempotencyKey,
    fingerprint: [u8; 32],
    answer: &str,
    secrets: &Arc<SecretBox>,
) -> Result<Answer, Refusal> {
    if fingerprint != key.fingerprint {
        return Err(reused());
    }
    Answer::replay(answer, &key.key, secrets)
}

/// The record that an earlier request with this key created, provided that `is_about` accepts it. Such a record
/// stores its key and fingerprint longer than the answer is stored (contract 4.3, 18.1).
pub(super) fn made_before<T>(
    key: &IdempotencyKey,
    made: MadeUnderKey<T>,
    is_about: impl FnOnce(&T) -> bool,
) -> Result<T, Refusal> {
    // Records created before fingerprints were stored can only be compared by `is_about`.
    let same = made.fingerprint.as_ref().is_none_or(|before| before.as_slice() == key.fingerprint);
    if same && is_about(&made.record) { Ok(made.record) } else { Err(reused()) }
}

fn reused() -> Refusal {
    let detail = "This Idempotency-Key was used before, for another request.";
    Refusal::new(ErrorCode::IdempotencyKeyReused, detail).param("Idempotency-Key")
}
