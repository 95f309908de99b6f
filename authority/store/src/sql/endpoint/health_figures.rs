//! The figures of integration health: the backlog is counted in the work list, up to a limit; the attempts of the
//! last day were counted as they happened; latencies are a sample of the newest attempts. The cost grows neither with
//! finished work nor with the work of a day.

use std::collections::BTreeMap;

use authority_domain::integration_health::EndpointFigures;
use authority_domain::{EndpointId, Tenant, Timestamp};

use crate::sql::endpoint::backlog::{COUNTED, COUNTED_MAX};
use crate::sql::{Query, Result, Row, Shard, Tx, query};

impl Tx {
    /// The backlog at `now`, up to 10,000 of each, and the attempts since the five minutes of `since`, per endpoint
    /// that is not deleted. The oldest pending delivery is that of the 10,000 that are due first. Latencies are those
    /// of the newest `sample` attempts.
    pub async fn endpoint_figures(
        &mut self,
        tenant: &Tenant,
        now: Timestamp,
        since: Timestamp,
        sample: i64,
    ) -> Result<BTreeMap<EndpointId, EndpointFigures>> {
        let mut figures = self.recent(tenant, since).await?;
        self.add_waiting(tenant, now, &mut figures).await?;
        for (endpoint, figures) in &mut figures {
            if figures.attempts > 0 {
                figures.durations_ms = self.durations(tenant, endpoint, since, sample).await?;
            }
        }
        Ok(figures)
    }

    async fn recent(
        &mut self,
        tenant: &Tenant,
        since: Timestamp,
    ) -> Result<BTreeMap<EndpointId, EndpointFigures>> {
        let ids: Vec<EndpointId> = query(
            "SELECT id FROM webhook_endpoints WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 AND deleted_at IS NULL",
        )
        .bind_tenant(tenant)
        .read(&mut self.conn)
        .await?;
        let mut figures = BTreeMap::new();
        for id in ids {
            let (attempts, failed_attempts, failed_deliveries) =
                self.counted_since(Some((tenant, &id)), since).await?;
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
    ) -> Result<()> {
        let mut query = Query::new("SELECT e.endpoint_id, ");
        query.push(COUNTED).push(
            "FROM (SELECT shard, id AS endpoint_id FROM webhook_endpoints \
             WHERE shard = $3 AND merchant_id = $4 AND livemode = $5 AND deleted_at IS NULL) AS e",
        );
        let rows =
            query.bind(now.as_ms()).bind(COUNTED_MAX).bind_tenant(tenant).read::<Row>(&mut self.conn).await?;
        for row in rows {
            // An endpoint made since the earlier figures were read has no figures yet.
            let Some(figures) = figures.get_mut(&row.read("endpoint_id")?) else { continue };
            figures.pending = row.get("pending")?;
            figures.due = row.get("due")?;
            figures.oldest_pending_at = row.read("oldest")?;
            figures.first_due_at = row.read("first_due")?;
        }
        Ok(())
    }

    async fn durations(
        &mut self,
        tenant: &Tenant,
        endpoint: &EndpointId,
        since: Timestamp,
        sample: i64,
    ) -> Result<Vec<i64>> {
        Ok(query(
            "SELECT duration_ms FROM attempts WHERE shard = $1 AND endpoint_id = $2 AND started_at >= $3 \
             ORDER BY started_at DESC LIMIT $4",
        )
        .binds((Shard::of(&tenant.merchant_id), endpoint.as_str(), since.as_ms(), sample))
        .read(&mut self.conn)
        .await?)
    }
}
