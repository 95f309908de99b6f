//! Reading records by their stored text: the query shapes that the records of merchants share.

use authority_domain::id::MerchantId;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;
use serde::de::DeserializeOwned;
use sqlx::{Executor, QueryBuilder, Row};

use super::page_rows::placed_texts;
use super::{Db, DbConnection, DbRow};
use crate::StoreError;
use crate::ports::MadeUnderKey;

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

/// The start of the query for a page of a tenant's list, newest first, before position `before`. Filters are added to
/// it; then [`page`] reads it.
pub(super) fn page_of(table: &'static str, tenant: &Tenant, before: Option<i64>) -> QueryBuilder<Db> {
    let mut query = QueryBuilder::<Db>::new("SELECT created_sequence, body FROM ");
    query.push(table).push(" WHERE merchant_id = ").push_bind(tenant.merchant_id.as_str().to_owned());
    query.push(" AND livemode = ").push_bind(tenant.livemode);
    if let Some(before) = before {
        query.push(" AND created_sequence < ").push_bind(before);
    }
    query
}

/// Narrows a page by the time of creation: from inclusive, to exclusive (contract 4.5).
pub(super) fn push_created(query: &mut QueryBuilder<Db>, from: Option<Timestamp>, to: Option<Timestamp>) {
    for (condition, time) in [(" AND created_at >= ", from), (" AND created_at < ", to)] {
        if let Some(time) = time {
            query.push(condition).push_bind(time.as_ms());
        }
    }
}

/// Up to `limit` records of a page, as far as they fit, as stored text, each with its position.
pub(super) async fn page(
    conn: &mut DbConnection,
    mut query: QueryBuilder<Db>,
    limit: i64,
) -> Result<Vec<(i64, String)>, StoreError> {
    query.push(" ORDER BY created_sequence DESC LIMIT ").push_bind(limit);
    placed_texts(query.build().fetch(conn)).await
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
