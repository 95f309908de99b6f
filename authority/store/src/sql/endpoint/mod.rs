//! Webhook endpoints with their sealed signing secrets, request headers and client certificates. Only the operator
//! can see a deleted endpoint: every function that takes a tenant skips it.

pub(crate) mod day_figures;
pub(crate) mod health;
pub(crate) mod health_figures;
pub(crate) mod recovered_deliveries;
pub(crate) mod recoveries;
pub(crate) mod rows;
pub(crate) mod sealed;
pub(crate) mod signing_secrets;
pub(crate) mod undelivered;

use authority_domain::endpoint::{DisabledReason, Endpoint};
use authority_domain::id::EndpointId;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

use crate::Result;
use crate::driver::{Query, Row, query};
use crate::sql::endpoint::rows::{COLUMNS, endpoint, sealed_secret};
use crate::sql::endpoint::sealed::column;
use crate::sql::transaction::Tx;
use crate::tx::{SealedOption, SealedSecret, Subscriber, Written};

impl Tx {
    /// Adds an endpoint and its first secret.
    pub async fn endpoint_insert(
        &mut self,
        tenant: &Tenant,
        endpoint: &Endpoint,
        secret: &SealedSecret,
    ) -> Result<()> {
        query(
            "INSERT INTO webhook_endpoints (id, merchant_id, livemode, url, description, enabled_events, status, \
                 disabled_reason, disabled_at, api_version, secret_hint, health_state, consecutive_failures, metadata, \
                 resource_version, created_at, updated_at, max_in_flight, signature_profile, \
                 header_names, timeout_ms, retry_schedule, client_certificate_sha256, client_certificate_expires_at, \
                 created_sequence) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, \
                 $23, $24, \
                 (SELECT COALESCE(MAX(created_sequence), 0) + 1 FROM webhook_endpoints \
                  WHERE merchant_id = $2 AND livemode = $3))",
        )
        .bind(endpoint.id.as_str())
        .bind_tenant(tenant)
        .binds((&endpoint.url, &endpoint.description, serde_json::to_string(&endpoint.enabled_events)?))
        .binds((endpoint.status.as_str(), endpoint.disabled_reason.map(DisabledReason::as_str)))
        .binds((endpoint.disabled_at.map(Timestamp::as_ms), &endpoint.api_version, &endpoint.secret_hint))
        .binds((endpoint.health.state.as_str(), endpoint.health.consecutive_failures))
        .binds((serde_json::to_string(&endpoint.metadata)?, endpoint.resource_version))
        .binds((endpoint.created_at.as_ms(), endpoint.updated_at.as_ms(), endpoint.max_in_flight.own))
        .binds((endpoint.signature_profile.as_str(), serde_json::to_string(&endpoint.header_names)?))
        .binds((endpoint.timeout_ms, endpoint.retry_schedule.as_str(), fingerprint(endpoint)))
        .bind(certificate_expiry(endpoint))
        .write(&mut self.conn)
        .await?;
        query("INSERT INTO endpoint_secrets (endpoint_id, version, sealed) VALUES ($1, $2, $3)")
            .binds((endpoint.id.as_str(), secret.version, secret.sealed.as_slice()))
            .write(&mut self.conn)
            .await?;
        self.note_written(written(tenant, &endpoint.id, None, endpoint.resource_version));
        Ok(())
    }

    /// One endpoint.
    pub async fn endpoint_get(&mut self, tenant: &Tenant, id: &EndpointId) -> Result<Option<Endpoint>> {
        let mut query = Query::new("SELECT ");
        query.push(COLUMNS).push(" FROM webhook_endpoints WHERE id = ").push_bind(id.as_str());
        query.push(" AND merchant_id = ").push_bind(tenant.merchant_id.as_str());
        query.push(" AND deleted_at IS NULL AND livemode = ").push_bind(tenant.livemode);
        let row = query.read_optional::<Row>(&mut self.conn).await?;
        row.as_ref().map(endpoint).transpose()
    }

    /// How many endpoints the tenant has.
    pub async fn endpoint_count(&mut self, tenant: &Tenant) -> Result<i64> {
        Ok(query(
            "SELECT COUNT(*) FROM webhook_endpoints \
             WHERE merchant_id = $1 AND livemode = $2 AND deleted_at IS NULL",
        )
        .bind_tenant(tenant)
        .read_one(&mut self.conn)
        .await?)
    }

    /// Up to `limit` endpoints before `before` (newest first), with their positions. A non-empty `status` filters.
    pub async fn endpoints_page(
        &mut self,
        tenant: &Tenant,
        status: &[String],
        before: Option<i64>,
        limit: i64,
    ) -> Result<Vec<(i64, Endpoint)>> {
        let mut query = Query::new("SELECT ");
        query.push(COLUMNS).push(" FROM webhook_endpoints WHERE merchant_id = ");
        query.push_bind(tenant.merchant_id.as_str()).push(" AND livemode = ").push_bind(tenant.livemode);
        query.push(" AND deleted_at IS NULL");
        query.push_some(" AND created_sequence < ", before);
        query.push_in("status", status);
        query.push(" ORDER BY created_sequence DESC LIMIT ").push_bind(limit);
        let rows = query.read::<Row>(&mut self.conn).await?;
        rows.iter().map(|row| Ok((row.get("created_sequence")?, endpoint(row)?))).collect()
    }

    /// The enabled endpoints of the tenant and of the platform: the recipients of an event that commits now (contract
    /// 7.8).
    pub async fn endpoints_enabled(&mut self, tenant: &Tenant) -> Result<Vec<Subscriber>> {
        let operator = Tenant::operator();
        let rows: Vec<(String, String, String)> = query(
            "SELECT id, enabled_events, merchant_id FROM webhook_endpoints \
             WHERE (merchant_id = $1 AND livemode = $2 OR merchant_id = $3 AND livemode = $4) \
                 AND deleted_at IS NULL AND status = 'enabled' ORDER BY created_sequence",
        )
        .bind_tenant(tenant)
        .binds((operator.merchant_id.as_str(), operator.livemode))
        .about(&[])
        .read(&mut self.conn)
        .await?;
        let subscriber = |(id, filters, owner): (String, String, String)| {
            let theirs = owner == tenant.merchant_id.as_str();
            Ok(Subscriber {
                endpoint_id: EndpointId::from_store(id),
                enabled_events: serde_json::from_str(&filters)?,
                owner: if theirs { tenant.clone() } else { operator.clone() },
                reach: None,
            })
        };
        rows.into_iter().map(subscriber).collect()
    }

    /// Any stored secret, to check whether the key-encryption key fits this database.
    pub async fn secret_sample(&mut self) -> Result<Option<(EndpointId, SealedSecret)>> {
        let row = query("SELECT endpoint_id, version, sealed, expires_at FROM endpoint_secrets LIMIT 1")
            .read_optional::<Row>(&mut self.conn)
            .await?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some((EndpointId::from_store(row.get("endpoint_id")?), sealed_secret(&row)?)))
    }

    /// Writes the next version of an endpoint.
    pub async fn endpoint_update(&mut self, tenant: &Tenant, endpoint: &Endpoint) -> Result<()> {
        self.recall(&endpoint.id);
        query(
            "UPDATE webhook_endpoints SET url = $5, description = $6, enabled_events = $7, status = $8, \
                 disabled_reason = $9, disabled_at = $10, secret_hint = $11, previous_secret_expires_at = $12, \
                 secret_rotated_at = $13, health_state = $14, consecutive_failures = $15, metadata = $16, \
                 updated_at = $17, resource_version = $4, max_in_flight = $18, header_names = $19, timeout_ms = $20, \
                 retry_schedule = $21, client_certificate_sha256 = $22, client_certificate_expires_at = $23, \
                 first_failure_at = CASE WHEN $15 = 0 THEN NULL ELSE first_failure_at END, \
                 failed_events = CASE WHEN $15 = 0 THEN '' ELSE failed_events END, \
                 held_until = CASE WHEN (status = 'disabled' AND $8 = 'enabled') \
                     OR ($15 = 0 AND consecutive_failures > 0) OR url <> $5 THEN NULL ELSE held_until END, \
                 held_reason = CASE WHEN (status = 'disabled' AND $8 = 'enabled') \
                     OR ($15 = 0 AND consecutive_failures > 0) OR url <> $5 THEN NULL ELSE held_reason END, \
                 hold_step = CASE WHEN (status = 'disabled' AND $8 = 'enabled') \
                     OR ($15 = 0 AND consecutive_failures > 0) OR url <> $5 THEN 0 ELSE hold_step END, \
                 hold_since = CASE WHEN (status = 'disabled' AND $8 = 'enabled') \
                     OR ($15 = 0 AND consecutive_failures > 0) OR url <> $5 THEN $17 ELSE hold_since END, \
                 hold_asked = CASE WHEN (status = 'disabled' AND $8 = 'enabled') \
                     OR ($15 = 0 AND consecutive_failures > 0) OR url <> $5 THEN FALSE ELSE hold_asked END, \
                 hold_regained = CASE WHEN (status = 'disabled' AND $8 = 'enabled') \
                     OR ($15 = 0 AND consecutive_failures > 0) OR url <> $5 THEN 0 ELSE hold_regained END \
             WHERE id = $1 AND merchant_id = $2 AND livemode = $3 AND resource_version = $4 - 1 \
                 AND deleted_at IS NULL",
        )
        .bind(endpoint.id.as_str())
        .bind_tenant(tenant)
        .binds((endpoint.resource_version, &endpoint.url, &endpoint.description))
        .binds((serde_json::to_string(&endpoint.enabled_events)?, endpoint.status.as_str()))
        .bind(endpoint.disabled_reason.map(DisabledReason::as_str))
        .binds((endpoint.disabled_at.map(Timestamp::as_ms), &endpoint.secret_hint))
        .bind(endpoint.previous_secret_expires_at.map(Timestamp::as_ms))
        .binds((endpoint.secret_rotated_at.map(Timestamp::as_ms), endpoint.health.state.as_str()))
        .binds((endpoint.health.consecutive_failures, serde_json::to_string(&endpoint.metadata)?))
        .binds((endpoint.updated_at.as_ms(), endpoint.max_in_flight.own))
        .binds((serde_json::to_string(&endpoint.header_names)?, endpoint.timeout_ms))
        .binds((endpoint.retry_schedule.as_str(), fingerprint(endpoint), certificate_expiry(endpoint)))
        .write_one(&mut self.conn, "webhook endpoint").await?;
        let version = endpoint.resource_version;
        self.note_written(written(tenant, &endpoint.id, Some(version - 1), version));
        Ok(())
    }

    /// Replaces what is sealed of an endpoint's options; `None` removes it. The record has what is shown of it.
    pub async fn endpoint_sealed_put(
        &mut self,
        tenant: &Tenant,
        id: &EndpointId,
        option: SealedOption,
        sealed: Option<&[u8]>,
    ) -> Result<()> {
        self.recall(id);
        let mut query = Query::new("UPDATE webhook_endpoints SET ");
        query.push(column(option)).push(" = ").push_bind(sealed);
        query.push(" WHERE id = ").push_bind(id.as_str());
        query.push(" AND merchant_id = ").push_bind(tenant.merchant_id.as_str());
        query.push(" AND deleted_at IS NULL AND livemode = ").push_bind(tenant.livemode);
        query.write_one(&mut self.conn, "webhook endpoint").await
    }

    /// Hides version `version` of an endpoint from its merchant for ever, and deletes its secrets and headers.
    pub async fn endpoint_delete(
        &mut self,
        tenant: &Tenant,
        id: &EndpointId,
        version: i64,
        now: Timestamp,
    ) -> Result<()> {
        self.recall(id);
        query(
            "UPDATE webhook_endpoints SET deleted_at = $5, status = 'disabled', \
                 disabled_reason = COALESCE(disabled_reason, 'merchant'), disabled_at = COALESCE(disabled_at, $5), \
                 previous_secret_expires_at = NULL, header_names = '[]', headers_sealed = NULL, \
                 client_certificate_sha256 = NULL, client_certificate_expires_at = NULL, \
                 client_certificate_sealed = NULL, updated_at = $5, resource_version = resource_version + 1 \
             WHERE id = $1 AND merchant_id = $2 AND livemode = $3 AND resource_version = $4 AND deleted_at IS NULL",
        )
        .bind(id.as_str())
        .bind_tenant(tenant)
        .binds((version, now.as_ms()))
        .write_one(&mut self.conn, "webhook endpoint").await?;
        self.note_written(written(tenant, id, Some(version), version + 1));
        query("DELETE FROM endpoint_secrets WHERE endpoint_id = $1")
            .bind(id.as_str())
            .write(&mut self.conn)
            .await?;
        Ok(())
    }
}

fn written(tenant: &Tenant, id: &EndpointId, before: Option<i64>, after: i64) -> Written {
    let of_merchant = !tenant.is_operator();
    Written {
        resource_id: id.to_string(),
        merchant_id: of_merchant.then(|| tenant.merchant_id.clone()),
        livemode: of_merchant.then_some(tenant.livemode),
        before,
        after: Some(after),
    }
}

fn fingerprint(endpoint: &Endpoint) -> Option<&str> {
    endpoint.client_certificate.as_ref().map(|shown| shown.fingerprint_sha256.as_str())
}

fn certificate_expiry(endpoint: &Endpoint) -> Option<i64> {
    endpoint.client_certificate.as_ref().map(|shown| shown.expires_at.as_ms())
}
