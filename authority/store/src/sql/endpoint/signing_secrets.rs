//! The signing secrets of an endpoint through its rotations (contract 4.10).
//!
//! An endpoint has one secret, or two while an overlap is open: the newest, which has no end, and the one before it.

use authority_domain::{EndpointId, Tenant, Timestamp};

use crate::hand_off::SealedSecret;
use crate::sql::{Across, Query, Result, Shard, Tx, query};

impl Tx {
    /// The version of the endpoint's newest secret.
    pub async fn secret_version(&mut self, tenant: &Tenant, endpoint: &EndpointId) -> Result<i64> {
        Ok(query(
            "SELECT s.version FROM endpoint_secrets s JOIN webhook_endpoints e ON e.shard = s.shard AND e.id = s.endpoint_id \
             WHERE e.id = $1 AND e.shard = $2 AND e.merchant_id = $3 AND e.livemode = $4 ORDER BY s.version DESC LIMIT 1",
        )
        .bind(endpoint.as_str())
        .bind_tenant(tenant)
        .read_one(&mut self.conn)
        .await?)
    }

    /// Adds the newest secret; those before it stop signing at `previous_until`. All but the one before it are
    /// removed, and that one too if it has expired.
    pub async fn secret_rotate(
        &mut self,
        tenant: &Tenant,
        endpoint: &EndpointId,
        newest: &SealedSecret,
        previous_until: Timestamp,
        now: Timestamp,
    ) -> Result<()> {
        query(
            "UPDATE endpoint_secrets SET expires_at = $3 WHERE shard = $4 AND endpoint_id = $1 AND version = $2 \
             AND EXISTS (SELECT 1 FROM webhook_endpoints e WHERE e.id = $1 AND e.shard = $4 AND e.merchant_id = $5 AND e.livemode = $6)",
        )
        .binds((endpoint.as_str(), newest.version - 1, previous_until.as_ms()))
        .bind_tenant(tenant)
        .write(&mut self.conn)
        .await?;
        let shard = Shard::of(&tenant.merchant_id);
        query(
            "DELETE FROM endpoint_secrets WHERE shard = $4 AND endpoint_id = $1 AND (version < $2 OR expires_at <= $3)",
        )
        .binds((endpoint.as_str(), newest.version - 1, now.as_ms(), shard))
        .write(&mut self.conn)
        .await?;
        query(
            "INSERT INTO endpoint_secrets (shard, endpoint_id, version, sealed) SELECT shard, id, $2, $3 FROM webhook_endpoints \
             WHERE id = $1 AND shard = $4 AND merchant_id = $5 AND livemode = $6 AND deleted_at IS NULL",
        )
        .binds((endpoint.as_str(), newest.version, newest.sealed.as_slice()))
        .bind_tenant(tenant)
        .write_one(&mut self.conn, "signing secret").await
    }

    /// Removes every secret but the newest.
    pub async fn secret_retire(&mut self, tenant: &Tenant, endpoint: &EndpointId) -> Result<()> {
        query(
            "DELETE FROM endpoint_secrets WHERE shard = $2 AND endpoint_id = $1 AND expires_at IS NOT NULL \
             AND EXISTS (SELECT 1 FROM webhook_endpoints e WHERE e.id = $1 AND e.shard = $2 AND e.merchant_id = $3 AND e.livemode = $4)",
        )
        .bind(endpoint.as_str())
        .bind_tenant(tenant)
        .run(&mut self.conn)
        .await
    }

    /// Removes up to `limit` expired secrets in the shards whose turns the transaction holds, and ends the overlaps;
    /// returns the endpoints.
    pub async fn secrets_expire(&mut self, now: Timestamp, limit: i64) -> Result<Vec<EndpointId>> {
        let mut due = Query::across(Across::DUE, "SELECT endpoint_id FROM endpoint_secrets WHERE ");
        due.push_in_shards("", self.conn.shards()).push(" AND expires_at <= ").push_bind(now.as_ms());
        due.push(" ORDER BY expires_at LIMIT ").push_bind(limit);
        let endpoints: Vec<String> = due.read(&mut self.conn).await?;
        if endpoints.is_empty() {
            return Ok(Vec::new());
        }
        let mut removed = Query::new("DELETE FROM endpoint_secrets WHERE expires_at <= ");
        removed.push_bind(now.as_ms()).push(" AND ").push_shards("", self.conn.shards());
        removed.push_in("endpoint_id", &endpoints);
        removed.write(&mut self.conn).await?;
        let mut query = Query::new(
            "UPDATE webhook_endpoints SET previous_secret_expires_at = NULL WHERE previous_secret_expires_at <= ",
        );
        query.push_bind(now.as_ms()).push(" AND ").push_shards("", self.conn.shards());
        query.push_in("id", &endpoints);
        query.write(&mut self.conn).await?;
        Ok(endpoints.into_iter().map(EndpointId::from_store).collect())
    }
}
