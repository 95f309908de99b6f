//! The positions of streams, and the subscribers of their events.
//!
//! One statement reads any number of streams: the one that a job reads for itself, or those of all queued jobs
//! ([`crate::sql::prefetch`]). Where this instance may send, the statement also reads what sending needs:
//! every endpoint once for each usable secret, the number of deliveries in flight to it, and whether it is behind,
//! that is, whether it has a due delivery that nobody holds. Both come from indexes of pending deliveries; the latter
//! stops at the first that is found.

use std::collections::HashMap;

use authority_domain::endpoint::HealthState;
use authority_domain::endpoint::hold::{Hold, cap};
use authority_domain::{EndpointId, MerchantId, Tenant, Timestamp};

use crate::hand_off::{DispatchHandle, DispatchTarget, Subscriber};
use crate::slots::Bounds;
use crate::sql::delivery::leased::{bounds_of, push_bounds};
use crate::sql::endpoint::rows::{OPTIONS, delivery_options, sealed_secret, signature_profile};
use crate::sql::transaction::keys::stream_key;
use crate::sql::transaction::transaction_cache::Stream;
use crate::sql::{Query, Result, Row, Shard, Tx};

impl Tx {
    /// Reads the position of a stream and its subscribers.
    pub(crate) async fn stream(&mut self, tenant: &Tenant, now: Timestamp) -> Result<Stream> {
        let mut streams = self.streams(&[tenant], now).await?;
        let stream = streams.remove(tenant).unwrap_or(Stream::NEW);
        self.conn.note_stream(tenant, stream.clone());
        Ok(stream)
    }

    /// Reads these streams. One that has no event yet has no row; a second statement finds the subscribers of all of
    /// those.
    pub(crate) async fn streams(
        &mut self,
        tenants: &[&Tenant],
        now: Timestamp,
    ) -> Result<HashMap<Tenant, Stream>> {
        let dispatch = self.job.dispatch.clone().filter(|dispatch| dispatch.slots.has_room());
        let reached_by = dispatch.as_deref().map(|dispatch| (dispatch, now));
        let about: Vec<String> = tenants.iter().map(|tenant| stream_key(tenant)).collect();
        let apart = self.conn.dialect().shards_apart;
        let rows = question(reached_by, Of::Streams { tenants, apart }).about(&about);
        let rows = rows.read::<Row>(&mut self.conn).await?;
        let of_platform = match apart {
            true => question(reached_by, Of::Platform).about(&[]).read::<Row>(&mut self.conn).await?,
            false => Vec::new(),
        };
        let mut streams = HashMap::new();
        for rows in rows.chunk_by(same_stream) {
            let Some(first) = rows.first() else { continue };
            let stream = Stream {
                last_sequence: first.get(2)?,
                last_created_at: first.get(3)?,
                active_shares: first.get("active_shares")?,
                ..Stream::NEW
            };
            streams.insert(tenant_of(first)?, (stream, rows));
        }
        let new: Vec<&Tenant> = tenants.iter().copied().filter(|of| !streams.contains_key(*of)).collect();
        streams.extend(new.iter().map(|tenant| ((*tenant).clone(), (Stream::NEW, [].as_slice()))));
        let of_new = match new.is_empty() {
            true => Vec::new(),
            false => {
                let query = question(reached_by, Of::New { tenants: &new, apart }).about(&[]);
                query.read::<Row>(&mut self.conn).await?
            }
        };
        for rows in of_new.chunk_by(same_stream) {
            let Some(first) = rows.first() else { continue };
            streams.insert(tenant_of(first)?, (Stream::NEW, rows));
        }
        let complete = |(tenant, (mut stream, rows)): (Tenant, (Stream, &[Row]))| {
            for rows in [rows, &of_platform] {
                stream.subscribers.extend(subscribers(rows, &tenant, dispatch.as_deref(), now)?);
            }
            Ok((tenant, stream))
        };
        streams.into_iter().map(complete).collect()
    }
}

/// Whose endpoints are asked for. With `apart`, the platform's are asked for alone: they are in a shard of their own.
#[derive(Clone, Copy)]
enum Of<'a> {
    /// Those of these streams, which exist.
    Streams { tenants: &'a [&'a Tenant], apart: bool },
    /// Those of these tenants, which have no stream yet.
    New { tenants: &'a [&'a Tenant], apart: bool },
    /// The platform's.
    Platform,
}

/// The columns of a stream without events.
const NOTHING: &str = "0 AS last_sequence, 0 AS last_created_at, 0 AS active_shares";

/// The query for these streams; with a dispatcher and a time, it also reads how the dispatcher reaches their
/// endpoints then.
fn question(reached_by: Option<(&DispatchHandle, Timestamp)>, of: Of<'_>) -> Query<'static> {
    let mut query = Query::new(
        "SELECT s.merchant_id, s.livemode, s.last_sequence, s.last_created_at, e.id, e.enabled_events, e.merchant_id, \
         s.active_shares",
    );
    if let Some((dispatch, at)) = reached_by {
        let now = at.as_ms();
        query.push(", ");
        push_bounds(&mut query, at, &dispatch.token);
        query
            .push(", ")
            .push(OPTIONS)
            .push(
                ", e.url, e.api_version, e.signature_profile, e.held_until, e.hold_step, e.hold_regained, e.health_state, \
                 k.version, k.sealed, k.expires_at, \
                 CASE WHEN e.hold_step > 0 OR e.hold_regained > 0 OR e.health_state = 'failing' THEN \
                     (SELECT COUNT(*) FROM deliveries l WHERE l.shard = e.shard AND l.endpoint_id = e.id AND l.lease_token IS NOT NULL \
                         AND l.lease_until >= ",
            )
            .push_bind(now)
            .push(
                ") ELSE 0 END AS in_flight, \
                 EXISTS (SELECT 1 FROM deliveries w WHERE w.shard = e.shard AND w.endpoint_id = e.id AND w.status = 'pending' \
                     AND w.next_attempt_at <= ",
            )
            .push_bind(now)
            .push(" AND (w.lease_until IS NULL OR w.lease_until < ")
            .push_bind(now)
            .push(")) AS behind");
    }
    push_endpoints(&mut query, of);
    if let Some(now) = reached_by.map(|(_, at)| at.as_ms()) {
        query
            .push(" LEFT JOIN merchants m ON m.id = e.merchant_id")
            .push(" LEFT JOIN endpoint_secrets k ON k.shard = e.shard AND k.endpoint_id = e.id AND (k.expires_at IS NULL OR k.expires_at > ")
            .push_bind(now)
            .push(")");
    }
    query.push(" ORDER BY s.merchant_id, s.livemode, e.created_sequence, e.id");
    if reached_by.is_some() {
        query.push(", k.version DESC");
    }
    query
}

/// Adds the streams `s` and the endpoints `e` that get their events.
fn push_endpoints(query: &mut Query<'_>, of: Of<'_>) {
    const USABLE: &str = " AND e.deleted_at IS NULL AND e.status = 'enabled'";
    let operator = Tenant::operator();
    let (tenants, apart) = match of {
        Of::Streams { tenants, apart } => {
            query.push(" FROM (SELECT DISTINCT column1, column2, column3 FROM ");
            (tenants, apart)
        }
        Of::New { tenants, apart } => {
            query
                .push(
                    " FROM (SELECT DISTINCT column1 AS merchant_id, column2 AS livemode, column3 AS shard, ",
                )
                .push(NOTHING);
            query.push(" FROM ");
            (tenants, apart)
        }
        Of::Platform => {
            query.push(" FROM (SELECT '' AS merchant_id, FALSE AS livemode, ").push(NOTHING);
            query.push(") AS s JOIN webhook_endpoints e ON ").push_tenant("e.", &operator).push(USABLE);
            return;
        }
    };
    // A join: SQLite answers IN over a list of rows by walking the whole table.
    let mut between = "(VALUES (CAST(";
    for tenant in padded(tenants) {
        query.push(between).push_bind(tenant.merchant_id.as_str().to_owned());
        query.push(" AS TEXT), CAST(").push_bind(tenant.livemode).push(" AS BOOLEAN), CAST(");
        query.push_bind(Shard::of(&tenant.merchant_id)).push(" AS SMALLINT))");
        between = ", (CAST(";
    }
    query.push(match of {
        Of::Streams { .. } => {
            ") AS v) AS t JOIN streams s ON s.shard = t.column3 AND s.merchant_id = t.column1 AND s.livemode = t.column2 \
             LEFT JOIN webhook_endpoints e"
        }
        _ => ") AS v) AS s JOIN webhook_endpoints e",
    });
    query.push(" ON (e.shard = s.shard AND e.merchant_id = s.merchant_id AND e.livemode = s.livemode");
    if !apart {
        query.push(" OR ").push_tenant("e.", &operator);
    }
    query.push(")").push(USABLE);
}

/// The tenant of a row.
fn tenant_of(row: &Row) -> Result<Tenant> {
    Ok(Tenant { merchant_id: MerchantId::from_store(row.get(0)?), livemode: row.get(1)? })
}

/// Whether two rows are about one stream.
fn same_stream(a: &Row, b: &Row) -> bool {
    let of = |row: &Row| Some((row.get::<String>(0).ok()?, row.get::<bool>(1).ok()?));
    of(a) == of(b)
}

/// The subscribers in the rows of one stream. A stream without endpoints has one row that names none. With a
/// dispatcher, an endpoint has a row for each of its secrets, which shows how it is reached.
fn subscribers(
    rows: &[Row],
    tenant: &Tenant,
    dispatch: Option<&DispatchHandle>,
    now: Timestamp,
) -> Result<Vec<Subscriber>> {
    let mut subscribers: Vec<Subscriber> = Vec::new();
    for row in rows {
        let Some(id) = row.get::<Option<&str>>(4)? else { continue };
        if let Some(last) = subscribers.last_mut()
            && last.endpoint_id.as_str() == id
        {
            if let Some(reach) = &mut last.reach {
                reach.secrets.push(sealed_secret(row)?);
            }
            continue;
        }
        let theirs = row.get::<&str>(6)? == tenant.merchant_id.as_str();
        subscribers.push(Subscriber {
            endpoint_id: EndpointId::from_store(id.to_owned()),
            enabled_events: serde_json::from_str(row.get(5)?)?,
            owner: if theirs { tenant.clone() } else { Tenant::operator() },
            reach: dispatch.map(|dispatch| reach(row, dispatch, now)).transpose()?.flatten(),
        });
    }
    Ok(subscribers)
}

/// How the endpoint of a row is reached; `None` when it has no secret to sign with.
fn reach(row: &Row, dispatch: &DispatchHandle, now: Timestamp) -> Result<Option<DispatchTarget>> {
    if row.get::<Option<i64>>("version")?.is_none() {
        return Ok(None);
    }
    let hold = Hold {
        until: row.read("held_until")?,
        step: row.get("hold_step")?,
        regained: row.get("hold_regained")?,
        ..Hold::default()
    };
    let health = row.word("webhook_endpoints.health_state", HealthState::parse)?;
    let in_flight: i64 = row.get("in_flight")?;
    let cap = cap(&hold, health, now);
    let bounds = Bounds { capped: cap.is_some(), ..bounds_of(row, dispatch.max_in_flight)? };
    let room = match row.get("behind")? {
        true => 0,
        false => cap.map_or(i64::MAX, |cap| (cap.min(bounds.max_in_flight) - in_flight).max(0)),
    };
    Ok(Some(DispatchTarget {
        url: row.get("url")?,
        api_version: row.get("api_version")?,
        signature_profile: signature_profile(row)?,
        options: delivery_options(row)?,
        secrets: vec![sealed_secret(row)?],
        bounds,
        room,
        held_back: hold.until.is_some_and(|until| until > now),
        probes: hold.step > 0 && in_flight == 0,
    }))
}

/// Repeats the last item until the count is a power of two, so that the database keeps few statement texts.
fn padded<T>(all: &[T]) -> impl Iterator<Item = &T> {
    let missing = all.len().next_power_of_two() - all.len();
    all.iter().chain(all.last().into_iter().cycle().take(missing))
}
