//! The events that an endpoint wants and has not received (contract 15.1).
//!
//! No list is stored that every delivery would have to update: missing events are found by walking the stream. So the
//! caller names the part of the stream to look at, and every function here costs as much as that part is long,
//! however many events and deliveries there are.
//!
//! The index of its deliveries shows whether an event has arrived, event by event. The lookup is a scalar subquery,
//! which no planner turns into a scan of all the endpoint's deliveries.

use authority_domain::recovery::undelivered::{UndeliveredEvent, UndeliveredReason, Wanted};
use authority_domain::{DeliveryStatus, EndpointId, EventId, FailureReason, Tenant, Timestamp};

use crate::sql::{Query, Result, Row, Tx, fields, query};

/// A part of a stream: the sequences between the two, neither of them included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Begins after this one.
    pub above: i64,
    /// Ends before this one.
    pub below: i64,
}

/// A missing event, as recovery sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Missed {
    pub sequence: i64,
    pub event_id: EventId,
    pub event_type: String,
}

/// A test event is about its endpoint.
const TEST: &str = "webhook.test";

impl Tx {
    /// The last sequence of its stream when the endpoint was made: its events come after. 0 for an unknown endpoint.
    pub async fn endpoint_begins_after(&mut self, tenant: &Tenant, endpoint: &EndpointId) -> Result<i64> {
        let after: Option<i64> = query(
            "SELECT created_after FROM webhook_endpoints WHERE id = $1 AND shard = $2 AND merchant_id = $3 AND livemode = $4",
        )
        .bind(endpoint.as_str())
        .bind_tenant(tenant)
        .read_optional(&mut self.conn)
        .await?;
        Ok(after.unwrap_or(0))
    }

    /// The first sequence whose event was created at `time` or later; the one after the newest when there is none.
    pub async fn sequence_at(&mut self, tenant: &Tenant, time: Timestamp) -> Result<i64> {
        // Times never decrease along the stream and sequences have no gaps, so the sequence is found by binary
        // search.
        Ok(query(
            "WITH RECURSIVE search (low, high) AS ( \
                 SELECT COALESCE(MIN(sequence), 1), COALESCE((SELECT last_sequence FROM streams \
                     WHERE shard = $1 AND merchant_id = $2 AND livemode = $3), 0) + 1 \
                 FROM events WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 \
                 UNION ALL \
                 SELECT CASE WHEN (SELECT created_at FROM events WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 \
                            AND sequence = (low + high) / 2) < $4 THEN (low + high) / 2 + 1 ELSE low END, \
                        CASE WHEN (SELECT created_at FROM events WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 \
                            AND sequence = (low + high) / 2) < $4 THEN high ELSE (low + high) / 2 END \
                 FROM search WHERE low < high) \
             SELECT MAX(low) FROM search WHERE low >= high",
        )
        .bind_tenant(tenant)
        .bind(time.as_ms())
        .read_one(&mut self.conn)
        .await?)
    }

    /// The newest `limit` undelivered events of a stretch, newest first.
    pub async fn undelivered_page(
        &mut self,
        tenant: &Tenant,
        endpoint: &EndpointId,
        wanted: &Wanted,
        stretch: Stretch,
        limit: i64,
    ) -> Result<Vec<UndeliveredEvent>> {
        let mut query = Query::new("SELECT v.sequence, v.id, v.type, v.created_at");
        for (column, name) in [("status", "status"), ("failure_reason", "reason")] {
            query.push(", (SELECT d.").push(column).push(" FROM deliveries d WHERE d.event_id = v.id");
            query.push(" AND d.shard = v.shard AND d.merchant_id = v.merchant_id AND d.livemode = v.livemode AND d.endpoint_id = ");
            query.push_bind(endpoint.as_str());
            query.push(" ORDER BY CASE WHEN d.status = 'pending' THEN 0 ELSE 1 END, d.created_sequence DESC LIMIT 1) AS ");
            query.push(name);
        }
        push_undelivered(&mut query, tenant, endpoint, wanted, stretch);
        query.push(" ORDER BY v.sequence DESC LIMIT ").push_bind(limit);
        query.read_as(&mut self.conn, undelivered).await
    }

    /// How many undelivered events a stretch has.
    pub async fn undelivered_count(
        &mut self,
        tenant: &Tenant,
        endpoint: &EndpointId,
        wanted: &Wanted,
        stretch: Stretch,
    ) -> Result<i64> {
        let mut query = Query::new("SELECT COUNT(*)");
        push_undelivered(&mut query, tenant, endpoint, wanted, stretch);
        Ok(query.read_one(&mut self.conn).await?)
    }

    /// The oldest `limit` undelivered events of a stretch, oldest first.
    pub async fn undelivered_oldest(
        &mut self,
        tenant: &Tenant,
        endpoint: &EndpointId,
        wanted: &Wanted,
        stretch: Stretch,
        limit: i64,
    ) -> Result<Vec<Missed>> {
        let mut query = Query::new("SELECT v.sequence, v.id, v.type");
        push_undelivered(&mut query, tenant, endpoint, wanted, stretch);
        query.push(" ORDER BY v.sequence LIMIT ").push_bind(limit);
        let missed = |row: &Row| {
            Ok(fields!(row => Missed { sequence; event_id: row.read("id")?, event_type: row.get("type")? }))
        };
        query.read_as(&mut self.conn, missed).await
    }
}

/// The events `v` of a stretch that are wanted and have not arrived.
fn push_undelivered(
    query: &mut Query<'_>,
    tenant: &Tenant,
    endpoint: &EndpointId,
    wanted: &Wanted,
    stretch: Stretch,
) {
    query.push(" FROM events v WHERE ").push_tenant("v.", tenant);
    query.push(" AND v.sequence > ").push_bind(stretch.above);
    query.push(" AND v.sequence < ").push_bind(stretch.below).push(" AND (");
    match &wanted.names {
        None => query.push("v.type <> ").push_bind(TEST),
        Some(names) if names.is_empty() => query.push("FALSE"),
        Some(names) => query.push("v.type IN (").push_list(names.iter().copied()).push(")"),
    };
    if wanted.tests {
        query.push(" OR v.type = ").push_bind(TEST);
        query.push(" AND v.resource_id = ").push_bind(endpoint.to_string());
    }
    query.push(
        ") AND (SELECT 1 FROM deliveries s WHERE s.shard = v.shard AND s.event_id = v.id AND s.merchant_id = v.merchant_id \
         AND s.livemode = v.livemode AND s.status = 'succeeded' AND s.endpoint_id = ",
    );
    query.push_bind(endpoint.to_string()).push(" LIMIT 1) IS NULL");
}

fn undelivered(row: &Row) -> Result<UndeliveredEvent> {
    let reason = row.optional_word("reason", FailureReason::parse)?;
    let status = row.optional_word("status", DeliveryStatus::parse)?;
    Ok(fields!(row => UndeliveredEvent {
        sequence, created_at;
        event_id: row.read("id")?,
        event_type: row.get("type")?,
        reason: UndeliveredReason::of(status.map(|status| (status, reason))),
    }))
}
