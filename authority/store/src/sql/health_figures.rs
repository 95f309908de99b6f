//! The figures of integration health: the backlog is counted in the work list, up to a limit; the attempts of the
//! last day were counted as they happened; latencies are a sample of the newest attempts. The cost grows neither with
//! finished work nor with the work of a day.

use std::collections::BTreeMap;

use async_trait::async_trait;
use authority_domain::delivery::integration_health::EndpointFigures;
use authority_domain::id::EndpointId;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;
use sqlx::{AssertSqlSafe, QueryBuilder, Row};

use super::backlog::{COUNTED, COUNTED_MAX};
use super::{Db, Session};
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
        let ids: Vec<String> = sqlx::query_scalar(
            "SELECT id FROM webhook_endpoints WHERE merchant_id = $1 AND livemode = $2 AND deleted_at IS NULL",
        )
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .fetch_all(&mut *self.conn)
        .await?;
        let mut figures = BTreeMap::new();
        for id in ids.into_iter().map(EndpointId::from_store) {
            let (attempts, failed_attempts, failed_deliveries) = self.counted_since(Some(&id), since).await?;
            let lately = EndpointFigures {
                attempts,
                failed_attempts,
                failed_deliveries,
                ..EndpointFigures::default()
            };
            figures.insert(id, lately);
        }
        Ok(figures)
    }

    async fn add_waiting(
        &mut self,
        tenant: &Tenant,
        now: Timestamp,
        figures: &mut BTreeMap<EndpointId, EndpointFigures>,
    ) -> Result<(), StoreError> {
        let mut query = QueryBuilder::<Db>::new("SELECT e.endpoint_id, ");
        query.push(COUNTED).push(
            "FROM (SELECT id AS endpoint_id FROM webhook_endpoints \
             WHERE merchant_id = $3 AND livemode = $4 AND deleted_at IS NULL) AS e",
        );
        let rows = sqlx::query(AssertSqlSafe(query.into_string()))
            .bind(now.as_ms())
            .bind(COUNTED_MAX)
            .bind(tenant.merchant_id.as_str())
            .bind(tenant.livemode)
            .fetch_all(&mut *self.conn)
            .await?;
        for row in rows {
            let endpoint = EndpointId::from_store(row.try_get("endpoint_id")?);
            // An endpoint made since the earlier figures were read has no figures yet.
            let Some(figures) = figures.get_mut(&endpoint) else { continue };
            figures.pending = row.try_get("pending")?;
            figures.due = row.try_get("due")?;
            figures.oldest_pending_at = row.try_get::<Option<i64>, _>("oldest")?.map(Timestamp::from_ms);
            figures.first_due_at = row.try_get::<Option<i64>, _>("first_due")?.map(Timestamp::from_ms);
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
