//! Streams and events.

use async_trait::async_trait;
use authority_domain::event::NewEvent;
use authority_domain::id::EventId;
use authority_domain::list_filter::EventFilter;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;
use sqlx::{QueryBuilder, Row};

use super::{Db, Session, push_in};
use crate::StoreError;
use crate::ports::{Events, StreamPosition, StreamRange};

#[async_trait]
impl Events for Session<'_> {
    async fn stream_advance(
        &mut self,
        tenant: &Tenant,
        count: i64,
        now: Timestamp,
    ) -> Result<StreamPosition, StoreError> {
        let row = sqlx::query(
            "INSERT INTO streams (merchant_id, livemode, last_sequence, last_created_at) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (merchant_id, livemode) DO UPDATE SET \
                 last_sequence = streams.last_sequence + excluded.last_sequence, \
                 last_created_at = CASE WHEN excluded.last_created_at > streams.last_created_at \
                     THEN excluded.last_created_at ELSE streams.last_created_at END \
             RETURNING last_sequence, last_created_at",
        )
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .bind(count)
        .bind(now.as_ms())
        .fetch_one(&mut *self.conn)
        .await?;
        Ok(StreamPosition {
            last_sequence: row.try_get("last_sequence")?,
            created_at: Timestamp::from_ms(row.try_get("last_created_at")?),
        })
    }

    async fn events_insert(&mut self, tenant: &Tenant, events: &[NewEvent]) -> Result<(), StoreError> {
        let mut query = QueryBuilder::<Db>::new(
            "INSERT INTO events (merchant_id, livemode, sequence, id, type, resource_id, created_at, body) ",
        );
        query.push_values(events, |mut row, event| {
            row.push_bind(tenant.merchant_id.as_str())
                .push_bind(tenant.livemode)
                .push_bind(event.sequence)
                .push_bind(event.id.as_str())
                .push_bind(event.event_type.as_str())
                .push_bind(&event.resource_id)
                .push_bind(event.created_at.as_ms())
                .push_bind(&event.body);
        });
        query.build().execute(&mut *self.conn).await?;
        self.made.events += events.len();
        Ok(())
    }

    async fn events_page(
        &mut self,
        tenant: &Tenant,
        filter: &EventFilter,
        after: i64,
        limit: i64,
    ) -> Result<Vec<(i64, String)>, StoreError> {
        let mut query = QueryBuilder::<Db>::new("SELECT sequence, body FROM events WHERE merchant_id = ");
        query.push_bind(tenant.merchant_id.as_str()).push(" AND livemode = ").push_bind(tenant.livemode);
        query.push(" AND sequence > ").push_bind(after);
        push_event_filter(&mut query, filter);
        query.push(" ORDER BY sequence LIMIT ").push_bind(limit);
        let rows = query.build().fetch_all(&mut *self.conn).await?;
        rows.iter().map(|row| Ok((row.try_get("sequence")?, row.try_get("body")?))).collect()
    }

    async fn event_body(&mut self, tenant: &Tenant, id: &EventId) -> Result<Option<String>, StoreError> {
        Ok(sqlx::query_scalar("SELECT body FROM events WHERE id = $1 AND merchant_id = $2 AND livemode = $3")
            .bind(id.as_str())
            .bind(tenant.merchant_id.as_str())
            .bind(tenant.livemode)
            .fetch_optional(&mut *self.conn)
            .await?)
    }

    async fn stream_range(&mut self, tenant: &Tenant) -> Result<StreamRange, StoreError> {
        let row = sqlx::query(
            "SELECT (SELECT MIN(sequence) FROM events WHERE merchant_id = $1 AND livemode = $2) AS oldest, \
                    (SELECT last_sequence FROM streams WHERE merchant_id = $1 AND livemode = $2) AS latest",
        )
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .fetch_one(&mut *self.conn)
        .await?;
        let latest = row.try_get::<Option<i64>, _>("latest")?.unwrap_or(0);
        Ok(StreamRange { oldest: row.try_get::<Option<i64>, _>("oldest")?.unwrap_or(latest + 1), latest })
    }
}

/// What narrows a stream.
pub(super) fn push_event_filter(query: &mut QueryBuilder<Db>, filter: &EventFilter) {
    push_in(query, "type", &filter.types);
    if let Some(resource) = &filter.resource {
        query.push(" AND resource_id = ").push_bind(resource.clone());
    }
    if let Some(from) = filter.created_from {
        query.push(" AND created_at >= ").push_bind(from.as_ms());
    }
    if let Some(to) = filter.created_to {
        query.push(" AND created_at < ").push_bind(to.as_ms());
    }
}
