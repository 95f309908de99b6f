//! Figures over the whole database.

use async_trait::async_trait;
use authority_domain::time::Timestamp;
use sqlx::{AssertSqlSafe, QueryBuilder, Row};

use super::backlog::{COUNTED, COUNTED_MAX, WAITING};
use super::{Db, Session, known_version};
use crate::StoreError;
use crate::migrations::{FOUND, Found};
use crate::ports::{Figures, QueueFigures};

/// The number of bytes that the write probe writes.
const PROBE_BYTES: usize = 64 * 1024;

#[async_trait]
impl Figures for Session<'_> {
    async fn queue_figures(&mut self, now: Timestamp) -> Result<QueueFigures, StoreError> {
        let mut query = QueryBuilder::<Db>::new(WAITING);
        query.push(
            "SELECT CAST(COALESCE(SUM(pending), 0) AS BIGINT) AS pending, CAST(COALESCE(SUM(due), 0) AS BIGINT) AS due, \
                 MIN(first_due) AS oldest, \
                 (SELECT COUNT(*) FROM deliveries WHERE lease_token IS NOT NULL AND lease_until >= $1) AS leased \
             FROM (SELECT ",
        );
        query.push(COUNTED).push("FROM waiting e WHERE e.endpoint_id IS NOT NULL) AS counted");
        let row = sqlx::query(AssertSqlSafe(query.into_string()))
            .bind(now.as_ms())
            .bind(COUNTED_MAX)
            .fetch_one(&mut *self.conn)
            .await?;
        let oldest = row.try_get::<Option<i64>, _>("oldest")?.map(Timestamp::from_ms);
        Ok(QueueFigures {
            pending: row.try_get("pending")?,
            due: row.try_get("due")?,
            leased: row.try_get("leased")?,
            oldest_due_at: oldest.filter(|oldest| *oldest <= now),
        })
    }

    async fn oldest_unattended(&mut self, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        // Finds the endpoints that have unfinished work by index steps alone, as for leases.
        let oldest: Option<i64> = sqlx::query_scalar(
            "WITH RECURSIVE waiting (endpoint_id) AS ( \
                 SELECT MIN(endpoint_id) FROM deliveries WHERE status = 'pending' \
                 UNION ALL \
                 SELECT (SELECT MIN(n.endpoint_id) FROM deliveries n \
                         WHERE n.status = 'pending' AND n.endpoint_id > waiting.endpoint_id) \
                 FROM waiting WHERE waiting.endpoint_id IS NOT NULL) \
             SELECT MIN(since) FROM (SELECT CASE WHEN e.held_until > due_at THEN e.held_until ELSE due_at END AS since \
                 FROM (SELECT endpoint_id, (SELECT MIN(d.next_attempt_at) FROM deliveries d \
                         WHERE d.endpoint_id = waiting.endpoint_id AND d.status = 'pending') AS due_at \
                     FROM waiting) AS first \
                 JOIN webhook_endpoints e ON e.id = first.endpoint_id \
                 WHERE e.status = 'enabled' AND NOT EXISTS ( \
                     SELECT 1 FROM deliveries l WHERE l.endpoint_id = e.id AND l.lease_token IS NOT NULL \
                         AND l.lease_until >= $1)) AS unattended \
             WHERE since <= $1",
        )
        .bind(now.as_ms())
        .fetch_one(&mut *self.conn)
        .await?;
        Ok(oldest.map(Timestamp::from_ms))
    }

    async fn schema_fits(&mut self) -> Result<bool, StoreError> {
        let known = known_version();
        let found = sqlx::query_as(FOUND).bind(known).fetch_one(&mut *self.conn).await?;
        Ok(Found::new(found).fits(known))
    }

    async fn write_probe(&mut self, now: Timestamp) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO write_probe (id, written_at, filler) VALUES (1, $1, $2) \
             ON CONFLICT (id) DO UPDATE SET written_at = excluded.written_at, filler = excluded.filler",
        )
        .bind(now.as_ms())
        .bind("x".repeat(PROBE_BYTES))
        .execute(&mut *self.conn)
        .await?;
        Ok(())
    }

    async fn endpoint_states(&mut self) -> Result<Vec<(String, i64)>, StoreError> {
        Ok(sqlx::query_as(
            "SELECT CASE WHEN status = 'disabled' THEN status ELSE health_state END AS state, COUNT(*) \
             FROM webhook_endpoints WHERE deleted_at IS NULL GROUP BY 1 ORDER BY 1",
        )
        .fetch_all(&mut *self.conn)
        .await?)
    }
}
