//! Signing secrets through their rotations.

use async_trait::async_trait;
use authority_domain::id::EndpointId;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;
use sqlx::QueryBuilder;

use super::{Db, Session, one_row, push_in};
use crate::StoreError;
use crate::ports::{SealedSecret, SigningSecrets};

#[async_trait]
impl SigningSecrets for Session<'_> {
    async fn secret_version(&mut self, tenant: &Tenant, endpoint: &EndpointId) -> Result<i64, StoreError> {
        Ok(sqlx::query_scalar(
            "SELECT s.version FROM endpoint_secrets s JOIN webhook_endpoints e ON e.id = s.endpoint_id \
             WHERE e.id = $1 AND e.merchant_id = $2 AND e.livemode = $3 ORDER BY s.version DESC LIMIT 1",
        )
        .bind(endpoint.as_str())
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .fetch_one(&mut *self.conn)
        .await?)
    }

    async fn secret_rotate(
        &mut self,
        tenant: &Tenant,
        endpoint: &EndpointId,
        newest: &SealedSecret,
        previous_until: Timestamp,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        sqlx::query(
            "UPDATE endpoint_secrets SET expires_at = $3 WHERE endpoint_id = $1 AND version = $2 \
             AND EXISTS (SELECT 1 FROM webhook_endpoints e WHERE e.id = $1 AND e.merchant_id = $4 AND e.livemode = $5)",
        )
        .bind(endpoint.as_str())
        .bind(newest.version - 1)
        .bind(previous_until.as_ms())
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .execute(&mut *self.conn)
        .await?;
        sqlx::query(
            "DELETE FROM endpoint_secrets WHERE endpoint_id = $1 AND (version < $2 OR expires_at <= $3)",
        )
        .bind(endpoint.as_str())
        .bind(newest.version - 1)
        .bind(now.as_ms())
        .execute(&mut *self.conn)
        .await?;
        let done = sqlx::query(
            "INSERT INTO endpoint_secrets (endpoint_id, version, sealed) SELECT id, $2, $3 FROM webhook_endpoints \
             WHERE id = $1 AND merchant_id = $4 AND livemode = $5 AND deleted_at IS NULL",
        )
        .bind(endpoint.as_str())
        .bind(newest.version)
        .bind(newest.sealed.as_slice())
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .execute(&mut *self.conn)
        .await?;
        one_row(done.rows_affected(), "signing secret")
    }

    async fn secret_retire(&mut self, tenant: &Tenant, endpoint: &EndpointId) -> Result<(), StoreError> {
        sqlx::query(
            "DELETE FROM endpoint_secrets WHERE endpoint_id = $1 AND expires_at IS NOT NULL \
             AND EXISTS (SELECT 1 FROM webhook_endpoints e WHERE e.id = $1 AND e.merchant_id = $2 AND e.livemode = $3)",
        )
        .bind(endpoint.as_str())
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .execute(&mut *self.conn)
        .await?;
        Ok(())
    }

    async fn secrets_expire(&mut self, now: Timestamp, limit: i64) -> Result<Vec<EndpointId>, StoreError> {
        let due: Vec<(String, i64)> = sqlx::query_as(
            "SELECT endpoint_id, version FROM endpoint_secrets WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2",
        )
        .bind(now.as_ms())
        .bind(limit)
        .fetch_all(&mut *self.conn)
        .await?;
        if due.is_empty() {
            return Ok(Vec::new());
        }
        for (endpoint, version) in &due {
            sqlx::query("DELETE FROM endpoint_secrets WHERE endpoint_id = $1 AND version = $2")
                .bind(endpoint)
                .bind(version)
                .execute(&mut *self.conn)
                .await?;
        }
        let mut endpoints: Vec<String> = due.into_iter().map(|(endpoint, _)| endpoint).collect();
        endpoints.dedup();
        let mut query = QueryBuilder::<Db>::new(
            "UPDATE webhook_endpoints SET previous_secret_expires_at = NULL WHERE previous_secret_expires_at <= ",
        );
        query.push_bind(now.as_ms());
        push_in(&mut query, "id", &endpoints);
        query.build().execute(&mut *self.conn).await?;
        Ok(endpoints.into_iter().map(EndpointId::from_store).collect())
    }
}
