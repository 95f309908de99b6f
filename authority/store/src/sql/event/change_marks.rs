//! Marks of change: short texts that differ when a page about the data would, read by whoever waits for news of it.
//!
//! A mark says that something is different and never what. It is made of counters that are written with the data, so
//! that it is read in one or a few look-ups however much there is, and is the same on every instance. What changes
//! nothing that is counted, such as a delivery that is cancelled by hand, shows with the next change.

use std::fmt::Write as _;

use authority_domain::{Tenant, Timestamp};

use crate::sql::delivery::day_figures::{HOUR_MS, hour};
use crate::sql::{Across, Query, Result, Row, ShardSet, Tx, query};

/// Attempts are counted where they began: no attempt that has just ended began before the newest three rows.
const OF_ENDPOINTS: &str = "SELECT e.id, e.resource_version, e.status, e.health_state, e.consecutive_failures, \
     COALESCE(e.held_until, 0) AS held, \
     (SELECT MAX(f.since) FROM endpoint_figures f WHERE f.shard = e.shard AND f.endpoint_id = e.id) AS since, \
     (SELECT CAST(SUM(n.counted) AS BIGINT) FROM (SELECT f.attempts + f.failed_deliveries AS counted \
         FROM endpoint_figures f WHERE f.shard = e.shard AND f.endpoint_id = e.id ORDER BY f.since DESC LIMIT 3) AS n) AS counted, \
     (SELECT CAST(SUM(r.counted_to + r.walked_to + r.matched + r.enqueued) AS BIGINT) FROM endpoint_recoveries r \
         WHERE r.shard = e.shard AND r.endpoint_id = e.id AND r.status = 'running') AS recovering \
     FROM webhook_endpoints e WHERE e.shard = $1 AND e.merchant_id = $2 AND e.livemode = $3 AND e.deleted_at IS NULL \
     ORDER BY e.created_sequence";

impl Tx {
    /// Of a tenant: its events, and of its endpoints the settings, the condition, the attempts and the recoveries.
    pub async fn tenant_mark(&mut self, tenant: &Tenant) -> Result<String> {
        let last: Option<i64> = query(
            "SELECT last_sequence FROM streams WHERE shard = $1 AND merchant_id = $2 AND livemode = $3",
        )
        .bind_tenant(tenant)
        .read_optional(&mut self.conn)
        .await?;
        let mut mark = format!("{}", last.unwrap_or(0));
        let endpoints = query(OF_ENDPOINTS).bind_tenant(tenant).read::<Row>(&mut self.conn).await?;
        for row in &endpoints {
            for column in ["id", "status", "health_state"] {
                mark.push(' ');
                mark.push_str(row.get(column)?);
            }
            for column in
                ["resource_version", "consecutive_failures", "held", "since", "counted", "recovering"]
            {
                let counter: Option<i64> = row.get(column)?;
                // Writing to a string cannot fail.
                let _ = write!(mark, " {counter:?}");
            }
        }
        Ok(mark)
    }

    /// The attempts of the newest two rows of each shard, an hour and more, and when the newest began.
    async fn newest_attempts(&mut self) -> Result<(Option<i64>, Option<i64>)> {
        let newest = Query::across(Across::OPERATOR, "SELECT MAX(since) FROM endpoint_figures");
        let Some(newest) = newest.read_one::<Option<i64>>(&mut self.conn).await? else {
            return Ok((None, None));
        };
        let newest = hour(Timestamp::from_ms(newest));
        let mut query = Query::across(
            Across::OPERATOR,
            "SELECT CAST(SUM(attempts + failed_deliveries) AS BIGINT) FROM endpoint_figures WHERE ",
        );
        // A range: of two hours in a list the server may read every hour of a shard.
        query.push_shards("", ShardSet::ALL).push(" AND endpoint_id = 'shard' AND since >= ");
        query.push_bind(newest - HOUR_MS);
        Ok((Some(newest), query.read_one(&mut self.conn).await?))
    }

    /// Of everybody: the newest events, the attempts, the operator's open alerts and the audit log.
    pub async fn platform_mark(&mut self) -> Result<String> {
        let mut newest = Query::across(Across::OPERATOR, "SELECT id FROM events WHERE ");
        // More than one, because ids of transactions that end in another order than they began are not in the order of
        // their ends.
        newest.push_shards("", ShardSet::ALL).push(" ORDER BY id DESC LIMIT 64");
        let events: Vec<String> = newest.read(&mut self.conn).await?;
        let attempts = self.newest_attempts().await?;
        let operator = Tenant::operator();
        let alerts: (i64, Option<i64>, Option<String>) = query(
            "SELECT COUNT(*), CAST(SUM(count) AS BIGINT), MAX(id) FROM alerts \
             WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 AND closed_at IS NULL",
        )
        .bind_tenant(&operator)
        .read_one(&mut self.conn)
        .await?;
        let mut written = Query::across(Across::OPERATOR, "SELECT MAX(id) FROM audit_log WHERE ");
        written.push_shards("", ShardSet::ALL);
        let written: Option<String> = written.read_one(&mut self.conn).await?;
        Ok(format!("{} {attempts:?} {alerts:?} {written:?}", events.join(" ")))
    }
}
