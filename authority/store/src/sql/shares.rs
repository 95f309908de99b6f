//! Shares of orders. Their rows are never buffered, so every read in a transaction sees them
//! ([`super::write_buffer`]).

use async_trait::async_trait;
use authority_domain::id::{ConnectionId, MerchantId, ShareId};
use authority_domain::list_filter::ShareFilter;
use authority_domain::order::number::OrderNumber;
use authority_domain::partner::share::{OrderShare, SharePermission, ShareStatus};
use authority_domain::tenant::{MerchantContext, Tenant};
use authority_domain::time::Timestamp;
use sqlx::{QueryBuilder, Row};

use super::look_ahead::{ListOrder, Listed};
use super::{Db, DbRow, Session, bodies, one_row};
use crate::StoreError;
use crate::ports::{Page, SharePositions, Shares};

/// The columns of a share, as [`share`] reads them.
pub(super) const COLUMNS: &str = "s.id, s.livemode, s.connection_id, s.owner_id, s.partner_id, s.order_number, s.include_customer, \
     s.include_amounts, s.status, s.revoked_at, s.resource_version, s.owner_sequence, s.partner_sequence, s.created_at, \
     s.updated_at, o.slug AS owner_slug, p.slug AS partner_slug, c.revoked_at AS connection_revoked_at";

pub(super) const TABLE: &str = "order_shares s";

/// What [`COLUMNS`] are read from beside [`TABLE`].
const JOINS: &str = " JOIN partner_connections c ON c.id = s.connection_id \
     JOIN merchants o ON o.id = s.owner_id JOIN merchants p ON p.id = s.partner_id";

/// Only active shares are visible: neither the share nor its connection has ended.
pub(super) const ACTIVE: &str = " AND s.status = 'active' AND c.status = 'accepted'";

#[async_trait]
impl Shares for Session<'_> {
    async fn share_insert(&mut self, share: &OrderShare, places: SharePositions) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO order_shares (id, livemode, connection_id, owner_id, partner_id, order_number, \
                 include_customer, include_amounts, status, resource_version, owner_sequence, partner_sequence, \
                 created_at, updated_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'active', $9, $10, $11, $12, $13)",
        )
        .bind(share.id.as_str())
        .bind(share.livemode)
        .bind(share.connection_id.as_str())
        .bind(share.owner.id.as_str())
        .bind(share.partner.id.as_str())
        .bind(share.order_number.as_str())
        .bind(share.include_customer)
        .bind(share.include_amounts)
        .bind(share.resource_version)
        .bind(places.owner)
        .bind(places.partner)
        .bind(share.created_at.as_ms())
        .bind(share.updated_at.as_ms())
        .execute(&mut *self.conn)
        .await?;
        Ok(())
    }

    async fn share_revoke(&mut self, share: &OrderShare) -> Result<(), StoreError> {
        let done = sqlx::query(
            "UPDATE order_shares SET status = 'revoked', revoked_at = $4, resource_version = $5, updated_at = $6 \
             WHERE id = $1 AND owner_id = $2 AND livemode = $3 AND status = 'active' AND resource_version = $5 - 1",
        )
        .bind(share.id.as_str())
        .bind(share.owner.id.as_str())
        .bind(share.livemode)
        .bind(share.revoked_at.map(Timestamp::as_ms))
        .bind(share.resource_version)
        .bind(share.updated_at.as_ms())
        .execute(&mut *self.conn)
        .await?;
        one_row(done.rows_affected(), "share")
    }

    async fn share_get(&mut self, tenant: &Tenant, id: &ShareId) -> Result<Option<OrderShare>, StoreError> {
        let mut query = selected(COLUMNS);
        query.push(" WHERE s.id = ").push_bind(id.as_str());
        query.push(" AND s.owner_id = ").push_bind(tenant.merchant_id.as_str());
        query.push(" AND s.livemode = ").push_bind(tenant.livemode);
        let row = query.build().fetch_optional(&mut *self.conn).await?;
        row.map(|row| share(&row)).transpose()
    }

    async fn share_on_connection(
        &mut self,
        tenant: &Tenant,
        order: &OrderNumber,
        connection: &ConnectionId,
    ) -> Result<Option<ShareId>, StoreError> {
        let id: Option<String> = sqlx::query_scalar(
            "SELECT id FROM order_shares WHERE owner_id = $1 AND livemode = $2 AND order_number = $3 \
                 AND connection_id = $4 AND status = 'active'",
        )
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .bind(order.as_str())
        .bind(connection.as_str())
        .fetch_optional(&mut *self.conn)
        .await?;
        Ok(id.map(ShareId::from_store))
    }

    async fn shares_page(
        &mut self,
        tenant: &Tenant,
        filter: &ShareFilter,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Page<OrderShare>, StoreError> {
        let of = |query: &mut QueryBuilder<Db>| {
            query.push("s.owner_id = ").push_bind(tenant.merchant_id.as_str().to_owned());
            query.push(" AND s.livemode = ").push_bind(tenant.livemode);
            bodies::push_equal(query, "s.order_number", filter.order_number.as_ref());
        };
        let filters = |query: &mut QueryBuilder<Db>| push_filter(query, filter);
        let (position, order) = ("s.owner_sequence", ListOrder::NewestFirst);
        let listed = Listed {
            table: TABLE,
            joins: JOINS,
            position,
            order,
            after: before,
            of,
            owner: None,
            filter: filters,
        };
        let placed = |row: &DbRow| Ok((0, (row.try_get("owner_sequence")?, share(row)?)));
        listed.page(self.conn, COLUMNS, limit, placed).await
    }

    async fn shares_of_orders(
        &mut self,
        tenant: &Tenant,
        orders: &[&OrderNumber],
    ) -> Result<Vec<OrderShare>, StoreError> {
        let mut query = selected(COLUMNS);
        query.push(" WHERE s.owner_id = ").push_bind(tenant.merchant_id.as_str());
        query.push(" AND s.livemode = ").push_bind(tenant.livemode).push(" AND s.order_number IN (NULL");
        for order in orders {
            query.push(", ").push_bind(order.as_str().to_owned());
        }
        query.push(")").push(ACTIVE).push(" ORDER BY s.order_number, s.owner_sequence");
        let rows = query.build().fetch_all(self.conn.about(&[]).await?).await?;
        rows.iter().map(share).collect()
    }

    async fn shares_to_end(
        &mut self,
        connection: &ConnectionId,
        limit: i64,
    ) -> Result<Vec<(OrderShare, Timestamp)>, StoreError> {
        let mut query = selected(COLUMNS);
        query.push(" WHERE s.connection_id = ").push_bind(connection.as_str());
        query.push(" AND s.status = 'active' AND c.status = 'revoked' ORDER BY s.id LIMIT ").push_bind(limit);
        let rows = query.build().fetch_all(&mut *self.conn).await?;
        rows.iter().map(|row| Ok((stored(row)?, ended_at(row)?.unwrap_or(Timestamp::from_ms(0))))).collect()
    }

    async fn share_last_shown(&mut self, share: &OrderShare) -> Result<Option<String>, StoreError> {
        Ok(sqlx::query_scalar(
            "SELECT body FROM events WHERE merchant_id = $1 AND livemode = $2 AND resource_id = $3 \
                 AND type LIKE 'order.%' ORDER BY sequence DESC LIMIT 1",
        )
        .bind(share.partner.id.as_str())
        .bind(share.livemode)
        .bind(share.id.as_str())
        .fetch_optional(&mut *self.conn)
        .await?)
    }
}

fn selected(columns: &'static str) -> QueryBuilder<Db> {
    let mut query = QueryBuilder::<Db>::new("SELECT ");
    query.push(columns).push(" FROM ").push(TABLE).push(JOINS);
    query
}

pub(super) fn push_filter(query: &mut QueryBuilder<Db>, filter: &ShareFilter) {
    if let Some(connection) = &filter.connection_id {
        query.push(" AND s.connection_id = ").push_bind(connection.clone());
    }
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
fn ended_at(row: &DbRow) -> Result<Option<Timestamp>, StoreError> {
    Ok(row.try_get::<Option<i64>, _>("connection_revoked_at")?.map(Timestamp::from_ms))
}

/// The share as it is.
pub(super) fn share(row: &DbRow) -> Result<OrderShare, StoreError> {
    Ok(stored(row)?.on_connection(ended_at(row)?))
}

/// The share as its own row has it.
fn stored(row: &DbRow) -> Result<OrderShare, StoreError> {
    let merchant = |id: &str, slug: &str| -> Result<MerchantContext, StoreError> {
        Ok(MerchantContext { id: MerchantId::from_store(row.try_get(id)?), slug: row.try_get(slug)? })
    };
    let status = ShareStatus::parse(row.try_get("status")?)
        .ok_or_else(|| StoreError::Broken("order_shares.status holds an unknown word".to_owned()))?;
    Ok(OrderShare {
        id: ShareId::from_store(row.try_get("id")?),
        connection_id: ConnectionId::from_store(row.try_get("connection_id")?),
        order_number: OrderNumber::from_store(row.try_get("order_number")?),
        owner: merchant("owner_id", "owner_slug")?,
        partner: merchant("partner_id", "partner_slug")?,
        permissions: vec![SharePermission::Read],
        include_customer: row.try_get("include_customer")?,
        include_amounts: row.try_get("include_amounts")?,
        status,
        revoked_at: row.try_get::<Option<i64>, _>("revoked_at")?.map(Timestamp::from_ms),
        resource_version: row.try_get("resource_version")?,
        livemode: row.try_get("livemode")?,
        created_at: Timestamp::from_ms(row.try_get("created_at")?),
        updated_at: Timestamp::from_ms(row.try_get("updated_at")?),
    })
}
