//! Reading records by their stored text: the one query shape that checkouts, payments, orders and shipments share.

use authority_domain::tenant::Tenant;
use serde::de::DeserializeOwned;

use super::DbConnection;
use crate::StoreError;

/// The record that `statement` finds for (merchant `$1`, mode `$2`, key `$3`); it selects `body`.
pub(super) async fn record<T: DeserializeOwned>(
    conn: &mut DbConnection,
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

/// All records that `statement` finds, in its order.
pub(super) async fn records<T: DeserializeOwned>(
    conn: &mut DbConnection,
    statement: &'static str,
    tenant: &Tenant,
    key: &str,
) -> Result<Vec<T>, StoreError> {
    let bodies: Vec<String> = sqlx::query_scalar(statement)
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .bind(key)
        .fetch_all(conn)
        .await?;
    Ok(bodies.iter().map(|body| serde_json::from_str(body)).collect::<Result<_, _>>()?)
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
