//! Recoveries, and the steps of the worker that carries them out (contract 15.2).
//!
//! A step looks for missing deliveries outside the writer, then writes in one short transaction, on condition that
//! the recovery still runs and is where the step began. So any number of instances may work on one recovery: if
//! another instance has done a step meanwhile, the step writes nothing.

use authority_domain::recovery::{Recovery, RecoveryStatus};
use authority_domain::{DeliveryId, EndpointId, RecoveryId, Tenant, Timestamp};

use crate::sql::endpoint::undelivered::{Missed, Stretch};
use crate::sql::{Across, Query, Result, Row, Tx, fields, query};

/// A recovery with everything its worker needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecoveryJob {
    /// The record.
    pub recovery: Recovery,
    /// Its tenant.
    pub tenant: Tenant,
    /// The part of the stream that it covers.
    pub stretch: Stretch,
    /// It has counted up to this sequence.
    pub counted_to: i64,
    /// It has made deliveries up to this sequence.
    pub walked_to: i64,
}

/// Deliveries by recoveries that have not ended, of one endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecoveryBacklog {
    /// All of them, at most the limit that was asked for.
    pub waiting: i64,
    /// Of these, the due ones, including those in flight.
    pub due: i64,
}

/// What one step of making deliveries writes.
#[derive(Clone, Debug)]
pub struct RecoveryStep {
    /// The recovery as it was read.
    pub job: RecoveryJob,
    /// The missing events, each with the id of its new delivery.
    pub missed: Vec<(DeliveryId, Missed)>,
    /// The sequence up to which the step is complete.
    pub walked_to: i64,
}

const SELECT: &str = "SELECT id, merchant_id, livemode, endpoint_id, status, since, until, types, after_sequence, \
     last_sequence, counted_to, walked_to, matched, enqueued, created_at, updated_at, finished_at \
     FROM endpoint_recoveries WHERE ";

impl Tx {
    /// Adds a recovery.
    pub async fn recovery_insert(&mut self, job: &RecoveryJob) -> Result<()> {
        let RecoveryJob { recovery, tenant, stretch, counted_to, walked_to } = job;
        query(
            "INSERT INTO endpoint_recoveries (id, shard, merchant_id, livemode, endpoint_id, status, since, until, types, \
                 after_sequence, last_sequence, counted_to, walked_to, matched, enqueued, created_at, updated_at, \
                 finished_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)",
        )
        .bind(recovery.id.as_str())
        .bind_tenant(tenant)
        .binds((recovery.endpoint_id.as_str(), recovery.status.as_str(), recovery.since.as_ms()))
        .bind(recovery.until.map(Timestamp::as_ms))
        .binds((recovery.types.as_ref().map(serde_json::to_string).transpose()?, stretch.above))
        .binds((stretch.below - 1, *counted_to, *walked_to, recovery.matched, recovery.enqueued))
        .binds((recovery.created_at.as_ms(), recovery.updated_at.as_ms()))
        .bind(recovery.finished_at.map(Timestamp::as_ms))
        .run(&mut self.conn)
        .await
    }

    /// One recovery of the tenant, including recoveries of a deleted endpoint.
    pub async fn recovery_get(&mut self, tenant: &Tenant, id: &RecoveryId) -> Result<Option<Recovery>> {
        let mut query = Query::new(SELECT);
        query.push("id = ").push_bind(id.as_str());
        query.push(" AND ").push_tenant("", tenant);
        query.read_optional_as(&mut self.conn, |row| Ok(job(row)?.recovery)).await
    }

    /// Up to `limit` recoveries of an endpoint that have ended, before the one with the id `before`, newest first.
    pub async fn recoveries_ended_page(
        &mut self,
        tenant: &Tenant,
        endpoint: &EndpointId,
        before: Option<&str>,
        limit: i64,
    ) -> Result<Vec<Recovery>> {
        let mut query = Query::new(SELECT);
        query.push("endpoint_id = ").push_bind(endpoint.as_str());
        query.push(" AND status <> 'running' AND ").push_tenant("", tenant).push_some(" AND id < ", before);
        query.push(" ORDER BY id DESC LIMIT ").push_bind(limit);
        query.read_as(&mut self.conn, |row| Ok(job(row)?.recovery)).await
    }

    /// Up to `limit` recoveries of an endpoint that run, newest first. They have an index of their own, as those
    /// that have ended have.
    pub async fn recoveries_running_for(
        &mut self,
        tenant: &Tenant,
        endpoint: &EndpointId,
        limit: i64,
    ) -> Result<Vec<Recovery>> {
        let mut query = Query::new(SELECT);
        query.push("endpoint_id = ").push_bind(endpoint.as_str());
        query.push(" AND status = 'running' AND ").push_tenant("", tenant);
        query.push(" ORDER BY id DESC LIMIT ").push_bind(limit);
        query.read_as(&mut self.conn, |row| Ok(job(row)?.recovery)).await
    }

    /// Stops a recovery; false when it had ended already.
    pub async fn recovery_cancel(
        &mut self,
        tenant: &Tenant,
        id: &RecoveryId,
        now: Timestamp,
    ) -> Result<bool> {
        query(
            "UPDATE endpoint_recoveries SET status = 'cancelled', finished_at = $5, \
                 updated_at = CASE WHEN updated_at > $5 THEN updated_at ELSE $5 END \
             WHERE id = $1 AND shard = $2 AND merchant_id = $3 AND livemode = $4 AND status = 'running'",
        )
        .bind(id.as_str())
        .bind_tenant(tenant)
        .bind(now.as_ms())
        .touches_any(&mut self.conn)
        .await
    }

    /// Ends the recoveries of an endpoint that is switched off.
    pub(crate) async fn recoveries_end(
        &mut self,
        endpoint: &EndpointId,
        status: RecoveryStatus,
        at: Timestamp,
    ) -> Result<()> {
        let mut query = query(
            "UPDATE endpoint_recoveries SET status = $2, finished_at = $3, \
                 updated_at = CASE WHEN updated_at > $3 THEN updated_at ELSE $3 END \
             WHERE endpoint_id = $1 AND status = 'running' AND ",
        );
        query.push_shards("", self.conn.shards());
        query.binds((endpoint.as_str(), status.as_str(), at.as_ms())).run(&mut self.conn).await
    }

    /// Up to `limit` running recoveries of all tenants, by (endpoint, id) after that position.
    pub async fn recoveries_running(
        &mut self,
        after: Option<(&EndpointId, &RecoveryId)>,
        limit: i64,
    ) -> Result<Vec<RecoveryJob>> {
        let mut query = Query::across(Across::DUE, SELECT);
        query.push("status = 'running'");
        if let Some((endpoint, id)) = after {
            query.push(" AND (endpoint_id, id) > (").push_bind(endpoint.as_str());
            query.push(", ").push_bind(id.as_str()).push(")");
        }
        query.push(" ORDER BY endpoint_id, id LIMIT ").push_bind(limit);
        query.read_as(&mut self.conn, job).await
    }

    /// The recovery backlog of an endpoint, counted up to `limit`.
    pub async fn recovery_backlog(
        &mut self,
        tenant: &Tenant,
        endpoint: &EndpointId,
        now: Timestamp,
        limit: i64,
    ) -> Result<RecoveryBacklog> {
        let row: (i64, i64) = query(
            "SELECT COUNT(*), COUNT(CASE WHEN next_attempt_at <= $5 THEN 1 END) FROM ( \
                 SELECT next_attempt_at FROM deliveries WHERE endpoint_id = $1 AND shard = $2 AND merchant_id = $3 AND livemode = $4 \
                     AND recovery_id IS NOT NULL AND status = 'pending' ORDER BY next_attempt_at LIMIT $6) AS w",
        )
        .bind(endpoint.as_str())
        .bind_tenant(tenant)
        .binds((now.as_ms(), limit))
        .read_one(&mut self.conn)
        .await?;
        Ok(RecoveryBacklog { waiting: row.0, due: row.1 })
    }

    /// Records that `found` more were counted up to `counted_to`; false when the recovery has changed since it was
    /// read.
    pub async fn recovery_counted(
        &mut self,
        job: &RecoveryJob,
        counted_to: i64,
        found: i64,
        now: Timestamp,
    ) -> Result<bool> {
        query(
            "UPDATE endpoint_recoveries SET counted_to = $6, matched = matched + $7, \
                 updated_at = CASE WHEN updated_at > $8 THEN updated_at ELSE $8 END \
             WHERE id = $1 AND shard = $2 AND merchant_id = $3 AND livemode = $4 AND counted_to = $5 AND status = 'running'",
        )
        .bind(job.recovery.id.as_str())
        .bind_tenant(&job.tenant)
        .binds((job.counted_to, counted_to, found, now.as_ms()))
        .touches_any(&mut self.conn)
        .await
    }

    /// Makes deliveries, due at `now`, of what is still missing, and completes a recovery that has reached its end. A
    /// pending delivery of the same event is cancelled, so that the event is not sent twice. Returns how many were
    /// made; `None`, and nothing written, when the recovery has changed since it was read.
    pub async fn recovery_step(&mut self, step: &RecoveryStep, now: Timestamp) -> Result<Option<i64>> {
        let RecoveryStep { job, missed, walked_to } = step;
        let still = self.still_missing(job, missed).await?;
        let missing: Vec<&(DeliveryId, Missed)> =
            missed.iter().filter(|(_, missed)| still.contains(missed.event_id.as_str())).collect();
        let made = i64::try_from(missing.len()).unwrap_or(i64::MAX);
        let ends = *walked_to >= job.stretch.below - 1;
        let done = query(
            "UPDATE endpoint_recoveries SET walked_to = $6, enqueued = enqueued + $7, \
                 updated_at = CASE WHEN updated_at > $8 THEN updated_at ELSE $8 END, \
                 matched = CASE WHEN $9 OR matched < enqueued + $7 THEN enqueued + $7 ELSE matched END, \
                 status = CASE WHEN $9 THEN 'completed' ELSE status END, \
                 finished_at = CASE WHEN $9 THEN $8 ELSE finished_at END \
             WHERE id = $1 AND shard = $2 AND merchant_id = $3 AND livemode = $4 AND walked_to = $5 AND status = 'running'",
        )
        .bind(job.recovery.id.as_str())
        .bind_tenant(&job.tenant)
        .binds((job.walked_to, *walked_to, made, now.as_ms(), ends))
        .write(&mut self.conn)
        .await?;
        if done == 0 {
            return Ok(None);
        }
        if !missing.is_empty() {
            self.take_the_place_of_what_waits(job, &missing, now).await?;
            self.recovered_insert(job, &missing, now).await?;
            self.ask_for_room(&job.recovery.endpoint_id, now);
        }
        Ok(Some(made))
    }
}

fn job(row: &Row) -> Result<RecoveryJob> {
    let types = row.get::<Option<String>>("types")?;
    Ok(RecoveryJob {
        recovery: fields!(row => Recovery {
            id, endpoint_id, since, until, matched, enqueued, livemode, created_at, updated_at,
            finished_at;
            status: row.word("endpoint_recoveries.status", RecoveryStatus::parse)?,
            types: types.map(|types| serde_json::from_str(&types)).transpose()?,
        }),
        tenant: row.tenant()?,
        stretch: Stretch { above: row.get("after_sequence")?, below: row.get::<i64>("last_sequence")? + 1 },
        counted_to: row.get("counted_to")?,
        walked_to: row.get("walked_to")?,
    })
}
