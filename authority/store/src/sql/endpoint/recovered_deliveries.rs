//! The deliveries that a step of a recovery makes: of events that have neither arrived meanwhile nor been removed, in
//! place of those that wait for another attempt.

use std::collections::BTreeSet;

use authority_domain::delivery::Trigger;
use authority_domain::{DeliveryId, Timestamp};

use crate::sql::endpoint::recoveries::RecoveryJob;
use crate::sql::endpoint::undelivered::Missed;
use crate::sql::{Query, Result, Shard, Tx, Value, query};

impl Tx {
    /// The events that are still missing: they were found outside this transaction, so some may have arrived since, or
    /// have been removed by the retention. A delivery without its event could never be sent and would never end.
    pub(crate) async fn still_missing(
        &mut self,
        job: &RecoveryJob,
        missed: &[(DeliveryId, Missed)],
    ) -> Result<BTreeSet<String>> {
        if missed.is_empty() {
            return Ok(BTreeSet::new());
        }
        // Each event is looked up by itself: a planner without statistics would read all deliveries of the endpoint
        // instead.
        let mut query = Query::new("WITH v (id) AS (VALUES ");
        let mut between = "(";
        for (_, missed) in missed {
            query.push(between).push_bind(missed.event_id.as_str()).push(")");
            between = ", (";
        }
        query.push(") SELECT v.id FROM v WHERE (SELECT 1 FROM events e WHERE e.id = v.id AND ");
        query.push_shard("e.", Shard::of(&job.tenant.merchant_id));
        query.push(") IS NOT NULL AND (SELECT 1 FROM deliveries s WHERE s.event_id = v.id AND s.status = 'succeeded' AND ");
        query.push_tenant("s.", &job.tenant);
        query.push(" AND s.endpoint_id = ").push_bind(job.recovery.endpoint_id.as_str());
        query.push(" LIMIT 1) IS NULL");
        let missing: Vec<String> = query.read(&mut self.conn).await?;
        Ok(missing.into_iter().collect())
    }

    /// Cancels deliveries that wait for their next attempt; one in flight is settled by its holder.
    pub(crate) async fn take_the_place_of_what_waits(
        &mut self,
        job: &RecoveryJob,
        missing: &[&(DeliveryId, Missed)],
        now: Timestamp,
    ) -> Result<()> {
        let mut query = Query::new(
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
        query.push(" AND ").push_tenant("", &job.tenant);
        let events: Vec<String> = missing.iter().map(|(_, missed)| missed.event_id.to_string()).collect();
        query.push_in("event_id", &events);
        query.run(&mut self.conn).await
    }

    /// Makes the deliveries of a step, numbered behind the last one of the endpoint.
    pub(crate) async fn recovered_insert(
        &mut self,
        job: &RecoveryJob,
        missing: &[&(DeliveryId, Missed)],
        now: Timestamp,
    ) -> Result<()> {
        let endpoint = job.recovery.endpoint_id.as_str();
        let shard = Shard::of(&job.tenant.merchant_id);
        let places = self.recovered_places(shard, endpoint, missing.len()).await?;
        let mut query = Query::new(
            "INSERT INTO deliveries (shard, event_shard, id, merchant_id, livemode, event_id, event_type, sequence, endpoint_id, \
             triggered_by, status, attempt_count, next_attempt_at, created_at, updated_at, created_sequence, \
             recovery_id) ",
        );
        let mut between = "VALUES (";
        for ((id, missed), place) in missing.iter().zip(places) {
            query.push(between).push_list([
                Value::from(shard),
                shard.into(),
                id.as_str().into(),
                job.tenant.merchant_id.as_str().into(),
                job.tenant.livemode.into(),
                missed.event_id.as_str().into(),
                missed.event_type.as_str().into(),
                missed.sequence.into(),
                endpoint.into(),
                Trigger::Recovery.as_str().into(),
            ]);
            query.push(", 'pending', 0, ").push_list([
                Value::from(now.as_ms()),
                now.as_ms().into(),
                now.as_ms().into(),
                place.into(),
                job.recovery.id.as_str().into(),
            ]);
            between = "), (";
        }
        query.push(")");
        query.run(&mut self.conn).await
    }

    /// The places in the endpoint's list of so many more deliveries. They come from where those of all its new
    /// deliveries come from (`Dialect::new_delivery`), or two deliveries would get one place.
    async fn recovered_places(&mut self, shard: Shard, endpoint: &str, count: usize) -> Result<Vec<i64>> {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        if self.conn.dialect().shards_apart {
            let next = "SELECT nextval('operator_deliveries') FROM generate_series(1, $1)";
            return Ok(query(next).bind(count).read(&mut self.conn).await?);
        }
        let last =
            "SELECT COALESCE(MAX(created_sequence), 0) FROM deliveries WHERE shard = $1 AND endpoint_id = $2";
        let last: i64 = query(last).binds((shard, endpoint)).read_one(&mut self.conn).await?;
        Ok((last + 1..=last + count).collect())
    }
}
