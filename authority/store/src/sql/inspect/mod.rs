//! The reads of the audit: every stored record, a bounded number of rows at a time, inside one snapshot.
//!
//! The reader never sees half a commit, however long it takes and whatever is written meanwhile
//! ([`crate::Inspection::snapshot`]). Pages go by keys, so each costs the same. Nothing is judged here;
//! [`authority_domain::invariants`] does that.

pub(crate) mod orders;
pub(crate) mod records;
pub(crate) mod shares;

use authority_domain::invariants::{
    EventDelivery, EventHead, OrderFacts, StoredEvent, StreamCounter, Subscription,
};
use authority_domain::{EventId, MerchantId, OrderNumber, Payment, Refund, Tenant};

use crate::sql::{Query, Result, Row, Shard, Tx, fields, query};

/// A page of orders with what belongs to them.
#[derive(Debug)]
pub struct InspectedOrders {
    /// Those that can be read; the others are found by their events.
    pub orders: Vec<OrderFacts>,
    /// The key to go on after; `None` at the end.
    pub next: Option<OrderNumber>,
}

/// A page of payments that belong to no order, with their refunds.
#[derive(Debug)]
pub struct InspectedPayments {
    /// Those that can be read; the others are found by their events.
    pub payments: Vec<(Payment, Vec<Refund>)>,
    /// The id to go on after; `None` at the end.
    pub next: Option<String>,
}

impl Tx {
    /// The guards of the schema for events that are missing or switched off.
    pub async fn inspect_missing_guards(&mut self) -> Result<Vec<String>> {
        let dialect = self.conn.dialect();
        let present: Vec<String> = query(dialect.guards_present).read(&mut self.conn).await?;
        let missing = dialect.guards.iter().filter(|guard| !present.iter().any(|name| name == *guard));
        Ok(missing.map(|guard| (*guard).to_owned()).collect())
    }

    /// Up to `limit` merchants after `after`, by id.
    pub async fn inspect_merchants(
        &mut self,
        after: Option<&MerchantId>,
        limit: i64,
    ) -> Result<Vec<MerchantId>> {
        Ok(query("SELECT id FROM merchants WHERE id > $1 ORDER BY id LIMIT $2")
            .binds((after.map_or("", MerchantId::as_str), limit))
            .read(&mut self.conn)
            .await?)
    }

    /// The counter row that gives the next event its sequence number.
    pub async fn inspect_counter(&mut self, tenant: &Tenant) -> Result<Option<StreamCounter>> {
        query(
            "SELECT last_sequence, last_created_at, removed_through FROM streams WHERE shard = $1 AND merchant_id = $2 AND livemode = $3",
        )
        .bind_tenant(tenant)
        .read_optional_as(&mut self.conn, |row| {
            Ok(fields!(row => StreamCounter { last_sequence, last_created_at, removed_through }))
        })
        .await
    }

    /// The endpoints that the tenant's events may go to.
    pub async fn inspect_subscriptions(&mut self, tenant: &Tenant) -> Result<Vec<Subscription>> {
        query(
            "SELECT id, status, enabled_events, subscribed_after FROM webhook_endpoints \
             WHERE shard = $1 AND merchant_id = $2 AND livemode = $3",
        )
        .bind_tenant(tenant)
        .read_as(&mut self.conn, |row| {
            Ok(Subscription {
                endpoint: row.read("id")?,
                enabled: row.get::<&str>("status")? == "enabled",
                filters: row.record("enabled_events")?,
                since: row.get("subscribed_after")?,
            })
        })
        .await
    }

    /// Up to `limit` events after the sequence `after`, in order.
    pub async fn inspect_event_heads(
        &mut self,
        tenant: &Tenant,
        after: i64,
        limit: i64,
    ) -> Result<Vec<EventHead>> {
        query(
            "SELECT id, sequence, type, created_at FROM events \
             WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 AND sequence > $4 ORDER BY sequence LIMIT $5",
        )
        .bind_tenant(tenant)
        .binds((after, limit))
        .read_as(&mut self.conn, |row| {
            Ok(fields!(row => EventHead {
                id, sequence, created_at;
                event_type: row.get("type")?,
            }))
        })
        .await
    }

    /// The deliveries that were made with these events of a tenant to the endpoints of its merchant.
    pub async fn inspect_deliveries(
        &mut self,
        tenant: &Tenant,
        events: &[EventId],
    ) -> Result<Vec<EventDelivery>> {
        if events.is_empty() {
            return Ok(Vec::new());
        }
        let mut query = Query::new(
            "WITH d AS MATERIALIZED (SELECT * FROM deliveries WHERE triggered_by = 'event' AND merchant_id <> ",
        );
        // The platform's own endpoint is outside every stream.
        query.push_bind(Tenant::operator().merchant_id.to_string()).push(" AND ");
        query.push_shard("", Shard::of(&tenant.merchant_id)).push(" AND event_id IN (");
        query.push_list(events.iter().map(EventId::as_str)).push(
            ")) SELECT d.event_id, d.endpoint_id, d.merchant_id = e.merchant_id AND d.livemode = e.livemode \
                 AND d.sequence = e.sequence AND d.event_type = e.type AS agrees \
             FROM d JOIN events e ON e.shard = d.event_shard AND e.id = d.event_id",
        );
        let delivery = |row: &Row| {
            Ok(EventDelivery {
                event: row.read("event_id")?,
                endpoint: row.read("endpoint_id")?,
                agrees: row.get("agrees")?,
            })
        };
        query.read_as(&mut self.conn, delivery).await
    }

    /// Up to `limit` events by (record, sequence) after that position.
    pub async fn inspect_events_by_record(
        &mut self,
        tenant: &Tenant,
        (resource, sequence): (&str, i64),
        limit: i64,
    ) -> Result<Vec<StoredEvent>> {
        query(
            "SELECT id, sequence, type, resource_id, created_at, body FROM events \
             WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 AND (resource_id, sequence) > ($4, $5) \
             ORDER BY resource_id, sequence LIMIT $6",
        )
        .bind_tenant(tenant)
        .binds((resource, sequence, limit))
        .read_as(&mut self.conn, |row| {
            Ok(fields!(row => StoredEvent {
                id, sequence, resource_id, created_at, body;
                event_type: row.get("type")?,
            }))
        })
        .await
    }
}
