//! What was leased, read with everything that sending it needs: the event, the endpoint, its secrets and its bounds.

use std::collections::BTreeMap;

use authority_domain::endpoint::SignatureProfile;
use authority_domain::event::cause::{Cause, TraceParent};
use authority_domain::{DeliveryId, EndpointId, EventId, MerchantId, RequestId, Timestamp};

use crate::slots::Want;
use crate::sql::endpoint::rows::{OPTIONS, delivery_options, sealed_secret, signature_profile};
use crate::sql::{Query, Result, Row, StoreError, Tx, fields};
use crate::tx::{DeliveryOptions, SealedSecret};

/// What a lease asks for.
#[derive(Clone, Debug)]
pub struct Lease {
    /// Names this lease; 128 random bits, of which the first 64 are the instance's ([`instance_of`]).
    pub token: String,
    /// Deliveries due at this time are taken.
    pub now: Timestamp,
    /// When others may take them.
    pub until: Timestamp,
    /// The most deliveries to take.
    pub limit: i64,
    /// What an endpoint may have in flight where neither it nor its merchant has a setting (contract 18.4-8).
    pub max_in_flight: i64,
    /// How much more this instance wants of endpoints that it knows.
    pub wants: BTreeMap<EndpointId, Want>,
    /// The most deliveries of one endpoint.
    pub each: i64,
    /// The most deliveries of one merchant, both modes together.
    pub per_merchant: i64,
    /// Merchants with a lower maximum than that.
    pub merchants: BTreeMap<MerchantId, i64>,
    /// Only deliveries to these endpoints; `None` for all.
    pub among: Option<Vec<EndpointId>>,
}

impl Lease {
    /// A lease under this token that sets no limits.
    #[must_use]
    pub fn unlimited(token: String, now: Timestamp, until: Timestamp) -> Self {
        Self {
            token,
            now,
            until,
            limit: i64::MAX,
            max_in_flight: i64::MAX,
            wants: BTreeMap::new(),
            each: i64::MAX,
            per_merchant: i64::MAX,
            merchants: BTreeMap::new(),
            among: None,
        }
    }
}

/// The part of a token that is the same in all leases of an instance.
#[must_use]
pub fn instance_of(token: &str) -> &str {
    token.get(..16).unwrap_or(token)
}

/// A delivery that this instance is to attempt, with everything the attempt needs.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct LeasedDelivery {
    pub id: DeliveryId,
    pub event_id: EventId,
    pub endpoint_id: EndpointId,
    /// The merchant of the endpoint; the operator for the platform's endpoint.
    pub merchant_id: MerchantId,
    pub trigger: String,
    pub livemode: bool,
    /// Attempts already made.
    pub attempt_count: i64,
    /// Of these, attempts that the receiver put off with `Retry-After`.
    pub put_off_count: i64,
    pub created_at: Timestamp,
    pub url: String,
    pub api_version: String,
    pub signature_profile: SignatureProfile,
    pub options: DeliveryOptions,
    /// The exact bytes to send.
    pub body: String,
    /// The usable secrets, newest first.
    pub secrets: Vec<SealedSecret>,
    /// The bounds of its endpoint.
    pub bounds: Bounds,
    /// What caused its event.
    pub cause: Cause,
}

/// How many requests an endpoint may have in flight, as it was when one of its deliveries was leased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// A hold or its health bounds it ([`authority_domain::endpoint::hold::cap`]): leased deliveries may begin at
    /// once.
    pub capped: bool,
    /// Its `max_in_flight`.
    pub max_in_flight: i64,
    /// How much of that other instances leave.
    pub ceiling: i64,
    /// Its merchant's share of each instance's capacity, in percent; `None` for the default.
    pub share_percent: Option<i64>,
}

impl Tx {
    /// Reads what was leased, in the order in which it is to be sent.
    pub(crate) async fn leased(&mut self, lease: &Lease, ids: &[String]) -> Result<Vec<LeasedDelivery>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let mut query = Query::new(
            "WITH d AS MATERIALIZED (SELECT d.id, d.shard, d.event_shard, d.event_id, d.endpoint_id, d.merchant_id, \
             d.triggered_by, d.livemode, d.attempt_count, d.put_off_count, d.created_at, d.next_attempt_at, d.sequence, \
             e.url, e.api_version, e.signature_profile, ",
        );
        query
            .push(OPTIONS)
            .push(
                " FROM deliveries d JOIN webhook_endpoints e ON e.shard = d.shard AND e.id = d.endpoint_id \
                 WHERE d.lease_token = ",
            )
            .push_bind(&lease.token)
            .push(" AND ")
            .push_shards("d.", self.conn.shards());
        query.push_in("d.id", ids);
        query
            .push("), k AS MATERIALIZED (SELECT k.shard, k.endpoint_id, k.version, k.sealed, k.expires_at, ");
        push_bounds(&mut query, lease.now, &lease.token);
        query
            .push(
                " FROM endpoint_secrets k JOIN webhook_endpoints e ON e.shard = k.shard AND e.id = k.endpoint_id \
                 LEFT JOIN merchants m ON m.id = e.merchant_id \
                 WHERE k.endpoint_id IN (SELECT endpoint_id FROM d) AND (k.expires_at IS NULL OR k.expires_at > ",
            )
            .push_bind(lease.now.as_ms())
            .push(") AND ")
            .push_shards("k.", self.conn.shards())
            .push(
                ") SELECT d.*, v.body, v.request_id, v.traceparent, k.version, k.sealed, k.expires_at, k.capped, \
                 k.own_max, k.merchants_max, k.dispatch_share_percent, k.others \
                 FROM d JOIN events v ON v.shard = d.event_shard AND v.id = d.event_id \
                 LEFT JOIN k ON k.shard = d.shard AND k.endpoint_id = d.endpoint_id \
                 ORDER BY d.next_attempt_at, d.sequence, d.id, k.version DESC",
            );
        let rows = query.about(&[]).read::<Row>(&mut self.conn).await?;
        let same = |a: &Row, b: &Row| a.get::<&str>("id").ok() == b.get::<&str>("id").ok();
        rows.chunk_by(same).map(|rows| leased(rows, lease)).collect()
    }
}

/// The columns for how many requests the endpoint `e` of the merchant `m` may have, as [`bounds_of`] reads them.
pub(crate) fn push_bounds(query: &mut Query<'_>, now: Timestamp, token: &str) {
    query
        .push(
            "e.hold_step > 0 OR e.hold_regained > 0 OR e.health_state = 'failing' AS capped, \
             e.max_in_flight AS own_max, m.max_in_flight AS merchants_max, m.dispatch_share_percent, \
             (SELECT COUNT(*) FROM deliveries l WHERE l.shard = e.shard AND l.endpoint_id = e.id AND l.lease_token IS NOT NULL \
                 AND l.lease_until >= ",
        )
        .push_bind(now.as_ms())
        .push(" AND substr(l.lease_token, 1, 16) <> ")
        .push_bind(instance_of(token).to_owned())
        .push(") AS others");
}

/// Reads those columns; `default` is the `max_in_flight` where nothing is set.
pub(crate) fn bounds_of(row: &Row, default: i64) -> Result<Bounds> {
    let (own, merchants): (Option<i64>, Option<i64>) = (row.get("own_max")?, row.get("merchants_max")?);
    let set = own.map_or(merchants, |own| Some(merchants.map_or(own, |merchants| own.min(merchants))));
    let max_in_flight = set.unwrap_or(default);
    let others: i64 = row.get("others")?;
    Ok(Bounds {
        capped: row.get("capped")?,
        max_in_flight,
        ceiling: (max_in_flight - others).max(0),
        share_percent: row.get("dispatch_share_percent")?,
    })
}

/// A delivery, from its rows: one for each usable secret of its endpoint, the newest first, or one without.
fn leased(rows: &[Row], lease: &Lease) -> Result<LeasedDelivery> {
    let Some(row) = rows.first() else {
        return Err(StoreError::Broken("a delivery without a row".to_owned()));
    };
    let (mut usable, max_in_flight) = (Vec::new(), lease.max_in_flight);
    // An endpoint without a secret gets nothing: the attempt fails.
    let mut bounds = Bounds { capped: true, max_in_flight, ceiling: max_in_flight, share_percent: None };
    if row.get::<Option<i64>>("version")?.is_some() {
        usable = rows.iter().map(sealed_secret).collect::<Result<_, _>>()?;
        bounds = bounds_of(row, max_in_flight)?;
    }
    Ok(fields!(row => LeasedDelivery {
        id, event_id, endpoint_id, merchant_id, livemode, attempt_count, put_off_count, created_at, url,
        api_version, body;
        trigger: row.get("triggered_by")?,
        signature_profile: signature_profile(row)?,
        options: delivery_options(row)?,
        secrets: usable,
        bounds,
        cause: cause(row)?,
    }))
}

/// What caused the event; a trace that cannot be read is none.
fn cause(row: &Row) -> Result<Cause> {
    let request_id: Option<String> = row.get("request_id")?;
    let traceparent: Option<&str> = row.get("traceparent")?;
    Ok(Cause {
        request_id: request_id.map(RequestId::from_store),
        trace: traceparent.and_then(TraceParent::parse),
    })
}
