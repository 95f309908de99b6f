//! Removing what is older than the retention (contract 15.13), for all tenants.
//!
//! A stream loses its oldest events, one after the other and never one from the middle, each with its deliveries and
//! their attempts. The counter's row records how far events were removed; by it the guard of events recognises the
//! only deletion that is allowed. An event with a pending delivery stays, and so do all events after it, until that
//! delivery has ended.
//!
//! The rows of an event are named one by one, never by a condition that a planner could answer by scanning a whole
//! table.

use std::collections::HashMap;

use authority_domain::id::{EventId, MerchantId};
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

use crate::Result;
use crate::driver::{Query, query};
use crate::sql::across::Across;
use crate::sql::order::story::with_operator;
use crate::sql::transaction::Tx;

/// One of the oldest events of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldEvent {
    /// Its sequence number.
    pub sequence: i64,
    /// Its id.
    pub id: EventId,
    /// When it was created.
    pub created_at: Timestamp,
    /// Rows that go with it: deliveries, and attempts by their number in each delivery.
    pub rows: i64,
    /// Whether one of its deliveries has not ended.
    pub pending: bool,
}

impl Tx {
    /// Up to `limit` streams after `after`, in the order of merchant and mode.
    pub async fn retention_streams(&mut self, after: Option<&Tenant>, limit: i64) -> Result<Vec<Tenant>> {
        let mut query = Query::across(Across::Retention, "SELECT merchant_id, livemode FROM streams");
        if let Some(after) = after {
            query.push(" WHERE (merchant_id, livemode) > (").push_bind(after.merchant_id.as_str());
            query.push(", ").push_bind(after.livemode).push(")");
        }
        query.push(" ORDER BY merchant_id, livemode LIMIT ").push_bind(limit);
        let rows: Vec<(String, bool)> = query.read(&mut self.conn).await?;
        let tenant = |(id, livemode)| Tenant { merchant_id: MerchantId::from_store(id), livemode };
        Ok(rows.into_iter().map(tenant).collect())
    }

    /// The oldest `limit` events of a stream, oldest first.
    pub async fn retention_oldest(&mut self, tenant: &Tenant, limit: i64) -> Result<Vec<OldEvent>> {
        let oldest: Vec<(i64, String, i64)> = query(
            "SELECT sequence, id, created_at FROM events WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 \
             ORDER BY sequence LIMIT $4",
        )
        .bind_tenant(tenant)
        .bind(limit)
        .read(&mut self.conn)
        .await?;
        if oldest.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<String> = oldest.iter().map(|(_, id, _)| id.clone()).collect();
        let mut deliveries = Query::new(
            "SELECT event_id, CAST(SUM(attempt_count + 1) AS BIGINT), COUNT(CASE WHEN status = 'pending' THEN 1 END) \
             FROM deliveries WHERE ",
        );
        deliveries
            .push_shards("", with_operator(tenant))
            .push_in("event_id", &ids)
            .push(" GROUP BY event_id");
        let deliveries: Vec<(String, i64, i64)> = deliveries.read(&mut self.conn).await?;
        let deliveries: HashMap<String, (i64, i64)> =
            deliveries.into_iter().map(|(id, rows, pending)| (id, (rows, pending))).collect();
        let old = |(sequence, id, created_at): (i64, String, i64)| {
            let (rows, pending) = deliveries.get(&id).copied().unwrap_or_default();
            let created_at = Timestamp::from_ms(created_at);
            OldEvent { sequence, id: EventId::from_store(id), created_at, rows, pending: pending > 0 }
        };
        Ok(oldest.into_iter().map(old).collect())
    }

    /// Removes the events of a stream up to `through` with everything that belongs to them, if all of them were
    /// created before `before` and none has a pending delivery. Returns how many; 0 if that condition fails.
    pub async fn retention_remove(
        &mut self,
        tenant: &Tenant,
        through: i64,
        before: Timestamp,
    ) -> Result<u64> {
        let rows: Vec<(String, i64)> = query(
            "SELECT id, created_at FROM events WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 AND sequence <= $4",
        )
        .bind_tenant(tenant)
        .bind(through)
        .read(&mut self.conn)
        .await?;
        if rows.is_empty() || rows.iter().any(|(_, created_at)| *created_at >= before.as_ms()) {
            return Ok(0);
        }
        let events: Vec<String> = rows.into_iter().map(|(id, _)| id).collect();
        let mut deliveries = Query::new("SELECT id, status FROM deliveries WHERE ");
        deliveries.push_shards("", with_operator(tenant));
        deliveries.push_in("event_id", &events);
        let found: Vec<(String, String)> = deliveries.read(&mut self.conn).await?;
        if found.iter().any(|(_, status)| status == "pending") {
            return Ok(0);
        }
        self.remove_deliveries(tenant, found.into_iter().map(|(id, _)| id).collect()).await?;
        query(
            "UPDATE streams SET removed_through = $4 WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 AND removed_through < $4",
        )
        .bind_tenant(tenant)
        .bind(through)
        .write(&mut self.conn)
        .await?;
        Ok(query(
            "DELETE FROM events WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 AND sequence <= $4",
        )
        .bind_tenant(tenant)
        .bind(through)
        .write(&mut self.conn)
        .await?)
    }

    /// Removes up to `limit` ended deliveries of an event of the tenant that were not made with it (replays,
    /// recoveries), with their attempts. For an event that was sent again so often that its rows are too many for one
    /// transaction.
    pub async fn retention_thin(&mut self, tenant: &Tenant, event: &EventId, limit: i64) -> Result<u64> {
        let mut query = Query::new("SELECT id FROM deliveries WHERE ");
        query.push_shards("", with_operator(tenant)).push(" AND event_id = ").push_bind(event.as_str());
        query.push(" AND triggered_by <> 'event' AND status <> 'pending' LIMIT ").push_bind(limit);
        let ended: Vec<String> = query.read(&mut self.conn).await?;
        let removed = u64::try_from(ended.len()).unwrap_or(u64::MAX);
        self.remove_deliveries(tenant, ended).await?;
        Ok(removed)
    }

    /// Removes up to `limit` figures from before `before` (see [`Tx::endpoint_figures`]).
    pub async fn figures_purge(&mut self, before: Timestamp, limit: i64) -> Result<u64> {
        Ok(Query::across(
            Across::Retention,
            "DELETE FROM endpoint_figures WHERE (shard, endpoint_id, since) IN ( \
                 SELECT shard, endpoint_id, since FROM endpoint_figures WHERE since < $1 ORDER BY since LIMIT $2)",
        )
        .binds((before.as_ms(), limit))
        .write(&mut self.conn)
        .await?)
    }
}

impl Tx {
    /// Removes deliveries of the tenant's events, and their attempts.
    async fn remove_deliveries(&mut self, tenant: &Tenant, ids: Vec<String>) -> Result<()> {
        // Far below SQLite's 32,766 parameters.
        for ids in ids.chunks(1_000) {
            for (table, column) in [("attempts", "delivery_id"), ("deliveries", "id")] {
                let mut query = Query::new("DELETE FROM ");
                query.push(table).push(" WHERE ").push_shards("", with_operator(tenant));
                query.push_in(column, ids);
                query.write(&mut self.conn).await?;
            }
        }
        Ok(())
    }
}
