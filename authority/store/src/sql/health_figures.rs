//! The figures of integration health, read from indexes alone: what waits is counted in the work list, what was
//! attempted in the last day in an index by time. Finished deliveries are in neither.

use std::collections::BTreeMap;

use async_trait::async_trait;
use authority_domain::id::EndpointId;
use authority_domain::integration_health::EndpointFigures;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;
use sqlx::Row;

use super::Session;
use crate::StoreError;
use crate::ports::HealthFigures;

#[async_trait]
impl HealthFigures for Session<'_> {
    async fn endpoint_figures(
        &mut self,
        tenant: &Tenant,
        now: Timestamp,
        since: Timestamp,
        sample: i64,
    ) -> Result<BTreeMap<EndpointId, EndpointFigures>, StoreError> {
        let mut figures = self.recent(tenant, since).await?;
        self.add_waiting(tenant, now, &mut figures).await?;
        for (endpoint, figures) in &mut figures {
            if figures.attempts > 0 {
                figures.durations_ms = self.durations(endpoint, since, sample).await?;
            }
        }
        Ok(figures)
    }
}

impl Session<'_> {
    async fn recent(
        &mut self,
        tenant: &Tenant,
        since: Timestamp,
    ) -> Result<BTreeMap<EndpointId, EndpointFigures>, StoreError> {
        let rows = sqlx::query(
            "SELECT e.id, \
                 (SELECT COUNT(*) FROM attempts a WHERE a.endpoint_id = e.id AND a.started_at >= $3) AS attempts, \
                 (SELECT COUNT(*) FROM attempts a WHERE a.endpoint_id = e.id AND a.started_at >= $3 \
                     AND a.outcome <> 'success') AS failed_attempts, \
                 (SELECT COUNT(*) FROM deliveries d WHERE d.endpoint_id = e.id AND d.status = 'failed' \
                     AND d.failed_at >= $3) AS failed_deliveries \
             FROM webhook_endpoints e WHERE e.merchant_id = $1 AND e.livemode = $2 AND e.deleted_at IS NULL",
        )
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .bind(since.as_ms())
        .fetch_all(&mut *self.conn)
        .await?;
        let mut figures = BTreeMap::new();
        for row in rows {
            let of_endpoint = EndpointFigures {
                attempts: row.try_get("attempts")?,
                failed_attempts: row.try_get("failed_attempts")?,
                failed_deliveries: row.try_get("failed_deliveries")?,
                ..EndpointFigures::default()
            };
            figures.insert(EndpointId::from_store(row.try_get("id")?), of_endpoint);
        }
        Ok(figures)
    }

    async fn add_waiting(
        &mut self,
        tenant: &Tenant,
        now: Timestamp,
        figures: &mut BTreeMap<EndpointId, EndpointFigures>,
    ) -> Result<(), StoreError> {
        // CROSS JOIN keeps SQLite from beginning with the deliveries of everybody.
        let rows = sqlx::query(
            "SELECT e.id, COUNT(*) AS pending, COUNT(*) FILTER (WHERE d.next_attempt_at <= $3) AS due, \
                 MIN(d.created_at) AS oldest_pending_at, MIN(d.next_attempt_at) AS first_due_at \
             FROM webhook_endpoints e CROSS JOIN deliveries d \
             WHERE e.merchant_id = $1 AND e.livemode = $2 AND e.deleted_at IS NULL \
                 AND d.endpoint_id = e.id AND d.status = 'pending' GROUP BY e.id",
        )
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .bind(now.as_ms())
        .fetch_all(&mut *self.conn)
        .await?;
        for row in rows {
            let endpoint = EndpointId::from_store(row.try_get("id")?);
            // One that was made since the figures before were read has nothing to tell yet.
            let Some(figures) = figures.get_mut(&endpoint) else { continue };
            figures.pending = row.try_get("pending")?;
            figures.due = row.try_get("due")?;
            figures.oldest_pending_at = Some(Timestamp::from_ms(row.try_get("oldest_pending_at")?));
            figures.first_due_at = Some(Timestamp::from_ms(row.try_get("first_due_at")?));
        }
        Ok(())
    }

    async fn durations(
        &mut self,
        endpoint: &EndpointId,
        since: Timestamp,
        sample: i64,
    ) -> Result<Vec<i64>, StoreError> {
        Ok(sqlx::query_scalar(
            "SELECT duration_ms FROM attempts WHERE endpoint_id = $1 AND started_at >= $2 \
             ORDER BY started_at DESC LIMIT $3",
        )
        .bind(endpoint.as_str())
        .bind(since.as_ms())
        .bind(sample)
        .fetch_all(&mut *self.conn)
        .await?)
    }
}
