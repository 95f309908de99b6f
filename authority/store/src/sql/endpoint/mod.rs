//! Webhook endpoints with their sealed signing secrets, request headers and client certificates. Only the operator
//! can see a deleted endpoint: every function that takes a tenant skips it.

pub(crate) mod backlog;
pub(crate) mod health;
pub(crate) mod health_figures;
pub(crate) mod recovered_deliveries;
pub(crate) mod recoveries;
pub(crate) mod rows;
pub(crate) mod sealed;
pub(crate) mod signing_secrets;
pub(crate) mod undelivered;
pub(crate) mod upkeep;

use authority_domain::recovery::RecoveryStatus;
use authority_domain::{DisabledReason, Endpoint, EndpointId, EndpointStatus, Tenant, Timestamp};

use crate::hand_off::SealedSecret;
use crate::sql::endpoint::rows::{COLUMNS, endpoint};
use crate::sql::endpoint::sealed::{SealedOption, column};
use crate::sql::transaction::tx::Written;
use crate::sql::{Query, Result, Shard, ShardSet, Tx, query};

/// The last sequence of the stream of the endpoint that a statement updates: since when it is subscribed as it is now.
/// Whatever changes the status or the filter of an endpoint stores it, for the audit (I12).
macro_rules! stream_now {
    () => {
        "COALESCE((SELECT s.last_sequence FROM streams s WHERE s.shard = webhook_endpoints.shard \
             AND s.merchant_id = webhook_endpoints.merchant_id AND s.livemode = webhook_endpoints.livemode), 0)"
    };
}

pub(crate) use stream_now;

impl Tx {
    /// Adds an endpoint and its first secret.
    pub async fn endpoint_insert(
        &mut self,
        tenant: &Tenant,
        endpoint: &Endpoint,
        secret: &SealedSecret,
    ) -> Result<()> {
        query(
            "INSERT INTO webhook_endpoints (id, shard, merchant_id, livemode, url, description, enabled_events, status, \
                 disabled_reason, disabled_at, api_version, secret_hint, health_state, consecutive_failures, metadata, \
                 resource_version, created_at, updated_at, max_in_flight, signature_profile, \
                 header_names, timeout_ms, retry_schedule, client_certificate_sha256, client_certificate_expires_at, \
                 created_sequence, created_after, subscribed_after) \
             SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, \
                 $24, $25, \
                 (SELECT COALESCE(MAX(created_sequence), 0) + 1 FROM webhook_endpoints \
                  WHERE shard = $2 AND merchant_id = $3 AND livemode = $4), s.last_sequence, s.last_sequence \
             FROM (SELECT COALESCE(MAX(last_sequence), 0) AS last_sequence FROM streams \
                   WHERE shard = $2 AND merchant_id = $3 AND livemode = $4) AS s",
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
        query("INSERT INTO endpoint_secrets (shard, endpoint_id, version, sealed) VALUES ($1, $2, $3, $4)")
            .binds((
                Shard::of(&tenant.merchant_id),
                endpoint.id.as_str(),
                secret.version,
                secret.sealed.as_slice(),
            ))
            .write(&mut self.conn)
            .await?;
        self.note_written(Written::of(tenant, endpoint.id.as_str(), None, Some(endpoint.resource_version)));
        Ok(())
    }

    /// One endpoint.
    pub async fn endpoint_get(&mut self, tenant: &Tenant, id: &EndpointId) -> Result<Option<Endpoint>> {
        let mut query = Query::new("SELECT ");
        query.push(COLUMNS).push(" FROM webhook_endpoints WHERE id = ").push_bind(id.as_str());
        query.push(" AND deleted_at IS NULL AND ").push_tenant("", tenant);
        query.read_optional_as(&mut self.conn, endpoint).await
    }

    /// How many endpoints the tenant has.
    pub async fn endpoint_count(&mut self, tenant: &Tenant) -> Result<i64> {
        Ok(query(
            "SELECT COUNT(*) FROM webhook_endpoints \
             WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 AND deleted_at IS NULL",
        )
        .bind_tenant(tenant)
        .read_one(&mut self.conn)
        .await?)
    }

    /// Up to `limit` endpoints before `before` (newest first), with their positions. A non-empty `status` filters.
    pub async fn endpoints_page(
        &mut self,
        tenant: &Tenant,
        status: &[EndpointStatus],
        before: Option<i64>,
        limit: i64,
    ) -> Result<Vec<(i64, Endpoint)>> {
        let mut query = Query::new("SELECT ");
        query.push(COLUMNS).push(" FROM webhook_endpoints WHERE ").push_tenant("", tenant);
        query.push(" AND deleted_at IS NULL");
        query.push_some(" AND created_sequence < ", before);
        query.push_in("status", status);
        query.push(" ORDER BY created_sequence DESC LIMIT ").push_bind(limit);
        query.read_as(&mut self.conn, |row| Ok((row.get("created_sequence")?, endpoint(row)?))).await
    }

    /// Writes the next version of an endpoint.
    pub async fn endpoint_update(&mut self, tenant: &Tenant, endpoint: &Endpoint) -> Result<()> {
        self.need_turns(ShardSet::of(&tenant.merchant_id))?;
        self.recall(&endpoint.id);
        query(concat!(
            "UPDATE webhook_endpoints SET url = $6, description = $7, enabled_events = $8, status = $9, \
                 disabled_reason = $10, disabled_at = $11, secret_hint = $12, previous_secret_expires_at = $13, \
                 secret_rotated_at = $14, health_state = $15, consecutive_failures = $16, metadata = $17, \
                 updated_at = $18, resource_version = $5, max_in_flight = $19, header_names = $20, timeout_ms = $21, \
                 retry_schedule = $22, client_certificate_sha256 = $23, client_certificate_expires_at = $24, \
                 first_failure_at = CASE WHEN $16 = 0 THEN NULL ELSE first_failure_at END, \
                 failed_events = CASE WHEN $16 = 0 THEN '' ELSE failed_events END, \
                 held_until = CASE WHEN (status = 'disabled' AND $9 = 'enabled') \
                     OR ($16 = 0 AND consecutive_failures > 0) OR url <> $6 THEN NULL ELSE held_until END, \
                 held_reason = CASE WHEN (status = 'disabled' AND $9 = 'enabled') \
                     OR ($16 = 0 AND consecutive_failures > 0) OR url <> $6 THEN NULL ELSE held_reason END, \
                 hold_step = CASE WHEN (status = 'disabled' AND $9 = 'enabled') \
                     OR ($16 = 0 AND consecutive_failures > 0) OR url <> $6 THEN 0 ELSE hold_step END, \
                 hold_since = CASE WHEN (status = 'disabled' AND $9 = 'enabled') \
                     OR ($16 = 0 AND consecutive_failures > 0) OR url <> $6 THEN $18 ELSE hold_since END, \
                 hold_asked = CASE WHEN (status = 'disabled' AND $9 = 'enabled') \
                     OR ($16 = 0 AND consecutive_failures > 0) OR url <> $6 THEN FALSE ELSE hold_asked END, \
                 hold_regained = CASE WHEN (status = 'disabled' AND $9 = 'enabled') \
                     OR ($16 = 0 AND consecutive_failures > 0) OR url <> $6 THEN 0 ELSE hold_regained END, \
                 subscribed_after = CASE WHEN status <> $9 OR enabled_events <> $8 THEN ",
            stream_now!(),
            " ELSE subscribed_after END \
             WHERE id = $1 AND shard = $2 AND merchant_id = $3 AND livemode = $4 AND resource_version = $5 - 1 \
                 AND deleted_at IS NULL",
        ))
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
        if endpoint.status == EndpointStatus::Disabled {
            let at = endpoint.disabled_at.unwrap_or(endpoint.updated_at);
            self.recoveries_end(&endpoint.id, RecoveryStatus::EndpointDisabled, at).await?;
        }
        let version = endpoint.resource_version;
        self.note_written(Written::of(tenant, endpoint.id.as_str(), Some(version - 1), Some(version)));
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
        query.push(" AND deleted_at IS NULL AND ").push_tenant("", tenant);
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
        query(concat!(
            "UPDATE webhook_endpoints SET deleted_at = $6, status = 'disabled', \
                 disabled_reason = COALESCE(disabled_reason, 'merchant'), disabled_at = COALESCE(disabled_at, $6), \
                 previous_secret_expires_at = NULL, header_names = '[]', headers_sealed = NULL, \
                 client_certificate_sha256 = NULL, client_certificate_expires_at = NULL, \
                 client_certificate_sealed = NULL, \
                 updated_at = CASE WHEN updated_at > $6 THEN updated_at ELSE $6 END, \
                 resource_version = resource_version + 1, \
                 subscribed_after = CASE WHEN status = 'enabled' THEN ",
            stream_now!(),
            " ELSE subscribed_after END \
             WHERE id = $1 AND shard = $2 AND merchant_id = $3 AND livemode = $4 AND resource_version = $5 AND deleted_at IS NULL",
        ))
        .bind(id.as_str())
        .bind_tenant(tenant)
        .binds((version, now.as_ms()))
        .write_one(&mut self.conn, "webhook endpoint").await?;
        self.note_written(Written::of(tenant, id.as_str(), Some(version), Some(version + 1)));
        self.recoveries_end(id, RecoveryStatus::EndpointDeleted, now).await?;
        query("DELETE FROM endpoint_secrets WHERE shard = $1 AND endpoint_id = $2")
            .binds((Shard::of(&tenant.merchant_id), id.as_str()))
            .run(&mut self.conn)
            .await
    }
}

fn fingerprint(endpoint: &Endpoint) -> Option<&str> {
    endpoint.client_certificate.as_ref().map(|shown| shown.fingerprint_sha256.as_str())
}

fn certificate_expiry(endpoint: &Endpoint) -> Option<i64> {
    endpoint.client_certificate.as_ref().map(|shown| shown.expires_at.as_ms())
}
