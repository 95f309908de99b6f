//! Streams and events (contract 8).

pub(crate) mod change_marks;
pub(crate) mod checkpoints;
pub(crate) mod retention;
pub(crate) mod streams;

use authority_domain::event::NewEvent;
use authority_domain::list_filter::EventFilter;
use authority_domain::{EventId, RequestId, Tenant, Timestamp};

use crate::hand_off::Subscriber;
use crate::sql::transaction::counter::Counter;
use crate::sql::transaction::keys::stream_key;
use crate::sql::transaction::look_ahead::{ListOrder, Listed};
use crate::sql::transaction::pages::{Page, placed_text};
use crate::sql::{
    Form, Query, Result, Row, Shard, ShardSet, Table, TableOrder, Together, Touches, Tx, bodies, columns,
    query, row,
};

/// The sequence numbers that a transaction reserves for its events, and the endpoints that may want the events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamPosition {
    /// Sequence of the last event.
    pub last_sequence: i64,
    /// `created_at` of all of them: now, or later when the clock stepped back.
    pub created_at: Timestamp,
    /// How many active shares of its orders the tenant has. The true number may be lower.
    pub active_shares: i64,
    /// The endpoints that are enabled, the operator's among them, oldest first.
    pub subscribers: Vec<Subscriber>,
}

/// The range of events that a stream still has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamRange {
    /// The oldest stored event; 1 for a stream without events.
    pub oldest: i64,
    /// The newest; 0 for a stream without events.
    pub latest: i64,
}

/// The counter of a stream, advanced from the value that was read.
static STREAMS: Table = Table {
    order: TableOrder::Stream,
    touches: Touches::Each("stream"),
    columns: columns!(into "INSERT INTO streams (shard, merchant_id, livemode, last_sequence, last_created_at)";
        Shard, Text, Bool, Int, Int, Int),
    form: Form::Counter(Counter {
        select: "v.column1, v.column2, v.column3, v.column4, v.column5",
        update: "UPDATE streams SET last_sequence = v.column4, last_created_at = v.column5",
        moves: "WHERE streams.shard = v.column1 AND streams.merchant_id = v.column2 AND streams.livemode = v.column3 \
            AND streams.last_sequence = v.column6",
        begins: "WHERE v.column6 = 0 ON CONFLICT (shard, merchant_id, livemode) DO NOTHING",
    }),
    rest: "WHERE v.column6 = COALESCE((SELECT s.last_sequence FROM streams s \
             WHERE s.shard = v.column1 AND s.merchant_id = v.column2 AND s.livemode = v.column3), 0) \
         ON CONFLICT (shard, merchant_id, livemode) DO UPDATE SET last_sequence = excluded.last_sequence, \
             last_created_at = excluded.last_created_at",
    together: Together::Merged,
};

static EVENTS: Table = Table {
    order: TableOrder::Event,
    touches: Touches::Any,
    columns: columns!("events":
        shard Shard, merchant_id Text, livemode Bool, sequence Int, id Text, type Text, resource_id Text, created_at Int,
        body Text, request_id Text, traceparent Text),
    form: Form::Insert,
    rest: "",
    together: Together::Apart,
};

impl Tx {
    /// Reserves the next `count` sequence numbers of the tenant's stream. No other transaction writes meanwhile, so
    /// the order of numbers is the order of commits (contract 8.3). The counter is read here and written with the
    /// events, on condition that it has not changed.
    pub async fn stream_advance(
        &mut self,
        tenant: &Tenant,
        count: i64,
        now: Timestamp,
    ) -> Result<StreamPosition> {
        self.need_turns(ShardSet::of(&tenant.merchant_id))?;
        let mut found = match self.conn.cache.streams.get(tenant) {
            Some(stream) => stream.clone(),
            None => self.stream(tenant, now).await?,
        };
        self.conn.cache.room_as_it_is_now(&mut found.subscribers);
        let last_sequence: i64 = found.last_sequence + count;
        let created_at = now.as_ms().max(found.last_created_at);
        self.conn.cache.move_stream(tenant, last_sequence, created_at);
        self.conn.buffer(
            &STREAMS,
            [stream_key(tenant)],
            row!(
                Shard::of(&tenant.merchant_id),
                tenant.merchant_id.as_str(),
                tenant.livemode,
                last_sequence,
                created_at,
                found.last_sequence
            ),
        );
        Ok(StreamPosition {
            last_sequence,
            created_at: Timestamp::from_ms(created_at),
            active_shares: found.active_shares,
            subscribers: found.subscribers,
        })
    }

    /// Announces whose streams will be read next, so that they can be read together. No result depends on it.
    pub(crate) async fn streams_foresee(&mut self, tenants: &[&Tenant], now: Timestamp) -> Result<()> {
        self.need_turns(tenants.iter().map(|tenant| &tenant.merchant_id).collect())?;
        let unknown = |tenant: &&&Tenant| {
            !self.conn.cache.streams.contains_key(tenant) && !self.conn.waits(&stream_key(tenant))
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

    /// Adds events; their bytes never change again.
    pub async fn events_insert(&mut self, tenant: &Tenant, events: &[NewEvent]) -> Result<()> {
        let shard = Shard::of(&tenant.merchant_id);
        for event in events {
            self.conn.buffer(
                &EVENTS,
                [],
                row!(
                    shard, tenant.merchant_id.as_str(), tenant.livemode, event.sequence, event.id.as_str();
                    event.event_type.as_str(), event.resource_id.as_str(), event.created_at.as_ms();
                    event.body.as_str(), event.cause.request_id.as_ref().map(RequestId::as_str);
                    event.cause.trace.map(|trace| trace.to_string()).as_deref()),
            );
        }
        self.count_events(shard, events);
        self.job.effects.events += events.len();
        Ok(())
    }

    /// Up to `limit` events after `after`, oldest first, as stored bytes.
    pub async fn events_page(
        &mut self,
        tenant: &Tenant,
        filter: &EventFilter,
        after: i64,
        limit: i64,
    ) -> Result<Page<String>> {
        // One type has an index, in which the events of that type stand in their order. Several have not.
        let (one_type, types) = match filter.types.as_slice() {
            [one] => (Some(one), [].as_slice()),
            types => (None, types),
        };
        let of = |query: &mut Query<'_>| {
            query.push_tenant("", tenant);
            query.push_some(" AND type = ", one_type.map(|one| one.as_str()));
            query.push_some(" AND resource_id = ", filter.resource.clone());
        };
        let filters = |query: &mut Query<'_>| {
            query.push_in("type", types);
            bodies::push_created(query, filter.created_from, filter.created_to);
        };
        let listed = Listed {
            table: "events",
            joins: "",
            position: "sequence",
            order: ListOrder::OLDEST_FIRST,
            after: Some(after),
            of,
            owner: None,
            filter: filters,
        };
        listed.page(&mut self.conn, "sequence, body", limit, placed_text).await
    }

    /// The stored bytes of one event.
    pub async fn event_body(&mut self, tenant: &Tenant, id: &EventId) -> Result<Option<String>> {
        Ok(query(
            "SELECT body FROM events WHERE id = $1 AND shard = $2 AND merchant_id = $3 AND livemode = $4",
        )
        .bind(id.as_str())
        .bind_tenant(tenant)
        .read_optional(&mut self.conn)
        .await?)
    }

    /// The range of events that the tenant's stream still has.
    pub async fn stream_range(&mut self, tenant: &Tenant) -> Result<StreamRange> {
        let row = query(
            "SELECT (SELECT MIN(sequence) FROM events WHERE shard = $1 AND merchant_id = $2 AND livemode = $3) AS oldest, \
                    (SELECT last_sequence FROM streams WHERE shard = $1 AND merchant_id = $2 AND livemode = $3) AS latest",
        )
        .bind_tenant(tenant)
        .read_one::<Row>(&mut self.conn)
        .await?;
        let latest = row.get::<Option<i64>>("latest")?.unwrap_or(0);
        Ok(StreamRange { oldest: row.get::<Option<i64>>("oldest")?.unwrap_or(latest + 1), latest })
    }
}

/// What narrows a stream.
pub(crate) fn push_event_filter(query: &mut Query<'_>, filter: &EventFilter) {
    query.push_in("type", &filter.types);
    query.push_some(" AND resource_id = ", filter.resource.clone());
    bodies::push_created(query, filter.created_from, filter.created_to);
}
