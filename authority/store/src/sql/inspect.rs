//! The audit's reads. Every page goes by an indexed key, and holds at most the given number of rows.

use async_trait::async_trait;
use authority_domain::id::{EndpointId, EventId, MerchantId};
use authority_domain::invariants::{
    EventDelivery, EventHead, RecordKind, StoredEvent, StoredRecord, StoredShare, StreamCounter, Subscription,
};
use authority_domain::order::number::OrderNumber;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;
use sqlx::{QueryBuilder, Row};

use super::{Db, DbRow, GUARDS, GUARDS_PRESENT, Session, inspect_orders, inspect_records, inspect_shares};
use crate::StoreError;
use crate::ports::{Inspect, InspectedOrders, InspectedPayments};

#[async_trait]
impl Inspect for Session<'_> {
    async fn inspect_missing_guards(&mut self) -> Result<Vec<String>, StoreError> {
        let present: Vec<String> = sqlx::query_scalar(GUARDS_PRESENT).fetch_all(&mut *self.conn).await?;
        let missing = GUARDS.iter().filter(|guard| !present.iter().any(|name| name == *guard));
        Ok(missing.map(|guard| (*guard).to_owned()).collect())
    }

    async fn inspect_merchants(
        &mut self,
        after: Option<&MerchantId>,
        limit: i64,
    ) -> Result<Vec<MerchantId>, StoreError> {
        let ids: Vec<String> =
            sqlx::query_scalar("SELECT id FROM merchants WHERE id > $1 ORDER BY id LIMIT $2")
                .bind(after.map_or("", MerchantId::as_str))
                .bind(limit)
                .fetch_all(&mut *self.conn)
                .await?;
        Ok(ids.into_iter().map(MerchantId::from_store).collect())
    }

    async fn inspect_counter(&mut self, tenant: &Tenant) -> Result<Option<StreamCounter>, StoreError> {
        let row: Option<(i64, i64, i64)> = sqlx::query_as(
            "SELECT last_sequence, last_created_at, removed_through FROM streams WHERE merchant_id = $1 AND livemode = $2",
        )
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .fetch_optional(&mut *self.conn)
        .await?;
        Ok(row.map(|(last_sequence, last, removed_through)| StreamCounter {
            last_sequence,
            last_created_at: Timestamp::from_ms(last),
            removed_through,
        }))
    }

    async fn inspect_subscriptions(&mut self, tenant: &Tenant) -> Result<Vec<Subscription>, StoreError> {
        let rows: Vec<(String, String, String, i64)> = sqlx::query_as(
            "SELECT id, status, enabled_events, subscribed_after FROM webhook_endpoints \
             WHERE merchant_id = $1 AND livemode = $2",
        )
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .fetch_all(&mut *self.conn)
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

    async fn inspect_event_heads(
        &mut self,
        tenant: &Tenant,
        after: i64,
        limit: i64,
    ) -> Result<Vec<EventHead>, StoreError> {
        let rows = sqlx::query(
            "SELECT id, sequence, type, created_at FROM events \
             WHERE merchant_id = $1 AND livemode = $2 AND sequence > $3 ORDER BY sequence LIMIT $4",
        )
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .bind(after)
        .bind(limit)
        .fetch_all(&mut *self.conn)
        .await?;
        let head = |row: &DbRow| {
            Ok(EventHead {
                id: EventId::from_store(row.try_get("id")?),
                sequence: row.try_get("sequence")?,
                event_type: row.try_get("type")?,
                created_at: Timestamp::from_ms(row.try_get("created_at")?),
            })
        };
        rows.iter().map(head).collect()
    }

    async fn inspect_deliveries(&mut self, events: &[EventId]) -> Result<Vec<EventDelivery>, StoreError> {
        if events.is_empty() {
            return Ok(Vec::new());
        }
        let mut query = QueryBuilder::<Db>::new(
            "SELECT d.event_id, d.endpoint_id, d.merchant_id = e.merchant_id AND d.livemode = e.livemode \
                 AND d.sequence = e.sequence AND d.event_type = e.type AS agrees \
             FROM deliveries d JOIN events e ON e.id = d.event_id \
             WHERE d.triggered_by = 'event' AND d.merchant_id <> ",
        );
        // The platform's own endpoint is outside every stream.
        query.push_bind(Tenant::operator().merchant_id.to_string()).push(" AND d.event_id IN (");
        let mut list = query.separated(", ");
        for event in events {
            list.push_bind(event.as_str());
        }
        query.push(")");
        let rows = query.build().fetch_all(&mut *self.conn).await?;
        let delivery = |row: &DbRow| {
            Ok(EventDelivery {
                event: EventId::from_store(row.try_get("event_id")?),
                endpoint: EndpointId::from_store(row.try_get("endpoint_id")?),
                agrees: row.try_get("agrees")?,
            })
        };
        rows.iter().map(delivery).collect()
    }

    async fn inspect_events_by_record(
        &mut self,
        tenant: &Tenant,
        (resource, sequence): (&str, i64),
        limit: i64,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        let rows = sqlx::query(
            "SELECT id, sequence, type, resource_id, created_at, body FROM events \
             WHERE merchant_id = $1 AND livemode = $2 AND (resource_id, sequence) > ($3, $4) \
             ORDER BY resource_id, sequence LIMIT $5",
        )
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .bind(resource)
        .bind(sequence)
        .bind(limit)
        .fetch_all(&mut *self.conn)
        .await?;
        let event = |row: &DbRow| {
            Ok(StoredEvent {
                id: EventId::from_store(row.try_get("id")?),
                sequence: row.try_get("sequence")?,
                event_type: row.try_get("type")?,
                resource_id: row.try_get("resource_id")?,
                created_at: Timestamp::from_ms(row.try_get("created_at")?),
                body: row.try_get("body")?,
            })
        };
        rows.iter().map(event).collect()
    }

    async fn inspect_records(
        &mut self,
        tenant: &Tenant,
        kind: RecordKind,
        ids: &[&str],
    ) -> Result<Vec<StoredRecord>, StoreError> {
        inspect_records::of_kind(self.conn, tenant, kind, ids).await
    }

    async fn inspect_untold(
        &mut self,
        tenant: &Tenant,
        kind: RecordKind,
        made_after: i64,
        limit: i64,
    ) -> Result<Vec<String>, StoreError> {
        inspect_records::untold(self.conn, tenant, kind, made_after, limit).await
    }

    async fn inspect_orders(
        &mut self,
        tenant: &Tenant,
        after: Option<&OrderNumber>,
        limit: i64,
    ) -> Result<InspectedOrders, StoreError> {
        inspect_orders::page(self.conn, tenant, after, limit).await
    }

    async fn inspect_payments_without_order(
        &mut self,
        tenant: &Tenant,
        after: &str,
        limit: i64,
    ) -> Result<InspectedPayments, StoreError> {
        inspect_orders::payments_without_order(self.conn, tenant, after, limit).await
    }

    async fn inspect_shares(
        &mut self,
        tenant: &Tenant,
        ids: &[&str],
    ) -> Result<Vec<StoredShare>, StoreError> {
        inspect_shares::shares(self.conn, tenant, ids).await
    }

    async fn inspect_untold_shares(
        &mut self,
        tenant: &Tenant,
        made_after: i64,
        limit: i64,
    ) -> Result<Vec<String>, StoreError> {
        inspect_shares::untold(self.conn, tenant, made_after, limit).await
    }

    async fn inspect_share_count(&mut self, tenant: &Tenant) -> Result<(i64, i64), StoreError> {
        inspect_shares::counted(self.conn, tenant).await
    }
}
