//! The audit log of the operator's side (contract 6.1), and what it is made from.
//!
//! A job notes every record it writes, with the versions before and after: [`crate::commit`] does so for the records
//! that have events, the other ports for theirs. The frame of a use case makes the audit entry from these notes, so
//! no use case has to write one itself.

use async_trait::async_trait;
use authority_domain::audit_log::{AuditEntry, Author};
use authority_domain::id::MerchantId;
use authority_domain::time::Timestamp;

use crate::StoreError;

/// A record that a job wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The record's id.
    pub resource_id: String,
    /// Its merchant; `None` for the operator's own records.
    pub merchant_id: Option<MerchantId>,
    /// Its mode; `None` for a record without one.
    pub livemode: Option<bool>,
    /// Its version before; `None` when it was made or has no versions.
    pub before: Option<i64>,
    /// Its version after; `None` when it has no versions.
    pub after: Option<i64>,
}

/// What narrows the list of entries. `None` does not narrow.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct AuditFilter {
    pub author: Option<Author>,
    pub resource_id: Option<String>,
    pub created_from: Option<Timestamp>,
    pub created_to: Option<Timestamp>,
}

/// The audit log.
#[async_trait]
pub trait Audit {
    /// Notes a record that this job wrote.
    fn note_written(&mut self, written: Written);

    /// What this job has noted so far, in the order of the writes.
    fn written(&self) -> &[Written];

    /// Adds an entry.
    async fn audit_insert(&mut self, entry: &AuditEntry) -> Result<(), StoreError>;

    /// Up to `limit` entries before the one with the id `before`, newest first.
    async fn audit_page(
        &mut self,
        filter: &AuditFilter,
        before: Option<&str>,
        limit: i64,
    ) -> Result<Vec<AuditEntry>, StoreError>;
}
