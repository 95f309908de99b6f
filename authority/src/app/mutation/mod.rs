//! The frame of every writing use case: idempotency, the clock and the dice, one transaction (contract 4.3, T1).
//!
//! Inside the transaction: look up the idempotency key (a finished request gets its stored answer again, a
//! different request under the same key is refused), run the use case, store the answer. Requests of one tenant run one
//! after the other, so a concurrent request with the same key always sees the finished row. Two of the operator's under
//! one key may be about merchants of different shards: the database refuses the later one, and it runs again.

mod idempotency;
mod job;
mod work;

use authority_domain::event::cause::{Cause, TraceParent};
use authority_domain::{Author, Named, Refusal, RequestId, Result, Tenant, Timestamp};
use authority_store::StoreError;
use authority_store::shards::Turns;
use authority_store::tx::{FirstRead, KeyScope, OwnedRecord, Prefetch, Tx};
use rand::SeedableRng;
use rand::rngs::StdRng;
use serde_json::Value;

pub use self::idempotency::IdempotencyKey;
pub(super) use self::idempotency::made_before;
use self::job::Job;
pub use self::work::Owner;
use super::access::Caller;
use super::endpoint::merchant::Holder;
use super::job::{ReadingOf, Working, WorkingFor};
use super::{Answer, App};

/// The version that a change expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfMatch {
    /// `*`: any version, as long as the record exists.
    Any,
    /// This version.
    Version(i64),
}

/// A writing request.
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
    /// The body, which the use case reads before its transaction.
    pub body: Value,
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
    if_match: Option<IfMatch>,
    /// Whether a change has to expect a version.
    strict: bool,
}

impl Mutation {
    /// The same with this body.
    #[must_use]
    pub fn with(self, body: Value) -> Self {
        Self { body, ..self }
    }
}

impl App {
    /// Runs `work` in one transaction, at most once per idempotency key. The transaction holds the turn of the tenant
    /// that the scope names, or else the operator's.
    pub(super) async fn run_once(
        &self,
        mutation: Mutation,
        scope: KeyScope,
        work: impl Working<Answer>,
    ) -> Result<Answer> {
        let tenant = match &scope {
            KeyScope::Merchant(tenant) | KeyScope::OperatorFor(tenant) => Some(tenant.clone()),
            KeyScope::Operator => None,
        };
        self.run_for(mutation, scope, tenant, None, work).await
    }

    /// A request about the endpoints of their holder.
    pub(super) async fn for_holder(
        &self,
        mutation: Mutation,
        holder: impl Into<Holder>,
        work: impl WorkingFor<Tenant>,
    ) -> Result<Answer> {
        let Holder { tenant, scope, strict } = holder.into();
        self.run_once(mutation, scope, async move |frame| {
            frame.strict = strict;
            work(frame, tenant).await
        })
        .await
    }

    /// A merchant's request. The records that the work will read first are read for all waiting requests at once.
    pub(super) async fn for_caller(
        &self,
        mutation: Mutation,
        caller: &Caller,
        reads: impl IntoIterator<Item = FirstRead>,
        work: impl WorkingFor<Owner>,
    ) -> Result<Answer> {
        let strict = caller.merchant.settings.require_if_match;
        self.for_owner(mutation, caller.into(), reads, async move |frame, owner| {
            frame.strict = strict;
            work(frame, owner).await
        })
        .await
    }

    /// The same where the merchant's setting about `If-Match` does not count.
    pub(super) async fn for_owner(
        &self,
        mutation: Mutation,
        owner: Owner,
        reads: impl IntoIterator<Item = FirstRead>,
        work: impl WorkingFor<Owner>,
    ) -> Result<Answer> {
        let tenant = owner.tenant.clone();
        let scope = KeyScope::Merchant(tenant.clone());
        self.run_for(mutation, scope, Some(tenant), reads, async move |frame| work(frame, owner).await).await
    }

    /// An operator's request about a merchant and mode: those in its path, or those of the record that it names.
    pub(super) async fn for_tenant(
        &self,
        mutation: Mutation,
        tenant: Named<Tenant>,
        reads: impl IntoIterator<Item = FirstRead>,
        work: impl WorkingFor<Owner>,
    ) -> Result<Answer> {
        self.run_for(mutation, scope_of(&tenant), tenant.clone().ok(), reads, async move |frame| {
            let owner = frame.owner(tenant?).await?;
            work(frame, owner).await
        })
        .await
    }

    /// The same where the work does not need the merchant, or where the record may be the platform's own.
    pub(super) async fn for_turn(
        &self,
        mutation: Mutation,
        tenant: Named<Tenant>,
        work: impl Working<Answer>,
    ) -> Result<Answer> {
        self.run_for(mutation, scope_of(&tenant), tenant.ok(), None, work).await
    }

    /// Runs `work` with the turn of this tenant, or else with the operator's.
    async fn run_for(
        &self,
        mutation: Mutation,
        scope: KeyScope,
        tenant: Option<Tenant>,
        reads: impl IntoIterator<Item = FirstRead>,
        work: impl Working<Answer>,
    ) -> Result<Answer> {
        let key = mutation.idempotency.as_ref().map(|key| (scope.clone(), key.key.clone()));
        let ahead = Prefetch { tenant, key, reads: reads.into_iter().collect(), now: self.now() };
        // The body has been read: a job that runs again need not copy it.
        let job = Job { app: self.clone(), scope, mutation: mutation.with(Value::Null) };
        self.store.write_ahead(ahead, move |tx: &mut Tx| Box::pin(job.run(tx, work))).await
    }
    /// Reads what an operator's path names by its id alone, before the turn of the request. That it is not there is
    /// said when its turn has come.
    pub(super) async fn named<T: Send + 'static, R: Send + 'static>(
        &self,
        id: Named<T>,
        missing: fn() -> Refusal,
        read: impl ReadingOf<T, Option<R>, StoreError>,
    ) -> Result<Named<R>> {
        match id {
            Ok(id) => Ok(self.read(async move |tx| read(tx, id).await).await?.ok_or_else(missing)),
            Err(malformed) => Ok(Err(malformed)),
        }
    }

    /// Whose such a record is.
    pub(super) async fn owner_of(
        &self,
        record: Named<OwnedRecord>,
        missing: fn() -> Refusal,
    ) -> Result<Named<Tenant>> {
        self.named(record, missing, async |tx, record| tx.owner_of(&record).await).await
    }
}

/// The scope of an operator's keys (contract 4.3): the merchant and mode that the request is about, where there is one.
fn scope_of(tenant: &Named<Tenant>) -> KeyScope {
    tenant.clone().map_or(KeyScope::Operator, KeyScope::OperatorFor)
}

/// Runs `work` in one transaction started by the service itself: no request, so no idempotency key and no answer.
pub(super) async fn on_its_own<T: Send + 'static>(
    app: &App,
    turns: Turns,
    work: impl Working<T>,
) -> Result<T> {
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
    Work { tx, now, dice: dice(app), key, cause, reason: None, if_match: None, strict: false }
}

/// A generator for one request.
pub(super) fn dice(app: &App) -> StdRng {
    let mut seed = [0; 32];
    app.dice.fill(&mut seed);
    StdRng::from_seed(seed)
}
