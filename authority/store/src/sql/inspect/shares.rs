//! Shares with the data that their copies are compared with, for the audit.

use std::collections::HashSet;

use authority_domain::Tenant;
use authority_domain::invariants::StoredShare;
use authority_domain::partner::share::ShareStatus;

use crate::sql::{Across, Query, Result, Row, ShardSet, Tx, fields, query};

/// Shares that are looked up in a stream at a time.
const AT_A_TIME: i64 = 500;

impl Tx {
    /// The shares with these ids by which the tenant sees orders of others, in any order.
    pub async fn inspect_shares(&mut self, tenant: &Tenant, ids: &[&str]) -> Result<Vec<StoredShare>> {
        let mut query = Query::across(
            Across::PARTNERS,
            "SELECT s.id, s.status, s.partner_sequence, c.status = 'revoked' AS connection_ended, c.shares_to_end, \
                 o.resource_version, t.removed_through >= s.owner_sequence AS owner_forgot, \
                 EXISTS (SELECT 1 FROM events e WHERE e.shard = s.shard AND e.merchant_id = s.owner_id AND e.livemode = s.livemode \
                     AND e.sequence = s.owner_sequence AND e.type = 'order.shared' \
                     AND e.resource_id = s.order_number) AS owner_told, \
                 (SELECT COUNT(*) FROM shipments h JOIN events e ON e.shard = h.shard AND e.merchant_id = h.merchant_id \
                     AND e.livemode = h.livemode AND e.resource_id = h.id AND e.sequence > s.owner_sequence \
                     AND e.type LIKE 'shipment.%' \
                  WHERE h.shard = s.shard AND h.merchant_id = s.owner_id AND h.livemode = s.livemode \
                     AND h.order_number = s.order_number) AS parcels \
             FROM order_shares s JOIN partner_connections c ON c.id = s.connection_id \
             JOIN orders o ON o.shard = s.shard AND o.merchant_id = s.owner_id AND o.livemode = s.livemode AND o.order_number = s.order_number \
             JOIN streams t ON t.shard = s.shard AND t.merchant_id = s.owner_id AND t.livemode = s.livemode WHERE ",
        );
        query.push_shards("s.", ShardSet::ALL).push(" AND s.partner_id = ");
        query.push_bind(tenant.merchant_id.as_str().to_owned());
        query.push(" AND s.livemode = ").push_bind(tenant.livemode).push(" AND s.id");
        query.push_among(ids.iter().copied());
        query.read_as(&mut self.conn, share).await
    }

    /// Up to `limit` ids of shares by which the tenant sees orders of others, made after the sequence `made_after` of
    /// its own stream, that have no event in it.
    pub async fn inspect_untold_shares(
        &mut self,
        tenant: &Tenant,
        made_after: i64,
        limit: i64,
    ) -> Result<Vec<String>> {
        // Apart: the shares are in the shards of their owners, the events in the partner's.
        let (mut untold, mut after) = (Vec::new(), made_after);
        loop {
            let shares: Vec<(String, i64)> = Query::across(
                Across::PARTNERS,
                "SELECT id, partner_sequence FROM order_shares WHERE partner_id = $1 AND livemode = $2 \
                     AND partner_sequence > $3 ORDER BY partner_sequence LIMIT $4",
            )
            .binds((tenant.merchant_id.as_str(), tenant.livemode, after, AT_A_TIME))
            .read(&mut self.conn)
            .await?;
            let Some((_, last)) = shares.last() else { return Ok(untold) };
            after = *last;
            let ids: Vec<String> = shares.into_iter().map(|(id, _)| id).collect();
            let mut query = Query::new("SELECT DISTINCT resource_id FROM events WHERE ");
            query.push_tenant("", tenant).push_in("resource_id", &ids);
            let told: HashSet<String> = query.read::<String>(&mut self.conn).await?.into_iter().collect();
            let room = usize::try_from(limit).unwrap_or(usize::MAX) - untold.len();
            untold.extend(ids.into_iter().filter(|id| !told.contains(id)).take(room));
            if i64::try_from(untold.len()).is_ok_and(|found| found >= limit) {
                return Ok(untold);
            }
        }
    }

    /// The number of active shares of its orders according to the tenant's stream, and the number of rows.
    pub async fn inspect_share_count(&mut self, tenant: &Tenant) -> Result<(i64, i64)> {
        Ok(query(
            "SELECT COALESCE((SELECT active_shares FROM streams WHERE shard = $1 AND merchant_id = $2 AND livemode = $3), 0), \
                 (SELECT COUNT(*) FROM order_shares WHERE shard = $1 AND owner_id = $2 AND livemode = $3 AND status = 'active')",
        )
        .bind_tenant(tenant)
        .read_one(&mut self.conn)
        .await?)
    }
}

fn share(row: &Row) -> Result<StoredShare> {
    let status = row.word("order_shares.status", ShareStatus::parse)?;
    let forgot: bool = row.get("owner_forgot")?;
    let parcels: i64 = row.get("parcels")?;
    Ok(fields!(row => StoredShare {
        id, partner_sequence, connection_ended;
        status,
        owner_told: forgot || row.get("owner_told")?,
        to_end: row.get("shares_to_end")?,
        order_version: row.get("resource_version")?,
        parcels: (!forgot).then_some(parcels),
    }))
}
