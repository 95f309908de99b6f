//! Reading records by their stored text: the query shapes that the records of merchants share.

use authority_domain::id::MerchantId;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;
use serde::de::DeserializeOwned;
use sqlx::{Executor, QueryBuilder, Row};

use super::look_ahead::{ListOrder, Listed};
use super::page_rows::placed_text;
use super::{Db, DbConnection, DbRow};
use crate::StoreError;
use crate::ports::{MadeUnderKey, Page};

/// The record that `statement` finds for (merchant `$1`, mode `$2`, key `$3`); it selects `body`.
pub(super) async fn record<'c, T: DeserializeOwned>(
    conn: impl Executor<'c, Database = Db>,
    statement: &'static str,
    tenant: &Tenant,
    key: &str,
) -> Result<Option<T>, StoreError> {
    let body: Option<String> = sqlx::query_scalar(statement)
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .bind(key)
        .fetch_optional(conn)
        .await?;
    Ok(body.map(|body| serde_json::from_str(&body)).transpose()?)
}

/// The stored text and version that `statement` finds; it selects `body, resource_version`.
pub(super) async fn text(
    conn: &mut DbConnection,
    statement: &'static str,
    tenant: &Tenant,
    key: &str,
) -> Result<Option<(String, i64)>, StoreError> {
    Ok(sqlx::query_as(statement)
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .bind(key)
        .fetch_optional(conn)
        .await?)
}

/// Adds the condition that rows are the tenant's.
pub(super) fn push_tenant(query: &mut QueryBuilder<Db>, tenant: &Tenant) {
    query.push("merchant_id = ").push_bind(tenant.merchant_id.as_str().to_owned());
    query.push(" AND livemode = ").push_bind(tenant.livemode);
}

/// Adds ` AND column = text`, when there is one.
pub(super) fn push_equal(query: &mut QueryBuilder<Db>, column: &'static str, text: Option<&String>) {
    if let Some(text) = text {
        query.push(" AND ").push(column).push(" = ").push_bind(text.clone());
    }
}

/// Narrows a page by the time of creation: from inclusive, to exclusive (contract 4.5).
pub(super) fn push_created(query: &mut QueryBuilder<Db>, from: Option<Timestamp>, to: Option<Timestamp>) {
    push_time(query, " AND created_at >= ", from);
    push_time(query, " AND created_at < ", to);
}

/// Adds the condition on a time, when there is one.
pub(super) fn push_time(query: &mut QueryBuilder<Db>, condition: &'static str, time: Option<Timestamp>) {
    if let Some(time) = time {
        query.push(condition).push_bind(time.as_ms());
    }
}

/// Up to `limit` records of a tenant's list before position `before`, newest first, as stored text, as far as they
/// fit on a page. `narrow` adds conditions with an index, `filter` those without, as in [`Listed`].
pub(super) async fn page(
    conn: &mut DbConnection,
    table: &'static str,
    (tenant, before): (&Tenant, Option<i64>),
    narrow: impl Fn(&mut QueryBuilder<Db>),
    filter: impl Fn(&mut QueryBuilder<Db>),
    limit: i64,
) -> Result<Page<String>, StoreError> {
    let of = |query: &mut QueryBuilder<Db>| {
        push_tenant(query, tenant);
        narrow(query);
    };
    let (position, order) = ("created_sequence", ListOrder::NewestFirst);
    let listed = Listed { table, joins: "", position, order, after: before, of, owner: None, filter };
    listed.page(conn, "created_sequence, body", limit, placed_text).await
}

/// A record with the key it was made under; the row has `body` and `idempotency_fingerprint`.
pub(super) fn made_under_key<T: DeserializeOwned>(row: &DbRow) -> Result<MadeUnderKey<T>, StoreError> {
    let body: String = row.try_get("body")?;
    let fingerprint = row.try_get("idempotency_fingerprint")?;
    Ok(MadeUnderKey { record: serde_json::from_str(&body)?, fingerprint })
}

/// The tenant of a record that was found without one; the row has `merchant_id` and `livemode`.
pub(super) fn tenant(row: &DbRow) -> Result<Tenant, StoreError> {
    let merchant_id = MerchantId::from_store(row.try_get("merchant_id")?);
    Ok(Tenant { merchant_id, livemode: row.try_get("livemode")? })
}
