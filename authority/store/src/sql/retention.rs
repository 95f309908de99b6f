//! Removing what is older than the retention. The rows of an event are named one by one, never by a condition that a
//! planner could answer by scanning a whole table.

use async_trait::async_trait;
use authority_domain::id::{EventId, MerchantId};
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;
use sqlx::{QueryBuilder, Row};

use super::{Db, DbRow, Session, push_in};
use crate::StoreError;
use crate::ports::{OldEvent, Retention};

#[async_trait]
impl Retention for Session<'_> {
    async fn retention_streams(
        &mut self,
        after: Option<&Tenant>,
        limit: i64,
    ) -> Result<Vec<Tenant>, StoreError> {
        let mut query = QueryBuilder::<Db>::new("SELECT merchant_id, livemode FROM streams");
        if let Some(after) = after {
            query.push(" WHERE (merchant_id, livemode) > (").push_bind(after.merchant_id.as_str());
            query.push(", ").push_bind(after.livemode).push(")");
        }
        query.push(" ORDER BY merchant_id, livemode LIMIT ").push_bind(limit);
        let rows: Vec<(String, bool)> = query.build_query_as().fetch_all(&mut *self.conn).await?;
        let tenant = |(id, livemode)| Tenant { merchant_id: MerchantId::from_store(id), livemode };
        Ok(rows.into_iter().map(tenant).collect())
    }

    async fn retention_oldest(&mut self, tenant: &Tenant, limit: i64) -> Result<Vec<OldEvent>, StoreError> {
        let rows = sqlx::query(
            "SELECT v.sequence, v.id, v.created_at, \
                 (SELECT CAST(COALESCE(SUM(d.attempt_count + 1), 0) AS BIGINT) FROM deliveries d \
                  WHERE d.event_id = v.id) AS rows_of_it, \
                 (SELECT COUNT(*) FROM deliveries d WHERE d.event_id = v.id AND d.status = 'pending') AS pending \
             FROM (SELECT sequence, id, created_at FROM events WHERE merchant_id = $1 AND livemode = $2 \
                   ORDER BY sequence LIMIT $3) AS v ORDER BY v.sequence",
        )
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .bind(limit)
        .fetch_all(&mut *self.conn)
        .await?;
        let old = |row: &DbRow| {
            Ok(OldEvent {
                sequence: row.try_get("sequence")?,
                id: EventId::from_store(row.try_get("id")?),
                created_at: Timestamp::from_ms(row.try_get("created_at")?),
                rows: row.try_get("rows_of_it")?,
                pending: row.try_get::<i64, _>("pending")? > 0,
            })
        };
        rows.iter().map(old).collect()
    }

    async fn retention_remove(
        &mut self,
        tenant: &Tenant,
        through: i64,
        before: Timestamp,
    ) -> Result<u64, StoreError> {
        let rows: Vec<(String, i64)> = sqlx::query_as(
            "SELECT id, created_at FROM events WHERE merchant_id = $1 AND livemode = $2 AND sequence <= $3",
        )
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .bind(through)
        .fetch_all(&mut *self.conn)
        .await?;
        if rows.is_empty() || rows.iter().any(|(_, created_at)| *created_at >= before.as_ms()) {
            return Ok(0);
        }
        let events: Vec<String> = rows.into_iter().map(|(id, _)| id).collect();
        let mut query = QueryBuilder::<Db>::new("SELECT id, status FROM deliveries WHERE TRUE");
        push_in(&mut query, "event_id", &events);
        let found: Vec<(String, String)> = query.build_query_as().fetch_all(&mut *self.conn).await?;
        if found.iter().any(|(_, status)| status == "pending") {
            return Ok(0);
        }
        self.remove_deliveries(found.into_iter().map(|(id, _)| id).collect()).await?;
        sqlx::query(
            "UPDATE streams SET removed_through = $3 WHERE merchant_id = $1 AND livemode = $2 AND removed_through < $3",
        )
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .bind(through)
        .execute(&mut *self.conn)
        .await?;
        let removed =
            sqlx::query("DELETE FROM events WHERE merchant_id = $1 AND livemode = $2 AND sequence <= $3")
                .bind(tenant.merchant_id.as_str())
                .bind(tenant.livemode)
                .bind(through)
                .execute(&mut *self.conn)
                .await?;
        Ok(removed.rows_affected())
    }

    async fn retention_thin(&mut self, event: &EventId, limit: i64) -> Result<u64, StoreError> {
        let ended: Vec<String> = sqlx::query_scalar(
            "SELECT id FROM deliveries WHERE event_id = $1 AND triggered_by <> 'event' AND status <> 'pending' LIMIT $2",
        )
        .bind(event.as_str())
        .bind(limit)
        .fetch_all(&mut *self.conn)
        .await?;
        let removed = u64::try_from(ended.len()).unwrap_or(u64::MAX);
        self.remove_deliveries(ended).await?;
        Ok(removed)
    }

    async fn figures_purge(&mut self, before: Timestamp, limit: i64) -> Result<u64, StoreError> {
        let removed = sqlx::query(
            "DELETE FROM endpoint_figures WHERE (endpoint_id, since) IN ( \
                 SELECT endpoint_id, since FROM endpoint_figures WHERE since < $1 ORDER BY since LIMIT $2)",
        )
        .bind(before.as_ms())
        .bind(limit)
        .execute(&mut *self.conn)
        .await?;
        Ok(removed.rows_affected())
    }
}

impl Session<'_> {
    /// Removes deliveries and their attempts.
    async fn remove_deliveries(&mut self, ids: Vec<String>) -> Result<(), StoreError> {
        // Far below SQLite's 32,766 parameters.
        for ids in ids.chunks(1_000) {
            for (table, column) in [("attempts", "delivery_id"), ("deliveries", "id")] {
                let mut query = QueryBuilder::<Db>::new("DELETE FROM ");
                query.push(table).push(" WHERE TRUE");
                push_in(&mut query, column, ids);
                query.build().execute(&mut *self.conn).await?;
            }
        }
        Ok(())
    }
}
