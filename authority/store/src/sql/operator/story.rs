//! What happened to an order, read for one page of the operator's console: its events and what became of each, in a
//! few statements however many there are.

use authority_domain::delivery::Attempt;
use authority_domain::{DeliveryId, EventId, Tenant};

use crate::sql::delivery::history::{ATTEMPTS, attempt};
use crate::sql::operator::reads::{DELIVERY_COLUMNS, FoundDelivery, found};
use crate::sql::transaction::pages::placed_texts;
use crate::sql::{Query, Result, ShardSet, Tx, query};

impl Tx {
    /// The newest `limit` events of a stream before the sequence `before` about any of these records (order numbers or
    /// ids), newest first, as stored bytes.
    pub async fn events_about(
        &mut self,
        tenant: &Tenant,
        records: &[String],
        before: Option<i64>,
        limit: i64,
    ) -> Result<Vec<String>> {
        // One look-up for each: for all at once, planners rather walk the stream from its end.
        let mut events: Vec<(i64, String)> = Vec::new();
        for record in records {
            let rows = query(
                "SELECT sequence, body FROM events WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 AND resource_id = $4 \
                 AND sequence < $5 ORDER BY sequence DESC LIMIT $6",
            )
            .bind_tenant(tenant)
            .binds((record, before.unwrap_or(i64::MAX), limit))
            .read_stream(&mut self.conn).await?;
            events.extend(placed_texts::<i64>(rows).await?);
        }
        events.sort_unstable_by_key(|(sequence, _)| std::cmp::Reverse(*sequence));
        events.truncate(usize::try_from(limit).unwrap_or(0));
        Ok(events.into_iter().map(|(_, body)| body).collect())
    }

    /// Up to `limit` deliveries of these events of a tenant to any endpoint, newest first.
    pub async fn deliveries_of_events(
        &mut self,
        tenant: &Tenant,
        events: &[EventId],
        limit: i64,
    ) -> Result<Vec<FoundDelivery>> {
        if events.is_empty() {
            return Ok(Vec::new());
        }
        let events: Vec<String> = events.iter().map(EventId::to_string).collect();
        let mut query = Query::new(DELIVERY_COLUMNS);
        query.push("(SELECT * FROM deliveries WHERE ").push_shards("", ShardSet::of_deliveries(tenant));
        query.push_in("event_id", &events);
        // Not by the id alone: SQLite would walk the primary key of all deliveries, whose order that is.
        query.push(" ORDER BY created_at DESC, id DESC LIMIT ").push_bind(limit);
        query.push(
            ") AS d JOIN events v ON v.shard = d.event_shard AND v.id = d.event_id ORDER BY d.created_at DESC, d.id DESC",
        );
        query.read_as(&mut self.conn, found).await
    }

    /// Up to `limit` attempts of these deliveries of a tenant's events, newest first.
    pub async fn attempts_of_deliveries(
        &mut self,
        tenant: &Tenant,
        deliveries: &[DeliveryId],
        limit: i64,
    ) -> Result<Vec<Attempt>> {
        if deliveries.is_empty() {
            return Ok(Vec::new());
        }
        let deliveries: Vec<String> = deliveries.iter().map(DeliveryId::to_string).collect();
        let mut query = Query::new(ATTEMPTS);
        query.push_shards("", ShardSet::of_deliveries(tenant));
        query.push_in("delivery_id", &deliveries);
        query.push(" ORDER BY started_at DESC, id DESC LIMIT ").push_bind(limit);
        query.read_as(&mut self.conn, attempt).await
    }
}
