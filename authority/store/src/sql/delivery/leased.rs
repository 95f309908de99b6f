//! What was leased, read with everything that sending it needs: the event, the endpoint, its secrets and its bounds.

use authority_domain::event::cause::{Cause, TraceParent};
use authority_domain::{RequestId, Timestamp};

use crate::hand_off::{Lease, LeasedDelivery, instance_of};
use crate::slots::Bounds;
use crate::sql::endpoint::rows::{OPTIONS, delivery_options, sealed_secret, signature_profile};
use crate::sql::{Query, Result, Row, StoreError, Tx, fields};

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
