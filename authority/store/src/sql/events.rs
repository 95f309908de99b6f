//! Streams and events.

use async_trait::async_trait;
use authority_domain::event::NewEvent;
use authority_domain::id::{EventId, RequestId};
use authority_domain::list_filter::EventFilter;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;
use sqlx::{QueryBuilder, Row};

use super::look_ahead::{ListOrder, Listed};
use super::page_rows::placed_text;
use super::rows::{Form, Kind, Table, TableOrder, Together, Touches};
use super::streams::waits_under;
use super::{Db, Session, bodies, push_in};
use crate::StoreError;
use crate::ports::{Events, Page, StreamPosition, StreamRange, TurnHolder as _};
use crate::shards::ShardSet;

/// The counter of a stream, advanced from the value that was read.
static STREAMS: Table = Table {
    order: TableOrder::Stream,
    touches: Touches::Each("stream"),
    into: "INSERT INTO streams (merchant_id, livemode, last_sequence, last_created_at)",
    columns: &[Kind::Text, Kind::Bool, Kind::Int, Kind::Int, Kind::Int],
    form: Form::Select("v.column1, v.column2, v.column3, v.column4"),
    rest: "WHERE v.column5 = COALESCE((SELECT s.last_sequence FROM streams s \
             WHERE s.merchant_id = v.column1 AND s.livemode = v.column2), 0) \
         ON CONFLICT (merchant_id, livemode) DO UPDATE SET last_sequence = excluded.last_sequence, \
             last_created_at = excluded.last_created_at",
    together: Together::Merged,
};

static EVENTS: Table = Table {
    order: TableOrder::Event,
    touches: Touches::Any,
    into: "INSERT INTO events (merchant_id, livemode, sequence, id, type, resource_id, created_at, body, request_id, \
         traceparent)",
    columns: &[
        Kind::Text,
        Kind::Bool,
        Kind::Int,
        Kind::Text,
        Kind::Text,
        Kind::Text,
        Kind::Int,
        Kind::Text,
        Kind::Text,
        Kind::Text,
    ],
    form: Form::Insert,
    rest: "",
    together: Together::Apart,
};

#[async_trait]
impl Events for Session<'_> {
    async fn stream_advance(
        &mut self,
        tenant: &Tenant,
        count: i64,
        now: Timestamp,
    ) -> Result<StreamPosition, StoreError> {
        self.need_turns(ShardSet::of(&tenant.merchant_id))?;
        let mut found = match self.conn.cache.stream(tenant) {
            Some(stream) => stream.clone(),
            None => self.stream(tenant, now).await?,
        };
        self.conn.cache.room_as_it_is_now(&mut found.subscribers);
        let last_sequence: i64 = found.last_sequence + count;
        let created_at = now.as_ms().max(found.last_created_at);
        self.conn.cache.move_stream(tenant, last_sequence, created_at);
        self.conn.buffer(
            &STREAMS,
            [waits_under(tenant)],
            [
                tenant.merchant_id.as_str().into(),
                tenant.livemode.into(),
                last_sequence.into(),
                created_at.into(),
                found.last_sequence.into(),
            ],
        );
        Ok(StreamPosition {
            last_sequence,
            created_at: Timestamp::from_ms(created_at),
            active_shares: found.active_shares,
            subscribers: found.subscribers,
        })
    }

    async fn streams_foresee(&mut self, tenants: &[&Tenant], now: Timestamp) -> Result<(), StoreError> {
        self.need_turns(tenants.iter().map(|tenant| &tenant.merchant_id).collect())?;
        let unknown = |tenant: &&&Tenant| {
            self.conn.cache.stream(tenant).is_none() && !self.conn.waits(&waits_under(tenant))
        };
        let unknown: Vec<&Tenant> = tenants.iter().filter(unknown).copied().collect();
        if unknown.len() < 2 {
            return Ok(());
        }
        for (tenant, stream) in self.streams(&unknown, now).await? {
            self.conn.note_stream(&tenant, stream);
        }
        Ok(())
    }

    async fn events_insert(&mut self, tenant: &Tenant, events: &[NewEvent]) -> Result<(), StoreError> {
        for event in events {
            self.conn.buffer(
                &EVENTS,
                [],
                [
                    tenant.merchant_id.as_str().into(),
                    tenant.livemode.into(),
                    event.sequence.into(),
                    event.id.as_str().into(),
                    event.event_type.as_str().into(),
                    event.resource_id.as_str().into(),
                    event.created_at.as_ms().into(),
                    event.body.as_str().into(),
                    event.cause.request_id.as_ref().map(RequestId::as_str).into(),
                    event.cause.trace.map(|trace| trace.to_string()).as_deref().into(),
                ],
            );
        }
        self.count_events(events);
        self.effects.events += events.len();
        Ok(())
    }

    async fn events_page(
        &mut self,
        tenant: &Tenant,
        filter: &EventFilter,
        after: i64,
        limit: i64,
    ) -> Result<Page<String>, StoreError> {
        // One type has an index, in which the events of that type stand in their order. Several have not.
        let (one_type, types) = match filter.types.as_slice() {
            [one] => (Some(one), [].as_slice()),
            types => (None, types),
        };
        let of = |query: &mut QueryBuilder<Db>| {
            bodies::push_tenant(query, tenant);
            bodies::push_equal(query, "type", one_type);
            bodies::push_equal(query, "resource_id", filter.resource.as_ref());
        };
        let filters = |query: &mut QueryBuilder<Db>| {
            push_in(query, "type", types);
            bodies::push_created(query, filter.created_from, filter.created_to);
        };
        let listed = Listed {
            table: "events",
            joins: "",
            position: "sequence",
            order: ListOrder::OldestFirst,
            after: Some(after),
            of,
            owner: None,
            filter: filters,
        };
        listed.page(self.conn, "sequence, body", limit, placed_text).await
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
