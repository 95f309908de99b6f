//! Alerts, while they are open and after. The operator's alerts are stored under a merchant id that does not exist, so
//! that one unique index serves both owners.

use authority_domain::alert::{Alert, AlertCode, AlertStatus, NewAlert, Severity};
use authority_domain::id::{AlertId, EndpointId};
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

use crate::Result;
use crate::driver::{Query, Row, query};
use crate::sql::transaction::Tx;

/// What narrows the list of the operator's alerts. Empty does not narrow.
#[derive(Clone, Debug, Default)]
pub struct AlertFilter {
    /// With any of these codes.
    pub codes: Vec<AlertCode>,
    /// In any of these states.
    pub status: Vec<AlertStatus>,
}

/// Merchant ids begin with `mer_`, so this is nobody's.
const OPERATOR: &str = "operator";

const COLUMNS: &str = "id, code, subject, severity, message, count, first_seen_at, last_seen_at, closed_at";

fn owner(tenant: Option<&Tenant>) -> (&str, bool) {
    tenant.map_or((OPERATOR, false), |tenant| (tenant.merchant_id.as_str(), tenant.livemode))
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
        let (merchant_id, livemode) = owner(tenant);
        query(
            "INSERT INTO alerts (id, merchant_id, livemode, code, subject, severity, message, count, first_seen_at, \
                 last_seen_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, 1, $8, $8) \
             ON CONFLICT (merchant_id, livemode, code, subject) WHERE closed_at IS NULL \
             DO UPDATE SET count = alerts.count + 1, severity = excluded.severity, message = excluded.message, \
                 last_seen_at = excluded.last_seen_at",
        )
        .binds((alert.id.as_str(), merchant_id, livemode, alert.code.as_str(), &alert.subject))
        .binds((alert.severity.as_str(), &alert.message, now.as_ms()))
        .write(&mut self.conn)
        .await?;
        Ok(())
    }

    /// Closes the alert of this code and subject, when it is open.
    pub async fn alert_close(
        &mut self,
        tenant: Option<&Tenant>,
        code: AlertCode,
        subject: &str,
        now: Timestamp,
    ) -> Result<()> {
        let (merchant_id, livemode) = owner(tenant);
        query(
            "UPDATE alerts SET closed_at = $5 WHERE merchant_id = $1 AND livemode = $2 AND code = $3 AND subject = $4 \
             AND closed_at IS NULL",
        )
        .binds((merchant_id, livemode, code.as_str(), subject, now.as_ms()))
        .write(&mut self.conn)
        .await?;
        Ok(())
    }

    /// Closes an open alert of this owner and returns it; `None` when there is none.
    pub async fn alert_close_by_id(
        &mut self,
        tenant: Option<&Tenant>,
        id: &AlertId,
        now: Timestamp,
    ) -> Result<Option<Alert>> {
        let (merchant_id, livemode) = owner(tenant);
        let row = query(
            "UPDATE alerts SET closed_at = $4 WHERE merchant_id = $1 AND livemode = $2 AND id = $3 \
             AND closed_at IS NULL \
             RETURNING id, code, subject, severity, message, count, first_seen_at, last_seen_at, closed_at",
        )
        .binds((merchant_id, livemode, id.as_str(), now.as_ms()))
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
        let (merchant_id, livemode) = owner(None);
        let mut query = Query::new("SELECT ");
        query.push(COLUMNS).push(" FROM alerts WHERE merchant_id = ").push_bind(merchant_id);
        query.push(" AND livemode = ").push_bind(livemode);
        query.push_some(" AND id < ", before);
        let codes: Vec<String> = filter.codes.iter().map(AlertCode::to_string).collect();
        query.push_in("code", &codes);
        match filter.status.as_slice() {
            [AlertStatus::Open] => query.push(" AND closed_at IS NULL"),
            [AlertStatus::Closed] => query.push(" AND closed_at IS NOT NULL"),
            _ => &mut query,
        };
        query.push(" ORDER BY id DESC LIMIT ").push_bind(limit);
        query.read::<Row>(&mut self.conn).await?.iter().map(alert).collect()
    }

    /// The open alerts, oldest first, at most `limit`.
    pub async fn alerts_open(&mut self, tenant: Option<&Tenant>, limit: i64) -> Result<Vec<Alert>> {
        let (merchant_id, livemode) = owner(tenant);
        let rows = query(
            "SELECT id, code, subject, severity, message, count, first_seen_at, last_seen_at, closed_at FROM alerts \
             WHERE merchant_id = $1 AND livemode = $2 AND closed_at IS NULL ORDER BY first_seen_at, id LIMIT $3",
        )
        .binds((merchant_id, livemode, limit))
        .read::<Row>(&mut self.conn)
        .await?;
        rows.iter().map(alert).collect()
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
        query.push_bind(now.as_ms()).push(" WHERE closed_at IS NULL");
        query.push_in("subject", &subjects);
        query.push_in("code", &codes);
        query.write(&mut self.conn).await?;
        Ok(())
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
        query(
            "UPDATE alerts SET closed_at = $4 WHERE subject = $1 AND code = $2 AND closed_at IS NULL AND NOT EXISTS ( \
                 SELECT 1 FROM deliveries f WHERE f.endpoint_id = $1 AND f.status = 'failed' AND f.failed_at >= $3 \
                 AND NOT EXISTS (SELECT 1 FROM deliveries s WHERE s.event_id = f.event_id \
                     AND s.endpoint_id = f.endpoint_id AND s.status = 'succeeded') \
                 ORDER BY f.failed_at DESC LIMIT 1)",
        )
        .binds((endpoint.as_str(), AlertCode::DeliveriesFailed.as_str(), since.as_ms(), now.as_ms()))
        .write(&mut self.conn)
        .await?;
        Ok(())
    }

    /// Closes the alerts of a code that were not raised since `since`, for all owners; returns how many.
    pub async fn alerts_close_quiet(
        &mut self,
        code: AlertCode,
        since: Timestamp,
        now: Timestamp,
    ) -> Result<u64> {
        Ok(query(
            "UPDATE alerts SET closed_at = $3 WHERE code = $1 AND last_seen_at < $2 AND closed_at IS NULL",
        )
        .binds((code.as_str(), since.as_ms(), now.as_ms()))
        .write(&mut self.conn)
        .await?)
    }
}

fn alert(row: &Row) -> Result<Alert> {
    Ok(Alert {
        id: AlertId::from_store(row.get("id")?),
        code: row.word("alerts.code", AlertCode::parse)?,
        severity: row.word("alerts.severity", Severity::parse)?,
        subject: row.get("subject")?,
        message: row.get("message")?,
        count: row.get("count")?,
        first_seen_at: row.time("first_seen_at")?,
        last_seen_at: row.time("last_seen_at")?,
        closed_at: row.optional_time("closed_at")?,
    })
}
