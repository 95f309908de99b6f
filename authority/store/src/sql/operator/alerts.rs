//! Alerts, while they are open and after. The operator's alerts are stored under a merchant id that does not exist, so
//! that one unique index serves both owners. An alert about an endpoint is its owner's, and in its shard.

use authority_domain::alert::{Alert, NewAlert, Severity};
use authority_domain::list_filter::AlertFilter;
use authority_domain::{AlertCode, AlertId, AlertStatus, EndpointId, Tenant, Timestamp};

use crate::sql::{Across, Query, Result, Row, Tx, fields, query};

const COLUMNS: &str = "id, code, subject, severity, message, count, first_seen_at, last_seen_at, closed_at";

fn owner(tenant: Option<&Tenant>) -> Tenant {
    tenant.cloned().unwrap_or_else(Tenant::operator)
}

impl Tx {
    /// Opens an alert, or increments its count when it is open already; the newer severity and message replace the
    /// old ones.
    pub async fn alert_raise(
        &mut self,
        tenant: Option<&Tenant>,
        alert: &NewAlert,
        now: Timestamp,
    ) -> Result<()> {
        query(
            "INSERT INTO alerts (id, shard, merchant_id, livemode, code, subject, severity, message, count, \
                 first_seen_at, last_seen_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 1, $9, $9) \
             ON CONFLICT (shard, merchant_id, livemode, code, subject) WHERE closed_at IS NULL \
             DO UPDATE SET count = alerts.count + 1, severity = excluded.severity, message = excluded.message, \
                 last_seen_at = excluded.last_seen_at",
        )
        .bind(alert.id.as_str())
        .bind_tenant(&owner(tenant))
        .binds((alert.code.as_str(), &alert.subject))
        .binds((alert.severity.as_str(), &alert.message, now.as_ms()))
        .run(&mut self.conn)
        .await
    }

    /// Closes the alert of this code and subject, when it is open.
    pub async fn alert_close(
        &mut self,
        tenant: Option<&Tenant>,
        code: AlertCode,
        subject: &str,
        now: Timestamp,
    ) -> Result<()> {
        query(
            "UPDATE alerts SET closed_at = $6 WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 AND code = $4 \
             AND subject = $5 AND closed_at IS NULL",
        )
        .bind_tenant(&owner(tenant))
        .binds((code.as_str(), subject, now.as_ms()))
        .run(&mut self.conn)
        .await
    }

    /// Closes an open alert of this owner and returns it; `None` when there is none.
    pub async fn alert_close_by_id(
        &mut self,
        tenant: Option<&Tenant>,
        id: &AlertId,
        now: Timestamp,
    ) -> Result<Option<Alert>> {
        let row = query(
            "UPDATE alerts SET closed_at = $5 WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 AND id = $4 \
             AND closed_at IS NULL \
             RETURNING id, code, subject, severity, message, count, first_seen_at, last_seen_at, closed_at",
        )
        .bind_tenant(&owner(tenant))
        .binds((id.as_str(), now.as_ms()))
        .write_returning::<Row>(&mut self.conn)
        .await?;
        row.first().map(alert).transpose()
    }

    /// Up to `limit` of the operator's alerts before the one with the id `before`, newest first.
    pub async fn alerts_page(
        &mut self,
        filter: &AlertFilter,
        before: Option<&str>,
        limit: i64,
    ) -> Result<Vec<Alert>> {
        let mut query = Query::new("SELECT ");
        query.push(COLUMNS).push(" FROM alerts WHERE ").push_tenant("", &owner(None));
        query.push_some(" AND id < ", before);
        query.push_in("code", &filter.codes);
        match filter.status.as_slice() {
            [AlertStatus::Open] => query.push(" AND closed_at IS NULL"),
            [AlertStatus::Closed] => query.push(" AND closed_at IS NOT NULL"),
            _ => &mut query,
        };
        query.push(" ORDER BY id DESC LIMIT ").push_bind(limit);
        query.read_as(&mut self.conn, alert).await
    }

    /// The open alerts, oldest first, at most `limit`.
    pub async fn alerts_open(&mut self, tenant: Option<&Tenant>, limit: i64) -> Result<Vec<Alert>> {
        query(
            "SELECT id, code, subject, severity, message, count, first_seen_at, last_seen_at, closed_at FROM alerts \
             WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 AND closed_at IS NULL \
             ORDER BY first_seen_at, id LIMIT $4",
        )
        .bind_tenant(&owner(tenant))
        .bind(limit)
        .read_as(&mut self.conn, alert).await
    }

    /// Closes the alerts of these codes about these endpoints, for all owners.
    pub async fn alerts_close_about(
        &mut self,
        endpoints: &[EndpointId],
        codes: &[AlertCode],
        now: Timestamp,
    ) -> Result<()> {
        if endpoints.is_empty() || codes.is_empty() {
            return Ok(());
        }
        let subjects: Vec<String> = endpoints.iter().map(EndpointId::to_string).collect();
        let codes: Vec<String> = codes.iter().map(AlertCode::to_string).collect();
        let mut query = Query::new("UPDATE alerts SET closed_at = ");
        query
            .push_bind(now.as_ms())
            .push(" WHERE closed_at IS NULL AND ")
            .push_shards("", self.conn.shards());
        query.push_in("subject", &subjects);
        query.push_in("code", &codes);
        query.run(&mut self.conn).await
    }

    /// Closes `deliveries_failed` of an endpoint when every event that was given up there since `since` has been
    /// delivered after all.
    pub async fn alert_close_delivered(
        &mut self,
        endpoint: &EndpointId,
        since: Timestamp,
        now: Timestamp,
    ) -> Result<()> {
        // Newest failure first: an endpoint that catches up starts with the oldest, so this reads one row until the
        // end.
        let mut query = query(
            "UPDATE alerts SET closed_at = $4 WHERE subject = $1 AND code = $2 AND closed_at IS NULL AND NOT EXISTS ( \
                 SELECT 1 FROM deliveries f WHERE f.shard = alerts.shard AND f.endpoint_id = $1 \
                 AND f.status = 'failed' AND f.failed_at >= $3 \
                 AND NOT EXISTS (SELECT 1 FROM deliveries s WHERE s.shard = f.shard AND s.event_id = f.event_id \
                     AND s.endpoint_id = f.endpoint_id AND s.status = 'succeeded') \
                 ORDER BY f.failed_at DESC LIMIT 1) AND ",
        );
        query.push_shards("alerts.", self.conn.shards());
        let code = AlertCode::DeliveriesFailed.as_str();
        query.binds((endpoint.as_str(), code, since.as_ms(), now.as_ms())).run(&mut self.conn).await
    }

    /// Closes the alerts of a code that were not raised since `since`, in the shards whose turns the transaction holds;
    /// returns how many.
    pub async fn alerts_close_quiet(
        &mut self,
        code: AlertCode,
        since: Timestamp,
        now: Timestamp,
    ) -> Result<u64> {
        let mut query = Query::across(
            Across::DUE,
            "UPDATE alerts SET closed_at = $3 WHERE code = $1 AND last_seen_at < $2 AND closed_at IS NULL AND ",
        );
        query.push_in_shards("", self.conn.shards());
        Ok(query.binds((code.as_str(), since.as_ms(), now.as_ms())).write(&mut self.conn).await?)
    }
}

fn alert(row: &Row) -> Result<Alert> {
    Ok(fields!(row => Alert {
        id, subject, message, count, first_seen_at, last_seen_at, closed_at;
        code: row.word("alerts.code", AlertCode::parse)?,
        severity: row.word("alerts.severity", Severity::parse)?,
    }))
}
