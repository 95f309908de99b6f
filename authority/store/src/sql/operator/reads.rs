//! What the operator can look up over all merchants (contract 6.2). No merchant's request comes here. Lists go by ids.

use authority_domain::delivery::{Attempt, Delivery};
use authority_domain::endpoint::HealthState;
use authority_domain::list_filter::EventFilter;
use authority_domain::{DeliveryId, Endpoint, EndpointId, EventId, MerchantId, Tenant, Timestamp};

use crate::sql::delivery::history::{ATTEMPTS, attempt, delivery};
use crate::sql::endpoint::backlog::{COUNTED, COUNTED_MAX};
use crate::sql::endpoint::rows::{self, endpoint};
use crate::sql::event::push_event_filter;
use crate::sql::transaction::pages::placed_texts;
use crate::sql::{Across, Query, Result, Row, ShardSet, Tx, bodies, fields, query};

/// A delivery, with the owner of its event and the owner of its endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundDelivery {
    /// The record; its mode is that of the event.
    pub delivery: Delivery,
    /// The merchant of the event.
    pub merchant_id: MerchantId,
    /// The sequence number of the event in its stream.
    pub sequence: i64,
    /// The owner of the endpoint: the event's tenant, or the operator.
    pub owner: Tenant,
}

/// An endpoint and its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundEndpoint {
    /// The record.
    pub endpoint: Endpoint,
    /// Its owner.
    pub owner: Tenant,
    /// When its merchant deleted it.
    pub deleted_at: Option<Timestamp>,
}

/// The backlog of the whole database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutboxFigures {
    /// Deliveries that have not ended.
    pub pending: i64,
    /// Of these, the due ones.
    pub due: i64,
    /// When the oldest of those that have not ended was made.
    pub oldest_pending_at: Option<Timestamp>,
}

/// The backlog of one endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// Its id.
    pub endpoint_id: EndpointId,
    /// Its owner.
    pub owner: Tenant,
    /// Its health according to recent attempts.
    pub state: HealthState,
    /// Failures since its last success.
    pub consecutive_failures: i64,
    /// Deliveries that have not ended.
    pub pending: i64,
    /// Of these, the due ones.
    pub due: i64,
    /// When the oldest of them was made.
    pub oldest_pending_at: Timestamp,
}

/// The backlog of the whole database, and of the endpoints that have the most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outbox {
    /// Of all endpoints.
    pub figures: OutboxFigures,
    /// The largest one first.
    pub endpoints: Vec<Backlog>,
}

/// What [`found`] reads, from deliveries `d` and their events `v`.
pub(crate) const DELIVERY_COLUMNS: &str = "SELECT d.id, v.livemode, d.event_id, d.event_type, d.endpoint_id, d.triggered_by, \
     d.status, d.attempt_count, d.next_attempt_at, d.last_outcome, d.last_response_status, d.failure_reason, \
     d.succeeded_at, d.failed_at, d.created_at, d.updated_at, d.sequence, v.merchant_id, d.merchant_id AS owner_id, \
     d.livemode AS owner_livemode FROM ";

impl Tx {
    /// Up to `limit` events before the one with the id `before`, newest first, as (id, stored bytes).
    pub async fn all_events_page(
        &mut self,
        before: Option<&str>,
        limit: i64,
    ) -> Result<Vec<(String, String)>> {
        let mut query = Query::across(Across::OPERATOR, "SELECT id, body FROM events WHERE ");
        query.push_shards("", ShardSet::ALL).push_some(" AND id < ", before);
        query.push(" ORDER BY id DESC LIMIT ").push_bind(limit);
        placed_texts(query.read_stream(&mut self.conn).await?).await
    }

    /// Up to `limit` events of one stream before the sequence `before`, newest first, as (sequence, stored bytes).
    pub async fn stream_page_newest(
        &mut self,
        tenant: &Tenant,
        filter: &EventFilter,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Vec<(i64, String)>> {
        let mut query = Query::new("SELECT sequence, body FROM events WHERE ");
        query.push_tenant("", tenant);
        query.push_some(" AND sequence < ", before);
        push_event_filter(&mut query, filter);
        query.push(" ORDER BY sequence DESC LIMIT ").push_bind(limit);
        placed_texts(query.read_stream(&mut self.conn).await?).await
    }

    /// The stored bytes of an event of any merchant, with its tenant.
    pub async fn event_find(&mut self, id: &EventId) -> Result<Option<(Tenant, String)>> {
        let query = bodies::by_id(&self.conn, "SELECT merchant_id, livemode, body FROM events", id.as_str());
        query.read_optional_as(&mut self.conn, |row| Ok((row.tenant()?, row.get("body")?))).await
    }

    /// One delivery, of any owner.
    pub async fn delivery_find(&mut self, id: &DeliveryId) -> Result<Option<FoundDelivery>> {
        let mut query = Query::new("WITH d AS MATERIALIZED (SELECT * FROM deliveries WHERE ");
        query.push_shards("", self.conn.shards()).push(" AND id = ").push_bind(id.as_str()).push(") ");
        query.push(DELIVERY_COLUMNS).push("d JOIN events v ON v.shard = d.event_shard AND v.id = d.event_id");
        query.read_optional_as(&mut self.conn, found).await
    }

    /// Its attempts, the first one first.
    pub async fn delivery_attempts_find(&mut self, id: &DeliveryId) -> Result<Vec<Attempt>> {
        let mut query = Query::new(ATTEMPTS);
        query.push_shards("", self.conn.shards()).push(" AND delivery_id = ").push_bind(id.as_str());
        query.push(" ORDER BY number");
        query.read_as(&mut self.conn, attempt).await
    }

    /// One endpoint, of any owner, deleted ones too.
    pub async fn endpoint_find(&mut self, id: &EndpointId) -> Result<Option<FoundEndpoint>> {
        let select = format!("SELECT merchant_id, deleted_at, {} FROM webhook_endpoints", rows::COLUMNS);
        let query = bodies::by_id(&self.conn, select, id.as_str());
        query.read_optional_as(&mut self.conn, found_endpoint).await
    }

    /// Up to `limit` enabled endpoints that fail, those that began to fail first before the others; and as many that
    /// the service or the operator disabled and nobody deleted, the last one first.
    pub async fn endpoints_in_trouble(&mut self, limit: i64) -> Result<Vec<FoundEndpoint>> {
        let mut endpoints = Vec::new();
        for condition in [
            "status = 'enabled' AND first_failure_at IS NOT NULL ORDER BY first_failure_at",
            "status = 'disabled' AND disabled_reason <> 'merchant' AND deleted_at IS NULL ORDER BY disabled_at DESC",
        ] {
            let mut query = Query::across(Across::OPERATOR, "SELECT merchant_id, deleted_at, ");
            query.push(rows::COLUMNS).push(" FROM webhook_endpoints WHERE ").push(condition);
            query.push(" LIMIT ").push_bind(limit);
            for row in query.read::<Row>(&mut self.conn).await? {
                endpoints.push(found_endpoint(&row)?);
            }
        }
        Ok(endpoints)
    }

    /// Brings the next attempt of a pending delivery forward to `now`. Has no effect on one that is due already. While
    /// an attempt is in flight, the next one follows at once when it fails, also if the endpoint was disabled before.
    pub async fn delivery_hasten(&mut self, id: &DeliveryId, now: Timestamp) -> Result<()> {
        let mut query = query(
            "UPDATE deliveries SET updated_at = $2, \
                 next_attempt_at = CASE WHEN next_attempt_at > $2 THEN $2 ELSE next_attempt_at END, \
                 retry_asked_at = CASE WHEN lease_token IS NOT NULL THEN $2 END, cancel_asked_at = NULL \
             WHERE id = $1 AND status = 'pending' AND (next_attempt_at > $2 OR lease_token IS NOT NULL) AND ",
        );
        query.push_shards("", self.conn.shards()).push(" RETURNING endpoint_id");
        let query = query.binds((id.as_str(), now.as_ms()));
        let hastened: Vec<String> = query.write_returning(&mut self.conn).await?;
        for endpoint in hastened {
            self.ask_for_room(&EndpointId::from_store(endpoint), now);
        }
        Ok(())
    }

    /// The backlog at `now`, counted up to 10,000 of each endpoint, with the `limit` endpoints that have the largest.
    pub async fn outbox(&mut self, now: Timestamp, limit: i64) -> Result<Outbox> {
        // Counted once: PostgreSQL would count again for each place that a count is named in.
        let mut query = Query::across(Across::OPERATOR, self.conn.dialect().waiting);
        query.push(", counted AS MATERIALIZED (SELECT e.shard, e.endpoint_id, ");
        query.push(COUNTED).push(
            "FROM waiting e WHERE e.endpoint_id IS NOT NULL) \
             SELECT b.*, e.merchant_id, e.livemode, e.health_state, e.consecutive_failures FROM ( \
                 SELECT c.*, CAST(SUM(pending) OVER () AS BIGINT) AS all_pending, \
                     CAST(SUM(due) OVER () AS BIGINT) AS all_due, MIN(oldest) OVER () AS oldest_of_all \
                 FROM counted c ORDER BY pending DESC, endpoint_id LIMIT $3) AS b \
             JOIN webhook_endpoints e ON e.shard = b.shard AND e.id = b.endpoint_id \
             ORDER BY b.pending DESC, b.endpoint_id",
        );
        let rows = query.bind(now.as_ms()).bind(COUNTED_MAX).bind(limit).read::<Row>(&mut self.conn).await?;
        let mut figures = OutboxFigures { pending: 0, due: 0, oldest_pending_at: None };
        // Every row has the sums of all endpoints.
        if let Some(row) = rows.first() {
            figures.pending = row.get("all_pending")?;
            figures.due = row.get("all_due")?;
            figures.oldest_pending_at = Some(row.read("oldest_of_all")?);
        }
        Ok(Outbox { figures, endpoints: rows.iter().map(backlog).collect::<Result<_, _>>()? })
    }
}

fn found_endpoint(row: &Row) -> Result<FoundEndpoint> {
    Ok(FoundEndpoint { endpoint: endpoint(row)?, owner: row.tenant()?, deleted_at: row.read("deleted_at")? })
}

pub(crate) fn found(row: &Row) -> Result<FoundDelivery> {
    Ok(fields!(row => FoundDelivery {
        merchant_id, sequence;
        delivery: delivery(row)?,
        owner: Tenant { merchant_id: row.read("owner_id")?, livemode: row.get("owner_livemode")? },
    }))
}

fn backlog(row: &Row) -> Result<Backlog> {
    Ok(fields!(row => Backlog {
        endpoint_id, consecutive_failures, pending, due;
        owner: row.tenant()?,
        state: row.word("webhook_endpoints.health_state", HealthState::parse)?,
        oldest_pending_at: row.read("oldest")?,
    }))
}
