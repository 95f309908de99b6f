//! Streams and events.

use async_trait::async_trait;
use authority_domain::endpoint::HealthState;
use authority_domain::endpoint_hold::{Hold, room};
use authority_domain::event::NewEvent;
use authority_domain::id::{EndpointId, EventId};
use authority_domain::list_filter::EventFilter;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;
use sqlx::{QueryBuilder, Row};

use super::endpoints::sealed_secret;
use super::remembered::Stream;
use super::rows::{Kind, Place, Table, Together, Touches};
use super::{Db, DbRow, Session, push_in};
use crate::StoreError;
use crate::ports::{Endpoints, Events, Reach, StreamPosition, StreamRange, Subscriber};

/// A stream and who is to hear of its events.
const STREAM: &str = "SELECT s.last_sequence, s.last_created_at, e.id, e.enabled_events, e.merchant_id FROM streams s \
     LEFT JOIN webhook_endpoints e ON (e.merchant_id = $1 AND e.livemode = $2 \
         OR e.merchant_id = $3 AND e.livemode = $4) AND e.deleted_at IS NULL AND e.status = 'enabled' \
     WHERE s.merchant_id = $1 AND s.livemode = $2 ORDER BY e.created_sequence, e.id";

/// The same with what it takes to send to them at `$5`: every endpoint once for each usable secret, what is in flight to
/// it, and whether it is behind: a due delivery waits that nobody holds. Both are read from indexes of what is pending,
/// and stop at the first that is found.
const STREAM_AND_REACHES: &str = "SELECT s.last_sequence, s.last_created_at, e.id, e.enabled_events, e.merchant_id, \
         e.url, e.api_version, e.held_until, e.hold_step, e.health_state, k.version, k.sealed, k.expires_at, \
         (SELECT COUNT(*) FROM deliveries l WHERE l.endpoint_id = e.id AND l.lease_token IS NOT NULL \
             AND l.lease_until >= $5) AS in_flight, \
         EXISTS (SELECT 1 FROM deliveries w WHERE w.endpoint_id = e.id AND w.status = 'pending' \
             AND w.next_attempt_at <= $5 AND (w.lease_until IS NULL OR w.lease_until < $5)) AS behind \
     FROM streams s \
     LEFT JOIN webhook_endpoints e ON (e.merchant_id = $1 AND e.livemode = $2 \
         OR e.merchant_id = $3 AND e.livemode = $4) AND e.deleted_at IS NULL AND e.status = 'enabled' \
     LEFT JOIN endpoint_secrets k ON k.endpoint_id = e.id AND (k.expires_at IS NULL OR k.expires_at > $5) \
     WHERE s.merchant_id = $1 AND s.livemode = $2 ORDER BY e.created_sequence, e.id, k.version DESC";

/// The counter of a stream, moved on from where it was read.
static STREAMS: Table = Table {
    place: Place::Stream,
    touches: Touches::Each("stream"),
    into: "INSERT INTO streams (merchant_id, livemode, last_sequence, last_created_at)",
    columns: &[Kind::Text, Kind::Bool, Kind::Int, Kind::Int, Kind::Int],
    select: Some("v.column1, v.column2, v.column3, v.column4"),
    rest: "WHERE v.column5 = COALESCE((SELECT s.last_sequence FROM streams s \
             WHERE s.merchant_id = v.column1 AND s.livemode = v.column2), 0) \
         ON CONFLICT (merchant_id, livemode) DO UPDATE SET last_sequence = excluded.last_sequence, \
             last_created_at = excluded.last_created_at",
    together: Together::Merged,
};

static EVENTS: Table = Table {
    place: Place::Event,
    touches: Touches::Any,
    into: "INSERT INTO events (merchant_id, livemode, sequence, id, type, resource_id, created_at, body)",
    columns: &[Kind::Text, Kind::Bool, Kind::Int, Kind::Text, Kind::Text, Kind::Text, Kind::Int, Kind::Text],
    select: None,
    rest: "",
    together: Together::Apart,
};

/// What a stream's counter waits under.
fn waits_under(tenant: &Tenant) -> String {
    format!("stream/{}/{}", tenant.merchant_id, tenant.livemode)
}

impl Session<'_> {
    /// Reads where a stream stands and who wants to hear of it.
    async fn stream(&mut self, tenant: &Tenant, now: Timestamp) -> Result<Stream, StoreError> {
        let operator = Tenant::operator();
        let cap = self.desk.as_ref().filter(|desk| desk.slots.free().is_some()).map(|desk| desk.per_endpoint);
        let query = sqlx::query(if cap.is_some() { STREAM_AND_REACHES } else { STREAM })
            .bind(tenant.merchant_id.as_str())
            .bind(tenant.livemode)
            .bind(operator.merchant_id.as_str())
            .bind(operator.livemode);
        let query = if cap.is_some() { query.bind(now.as_ms()) } else { query };
        let rows = query.fetch_all(self.conn.about(&[waits_under(tenant)]).await?).await?;
        let stream = match rows.first() {
            Some(first) => Stream {
                last_sequence: first.try_get(0)?,
                last_created_at: first.try_get(1)?,
                subscribers: subscribers(&rows, tenant, cap, now)?,
            },
            None => Stream {
                last_sequence: 0,
                last_created_at: i64::MIN,
                subscribers: self.endpoints_enabled(tenant).await?,
            },
        };
        self.conn.note_stream(tenant, stream.clone());
        Ok(stream)
    }
}

#[async_trait]
impl Events for Session<'_> {
    async fn stream_advance(
        &mut self,
        tenant: &Tenant,
        count: i64,
        now: Timestamp,
    ) -> Result<StreamPosition, StoreError> {
        let mut found = match self.conn.remembered.stream(tenant) {
            Some(stream) => stream.clone(),
            None => self.stream(tenant, now).await?,
        };
        self.conn.remembered.room_as_it_is_now(&mut found.subscribers);
        let last_sequence: i64 = found.last_sequence + count;
        let created_at = now.as_ms().max(found.last_created_at);
        self.conn.remembered.move_stream(tenant, last_sequence, created_at);
        self.conn.wait(
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
            subscribers: found.subscribers,
        })
    }

    async fn events_insert(&mut self, tenant: &Tenant, events: &[NewEvent]) -> Result<(), StoreError> {
        for event in events {
            self.conn.wait(
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
                ],
            );
        }
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
        rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
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

/// A stream without endpoints has one row that names none. With a `cap` of requests in flight, an endpoint has a row for
/// each of its secrets, which tells how it is reached.
fn subscribers(
    rows: &[DbRow],
    tenant: &Tenant,
    cap: Option<i64>,
    now: Timestamp,
) -> Result<Vec<Subscriber>, StoreError> {
    let mut subscribers: Vec<Subscriber> = Vec::new();
    for row in rows {
        let Some(id) = row.try_get::<Option<&str>, _>(2)? else { continue };
        if let Some(last) = subscribers.last_mut()
            && last.endpoint_id.as_str() == id
        {
            if let Some(reach) = &mut last.reach {
                reach.secrets.push(sealed_secret(row)?);
            }
            continue;
        }
        let theirs = row.try_get::<&str, _>(4)? == tenant.merchant_id.as_str();
        subscribers.push(Subscriber {
            endpoint_id: EndpointId::from_store(id.to_owned()),
            enabled_events: serde_json::from_str(row.try_get(3)?)?,
            owner: if theirs { tenant.clone() } else { Tenant::operator() },
            reach: cap.map(|cap| reach(row, cap, now)).transpose()?.flatten(),
        });
    }
    Ok(subscribers)
}

/// How the endpoint of a row is reached; `None` when it has no secret to sign with.
fn reach(row: &DbRow, cap: i64, now: Timestamp) -> Result<Option<Reach>, StoreError> {
    if row.try_get::<Option<i64>, _>("version")?.is_none() {
        return Ok(None);
    }
    let hold = Hold {
        until: row.try_get::<Option<i64>, _>("held_until")?.map(Timestamp::from_ms),
        step: row.try_get("hold_step")?,
        since: None,
    };
    let health = HealthState::parse(row.try_get("health_state")?).ok_or_else(|| {
        StoreError::Broken("webhook_endpoints.health_state holds an unknown word".to_owned())
    })?;
    let room = match row.try_get("behind")? {
        true => 0,
        false => room(&hold, health, cap, row.try_get("in_flight")?, now),
    };
    Ok(Some(Reach {
        url: row.try_get("url")?,
        api_version: row.try_get("api_version")?,
        secrets: vec![sealed_secret(row)?],
        room,
        held_back: hold.until.is_some_and(|until| until > now),
    }))
}
