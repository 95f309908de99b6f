//! What happened to an order: its events and what became of each.

use async_trait::async_trait;
use authority_domain::delivery::Attempt;
use authority_domain::id::{DeliveryId, EndpointId, EventId};
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;
use sqlx::{QueryBuilder, Row};

use super::day_figures::{ENDPOINTS, EVENTS};
use super::delivery_history::attempt;
use super::operator_reads::{DELIVERY_COLUMNS, found};
use super::page_rows::placed_texts;
use super::{Db, Session, push_in};
use crate::StoreError;
use crate::ports::{FoundDelivery, HourFigures, OrderStory};

const HOUR_MS: i64 = 60 * 60 * 1000;

#[async_trait]
impl OrderStory for Session<'_> {
    async fn events_about(
        &mut self,
        tenant: &Tenant,
        records: &[String],
        before: Option<i64>,
        limit: i64,
    ) -> Result<Vec<String>, StoreError> {
        // One look-up for each: for all at once, planners rather walk the stream from its end.
        let mut events: Vec<(i64, String)> = Vec::new();
        for record in records {
            let rows = sqlx::query(
                "SELECT sequence, body FROM events WHERE merchant_id = $1 AND livemode = $2 AND resource_id = $3 \
                 AND sequence < $4 ORDER BY sequence DESC LIMIT $5",
            )
            .bind(tenant.merchant_id.as_str())
            .bind(tenant.livemode)
            .bind(record)
            .bind(before.unwrap_or(i64::MAX))
            .bind(limit)
            .fetch(&mut *self.conn);
            events.extend(placed_texts::<i64>(rows).await?);
        }
        events.sort_unstable_by_key(|(sequence, _)| std::cmp::Reverse(*sequence));
        events.truncate(usize::try_from(limit).unwrap_or(0));
        Ok(events.into_iter().map(|(_, body)| body).collect())
    }

    async fn deliveries_of_events(
        &mut self,
        events: &[EventId],
        limit: i64,
    ) -> Result<Vec<FoundDelivery>, StoreError> {
        if events.is_empty() {
            return Ok(Vec::new());
        }
        let events: Vec<String> = events.iter().map(EventId::to_string).collect();
        let mut query = QueryBuilder::<Db>::new(DELIVERY_COLUMNS);
        query.push("deliveries d JOIN events v ON v.id = d.event_id WHERE TRUE");
        push_in(&mut query, "d.event_id", &events);
        query.push(" ORDER BY d.id DESC LIMIT ").push_bind(limit);
        query.build().fetch_all(&mut *self.conn).await?.iter().map(found).collect()
    }

    async fn attempts_of_deliveries(
        &mut self,
        deliveries: &[DeliveryId],
        limit: i64,
    ) -> Result<Vec<Attempt>, StoreError> {
        if deliveries.is_empty() {
            return Ok(Vec::new());
        }
        let deliveries: Vec<String> = deliveries.iter().map(DeliveryId::to_string).collect();
        let mut query = QueryBuilder::<Db>::new(
            "SELECT id, delivery_id, number, started_at, signed_timestamp, duration_ms, outcome, response_status, \
                 response_excerpt, retry_at FROM attempts WHERE TRUE",
        );
        push_in(&mut query, "delivery_id", &deliveries);
        query.push(" ORDER BY started_at DESC, id DESC LIMIT ").push_bind(limit);
        query.build().fetch_all(&mut *self.conn).await?.iter().map(attempt).collect()
    }

    async fn hours_since(
        &mut self,
        endpoint: Option<&EndpointId>,
        since: Timestamp,
    ) -> Result<Vec<HourFigures>, StoreError> {
        let begin = since.as_ms() - since.as_ms().rem_euclid(HOUR_MS);
        // The sign keeps planners from the index of ages, which has the rows of all endpoints.
        let mut query = QueryBuilder::<Db>::new(
            "SELECT since / 3600000 AS hour, \
                 CAST(SUM(CASE WHEN endpoint_id < 'shard/' THEN attempts ELSE 0 END) AS BIGINT) AS events, \
                 CAST(SUM(CASE WHEN endpoint_id < 'shard/' THEN 0 ELSE attempts END) AS BIGINT) AS attempts, \
                 CAST(SUM(failed_attempts) AS BIGINT) AS failed_attempts, \
                 CAST(SUM(failed_deliveries) AS BIGINT) AS failed_deliveries FROM endpoint_figures WHERE +since >= ",
        );
        query.push_bind(begin).push(" AND endpoint_id ");
        match endpoint {
            Some(endpoint) => query.push("= ").push_bind(endpoint.as_str()),
            None => query.push(">= ").push_bind(EVENTS).push(" AND endpoint_id < ").push_bind(ENDPOINTS),
        };
        query.push(" GROUP BY since / 3600000 ORDER BY hour");
        let rows = query.build().fetch_all(&mut *self.conn).await?;
        let read = |row: &super::DbRow| -> Result<HourFigures, StoreError> {
            let hour: i64 = row.try_get("hour")?;
            Ok(HourFigures {
                since: Timestamp::from_ms(hour * HOUR_MS),
                events: row.try_get("events")?,
                attempts: row.try_get("attempts")?,
                failed_attempts: row.try_get("failed_attempts")?,
                failed_deliveries: row.try_get("failed_deliveries")?,
            })
        };
        rows.iter().map(read).collect()
    }
}
