//! Reading deliveries and attempts: what became of an event on its way to an endpoint (contract 2.9).

use authority_domain::delivery::{Attempt, Delivery, Trigger};
use authority_domain::list_filter::DeliveryFilter;
use authority_domain::{
    AttemptOutcome, DeliveryId, DeliveryStatus, EndpointId, EventId, FailureReason, Tenant,
};

use crate::sql::transaction::look_ahead::Listed;
use crate::sql::transaction::pages::Page;
use crate::sql::{Query, Result, Row, Shard, Tx, bodies, fields, query};

/// The fields of an event that a replay needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventHead {
    /// The catalog name.
    pub event_type: String,
    /// Its sequence number in the stream.
    pub sequence: i64,
    /// The record it is about.
    pub resource_id: String,
}

const COLUMNS: &str = "id, livemode, event_id, event_type, endpoint_id, triggered_by, status, attempt_count, \
     next_attempt_at, last_outcome, last_response_status, failure_reason, succeeded_at, failed_at, created_at, \
     updated_at, created_sequence";

/// What [`attempt`] reads.
pub(crate) const ATTEMPTS: &str = "SELECT id, delivery_id, number, started_at, signed_timestamp, duration_ms, outcome, \
     response_status, response_excerpt, retry_at FROM attempts WHERE ";

impl Tx {
    /// Up to `limit` deliveries to an endpoint before `before` (newest first).
    pub async fn deliveries_page(
        &mut self,
        tenant: &Tenant,
        endpoint: &EndpointId,
        filter: &DeliveryFilter,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Page<Delivery>> {
        let of = |query: &mut Query<'_>| {
            query.push_shard("", Shard::of(&tenant.merchant_id));
            query.push(" AND endpoint_id = ").push_bind(endpoint.as_str().to_owned());
            query.push_some(" AND event_id = ", filter.event_id.clone());
        };
        let filters = |query: &mut Query<'_>| {
            query.push_in("status", &filter.status);
            query.push_in("event_type", &filter.event_types);
            bodies::push_created(query, filter.created_from, filter.created_to);
        };
        // The few deliveries of one event are found by the event and then sorted. In the order of all the endpoint's
        // deliveries they would be looked for one by one.
        let position = if filter.event_id.is_some() { "created_sequence + 0" } else { "created_sequence" };
        let listed = Listed::newest_first("deliveries", position, before, of, filters);
        let listed = Listed { owner: Some(tenant), ..listed };
        let placed = |row: &Row| Ok((0, (row.get("created_sequence")?, delivery(row)?)));
        listed.page(&mut self.conn, COLUMNS, limit, placed).await
    }

    /// One delivery.
    pub async fn delivery_get(&mut self, tenant: &Tenant, id: &DeliveryId) -> Result<Option<Delivery>> {
        let mut query = Query::new("SELECT ");
        query.push(COLUMNS).push(" FROM deliveries WHERE id = ").push_bind(id.as_str());
        query.push(" AND ").push_tenant("", tenant);
        query.read_optional_as(&mut self.conn, delivery).await
    }

    /// The attempts of a delivery, the first one first.
    pub async fn delivery_attempts(&mut self, tenant: &Tenant, id: &DeliveryId) -> Result<Vec<Attempt>> {
        query(
            "SELECT a.id, a.delivery_id, a.number, a.started_at, a.signed_timestamp, a.duration_ms, a.outcome, \
                 a.response_status, a.response_excerpt, a.retry_at \
             FROM attempts a JOIN deliveries d ON d.shard = a.shard AND d.id = a.delivery_id \
             WHERE d.id = $1 AND d.shard = $2 AND d.merchant_id = $3 AND d.livemode = $4 ORDER BY a.number",
        )
        .bind(id.as_str())
        .bind_tenant(tenant)
        .read_as(&mut self.conn, attempt).await
    }

    /// The fields of an event that a replay needs.
    pub async fn event_head(&mut self, tenant: &Tenant, id: &EventId) -> Result<Option<EventHead>> {
        let row: Option<(String, i64, String)> = query(
            "SELECT type, sequence, resource_id FROM events WHERE id = $1 AND shard = $2 AND merchant_id = $3 AND livemode = $4",
        )
        .bind(id.as_str())
        .bind_tenant(tenant)
        .read_optional(&mut self.conn)
        .await?;
        Ok(row.map(|(event_type, sequence, resource_id)| EventHead { event_type, sequence, resource_id }))
    }
}

pub(crate) fn delivery(row: &Row) -> Result<Delivery> {
    let created_at = row.read("created_at")?;
    Ok(fields!(row => Delivery {
        id, event_id, event_type, endpoint_id, attempt_count, next_attempt_at, last_response_status,
        succeeded_at, failed_at, livemode;
        trigger: row.word("deliveries.triggered_by", Trigger::parse)?,
        status: row.word("deliveries.status", DeliveryStatus::parse)?,
        last_outcome: row.optional_word("deliveries.last_outcome", AttemptOutcome::parse)?,
        failure_reason: row.optional_word("deliveries.failure_reason", FailureReason::parse)?,
        created_at,
        updated_at: row.read::<Option<_>>("updated_at")?.unwrap_or(created_at),
    }))
}

pub(crate) fn attempt(row: &Row) -> Result<Attempt> {
    Ok(fields!(row => Attempt {
        id, delivery_id, number, started_at, signed_timestamp, duration_ms, response_status,
        response_excerpt, retry_at;
        outcome: row.word("attempts.outcome", AttemptOutcome::parse)?,
    }))
}
