//! What attempts make of an endpoint, and what becomes of the deliveries that wait for one that gets no more.

use async_trait::async_trait;
use authority_domain::endpoint::{DEGRADED_AFTER, FAILING_AFTER, FAILING_AFTER_MS, HealthState};
use authority_domain::id::{EndpointId, MerchantId};
use authority_domain::outcome::FailureReason;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;
use sqlx::{QueryBuilder, Row};

use super::{Db, Session, push_in};
use crate::StoreError;
use crate::ports::{EndpointCondition, EndpointHealth, HealthUpdate};

#[async_trait]
impl EndpointHealth for Session<'_> {
    async fn endpoint_health_add(&mut self, update: &HealthUpdate) -> Result<EndpointCondition, StoreError> {
        let row = sqlx::query(
            "UPDATE webhook_endpoints SET \
                 consecutive_failures = CASE WHEN $2 THEN 0 ELSE consecutive_failures END + $3, \
                 first_failure_at = CASE WHEN $2 THEN $9 ELSE COALESCE(first_failure_at, $9) END, \
                 health_state = CASE \
                     WHEN CASE WHEN $2 THEN 0 ELSE consecutive_failures END + $3 >= $10 \
                         AND $6 - CASE WHEN $2 THEN $9 ELSE COALESCE(first_failure_at, $9) END >= $11 THEN 'failing' \
                     WHEN CASE WHEN $2 THEN 0 ELSE consecutive_failures END + $3 >= $4 THEN 'degraded' \
                     WHEN $2 THEN 'healthy' ELSE health_state END, \
                 last_success_at = COALESCE($5, last_success_at), \
                 last_failure_at = COALESCE($6, last_failure_at), \
                 last_response_status = COALESCE($7, last_response_status), \
                 last_error = COALESCE($8, last_error) \
             WHERE id = $1 \
             RETURNING merchant_id, livemode, health_state, consecutive_failures, deleted_at IS NOT NULL AS deleted",
        )
        .bind(update.endpoint_id.as_str())
        .bind(update.succeeded)
        .bind(update.failures)
        .bind(DEGRADED_AFTER)
        .bind(update.last_success_at.map(Timestamp::as_ms))
        .bind(update.last_failure_at.map(Timestamp::as_ms))
        .bind(update.last_response_status)
        .bind(&update.last_error)
        .bind(update.first_failure_at.map(Timestamp::as_ms))
        .bind(FAILING_AFTER)
        .bind(FAILING_AFTER_MS)
        .fetch_one(&mut *self.conn)
        .await?;
        let state: String = row.try_get("health_state")?;
        Ok(EndpointCondition {
            tenant: Tenant {
                merchant_id: MerchantId::from_store(row.try_get("merchant_id")?),
                livemode: row.try_get("livemode")?,
            },
            state: HealthState::parse(&state).ok_or_else(|| {
                StoreError::Broken("webhook_endpoints.health_state holds an unknown word".to_owned())
            })?,
            consecutive_failures: row.try_get("consecutive_failures")?,
            deleted: row.try_get("deleted")?,
        })
    }

    async fn deliveries_cancel(
        &mut self,
        endpoint: &EndpointId,
        reason: FailureReason,
        now: Timestamp,
        limit: i64,
    ) -> Result<u64, StoreError> {
        let done = sqlx::query(
            "UPDATE deliveries SET status = 'cancelled', failure_reason = $2, next_attempt_at = NULL, \
                 lease_token = NULL, lease_until = NULL, updated_at = $3 \
             WHERE id IN (SELECT d.id FROM deliveries d WHERE d.endpoint_id = $1 AND d.status = 'pending' \
                 AND (d.lease_until IS NULL OR d.lease_until < $3) LIMIT $4)",
        )
        .bind(endpoint.as_str())
        .bind(reason.as_str())
        .bind(now.as_ms())
        .bind(limit)
        .execute(&mut *self.conn)
        .await?;
        Ok(done.rows_affected())
    }

    async fn deliveries_cancel_stranded(&mut self, now: Timestamp, limit: i64) -> Result<u64, StoreError> {
        // CROSS JOIN keeps SQLite from beginning with all that waits.
        let stranded: Vec<(String, bool)> = sqlx::query_as(
            "SELECT d.id, e.deleted_at IS NOT NULL FROM webhook_endpoints e CROSS JOIN deliveries d \
             WHERE e.status = 'disabled' AND d.endpoint_id = e.id AND d.status = 'pending' \
                 AND (d.lease_until IS NULL OR d.lease_until < $1) LIMIT $2",
        )
        .bind(now.as_ms())
        .bind(limit)
        .fetch_all(&mut *self.conn)
        .await?;
        for (reason, deleted) in
            [(FailureReason::EndpointDisabled, false), (FailureReason::EndpointDeleted, true)]
        {
            let ids = stranded.iter().filter(|(_, gone)| *gone == deleted).map(|(id, _)| id.clone());
            let ids: Vec<String> = ids.collect();
            if !ids.is_empty() {
                let mut query = QueryBuilder::<Db>::new(
                    "UPDATE deliveries SET status = 'cancelled', next_attempt_at = NULL, lease_token = NULL, \
                         lease_until = NULL, failure_reason = ",
                );
                query.push_bind(reason.as_str()).push(", updated_at = ").push_bind(now.as_ms());
                query.push(" WHERE status = 'pending'");
                push_in(&mut query, "id", &ids);
                query.build().execute(&mut *self.conn).await?;
            }
        }
        Ok(u64::try_from(stranded.len()).unwrap_or(u64::MAX))
    }

    async fn endpoint_disable_gone(&mut self, id: &EndpointId, now: Timestamp) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "UPDATE webhook_endpoints SET status = 'disabled', disabled_reason = 'gone', disabled_at = $2, \
                 updated_at = $2, resource_version = resource_version + 1 WHERE id = $1 AND status = 'enabled'",
        )
        .bind(id.as_str())
        .bind(now.as_ms())
        .execute(&mut *self.conn)
        .await?;
        Ok(done.rows_affected() > 0)
    }
}
