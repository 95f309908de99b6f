//! Shares of orders (contract 2.14, 4.14).
//!
//! A share is active while its own row and its connection say so: ending a connection ends all its shares at once,
//! however many there are. Every function here reads shares in that sense, except [`Tx::shares_to_end`], which
//! finds the rows that are not updated yet.
//!
//! Their rows are never buffered, so every read in a transaction sees them ([`crate::sql::transaction::write_buffer`]).

use authority_domain::list_filter::ShareFilter;
use authority_domain::partner::share::{OrderShare, SharePermission, ShareStatus};
use authority_domain::tenant::MerchantContext;
use authority_domain::{ConnectionId, MerchantId, OrderNumber, ShareId, Tenant, Timestamp};

use crate::sql::transaction::look_ahead::Listed;
use crate::sql::transaction::pages::Page;
use crate::sql::{Across, Query, Result, Row, Shard, Tx, fields, query};

/// The sequence numbers of a share's first event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharePositions {
    /// In the owner's stream and list.
    pub owner: i64,
    /// In the partner's.
    pub partner: i64,
}

/// The columns of a share, as [`share`] reads them.
pub(crate) const COLUMNS: &str = "s.id, s.livemode, s.connection_id, s.owner_id, s.partner_id, s.order_number, s.include_customer, \
     s.include_amounts, s.status, s.revoked_at, s.resource_version, s.owner_sequence, s.partner_sequence, s.created_at, \
     s.updated_at, o.slug AS owner_slug, p.slug AS partner_slug, c.revoked_at AS connection_revoked_at";

pub(crate) const TABLE: &str = "order_shares s";

/// What [`COLUMNS`] are read from beside [`TABLE`].
const JOINS: &str = " JOIN partner_connections c ON c.id = s.connection_id \
     JOIN merchants o ON o.id = s.owner_id JOIN merchants p ON p.id = s.partner_id";

/// Only active shares are visible: neither the share nor its connection has ended.
pub(crate) const ACTIVE: &str = " AND s.status = 'active' AND c.status = 'accepted'";

impl Tx {
    /// Writes the first version of a share.
    ///
    /// # Errors
    /// [`Conflict(SharedOrder)`](crate::Constraint::SharedOrder) when the order is shared on this connection already.
    pub(crate) async fn share_insert(&mut self, share: &OrderShare, places: SharePositions) -> Result<()> {
        query(
            "INSERT INTO order_shares (shard, id, livemode, connection_id, owner_id, partner_id, order_number, \
                 include_customer, include_amounts, status, resource_version, owner_sequence, partner_sequence, \
                 created_at, updated_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'active', $10, $11, $12, $13, $14)",
        )
        .bind(Shard::of(&share.owner.id))
        .binds((share.id.as_str(), share.livemode, share.connection_id.as_str(), share.owner.id.as_str()))
        .binds((share.partner.id.as_str(), share.order_number.as_str(), share.include_customer))
        .binds((share.include_amounts, share.resource_version, places.owner, places.partner))
        .binds((share.created_at.as_ms(), share.updated_at.as_ms()))
        .write(&mut self.conn)
        .await?;
        self.count_share(share, 1).await
    }

    /// Counts an active share more or less in the stream of its owner, where every commit finds the number.
    async fn count_share(&mut self, share: &OrderShare, more: i64) -> Result<()> {
        query(
            "UPDATE streams SET active_shares = active_shares + $4 WHERE shard = $1 AND merchant_id = $2 AND livemode = $3",
        )
        .binds((Shard::of(&share.owner.id), share.owner.id.as_str(), share.livemode, more))
        .write_one(&mut self.conn, "stream")
        .await
    }

    /// Writes the version of a share that was revoked.
    pub async fn share_revoke(&mut self, share: &OrderShare) -> Result<()> {
        query(
            "UPDATE order_shares SET status = 'revoked', revoked_at = $4, resource_version = $5, updated_at = $6 \
             WHERE shard = $7 AND id = $1 AND owner_id = $2 AND livemode = $3 AND status = 'active' AND resource_version = $5 - 1",
        )
        .binds((share.id.as_str(), share.owner.id.as_str(), share.livemode))
        .binds((share.revoked_at.map(Timestamp::as_ms), share.resource_version, share.updated_at.as_ms()))
        .bind(Shard::of(&share.owner.id))
        .write_one(&mut self.conn, "share")
        .await?;
        self.count_share(share, -1).await
    }

    /// A share that the tenant owns.
    pub async fn share_get(&mut self, tenant: &Tenant, id: &ShareId) -> Result<Option<OrderShare>> {
        let mut query = selected(COLUMNS);
        query.push(" WHERE ").push_shard("s.", Shard::of(&tenant.merchant_id));
        query.push(" AND s.id = ").push_bind(id.as_str());
        query.push(" AND s.owner_id = ").push_bind(tenant.merchant_id.as_str());
        query.push(" AND s.livemode = ").push_bind(tenant.livemode);
        query.read_optional_as(&mut self.conn, share).await
    }

    /// The active share of an order on a connection.
    pub async fn share_on_connection(
        &mut self,
        tenant: &Tenant,
        order: &OrderNumber,
        connection: &ConnectionId,
    ) -> Result<Option<ShareId>> {
        Ok(query(
            "SELECT id FROM order_shares WHERE shard = $1 AND owner_id = $2 AND livemode = $3 AND order_number = $4 \
                 AND connection_id = $5 AND status = 'active'",
        )
        .bind_tenant(tenant)
        .binds((order.as_str(), connection.as_str()))
        .read_optional(&mut self.conn)
        .await?)
    }

    /// Up to `limit` shares that the tenant owns, before position `before`, newest first.
    pub async fn shares_page(
        &mut self,
        tenant: &Tenant,
        filter: &ShareFilter,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Page<OrderShare>> {
        let of = |query: &mut Query<'_>| {
            query.push_shard("s.", Shard::of(&tenant.merchant_id));
            query.push(" AND s.owner_id = ").push_bind(tenant.merchant_id.as_str().to_owned());
            query.push(" AND s.livemode = ").push_bind(tenant.livemode);
            query.push_some(" AND s.order_number = ", filter.order_number.clone());
        };
        let filters = |query: &mut Query<'_>| push_filter(query, filter);
        let listed = Listed::newest_first(TABLE, "s.owner_sequence", before, of, filters);
        let listed = Listed { joins: JOINS, ..listed };
        let placed = |row: &Row| Ok((0, (row.get("owner_sequence")?, share(row)?)));
        listed.page(&mut self.conn, COLUMNS, limit, placed).await
    }

    /// The active shares of these orders of the tenant, by order and the share's age.
    pub async fn shares_of_orders(
        &mut self,
        tenant: &Tenant,
        orders: &[&OrderNumber],
    ) -> Result<Vec<OrderShare>> {
        let mut query = selected(COLUMNS);
        query.push(" WHERE ").push_shard("s.", Shard::of(&tenant.merchant_id));
        query.push(" AND s.owner_id = ").push_bind(tenant.merchant_id.as_str());
        query.push(" AND s.livemode = ").push_bind(tenant.livemode).push(" AND s.order_number");
        query.push_among(orders.iter().map(|order| order.as_str().to_owned()));
        query.push(ACTIVE).push(" ORDER BY s.order_number, s.owner_sequence");
        query.about(&[]).read_as(&mut self.conn, share).await
    }

    /// Up to `limit` shares of an ended connection whose rows are not updated yet, each with the time when it ended.
    pub async fn shares_to_end(
        &mut self,
        connection: &ConnectionId,
        limit: i64,
    ) -> Result<Vec<(OrderShare, Timestamp)>> {
        let mut query = Query::across(Across::PARTNERS, "SELECT ");
        query.push(COLUMNS).push(" FROM ").push(TABLE).push(JOINS);
        query.push(" WHERE s.connection_id = ").push_bind(connection.as_str());
        query.push(" AND s.status = 'active' AND c.status = 'revoked' ORDER BY s.id LIMIT ").push_bind(limit);
        let ended = |row: &Row| Ok((stored(row)?, ended_at(row)?.unwrap_or(Timestamp::from_ms(0))));
        query.read_as(&mut self.conn, ended).await
    }

    /// The last event of this share in the partner's stream that shows the order, as stored bytes.
    pub async fn share_last_shown(&mut self, share: &OrderShare) -> Result<Option<String>> {
        Ok(query(
            "SELECT body FROM events WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 AND resource_id = $4 \
                 AND type LIKE 'order.%' ORDER BY sequence DESC LIMIT 1",
        )
        .binds((Shard::of(&share.partner.id), share.partner.id.as_str(), share.livemode, share.id.as_str()))
        .read_optional(&mut self.conn)
        .await?)
    }
}

fn selected(columns: &'static str) -> Query<'static> {
    let mut query = Query::new("SELECT ");
    query.push(columns).push(" FROM ").push(TABLE).push(JOINS);
    query
}

pub(crate) fn push_filter(query: &mut Query<'_>, filter: &ShareFilter) {
    query.push_some(" AND s.connection_id = ", filter.connection_id.as_ref().map(ConnectionId::to_string));
    let mut before = " AND (";
    for status in &filter.status {
        query.push(before).push(match status {
            ShareStatus::Active => "s.status = 'active' AND c.status = 'accepted'",
            ShareStatus::Revoked => "s.status = 'revoked' OR c.status = 'revoked'",
        });
        before = " OR ";
    }
    if !filter.status.is_empty() {
        query.push(")");
    }
}

/// When the share's connection was ended.
fn ended_at(row: &Row) -> Result<Option<Timestamp>> {
    row.read("connection_revoked_at")
}

/// The share as it is.
pub(crate) fn share(row: &Row) -> Result<OrderShare> {
    Ok(stored(row)?.on_connection(ended_at(row)?))
}

/// The share as its own row has it.
fn stored(row: &Row) -> Result<OrderShare> {
    let merchant = |id: &str, slug: &str| -> Result<MerchantContext> {
        Ok(MerchantContext { id: MerchantId::from_store(row.get(id)?), slug: row.get(slug)? })
    };
    let status = row.word("order_shares.status", ShareStatus::parse)?;
    Ok(fields!(row => OrderShare {
        id, connection_id, order_number, include_customer, include_amounts, revoked_at, resource_version,
        livemode, created_at, updated_at;
        owner: merchant("owner_id", "owner_slug")?,
        partner: merchant("partner_id", "partner_slug")?,
        permissions: vec![SharePermission::Read],
        status,
    }))
}
