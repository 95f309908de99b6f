//! The audit log of the operator's side (contract 6.1), and what it is made from.
//!
//! A job notes every record it writes, with the versions before and after: [`crate::commit`] does so for the records
//! that have events, the methods of others for theirs. The frame of a use case makes the audit entry from these notes,
//! so no use case has to write one itself.

use authority_domain::audit_log::AuditEntry;
use authority_domain::list_filter::AuditFilter;
use authority_domain::{Author, MerchantId, Timestamp};

use crate::sql::transaction::tx::Written;
use crate::sql::{
    Across, Form, Query, Result, Row, Shard, ShardSet, Table, TableOrder, Together, Touches, Tx, columns,
    fields, row,
};

static AUDIT_LOG: Table = Table {
    order: TableOrder::AuditEntry,
    touches: Touches::Any,
    columns: columns!("audit_log":
        shard Shard, id Text, at Int, key_id Text, request_id Text, operation Text, merchant_id Text, livemode Bool,
        resource_id Text, version_before Int, resource_version Int, reason Text),
    form: Form::Insert,
    rest: "",
    together: Together::Apart,
};

impl Tx {
    /// Notes a record that this job wrote.
    pub fn note_written(&mut self, written: Written) {
        self.job.written.push(written);
    }

    /// What this job has noted so far, in the order of the writes.
    pub fn written(&self) -> &[Written] {
        &self.job.written
    }

    /// Adds an entry.
    pub async fn audit_insert(&mut self, entry: &AuditEntry) -> Result<()> {
        self.conn.buffer(
            &AUDIT_LOG,
            [],
            row!(
                entry.merchant_id.as_ref().map_or(Shard::OPERATOR, Shard::of), entry.id.as_str(), entry.created_at.as_ms(), entry.created_by.as_str();
                entry.request_id.as_str(), entry.operation.as_str();
                entry.merchant_id.as_ref().map(MerchantId::as_str), entry.livemode;
                entry.resource_id.as_deref(), entry.version_before, entry.version_after;
                entry.reason.as_deref()),
        );
        Ok(())
    }

    /// Up to `limit` entries before the one with the id `before`, newest first.
    pub async fn audit_page(
        &mut self,
        filter: &AuditFilter,
        before: Option<&str>,
        limit: i64,
    ) -> Result<Vec<AuditEntry>> {
        let mut query = Query::across(
            Across::OPERATOR,
            "SELECT id, at, key_id, request_id, operation, merchant_id, livemode, resource_id, version_before, \
                 resource_version, reason FROM audit_log WHERE ",
        );
        query.push_shards("", ShardSet::ALL);
        query.push_some(" AND id < ", before);
        query.push_some(" AND key_id = ", filter.author.as_ref().map(|author| author.as_str()));
        query.push_some(" AND resource_id = ", filter.resource_id.as_ref());
        query.push_some(" AND at >= ", filter.created_from.map(Timestamp::as_ms));
        query.push_some(" AND at < ", filter.created_to.map(Timestamp::as_ms));
        query.push(" ORDER BY id DESC LIMIT ").push_bind(limit);
        query.read_as(&mut self.conn, entry).await
    }
}

fn entry(row: &Row) -> Result<AuditEntry> {
    Ok(fields!(row => AuditEntry {
        id, request_id, operation, merchant_id, livemode, resource_id, version_before, reason;
        created_by: Author::from_store(row.get("key_id")?),
        version_after: row.get("resource_version")?,
        created_at: row.read("at")?,
    }))
}
