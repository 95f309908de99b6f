//! Figures over everything.

use async_trait::async_trait;
use authority_domain::time::Timestamp;
use sqlx::Row;

use super::Session;
use crate::StoreError;
use crate::ports::{Figures, QueueFigures};

#[async_trait]
impl Figures for Session<'_> {
    async fn queue_figures(&mut self, now: Timestamp) -> Result<QueueFigures, StoreError> {
        let row = sqlx::query(
            "SELECT COUNT(*) AS pending, COUNT(CASE WHEN next_attempt_at <= $1 THEN 1 END) AS due, \
                 MIN(next_attempt_at) AS oldest, \
                 (SELECT COUNT(*) FROM deliveries WHERE lease_token IS NOT NULL AND lease_until >= $1) AS leased \
             FROM deliveries WHERE status = 'pending'",
        )
        .bind(now.as_ms())
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

    async fn endpoint_states(&mut self) -> Result<Vec<(String, i64)>, StoreError> {
        Ok(sqlx::query_as(
            "SELECT CASE WHEN status = 'disabled' THEN status ELSE health_state END AS state, COUNT(*) \
             FROM webhook_endpoints WHERE deleted_at IS NULL GROUP BY 1 ORDER BY 1",
        )
        .fetch_all(&mut *self.conn)
        .await?)
    }
}
