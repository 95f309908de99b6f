//! Leases: due deliveries are taken by one dispatcher, and given back (T4).

use std::collections::BTreeMap;

use authority_domain::{DeliveryId, EndpointId, MerchantId, Timestamp};

use crate::hand_off::{Lease, LeasedDelivery, instance_of};
use crate::sql::{Across, Query, Result, Row, Shard, ShardSet, Tx, query};

impl Tx {
    /// Leases due deliveries of enabled endpoints: of each endpoint the oldest first, as far as it has capacity. The
    /// endpoints of a merchant take turns, and so do the merchants.
    pub async fn delivery_lease_due(&mut self, lease: &Lease) -> Result<Vec<LeasedDelivery>> {
        let merchants: BTreeMap<&str, i64> =
            lease.merchants.iter().map(|(id, room)| (id.as_str(), *room)).collect();
        let wants: BTreeMap<&str, [i64; 2]> =
            lease.wants.iter().map(|(id, want)| (id.as_str(), [want.most, want.beyond])).collect();
        let (merchants, wants) = (serde_json::to_string(&merchants)?, serde_json::to_string(&wants)?);
        let (dialect, shards) = (self.conn.dialect(), self.conn.shards());
        let text = if lease.among.is_some() { dialect.lease_due_among } else { dialect.lease_due };
        let among: Vec<&str> = lease.among.iter().flatten().map(EndpointId::as_str).collect();
        let shards: Vec<i16> = shards.all().map(Shard::number).collect();
        let (among, shards) = (serde_json::to_string(&among)?, serde_json::to_string(&shards)?);
        let question = |limit: i64| {
            let query = Query::across(Across::CLAIMS, text)
                .binds((&lease.token, lease.until.as_ms(), lease.now.as_ms(), lease.max_in_flight))
                .binds((limit, lease.per_merchant, merchants.as_str()))
                .binds((wants.as_str(), instance_of(&lease.token)))
                .bind(lease.each);
            match lease.among.is_some() || dialect.shards_apart {
                true => query.binds((among.as_str(), shards.as_str())),
                false => query,
            }
        };
        let mut taken: Vec<(String, bool)> = Vec::new();
        if dialect.shards_apart {
            let mut rest = lease.limit;
            let due = self.shards_due(lease).await?;
            for (nth, shard) in due.iter().enumerate() {
                // What a shard does not need of its part is for those behind it.
                let share =
                    rest.div_euclid(i64::try_from(due.len() - nth).unwrap_or(i64::MAX)).max(rest.min(1));
                let question = question(share).bind(*shard);
                let leased: Vec<(String, bool)> = question.write_returning(&mut self.conn).await?;
                rest -= i64::try_from(leased.len()).unwrap_or(rest);
                taken.extend(leased);
            }
        } else {
            taken = question(lease.limit).write_returning(&mut self.conn).await?;
        }
        let ids = self.without_cancelled(lease, taken).await?;
        self.leased(lease, &ids).await
    }

    /// Of what was taken, what is to be sent. The rest was in flight when its endpoint was disabled, and its holder
    /// never told what became of it: given back, it is cancelled.
    async fn without_cancelled(&mut self, lease: &Lease, taken: Vec<(String, bool)>) -> Result<Vec<String>> {
        let (cancelled, ids): (Vec<_>, Vec<_>) = taken.into_iter().partition(|(_, cancelled)| *cancelled);
        let cancelled: Vec<DeliveryId> =
            cancelled.into_iter().map(|(id, _)| DeliveryId::from_store(id)).collect();
        self.delivery_lease_release(&lease.token, &cancelled).await?;
        Ok(ids.into_iter().map(|(id, _)| id).collect())
    }

    /// The shards with due deliveries that nobody holds, the oldest first, or those of the endpoints that are named.
    async fn shards_due(&mut self, lease: &Lease) -> Result<Vec<Shard>> {
        let mut query;
        if let Some(among) = &lease.among {
            query = Query::new("SELECT DISTINCT CAST(shard AS BIGINT) FROM webhook_endpoints WHERE ");
            query.push_shards("", self.conn.shards());
            query.push_in("id", &among.iter().map(EndpointId::to_string).collect::<Vec<_>>());
        } else {
            query = Query::across(
                Across::CLAIMS,
                "SELECT CAST(shard AS BIGINT) FROM deliveries WHERE status = 'pending' AND next_attempt_at <= ",
            );
            query.push_bind(lease.now.as_ms()).push(" AND (lease_until IS NULL OR lease_until < ");
            query.push_bind(lease.now.as_ms()).push(") GROUP BY shard ORDER BY MIN(next_attempt_at)");
        }
        let numbers: Vec<i64> = query.read(&mut self.conn).await?;
        let shard = |number| ShardSet::one(u32::try_from(number).ok()?).all().next();
        Ok(numbers.into_iter().filter_map(shard).collect())
    }

    /// The enabled endpoints, with their merchants, that have a due delivery which nobody holds and are not held back.
    pub async fn endpoints_due(&mut self, now: Timestamp) -> Result<Vec<(EndpointId, MerchantId)>> {
        let mut query = Query::across(Across::CLAIMS, self.conn.dialect().waiting);
        query.push(
            ", due (id, merchant_id) AS ( \
                 SELECT e.id, e.merchant_id FROM waiting \
                 JOIN webhook_endpoints e ON e.shard = waiting.shard AND e.id = waiting.endpoint_id \
                 WHERE e.status = 'enabled' AND (e.held_until IS NULL OR e.held_until <= $1) \
                     AND EXISTS (SELECT 1 FROM deliveries w WHERE w.shard = e.shard AND w.endpoint_id = e.id \
                         AND w.status = 'pending' AND w.next_attempt_at <= $1 \
                         AND (w.lease_until IS NULL OR w.lease_until < $1))) \
             SELECT id, merchant_id FROM due",
        );
        let of = |row: &Row| Ok((row.read("id")?, row.read("merchant_id")?));
        query.bind(now.as_ms()).read_as(&mut self.conn, of).await
    }

    /// Leases this delivery although its endpoint is held back, as the probe, when nothing else is leased to it. The
    /// limits in `lease` do not apply.
    pub(crate) async fn delivery_lease_probe(
        &mut self,
        lease: &Lease,
        id: &DeliveryId,
    ) -> Result<Option<LeasedDelivery>> {
        let mut query = query(
            "UPDATE deliveries SET lease_token = $1, lease_until = $2, retry_asked_at = NULL WHERE id = $4 AND status = 'pending' \
                 AND EXISTS (SELECT 1 FROM webhook_endpoints e WHERE e.shard = deliveries.shard \
                     AND e.id = deliveries.endpoint_id AND e.status = 'enabled' AND e.hold_step > 0) \
                 AND NOT EXISTS (SELECT 1 FROM deliveries l WHERE l.shard = deliveries.shard \
                     AND l.endpoint_id = deliveries.endpoint_id AND l.lease_token IS NOT NULL AND l.lease_until >= $3) \
             AND ",
        );
        query.push_shards("deliveries.", self.conn.shards()).push(" RETURNING id");
        let query = query.binds((&lease.token, lease.until.as_ms(), lease.now.as_ms(), id.as_str()));
        let ids: Vec<String> = query.write_returning(&mut self.conn).await?;
        Ok(self.leased(lease, &ids).await?.pop())
    }

    /// Gives back those of these deliveries that `token` still holds; no attempt of them was begun. Returns how many.
    pub async fn delivery_lease_release(&mut self, token: &str, ids: &[DeliveryId]) -> Result<u64> {
        let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
        if ids.is_empty() {
            return Ok(0);
        }
        let mut query =
            Query::new("UPDATE deliveries SET lease_token = NULL, lease_until = NULL WHERE lease_token = ");
        query.push_bind(token).push(" AND ").push_shards("", self.conn.shards());
        query.push_in("id", &ids);
        let released = query.write(&mut self.conn).await?;
        self.cancel_where_disabled(&ids).await?;
        Ok(released)
    }

    /// Gives back every lease: for the start of a process that is the database's only user.
    pub async fn delivery_lease_release_all(&mut self) -> Result<u64> {
        let released: Vec<String> = Query::across(
            Across::START,
            "UPDATE deliveries SET lease_token = NULL, lease_until = NULL WHERE lease_token IS NOT NULL RETURNING id",
        )
        .write_returning(&mut self.conn)
        .await?;
        self.cancel_where_disabled(&released).await?;
        Ok(u64::try_from(released.len()).unwrap_or(u64::MAX))
    }

    /// Cancels those of `ids` that returned to the backlog of an endpoint that was disabled or deleted meanwhile, also
    /// if it has been enabled since (contract 7.5); at that time they were in flight.
    pub(crate) async fn cancel_where_disabled(&mut self, ids: &[String]) -> Result<()> {
        if ids.is_empty() {
            return Ok(());
        }
        let mut query = Query::new(
            "UPDATE deliveries SET status = 'cancelled', next_attempt_at = NULL, failure_reason = ( \
                 SELECT CASE WHEN e.deleted_at IS NULL THEN 'endpoint_disabled' ELSE 'endpoint_deleted' END \
                 FROM webhook_endpoints e WHERE e.shard = deliveries.shard AND e.id = deliveries.endpoint_id) \
             WHERE status = 'pending' AND lease_token IS NULL \
             AND (cancel_asked_at IS NOT NULL OR EXISTS (SELECT 1 FROM webhook_endpoints e \
                 WHERE e.shard = deliveries.shard AND e.id = deliveries.endpoint_id AND e.status = 'disabled')) AND ",
        );
        query.push_shards("deliveries.", self.conn.shards());
        query.push_in("id", ids);
        query.run(&mut self.conn).await
    }
}
