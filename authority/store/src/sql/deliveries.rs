//! Deliveries: written, leased and given back. What an attempt makes of them is in `settlements`.

use std::collections::BTreeMap;

use async_trait::async_trait;
use authority_domain::id::{DeliveryId, EndpointId, MerchantId};
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;
use sqlx::QueryBuilder;

use super::rows::{Form, Kind, Table, TableOrder, Together, Touches};
use super::{Db, LEASE_DUE, LEASE_DUE_AMONG, NEW_DELIVERY, Session, push_in};
use crate::StoreError;
use crate::ports::{
    Deliveries, Lease, LeasedDelivery, NewDelivery, NewDeliveryState, Settled, Settlement, instance_of,
};
use crate::unfinished::all_waiting;

/// New deliveries. The position of each continues from the endpoint's last delivery; the statement does not see its
/// own rows. Those of the platform's endpoint have numbers of their own where transactions of several shards make them
/// at once.
static DELIVERIES: Table = Table {
    order: TableOrder::Delivery,
    touches: Touches::Any,
    into: "INSERT INTO deliveries (id, merchant_id, livemode, event_id, event_type, sequence, endpoint_id, triggered_by, \
        status, attempt_count, next_attempt_at, created_at, updated_at, lease_token, lease_until, created_sequence)",
    columns: &[
        Kind::Text,
        Kind::Text,
        Kind::Bool,
        Kind::Text,
        Kind::Text,
        Kind::Int,
        Kind::Text,
        Kind::Text,
        Kind::Int,
        Kind::Text,
        Kind::Int,
        Kind::Int,
    ],
    form: Form::Select(NEW_DELIVERY),
    rest: "",
    // Numbered per endpoint: its id has index 6.
    together: Together::Numbered(6),
};

#[async_trait]
impl Deliveries for Session<'_> {
    async fn deliveries_insert_placed(
        &mut self,
        tenant: &Tenant,
        deliveries: &[(&NewDelivery, NewDeliveryState<'_>)],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        if deliveries.is_empty() {
            return Ok(());
        }
        for (delivery, placed) in deliveries {
            let endpoint = &delivery.endpoint_id;
            let held = match placed {
                NewDeliveryState::HandedOff(held) => Some(*held),
                NewDeliveryState::NoRoom | NewDeliveryState::HeldBack | NewDeliveryState::Unasked => None,
            };
            match placed {
                NewDeliveryState::HandedOff(_) => self.conn.cache.fill_place(endpoint),
                NewDeliveryState::HeldBack => {}
                NewDeliveryState::NoRoom => {
                    self.conn.cache.fill_up(endpoint);
                    self.leave_behind(endpoint);
                }
                NewDeliveryState::Unasked => self.ask_for_room(endpoint, now),
            }
            self.conn.buffer(
                &DELIVERIES,
                [],
                [
                    delivery.id.as_str().into(),
                    tenant.merchant_id.as_str().into(),
                    tenant.livemode.into(),
                    delivery.event_id.as_str().into(),
                    delivery.event_type.into(),
                    delivery.sequence.into(),
                    delivery.endpoint_id.as_str().into(),
                    delivery.trigger.as_str().into(),
                    now.as_ms().into(),
                    held.map(|held| held.token.as_str()).into(),
                    held.map(|held| held.until.as_ms()).into(),
                ],
            );
        }
        Ok(())
    }

    async fn delivery_lease_due(&mut self, lease: &Lease) -> Result<Vec<LeasedDelivery>, StoreError> {
        let merchants: BTreeMap<&str, i64> =
            lease.merchants.iter().map(|(id, room)| (id.as_str(), *room)).collect();
        let wants: BTreeMap<&str, [i64; 2]> =
            lease.wants.iter().map(|(id, want)| (id.as_str(), [want.most, want.beyond])).collect();
        let mut query = sqlx::query_scalar(if lease.among.is_some() { LEASE_DUE_AMONG } else { LEASE_DUE })
            .bind(&lease.token)
            .bind(lease.until.as_ms())
            .bind(lease.now.as_ms())
            .bind(lease.max_in_flight)
            .bind(lease.limit)
            .bind(lease.per_merchant)
            .bind(serde_json::to_string(&merchants)?)
            .bind(serde_json::to_string(&wants)?)
            .bind(instance_of(&lease.token))
            .bind(lease.each);
        if let Some(among) = &lease.among {
            let among: Vec<&str> = among.iter().map(EndpointId::as_str).collect();
            query = query.bind(serde_json::to_string(&among)?);
        }
        let ids: Vec<String> = query.fetch_all(&mut *self.conn).await?;
        self.leased(lease, &ids).await
    }

    async fn endpoints_due(&mut self, now: Timestamp) -> Result<Vec<(EndpointId, MerchantId)>, StoreError> {
        let due: Vec<(String, String)> = sqlx::query_as(concat!(
            all_waiting!(),
            "due (id, merchant_id) AS ( \
                 SELECT e.id, e.merchant_id FROM waiting JOIN webhook_endpoints e ON e.id = waiting.endpoint_id \
                 WHERE e.status = 'enabled' AND (e.held_until IS NULL OR e.held_until <= $1) \
                     AND EXISTS (SELECT 1 FROM deliveries w WHERE w.endpoint_id = e.id AND w.status = 'pending' \
                         AND w.next_attempt_at <= $1 AND (w.lease_until IS NULL OR w.lease_until < $1))) \
             SELECT id, merchant_id FROM due",
        ))
        .bind(now.as_ms())
        .fetch_all(&mut *self.conn)
        .await?;
        let of = |(id, merchant)| (EndpointId::from_store(id), MerchantId::from_store(merchant));
        Ok(due.into_iter().map(of).collect())
    }

    async fn delivery_lease_probe(
        &mut self,
        lease: &Lease,
        id: &DeliveryId,
    ) -> Result<Option<LeasedDelivery>, StoreError> {
        let ids: Vec<String> = sqlx::query_scalar(
            "UPDATE deliveries SET lease_token = $1, lease_until = $2, retry_asked_at = NULL WHERE id = $4 AND status = 'pending' \
                 AND EXISTS (SELECT 1 FROM webhook_endpoints e WHERE e.id = deliveries.endpoint_id \
                     AND e.status = 'enabled' AND e.hold_step > 0) \
                 AND NOT EXISTS (SELECT 1 FROM deliveries l WHERE l.endpoint_id = deliveries.endpoint_id \
                     AND l.lease_token IS NOT NULL AND l.lease_until >= $3) \
             RETURNING id",
        )
        .bind(&lease.token)
        .bind(lease.until.as_ms())
        .bind(lease.now.as_ms())
        .bind(id.as_str())
        .fetch_all(&mut *self.conn)
        .await?;
        Ok(self.leased(lease, &ids).await?.pop())
    }

    async fn delivery_lease_release(&mut self, token: &str, ids: &[DeliveryId]) -> Result<u64, StoreError> {
        let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
        if ids.is_empty() {
            return Ok(0);
        }
        let mut query = QueryBuilder::<Db>::new(
            "UPDATE deliveries SET lease_token = NULL, lease_until = NULL WHERE lease_token = ",
        );
        query.push_bind(token);
        push_in(&mut query, "id", &ids);
        let released = query.build().execute(&mut *self.conn).await?.rows_affected();
        self.cancel_where_disabled(&ids).await?;
        Ok(released)
    }

    async fn delivery_lease_release_all(&mut self) -> Result<u64, StoreError> {
        let released: Vec<String> = sqlx::query_scalar(
            "UPDATE deliveries SET lease_token = NULL, lease_until = NULL WHERE lease_token IS NOT NULL RETURNING id",
        )
        .fetch_all(&mut *self.conn)
        .await?;
        self.cancel_where_disabled(&released).await?;
        Ok(u64::try_from(released.len()).unwrap_or(u64::MAX))
    }

    async fn delivery_settle(
        &mut self,
        settlements: &[&Settlement],
        now: Timestamp,
    ) -> Result<Vec<Settled>, StoreError> {
        self.settle_attempts(settlements, now).await
    }
}

impl Session<'_> {
    /// Cancels those of `ids` that returned to the backlog of an endpoint that was disabled or deleted meanwhile
    /// (contract 7.5); at that time they were in flight.
    pub(super) async fn cancel_where_disabled(&mut self, ids: &[String]) -> Result<(), StoreError> {
        if ids.is_empty() {
            return Ok(());
        }
        let mut query = QueryBuilder::<Db>::new(
            "UPDATE deliveries SET status = 'cancelled', next_attempt_at = NULL, failure_reason = ( \
                 SELECT CASE WHEN e.deleted_at IS NULL THEN 'endpoint_disabled' ELSE 'endpoint_deleted' END \
                 FROM webhook_endpoints e WHERE e.id = deliveries.endpoint_id) \
             WHERE status = 'pending' AND lease_token IS NULL \
             AND EXISTS (SELECT 1 FROM webhook_endpoints e \
                 WHERE e.id = deliveries.endpoint_id AND e.status = 'disabled')",
        );
        push_in(&mut query, "id", ids);
        query.build().execute(&mut *self.conn).await?;
        Ok(())
    }
}
