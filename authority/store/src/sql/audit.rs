//! The audit log.

use async_trait::async_trait;
use authority_domain::audit_log::{AuditEntry, Author};
use authority_domain::id::{AuditId, MerchantId, RequestId};
use authority_domain::time::Timestamp;
use sqlx::{QueryBuilder, Row};

use super::rows::{Form, Kind, Table, TableOrder, Together, Touches};
use super::{Db, DbRow, Session};
use crate::StoreError;
use crate::ports::{Audit, AuditFilter, Written};

static AUDIT_LOG: Table = Table {
    order: TableOrder::AuditEntry,
    touches: Touches::Any,
    into: "INSERT INTO audit_log (id, at, key_id, request_id, operation, merchant_id, livemode, resource_id, \
        version_before, resource_version, reason)",
    columns: &[
        Kind::Text,
        Kind::Int,
        Kind::Text,
        Kind::Text,
        Kind::Text,
        Kind::Text,
        Kind::Bool,
        Kind::Text,
        Kind::Int,
        Kind::Int,
        Kind::Text,
    ],
    form: Form::Insert,
    rest: "",
    together: Together::Apart,
};

#[async_trait]
impl Audit for Session<'_> {
    fn note_written(&mut self, written: Written) {
        self.written.push(written);
    }

    fn written(&self) -> &[Written] {
        &self.written
    }

    async fn audit_insert(&mut self, entry: &AuditEntry) -> Result<(), StoreError> {
        self.conn.buffer(
            &AUDIT_LOG,
            [],
            [
                entry.id.as_str().into(),
                entry.created_at.as_ms().into(),
                entry.created_by.as_str().into(),
                entry.request_id.as_str().into(),
                entry.operation.as_str().into(),
                entry.merchant_id.as_ref().map(MerchantId::as_str).into(),
                entry.livemode.into(),
                entry.resource_id.as_deref().into(),
                entry.version_before.into(),
                entry.version_after.into(),
                entry.reason.as_deref().into(),
            ],
        );
        Ok(())
    }

    async fn audit_page(
        &mut self,
        filter: &AuditFilter,
        before: Option<&str>,
        limit: i64,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        let mut query = QueryBuilder::<Db>::new(
            "SELECT id, at, key_id, request_id, operation, merchant_id, livemode, resource_id, version_before, \
                 resource_version, reason FROM audit_log WHERE TRUE",
        );
        if let Some(before) = before {
            query.push(" AND id < ").push_bind(before);
        }
        if let Some(author) = &filter.author {
            query.push(" AND key_id = ").push_bind(author.as_str());
        }
        if let Some(resource) = &filter.resource_id {
            query.push(" AND resource_id = ").push_bind(resource);
        }
        if let Some(from) = filter.created_from {
            query.push(" AND at >= ").push_bind(from.as_ms());
        }
        if let Some(to) = filter.created_to {
            query.push(" AND at < ").push_bind(to.as_ms());
        }
        query.push(" ORDER BY id DESC LIMIT ").push_bind(limit);
        let rows = query.build().fetch_all(&mut *self.conn).await?;
        rows.iter().map(entry).collect()
    }
}

fn entry(row: &DbRow) -> Result<AuditEntry, StoreError> {
    Ok(AuditEntry {
        id: AuditId::from_store(row.try_get("id")?),
        created_by: Author::from_store(row.try_get("key_id")?),
        request_id: RequestId::from_store(row.try_get("request_id")?),
        operation: row.try_get("operation")?,
        merchant_id: row.try_get::<Option<String>, _>("merchant_id")?.map(MerchantId::from_store),
        livemode: row.try_get("livemode")?,
        resource_id: row.try_get("resource_id")?,
        version_before: row.try_get("version_before")?,
        version_after: row.try_get("resource_version")?,
        reason: row.try_get("reason")?,
        created_at: Timestamp::from_ms(row.try_get("at")?),
    })
}
