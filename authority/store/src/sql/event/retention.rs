//! Removing what is older than the retention (contract 15.13), for all tenants.
//!
//! A stream loses its oldest events, one after the other and never one from the middle, each with its deliveries and
//! their attempts. The counter's row records how far events were removed; by it the guard of events recognises the
//! only deletion that is allowed. An event with a pending delivery stays, and so do all events after it, until that
//! delivery has ended.
//!
//! The rows of an event are named one by one, never by a condition that a planner could answer by scanning a whole
//! table.

use std::collections::{HashMap, HashSet};

use authority_domain::{EventId, Tenant, Timestamp};

use crate::sql::{Across, Kind, Query, Result, Shard, ShardSet, Tx, query};

/// One of the oldest events of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldEvent {
    /// Its sequence number.
    pub sequence: i64,
    /// Its id.
    pub id: EventId,
    /// When it was created.
    pub created_at: Timestamp,
    /// Rows that go with it: deliveries, and attempts by their number in each delivery.
    pub rows: i64,
    /// Whether one of its deliveries has not ended.
    pub pending: bool,
}

impl Tx {
    /// Up to `limit` events after `after` whose ids are older than `before`, oldest first, each with its tenant. An
    /// event is never older than its id, so all that are past their retention are among them.
    pub async fn retention_due(
        &mut self,
        after: Option<&EventId>,
        before: Timestamp,
        limit: i64,
    ) -> Result<Vec<(EventId, Tenant)>> {
        let mut query =
            Query::across(Across::RETENTION, "SELECT id, merchant_id, livemode FROM events WHERE ");
        query.push_shards("", ShardSet::ALL);
        query.push_some(" AND id > ", after.map(EventId::as_str));
        query.push(" AND id < ").push_bind(EventId::lowest_at(before).to_string());
        query.push(" ORDER BY id LIMIT ").push_bind(limit);
        query.read_as(&mut self.conn, |row| Ok((row.read("id")?, row.tenant()?))).await
    }

    /// The oldest `limit` events of a stream, oldest first.
    pub async fn retention_oldest(&mut self, tenant: &Tenant, limit: i64) -> Result<Vec<OldEvent>> {
        let oldest: Vec<(i64, String, i64)> = query(
            "SELECT sequence, id, created_at FROM events WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 \
             ORDER BY sequence LIMIT $4",
        )
        .bind_tenant(tenant)
        .bind(limit)
        .read(&mut self.conn)
        .await?;
        if oldest.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<String> = oldest.iter().map(|(_, id, _)| id.clone()).collect();
        let mut deliveries = Query::new(
            "SELECT event_id, CAST(SUM(attempt_count + 1) AS BIGINT), COUNT(CASE WHEN status = 'pending' THEN 1 END) \
             FROM deliveries WHERE ",
        );
        deliveries
            .push_shards("", ShardSet::of_deliveries(tenant))
            .push_in("event_id", &ids)
            .push(" GROUP BY event_id");
        let deliveries: Vec<(String, i64, i64)> = deliveries.read(&mut self.conn).await?;
        let deliveries: HashMap<String, (i64, i64)> =
            deliveries.into_iter().map(|(id, rows, pending)| (id, (rows, pending))).collect();
        let old = |(sequence, id, created_at): (i64, String, i64)| {
            let (rows, pending) = deliveries.get(&id).copied().unwrap_or_default();
            let created_at = Timestamp::from_ms(created_at);
            OldEvent { sequence, id: EventId::from_store(id), created_at, rows, pending: pending > 0 }
        };
        Ok(oldest.into_iter().map(old).collect())
    }

    /// Removes these events, the oldest of their streams, which are of one shard, with everything that belongs to them.
    /// A stream stays as it is when one of its events is not older than `before` or has a pending delivery. Returns how
    /// many are gone; what another instance has removed meanwhile does not count.
    pub async fn retention_remove(
        &mut self,
        streams: &[(Tenant, Vec<EventId>)],
        before: Timestamp,
    ) -> Result<u64> {
        let Some((any, _)) = streams.first() else { return Ok(0) };
        let ids: Vec<&EventId> = streams.iter().flat_map(|(_, events)| events).collect();
        let (shard, shards) = (Shard::of(&any.merchant_id), ShardSet::of_deliveries(any));
        let mut events = Query::new("SELECT id, sequence, created_at FROM events WHERE ");
        events.push_shard("", shard).push_in("id", &ids);
        let events: Vec<(String, i64, i64)> = events.read(&mut self.conn).await?;
        let mut deliveries = Query::new("SELECT id, event_id, status FROM deliveries WHERE ");
        deliveries.push_shards("", shards).push_in("event_id", &ids);
        let deliveries: Vec<(String, String, String)> = deliveries.read(&mut self.conn).await?;
        let pending =
            deliveries.iter().filter(|(_, _, status)| status == "pending").map(|(_, event, _)| event);
        let young = events.iter().filter(|(_, _, at)| *at >= before.as_ms()).map(|(id, ..)| id);
        let stays: HashSet<&str> = pending.chain(young).map(String::as_str).collect();
        let sequences: HashMap<&str, i64> = events.iter().map(|(id, at, _)| (id.as_str(), *at)).collect();
        let (mut gone, mut through) = (HashSet::new(), Vec::new());
        for (tenant, ids) in
            streams.iter().filter(|(_, ids)| !ids.iter().any(|id| stays.contains(id.as_str())))
        {
            let of = ids.iter().filter(|id| sequences.contains_key(id.as_str())).map(EventId::as_str);
            if let Some(last) = of.clone().filter_map(|id| sequences.get(id)).max() {
                through.push(vec![
                    tenant.merchant_id.as_str().into(),
                    tenant.livemode.into(),
                    (*last).into(),
                ]);
                gone.extend(of);
            }
        }
        if gone.is_empty() {
            return Ok(0);
        }
        let deliveries = deliveries.iter().filter(|(_, event, _)| gone.contains(event.as_str()));
        self.remove_deliveries(shards, deliveries.map(|(id, ..)| id.clone()).collect()).await?;
        let mut streams = Query::new("UPDATE streams SET removed_through = v.column3 FROM (");
        streams.push_rows(&[Kind::Text, Kind::Bool, Kind::Int], through).push(") AS v WHERE ");
        streams.push_shard("streams.", shard).push(" AND streams.merchant_id = v.column1 ");
        streams.push("AND streams.livemode = v.column2 AND streams.removed_through < v.column3");
        streams.write(&mut self.conn).await?;
        let mut events = Query::new("DELETE FROM events WHERE ");
        events.push_shard("", shard).push_in("id", &gone.into_iter().collect::<Vec<_>>());
        Ok(events.write(&mut self.conn).await?)
    }

    /// Removes up to `limit` ended deliveries of an event of the tenant that were not made with it (replays,
    /// recoveries), with their attempts. For an event that was sent again so often that its rows are too many for one
    /// transaction.
    pub async fn retention_thin(&mut self, tenant: &Tenant, event: &EventId, limit: i64) -> Result<u64> {
        let mut query = Query::new("SELECT id FROM deliveries WHERE ");
        query
            .push_shards("", ShardSet::of_deliveries(tenant))
            .push(" AND event_id = ")
            .push_bind(event.as_str());
        query.push(" AND triggered_by <> 'event' AND status <> 'pending' LIMIT ").push_bind(limit);
        let ended: Vec<String> = query.read(&mut self.conn).await?;
        let removed = u64::try_from(ended.len()).unwrap_or(u64::MAX);
        self.remove_deliveries(ShardSet::of_deliveries(tenant), ended).await?;
        Ok(removed)
    }

    /// Removes up to `limit` figures from before `before` (see [`Tx::endpoint_figures`]).
    pub async fn figures_purge(&mut self, before: Timestamp, limit: i64) -> Result<u64> {
        Ok(Query::across(
            Across::RETENTION,
            "DELETE FROM endpoint_figures WHERE (shard, endpoint_id, since) IN ( \
                 SELECT shard, endpoint_id, since FROM endpoint_figures WHERE since < $1 ORDER BY since LIMIT $2)",
        )
        .binds((before.as_ms(), limit))
        .write(&mut self.conn)
        .await?)
    }

    /// Removes deliveries in these shards, and their attempts.
    async fn remove_deliveries(&mut self, shards: ShardSet, ids: Vec<String>) -> Result<()> {
        // Far below SQLite's 32,766 parameters.
        for ids in ids.chunks(1_000) {
            for (table, column) in [("attempts", "delivery_id"), ("deliveries", "id")] {
                let mut query = Query::new("DELETE FROM ");
                query.push(table).push(" WHERE ").push_shards("", shards);
                query.push_in(column, ids);
                query.write(&mut self.conn).await?;
            }
        }
        Ok(())
    }
}
