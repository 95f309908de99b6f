//! The deliveries that a step of a recovery makes: of events that have not arrived meanwhile, in place of those that
//! wait for another attempt.

use std::collections::BTreeSet;

use authority_domain::delivery::Trigger;
use authority_domain::id::DeliveryId;
use authority_domain::time::Timestamp;
use sqlx::QueryBuilder;

use super::{Db, Session, push_in};
use crate::StoreError;
use crate::ports::{Missed, RecoveryJob};

impl Session<'_> {
    /// The events that have arrived since they were found missing.
    pub(super) async fn arrived(
        &mut self,
        job: &RecoveryJob,
        missed: &[(DeliveryId, Missed)],
    ) -> Result<BTreeSet<String>, StoreError> {
        if missed.is_empty() {
            return Ok(BTreeSet::new());
        }
        // Each event is looked up by itself: a planner without statistics would read all deliveries of the endpoint
        // instead.
        let mut query = QueryBuilder::<Db>::new("WITH v (id) AS (VALUES ");
        let mut list = query.separated(", ");
        for (_, missed) in missed {
            list.push("(").push_bind_unseparated(missed.event_id.as_str()).push_unseparated(")");
        }
        query.push(
            ") SELECT v.id FROM v WHERE (SELECT 1 FROM deliveries s WHERE s.event_id = v.id AND s.status = 'succeeded' \
             AND s.merchant_id = ",
        );
        query.push_bind(job.tenant.merchant_id.as_str());
        query.push(" AND s.livemode = ").push_bind(job.tenant.livemode);
        query.push(" AND s.endpoint_id = ").push_bind(job.recovery.endpoint_id.as_str());
        query.push(" LIMIT 1) IS NOT NULL");
        let arrived: Vec<String> = query.build_query_scalar().fetch_all(&mut *self.conn).await?;
        Ok(arrived.into_iter().collect())
    }

    /// Cancels deliveries that wait for their next attempt; one in flight is settled by its holder.
    pub(super) async fn take_the_place_of_what_waits(
        &mut self,
        job: &RecoveryJob,
        missing: &[&(DeliveryId, Missed)],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut query = QueryBuilder::<Db>::new(
            "UPDATE deliveries SET status = 'cancelled', next_attempt_at = NULL, lease_token = NULL, \
                 lease_until = NULL, updated_at = ",
        );
        query
            .push_bind(now.as_ms())
            .push(" WHERE status = 'pending' AND (lease_until IS NULL OR lease_until < ");
        query
            .push_bind(now.as_ms())
            .push(") AND endpoint_id = ")
            .push_bind(job.recovery.endpoint_id.as_str());
        query.push(" AND merchant_id = ").push_bind(job.tenant.merchant_id.as_str());
        query.push(" AND livemode = ").push_bind(job.tenant.livemode);
        let events: Vec<String> = missing.iter().map(|(_, missed)| missed.event_id.to_string()).collect();
        push_in(&mut query, "event_id", &events);
        query.build().execute(&mut *self.conn).await?;
        Ok(())
    }

    /// Makes the deliveries of a step, numbered behind the last one of the endpoint.
    pub(super) async fn recovered_insert(
        &mut self,
        job: &RecoveryJob,
        missing: &[&(DeliveryId, Missed)],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let endpoint = job.recovery.endpoint_id.as_str();
        let last: i64 = sqlx::query_scalar(
            "SELECT COALESCE(MAX(created_sequence), 0) FROM deliveries WHERE endpoint_id = $1",
        )
        .bind(endpoint)
        .fetch_one(&mut *self.conn)
        .await?;
        let mut query = QueryBuilder::<Db>::new(
            "INSERT INTO deliveries (id, merchant_id, livemode, event_id, event_type, sequence, endpoint_id, \
             triggered_by, status, attempt_count, next_attempt_at, created_at, updated_at, created_sequence, \
             recovery_id) ",
        );
        query.push_values(missing.iter().zip(last + 1..), |mut row, ((id, missed), place)| {
            row.push_bind(id.as_str())
                .push_bind(job.tenant.merchant_id.as_str())
                .push_bind(job.tenant.livemode)
                .push_bind(missed.event_id.as_str())
                .push_bind(missed.event_type.as_str())
                .push_bind(missed.sequence)
                .push_bind(endpoint)
                .push_bind(Trigger::Recovery.as_str())
                .push("'pending', 0")
                .push_bind(now.as_ms())
                .push_bind(now.as_ms())
                .push_bind(now.as_ms())
                .push_bind(place)
                .push_bind(job.recovery.id.as_str());
        });
        query.build().execute(&mut *self.conn).await?;
        Ok(())
    }
}
