//! The operator's view over all merchants.
//!
//! Lists go by ids.

use async_trait::async_trait;
use authority_domain::delivery::Attempt;
use authority_domain::endpoint::HealthState;
use authority_domain::id::{DeliveryId, EndpointId, EventId, MerchantId};
use authority_domain::list_filter::EventFilter;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;
use sqlx::{AssertSqlSafe, QueryBuilder, Row};

use super::backlog::{COUNTED, COUNTED_MAX, WAITING};
use super::delivery_history::{attempt, delivery};
use super::endpoint_rows::{self, endpoint};
use super::events::push_event_filter;
use super::page_rows::placed_texts;
use super::{Db, DbRow, Session, all_deliveries};
use crate::StoreError;
use crate::ports::{
    AllDeliveriesFilter, Backlog, FoundDelivery, FoundEndpoint, OperatorReads, Outbox, OutboxFigures,
    PageById,
};

/// What [`found`] reads, from deliveries `d` and their events `v`.
pub(super) const DELIVERY_COLUMNS: &str = "SELECT d.id, v.livemode, d.event_id, d.event_type, d.endpoint_id, d.triggered_by, \
     d.status, d.attempt_count, d.next_attempt_at, d.last_outcome, d.last_response_status, d.failure_reason, \
     d.succeeded_at, d.failed_at, d.created_at, d.updated_at, d.sequence, v.merchant_id, d.merchant_id AS owner_id, \
     d.livemode AS owner_livemode FROM ";

#[async_trait]
impl OperatorReads for Session<'_> {
    async fn all_events_page(
        &mut self,
        before: Option<&str>,
        limit: i64,
    ) -> Result<Vec<(String, String)>, StoreError> {
        let mut query = QueryBuilder::<Db>::new("SELECT id, body FROM events");
        if let Some(before) = before {
            query.push(" WHERE id < ").push_bind(before);
        }
        query.push(" ORDER BY id DESC LIMIT ").push_bind(limit);
        placed_texts(query.build().fetch(&mut *self.conn)).await
    }

    async fn stream_page_newest(
        &mut self,
        tenant: &Tenant,
        filter: &EventFilter,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Vec<(i64, String)>, StoreError> {
        let mut query = QueryBuilder::<Db>::new("SELECT sequence, body FROM events WHERE merchant_id = ");
        query.push_bind(tenant.merchant_id.as_str()).push(" AND livemode = ").push_bind(tenant.livemode);
        if let Some(before) = before {
            query.push(" AND sequence < ").push_bind(before);
        }
        push_event_filter(&mut query, filter);
        query.push(" ORDER BY sequence DESC LIMIT ").push_bind(limit);
        placed_texts(query.build().fetch(&mut *self.conn)).await
    }

    async fn event_find(&mut self, id: &EventId) -> Result<Option<String>, StoreError> {
        let found = sqlx::query_scalar("SELECT body FROM events WHERE id = $1").bind(id.as_str());
        Ok(found.fetch_optional(&mut *self.conn).await?)
    }

    async fn all_deliveries_page(
        &mut self,
        filter: &AllDeliveriesFilter,
        before: Option<&str>,
        limit: i64,
    ) -> Result<PageById<FoundDelivery>, StoreError> {
        all_deliveries::page(self.conn, filter, before, limit).await
    }

    async fn delivery_find(&mut self, id: &DeliveryId) -> Result<Option<FoundDelivery>, StoreError> {
        let mut query = QueryBuilder::<Db>::new(DELIVERY_COLUMNS);
        query.push("deliveries d JOIN events v ON v.id = d.event_id WHERE d.id = ").push_bind(id.as_str());
        query.build().fetch_optional(&mut *self.conn).await?.as_ref().map(found).transpose()
    }

    async fn delivery_attempts_find(&mut self, id: &DeliveryId) -> Result<Vec<Attempt>, StoreError> {
        let rows = sqlx::query(
            "SELECT id, delivery_id, number, started_at, signed_timestamp, duration_ms, outcome, response_status, \
                 response_excerpt, retry_at FROM attempts WHERE delivery_id = $1 ORDER BY number",
        )
        .bind(id.as_str())
        .fetch_all(&mut *self.conn)
        .await?;
        rows.iter().map(attempt).collect()
    }

    async fn endpoint_find(&mut self, id: &EndpointId) -> Result<Option<FoundEndpoint>, StoreError> {
        let mut query = QueryBuilder::<Db>::new("SELECT merchant_id, deleted_at, ");
        query.push(endpoint_rows::COLUMNS).push(" FROM webhook_endpoints WHERE id = ").push_bind(id.as_str());
        let row = query.build().fetch_optional(&mut *self.conn).await?;
        row.map(|row| found_endpoint(&row)).transpose()
    }

    async fn endpoints_in_trouble(&mut self, limit: i64) -> Result<Vec<FoundEndpoint>, StoreError> {
        let mut endpoints = Vec::new();
        for condition in [
            "status = 'enabled' AND first_failure_at IS NOT NULL ORDER BY first_failure_at",
            "status = 'disabled' AND disabled_reason <> 'merchant' AND deleted_at IS NULL ORDER BY disabled_at DESC",
        ] {
            let mut query = QueryBuilder::<Db>::new("SELECT merchant_id, deleted_at, ");
            query.push(endpoint_rows::COLUMNS).push(" FROM webhook_endpoints WHERE ").push(condition);
            query.push(" LIMIT ").push_bind(limit);
            for row in query.build().fetch_all(&mut *self.conn).await? {
                endpoints.push(found_endpoint(&row)?);
            }
        }
        Ok(endpoints)
    }

    async fn delivery_hasten(&mut self, id: &DeliveryId, now: Timestamp) -> Result<(), StoreError> {
        let hastened: Option<String> = sqlx::query_scalar(
            "UPDATE deliveries SET updated_at = $2, \
                 next_attempt_at = CASE WHEN next_attempt_at > $2 THEN $2 ELSE next_attempt_at END, \
                 retry_asked_at = CASE WHEN lease_token IS NOT NULL THEN $2 END \
             WHERE id = $1 AND status = 'pending' AND (next_attempt_at > $2 OR lease_token IS NOT NULL) \
             RETURNING endpoint_id",
        )
        .bind(id.as_str())
        .bind(now.as_ms())
        .fetch_optional(&mut *self.conn)
        .await?;
        if let Some(endpoint) = hastened {
            self.ask_for_room(&EndpointId::from_store(endpoint), now);
        }
        Ok(())
    }

    async fn outbox(&mut self, now: Timestamp, since: Timestamp, limit: i64) -> Result<Outbox, StoreError> {
        let mut query = QueryBuilder::<Db>::new(WAITING);
        query.push(
            "SELECT b.*, e.merchant_id, e.livemode, e.health_state, e.consecutive_failures FROM ( \
                 SELECT c.*, CAST(SUM(pending) OVER () AS BIGINT) AS all_pending, \
                     CAST(SUM(due) OVER () AS BIGINT) AS all_due, MIN(oldest) OVER () AS oldest_of_all \
                 FROM (SELECT e.endpoint_id, ",
        );
        query.push(COUNTED).push(
            "FROM waiting e WHERE e.endpoint_id IS NOT NULL) AS c ORDER BY pending DESC, endpoint_id LIMIT $3) AS b \
             JOIN webhook_endpoints e ON e.id = b.endpoint_id ORDER BY b.pending DESC, b.endpoint_id",
        );
        let rows = sqlx::query(AssertSqlSafe(query.into_string()))
            .bind(now.as_ms())
            .bind(COUNTED_MAX)
            .bind(limit)
            .fetch_all(&mut *self.conn)
            .await?;
        let (_, _, failed) = self.counted_since(None, since).await?;
        let mut figures = OutboxFigures { pending: 0, due: 0, failed, oldest_pending_at: None };
        // Every row has the sums of all endpoints.
        if let Some(row) = rows.first() {
            figures.pending = row.try_get("all_pending")?;
            figures.due = row.try_get("all_due")?;
            figures.oldest_pending_at = Some(Timestamp::from_ms(row.try_get("oldest_of_all")?));
        }
        Ok(Outbox { figures, endpoints: rows.iter().map(backlog).collect::<Result<_, _>>()? })
    }
}

fn found_endpoint(row: &DbRow) -> Result<FoundEndpoint, StoreError> {
    let endpoint = endpoint(row)?;
    let merchant_id = MerchantId::from_store(row.try_get("merchant_id")?);
    let owner = Tenant { merchant_id, livemode: endpoint.livemode };
    let deleted_at = row.try_get::<Option<i64>, _>("deleted_at")?.map(Timestamp::from_ms);
    Ok(FoundEndpoint { endpoint, owner, deleted_at })
}

pub(super) fn found(row: &DbRow) -> Result<FoundDelivery, StoreError> {
    Ok(FoundDelivery {
        delivery: delivery(row)?,
        merchant_id: MerchantId::from_store(row.try_get("merchant_id")?),
        sequence: row.try_get("sequence")?,
        owner: Tenant {
            merchant_id: MerchantId::from_store(row.try_get("owner_id")?),
            livemode: row.try_get("owner_livemode")?,
        },
    })
}

fn backlog(row: &DbRow) -> Result<Backlog, StoreError> {
    let state: String = row.try_get("health_state")?;
    Ok(Backlog {
        endpoint_id: EndpointId::from_store(row.try_get("endpoint_id")?),
        owner: Tenant {
            merchant_id: MerchantId::from_store(row.try_get("merchant_id")?),
            livemode: row.try_get("livemode")?,
        },
        state: HealthState::parse(&state).ok_or_else(|| {
            StoreError::Broken("webhook_endpoints.health_state holds an unknown word".to_owned())
        })?,
        consecutive_failures: row.try_get("consecutive_failures")?,
        pending: row.try_get("pending")?,
        due: row.try_get("due")?,
        oldest_pending_at: Timestamp::from_ms(row.try_get("oldest")?),
    })
}
