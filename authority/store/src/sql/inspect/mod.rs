//! The reads of the audit: every stored record, a bounded number of rows at a time, inside one snapshot.
//!
//! The reader never sees half a commit, however long it takes and whatever is written meanwhile
//! ([`crate::Inspection::snapshot`]). Pages go by keys, so each costs the same. Nothing is judged here;
//! [`authority_domain::invariants`] does that.

pub(crate) mod orders;
pub(crate) mod records;
pub(crate) mod shares;

use authority_domain::id::{EndpointId, EventId, MerchantId};
use authority_domain::invariants::{
    EventDelivery, EventHead, OrderFacts, RecordKind, StoredEvent, StoredRecord, StoredShare, StreamCounter,
    Subscription,
};
use authority_domain::order::number::OrderNumber;
use authority_domain::payment::Payment;
use authority_domain::refund::Refund;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

use crate::Result;
use crate::driver::{Query, Row, query};
use crate::shards::Shard;
use crate::sql::transaction::Tx;

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
        let ids: Vec<String> = query("SELECT id FROM merchants WHERE id > $1 ORDER BY id LIMIT $2")
            .binds((after.map_or("", MerchantId::as_str), limit))
            .read(&mut self.conn)
            .await?;
        Ok(ids.into_iter().map(MerchantId::from_store).collect())
    }

    /// The counter row that gives the next event its sequence number.
    pub async fn inspect_counter(&mut self, tenant: &Tenant) -> Result<Option<StreamCounter>> {
        let row: Option<(i64, i64, i64)> = query(
            "SELECT last_sequence, last_created_at, removed_through FROM streams WHERE shard = $1 AND merchant_id = $2 AND livemode = $3",
        )
        .bind_tenant(tenant)
        .read_optional(&mut self.conn)
        .await?;
        Ok(row.map(|(last_sequence, last, removed_through)| StreamCounter {
            last_sequence,
            last_created_at: Timestamp::from_ms(last),
            removed_through,
        }))
    }

    /// The endpoints that the tenant's events may go to.
    pub async fn inspect_subscriptions(&mut self, tenant: &Tenant) -> Result<Vec<Subscription>> {
        let rows: Vec<(String, String, String, i64)> = query(
            "SELECT id, status, enabled_events, subscribed_after FROM webhook_endpoints \
             WHERE shard = $1 AND merchant_id = $2 AND livemode = $3",
        )
        .bind_tenant(tenant)
        .read(&mut self.conn)
        .await?;
        let subscription = |(id, status, filters, since): (String, String, String, i64)| {
            Ok(Subscription {
                endpoint: EndpointId::from_store(id),
                enabled: status == "enabled",
                filters: serde_json::from_str(&filters)?,
                since,
            })
        };
        rows.into_iter().map(subscription).collect()
    }

    /// Up to `limit` events after the sequence `after`, in order.
    pub async fn inspect_event_heads(
        &mut self,
        tenant: &Tenant,
        after: i64,
        limit: i64,
    ) -> Result<Vec<EventHead>> {
        let rows = query(
            "SELECT id, sequence, type, created_at FROM events \
             WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 AND sequence > $4 ORDER BY sequence LIMIT $5",
        )
        .bind_tenant(tenant)
        .binds((after, limit))
        .read::<Row>(&mut self.conn)
        .await?;
        let head = |row: &Row| {
            Ok(EventHead {
                id: EventId::from_store(row.get("id")?),
                sequence: row.get("sequence")?,
                event_type: row.get("type")?,
                created_at: row.time("created_at")?,
            })
        };
        rows.iter().map(head).collect()
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
        let rows = query.read::<Row>(&mut self.conn).await?;
        let delivery = |row: &Row| {
            Ok(EventDelivery {
                event: EventId::from_store(row.get("event_id")?),
                endpoint: EndpointId::from_store(row.get("endpoint_id")?),
                agrees: row.get("agrees")?,
            })
        };
        rows.iter().map(delivery).collect()
    }

    /// Up to `limit` events by (record, sequence) after that position.
    pub async fn inspect_events_by_record(
        &mut self,
        tenant: &Tenant,
        (resource, sequence): (&str, i64),
        limit: i64,
    ) -> Result<Vec<StoredEvent>> {
        let rows = query(
            "SELECT id, sequence, type, resource_id, created_at, body FROM events \
             WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 AND (resource_id, sequence) > ($4, $5) \
             ORDER BY resource_id, sequence LIMIT $6",
        )
        .bind_tenant(tenant)
        .binds((resource, sequence, limit))
        .read::<Row>(&mut self.conn)
        .await?;
        let event = |row: &Row| {
            Ok(StoredEvent {
                id: EventId::from_store(row.get("id")?),
                sequence: row.get("sequence")?,
                event_type: row.get("type")?,
                resource_id: row.get("resource_id")?,
                created_at: row.time("created_at")?,
                body: row.get("body")?,
            })
        };
        rows.iter().map(event).collect()
    }

    /// The stored records with these ids, in any order.
    pub async fn inspect_records(
        &mut self,
        tenant: &Tenant,
        kind: RecordKind,
        ids: &[&str],
    ) -> Result<Vec<StoredRecord>> {
        records::of_kind(&mut self.conn, tenant, kind, ids).await
    }

    /// Up to `limit` ids of records, made after the sequence `made_after`, that have no event.
    pub async fn inspect_untold(
        &mut self,
        tenant: &Tenant,
        kind: RecordKind,
        made_after: i64,
        limit: i64,
    ) -> Result<Vec<String>> {
        records::untold(&mut self.conn, tenant, kind, made_after, limit).await
    }

    /// Up to `limit` orders after `after`, by number.
    pub async fn inspect_orders(
        &mut self,
        tenant: &Tenant,
        after: Option<&OrderNumber>,
        limit: i64,
    ) -> Result<InspectedOrders> {
        orders::page(&mut self.conn, tenant, after, limit).await
    }

    /// Up to `limit` payments after the id `after` that belong to no order although they captured money.
    pub async fn inspect_payments_without_order(
        &mut self,
        tenant: &Tenant,
        after: &str,
        limit: i64,
    ) -> Result<InspectedPayments> {
        orders::payments_without_order(&mut self.conn, tenant, after, limit).await
    }

    /// The shares with these ids by which the tenant sees orders of others, in any order.
    pub async fn inspect_shares(&mut self, tenant: &Tenant, ids: &[&str]) -> Result<Vec<StoredShare>> {
        shares::shares(&mut self.conn, tenant, ids).await
    }

    /// Up to `limit` ids of shares by which the tenant sees orders of others, made after the sequence `made_after` of
    /// its own stream, that have no event in it.
    pub async fn inspect_untold_shares(
        &mut self,
        tenant: &Tenant,
        made_after: i64,
        limit: i64,
    ) -> Result<Vec<String>> {
        shares::untold(&mut self.conn, tenant, made_after, limit).await
    }

    /// The number of active shares of its orders according to the tenant's stream, and the number of rows.
    pub async fn inspect_share_count(&mut self, tenant: &Tenant) -> Result<(i64, i64)> {
        shares::counted(&mut self.conn, tenant).await
    }
}
