//! A request as a job of the writer: the stored answer, or the use case, its audit entry and the answer to keep.

use authority_domain::audit_log::AuditEntry;
use authority_domain::event::cause::Cause;
use authority_domain::{AuditId, Result, Timestamp};
use authority_store::tx::{IdempotencyRecord, KeyScope, Tx};

use super::idempotency::{IdempotencyKey, replay};
use super::{Mutation, Work, frame};
use crate::app::job::Working;
use crate::app::{Answer, App};

#[derive(Clone)]
pub(super) struct Job {
    pub(super) app: App,
    pub(super) scope: KeyScope,
    pub(super) mutation: Mutation,
}

impl Job {
    pub(super) async fn run(self, tx: &mut Tx, work: impl Working<Answer>) -> Result<Answer> {
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
        work_frame.if_match = self.mutation.if_match;
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
    async fn audit(&self, work: &mut Work<'_>, answer: &Answer) -> Result<()> {
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

    async fn keep(self, tx: &mut Tx, answer: &Answer, now: Timestamp) -> Result<()> {
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
