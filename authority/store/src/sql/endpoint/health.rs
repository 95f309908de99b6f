//! How attempts change an endpoint's condition, and how the pending deliveries of a disabled or deleted endpoint are
//! cancelled (contract 7.5, 15.6, 15.8).
//!
//! Used by the dispatcher, which acts for all tenants and reads here which tenant an endpoint belongs to.

use authority_domain::delivery::retry::RetrySchedule;
use authority_domain::endpoint::FAILING_AFTER;
use authority_domain::endpoint::condition::Condition;
use authority_domain::endpoint::hold::{Hold, HoldReason};
use authority_domain::recovery::RecoveryStatus;
use authority_domain::{
    DisabledReason, EndpointId, EndpointStatus, EventId, FailureReason, Tenant, Timestamp,
};

use crate::sql::endpoint::rows::{health, held_reason, retry_schedule};
use crate::sql::endpoint::stream_now;
use crate::sql::{
    Across, Form, Query, Result, Row, Shard, Table, TableOrder, Together, Touches, Tx, columns, query, row,
};

/// An endpoint as its attempts see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionOf {
    /// Its id.
    pub endpoint_id: EndpointId,
    /// Its tenant.
    pub tenant: Tenant,
    /// Whether it is enabled and receives deliveries.
    pub status: EndpointStatus,
    /// It was deleted while attempts were under way.
    pub deleted: bool,
    /// Where its deliveries go now.
    pub url: String,
    /// How long its deliveries are tried again.
    pub retry_schedule: RetrySchedule,
    /// An alert about it is open.
    pub alerted: bool,
    /// Its condition.
    pub condition: Condition,
}

/// The limits that select endpoints whose state may have changed with time alone.
#[derive(Clone, Copy, Debug)]
pub struct Overdue {
    /// Endpoints whose failures began by then are `failing`.
    pub failing_before: Timestamp,
    /// Endpoints whose failures began by then are to be disabled.
    pub disabled_before: Timestamp,
    /// The same for those with the retry schedule `long`.
    pub long_disabled_before: Timestamp,
    /// The most endpoints to return, those that have failed longest first.
    pub limit: i64,
}

const CONDITION: &str = "SELECT id, merchant_id, livemode, status, url, retry_schedule, deleted_at IS NOT NULL AS deleted, health_state, \
     consecutive_failures, last_success_at, last_failure_at, last_response_status, last_error, first_failure_at, \
     failed_events, held_until, hold_step, hold_since, held_reason, hold_asked, hold_regained, \
     EXISTS (SELECT 1 FROM alerts a WHERE a.shard = webhook_endpoints.shard AND a.subject = webhook_endpoints.id AND a.closed_at IS NULL) AS alerted \
     FROM webhook_endpoints";

/// The conditions of endpoints after attempts.
static CONDITIONS: Table = Table {
    order: TableOrder::Condition,
    touches: Touches::Any,
    columns: columns!(into "UPDATE webhook_endpoints SET health_state = v.column2, consecutive_failures = v.column3, \
        last_success_at = v.column4, last_failure_at = v.column5, last_response_status = v.column6, \
        last_error = v.column7, first_failure_at = v.column8, failed_events = v.column9, held_until = v.column10, \
        hold_step = v.column11, hold_since = v.column12, held_reason = v.column13, hold_asked = v.column14, \
        hold_regained = v.column15";
        Text, Text, Int, Int, Int, Int, Text, Int, Text, Int, Int, Int, Text, Bool, Int, Shard),
    form: Form::Update,
    rest: "WHERE webhook_endpoints.shard = v.column16 AND webhook_endpoints.id = v.column1",
    together: Together::Replaced,
};

/// Adds the condition of [`Tx::conditions_overdue`].
pub(super) fn push_overdue(query: &mut Query<'_>, overdue: Overdue) {
    query.push("status = 'enabled' AND first_failure_at IS NOT NULL AND first_failure_at <= ");
    let first = overdue.failing_before.max(overdue.disabled_before).max(overdue.long_disabled_before);
    query.push_bind(first.as_ms());
    query.push(" AND consecutive_failures >= ").push_bind(FAILING_AFTER);
    query.push(" AND (health_state <> 'failing' AND first_failure_at <= ");
    query.push_bind(overdue.failing_before.as_ms());
    // `failed_events` with two spaces holds three events: the most that are stored, and the number that disables.
    query.push(
        " OR failed_events LIKE '% % %' AND first_failure_at <= CASE WHEN retry_schedule = 'long' THEN ",
    );
    query.push_bind(overdue.long_disabled_before.as_ms()).push(" ELSE ");
    query.push_bind(overdue.disabled_before.as_ms()).push(" END)");
}

impl Tx {
    /// The conditions of these endpoints, to be read, changed and put back in one transaction. One that does not exist
    /// is left out.
    pub async fn conditions(&mut self, ids: &[EndpointId]) -> Result<Vec<ConditionOf>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<String> = ids.iter().map(EndpointId::to_string).collect();
        let mut query = Query::new(CONDITION);
        query.push(" WHERE ").push_shards("", self.conn.shards());
        query.push_in("id", &ids);
        query.push(" ORDER BY id").push(self.conn.dialect().lock_rows);
        // Endpoint rows are buffered by `conditions_put` alone, which sends them.
        query.about(&[]).read_as(&mut self.conn, condition_of).await
    }

    /// Enabled endpoints that have failed long enough to be `failing` or disabled, and are not yet, in the shards whose
    /// turns the transaction holds.
    pub async fn conditions_overdue(&mut self, overdue: Overdue) -> Result<Vec<ConditionOf>> {
        let mut query = Query::across(Across::DUE, CONDITION);
        query.push(" WHERE ").push_in_shards("", self.conn.shards()).push(" AND ");
        push_overdue(&mut query, overdue);
        query.push(" ORDER BY first_failure_at LIMIT ");
        query.push_bind(overdue.limit).push(self.conn.dialect().lock_rows);
        query.read_as(&mut self.conn, condition_of).await
    }

    /// Writes back the changed results of [`Tx::conditions`].
    pub async fn conditions_put(&mut self, conditions: &[ConditionOf]) -> Result<()> {
        if conditions.is_empty() {
            return Ok(());
        }
        let ms = |time: Option<Timestamp>| time.map(Timestamp::as_ms);
        for ConditionOf { endpoint_id, tenant, condition, .. } in conditions {
            let Condition { health, first_failure_at, failed_events, hold } = condition;
            let events: Vec<&str> = failed_events.iter().map(EventId::as_str).collect();
            self.conn.buffer(
                &CONDITIONS,
                [format!("condition/{endpoint_id}")],
                row!(
                    endpoint_id.as_str(), health.state.as_str(), health.consecutive_failures;
                    ms(health.last_success_at), ms(health.last_failure_at), health.last_response_status;
                    health.last_error.as_deref(), ms(*first_failure_at), events.join(" "), ms(hold.until);
                    hold.step, ms(hold.since), hold.reason.map(HoldReason::as_str), hold.asked, hold.regained;
                    Shard::of(&tenant.merchant_id)),
            );
        }
        // Most reads of endpoints name no keys. So the rows go now, with what the job has buffered already.
        self.conn.settle().await?;
        self.conn.writes();
        Ok(())
    }

    /// Ends the wait of an endpoint that is held back: its next request, a single one, may begin now.
    pub async fn endpoint_probe_now(&mut self, id: &EndpointId) -> Result<()> {
        let mut query = Query::new("UPDATE webhook_endpoints SET held_until = NULL WHERE ");
        query.push_shards("", self.conn.shards()).push(" AND hold_step > 0 AND id = ").push_bind(id.as_str());
        query.run(&mut self.conn).await
    }

    /// Cancels up to `limit` pending deliveries of an endpoint; returns how many. A delivery in flight keeps its
    /// lease and is settled by its holder; it is cancelled then unless it succeeds, whatever becomes of the endpoint in
    /// between (contract 7.5).
    pub async fn deliveries_cancel(
        &mut self,
        endpoint: &EndpointId,
        reason: FailureReason,
        now: Timestamp,
        limit: i64,
    ) -> Result<u64> {
        let mut in_flight = query(
            "UPDATE deliveries SET cancel_asked_at = $2 \
             WHERE endpoint_id = $1 AND lease_token IS NOT NULL AND lease_until >= $2 AND ",
        );
        in_flight.push_shards("", self.conn.shards());
        in_flight.binds((endpoint.as_str(), now.as_ms())).run(&mut self.conn).await?;
        let mut query = query(
            "UPDATE deliveries SET status = 'cancelled', failure_reason = $2, next_attempt_at = NULL, \
                 lease_token = NULL, lease_until = NULL, updated_at = $3 \
             WHERE (shard, id) IN (SELECT d.shard, d.id FROM deliveries d \
                 WHERE d.endpoint_id = $1 AND d.status = 'pending' \
                 AND (d.lease_until IS NULL OR d.lease_until < $3) AND ",
        );
        query.push_shards("d.", self.conn.shards()).push(" LIMIT $4)");
        let query = query.binds((endpoint.as_str(), reason.as_str(), now.as_ms(), limit));
        Ok(query.write(&mut self.conn).await?)
    }

    /// Cancels up to `limit` pending deliveries of endpoints that are disabled or deleted, unless somebody still
    /// holds them, in the shards whose turns the transaction holds; returns how many.
    pub async fn deliveries_cancel_stranded(&mut self, now: Timestamp, limit: i64) -> Result<u64> {
        // CROSS JOIN keeps SQLite from starting with all pending deliveries.
        let mut stranded = Query::across(
            Across::DUE,
            "SELECT d.id, e.deleted_at IS NOT NULL FROM webhook_endpoints e CROSS JOIN deliveries d \
             WHERE e.status = 'disabled' AND d.shard = e.shard AND d.endpoint_id = e.id AND d.status = 'pending' \
                 AND (d.lease_until IS NULL OR d.lease_until < $1) AND ",
        );
        stranded.push_in_shards("e.", self.conn.shards()).push(" LIMIT $2");
        let stranded: Vec<(String, bool)> = stranded.binds((now.as_ms(), limit)).read(&mut self.conn).await?;
        for (reason, deleted) in
            [(FailureReason::EndpointDisabled, false), (FailureReason::EndpointDeleted, true)]
        {
            let ids = stranded.iter().filter(|(_, gone)| *gone == deleted).map(|(id, _)| id.clone());
            let ids: Vec<String> = ids.collect();
            if !ids.is_empty() {
                let mut query = Query::new(
                    "UPDATE deliveries SET status = 'cancelled', next_attempt_at = NULL, lease_token = NULL, \
                         lease_until = NULL, failure_reason = ",
                );
                query.push_bind(reason.as_str()).push(", updated_at = ").push_bind(now.as_ms());
                query.push(" WHERE status = 'pending' AND ").push_shards("", self.conn.shards());
                query.push_in("id", &ids);
                query.write(&mut self.conn).await?;
            }
        }
        Ok(u64::try_from(stranded.len()).unwrap_or(u64::MAX))
    }

    /// Disables an endpoint because of its attempts; false when it is disabled already.
    pub async fn endpoint_disable(
        &mut self,
        id: &EndpointId,
        reason: DisabledReason,
        now: Timestamp,
    ) -> Result<bool> {
        self.recall(id);
        let mut query = query(concat!(
            "UPDATE webhook_endpoints SET status = 'disabled', disabled_reason = $3, disabled_at = $2, \
                 updated_at = CASE WHEN updated_at > $2 THEN updated_at ELSE $2 END, \
                 resource_version = resource_version + 1, subscribed_after = ",
            stream_now!(),
            " WHERE id = $1 AND status = 'enabled' AND ",
        ));
        query.push_shards("webhook_endpoints.", self.conn.shards());
        let query = query.binds((id.as_str(), now.as_ms(), reason.as_str()));
        if query.write(&mut self.conn).await? == 0 {
            return Ok(false);
        }
        self.recoveries_end(id, RecoveryStatus::EndpointDisabled, now).await?;
        Ok(true)
    }
}

fn condition_of(row: &Row) -> Result<ConditionOf> {
    let events: String = row.get("failed_events")?;
    Ok(ConditionOf {
        endpoint_id: row.read("id")?,
        tenant: row.tenant()?,
        status: row.word("webhook_endpoints.status", EndpointStatus::parse)?,
        deleted: row.get("deleted")?,
        url: row.get("url")?,
        retry_schedule: retry_schedule(row)?,
        alerted: row.get("alerted")?,
        condition: Condition {
            health: health(row)?,
            first_failure_at: row.read("first_failure_at")?,
            failed_events: events.split_whitespace().map(|id| EventId::from_store(id.to_owned())).collect(),
            hold: Hold {
                until: row.read("held_until")?,
                step: row.get("hold_step")?,
                since: row.read("hold_since")?,
                reason: held_reason(row)?,
                asked: row.get("hold_asked")?,
                regained: row.get("hold_regained")?,
            },
        },
    })
}
