//! Shares of orders. Their rows are never buffered, so every read in a transaction sees them
//! ([`super::write_buffer`]).

use async_trait::async_trait;
use authority_domain::id::{ConnectionId, MerchantId, ShareId};
use authority_domain::list_filter::ShareFilter;
use authority_domain::order::number::OrderNumber;
use authority_domain::partner::share::{OrderShare, SharePermission, ShareStatus};
use authority_domain::tenant::{MerchantContext, Tenant};
use authority_domain::time::Timestamp;
use futures_util::TryStreamExt;
use sqlx::{QueryBuilder, Row};

use super::look_ahead::{ListOrder, Listed};
use super::{Db, DbRow, Session, bodies, one_row};
use crate::StoreError;
use crate::ports::{PAGE_BYTES, Page, SeenOrder, SharePositions, Shares};

const COLUMNS: &str = "s.id, s.livemode, s.connection_id, s.owner_id, s.partner_id, s.order_number, s.include_customer, \
     s.include_amounts, s.status, s.revoked_at, s.resource_version, s.owner_sequence, s.partner_sequence, s.created_at, \
     s.updated_at, o.slug AS owner_slug, p.slug AS partner_slug, c.revoked_at AS connection_revoked_at";

const TABLE: &str = "order_shares s";

/// What [`COLUMNS`] are read from beside [`TABLE`].
const JOINS: &str = " JOIN partner_connections c ON c.id = s.connection_id \
     JOIN merchants o ON o.id = s.owner_id JOIN merchants p ON p.id = s.partner_id";

/// The same for the orders that are shared, with their text.
const JOINS_OF_SEEN: &str = " JOIN partner_connections c ON c.id = s.connection_id \
     JOIN merchants o ON o.id = s.owner_id JOIN merchants p ON p.id = s.partner_id \
     JOIN orders r ON r.merchant_id = s.owner_id AND r.livemode = s.livemode AND r.order_number = s.order_number";

/// The column of an order's text, after [`COLUMNS`].
const ORDER_BODY: &str = ", r.body AS order_body";

/// The partner of rows that are named by their ids. SQLite would use the index of the partner's positions even so, and
/// walk over everything that is shared with the partner. It does not where the column is part of an expression.
const PARTNER_OF_NAMED: &str = "s.partner_id || ''";

/// Only active shares are visible: neither the share nor its connection has ended.
const ACTIVE: &str = " AND s.status = 'active' AND c.status = 'accepted'";

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

    async fn partner_order(
        &mut self,
        tenant: &Tenant,
        id: &ShareId,
    ) -> Result<Option<SeenOrder>, StoreError> {
        let mut query = QueryBuilder::<Db>::new("SELECT ");
        query.push(COLUMNS).push(ORDER_BODY).push(" FROM ").push(TABLE).push(JOINS_OF_SEEN);
        query.push(" WHERE ").push(PARTNER_OF_NAMED).push(" = ").push_bind(tenant.merchant_id.as_str());
        query.push(" AND s.livemode = ").push_bind(tenant.livemode).push(ACTIVE);
        query.push(" AND s.id = ").push_bind(id.as_str());
        let row = query.build().fetch_optional(&mut *self.conn).await?;
        let found = row.iter().map(seen_order).collect::<Result<_, _>>()?;
        Ok(self.with_parcels(tenant, found).await?.pop())
    }

    async fn partner_orders_page(
        &mut self,
        tenant: &Tenant,
        filter: &ShareFilter,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Page<SeenOrder>, StoreError> {
        let of = |query: &mut QueryBuilder<Db>| {
            query.push("s.partner_id = ").push_bind(tenant.merchant_id.as_str().to_owned());
            query.push(" AND s.livemode = ").push_bind(tenant.livemode);
        };
        let filters = |query: &mut QueryBuilder<Db>| {
            query.push(ACTIVE);
            bodies::push_equal(query, "s.order_number", filter.order_number.as_ref());
            push_filter(query, filter);
        };
        let (position, order) = ("s.partner_sequence", ListOrder::NewestFirst);
        let listed = Listed {
            table: TABLE,
            joins: JOINS_OF_SEEN,
            position,
            order,
            after: before,
            of,
            owner: None,
            filter: filters,
        };
        let placed = |row: &DbRow| seen_order(row).map(|seen| (seen.bytes, (seen.position, seen)));
        let page = listed.page(self.conn, &format!("{COLUMNS}{ORDER_BODY}"), limit, placed).await?;
        let found = page.rows.into_iter().map(|(_, seen)| seen).collect();
        let rows = self.with_parcels(tenant, found).await?;
        Ok(Page { rows: rows.into_iter().map(|seen| (seen.position, seen)).collect(), ..page })
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

impl Session<'_> {
    /// The orders, as they were found, with their parcels, up to the first that does not fit on the page. The parcels
    /// are read under the same conditions: an order whose share was revoked between the two statements comes without
    /// any.
    async fn with_parcels(
        &mut self,
        tenant: &Tenant,
        mut found: Vec<SeenOrder>,
    ) -> Result<Vec<SeenOrder>, StoreError> {
        if found.is_empty() {
            return Ok(found);
        }
        let mut query = QueryBuilder::<Db>::new("SELECT s.id, h.body FROM (VALUES ");
        let mut between = "(";
        for seen in &found {
            query.push(between).push_bind(seen.share.id.as_str().to_owned()).push(")");
            between = ", (";
        }
        query.push(
            ") AS w JOIN order_shares s ON s.id = w.column1 JOIN partner_connections c ON c.id = s.connection_id \
             JOIN shipments h ON h.merchant_id = s.owner_id AND h.livemode = s.livemode \
             AND h.order_number = s.order_number WHERE ",
        );
        query.push(PARTNER_OF_NAMED).push(" = ").push_bind(tenant.merchant_id.as_str());
        query.push(" AND s.livemode = ").push_bind(tenant.livemode).push(ACTIVE);
        query.push(" ORDER BY s.partner_sequence DESC, h.created_sequence");
        let mut parcels = query.build_query_as::<(String, String)>().fetch(&mut *self.conn);
        let (mut at, mut before) = (0, 0);
        while let Some((id, body)) = parcels.try_next().await? {
            while let Some(other) = found.get(at).filter(|seen| seen.share.id.as_str() != id) {
                before += other.bytes;
                at += 1;
            }
            let Some(seen) = found.get_mut(at) else { break };
            seen.bytes += body.len();
            seen.shipments.push(body);
            if at > 0 && before + seen.bytes > PAGE_BYTES {
                found.truncate(at + 1);
                break;
            }
        }
        drop(parcels);
        Ok(found)
    }
}

fn selected(columns: &'static str) -> QueryBuilder<Db> {
    let mut query = QueryBuilder::<Db>::new("SELECT ");
    query.push(columns).push(" FROM ").push(TABLE).push(JOINS);
    query
}

fn push_filter(query: &mut QueryBuilder<Db>, filter: &ShareFilter) {
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

/// The order of a row, without its parcels.
fn seen_order(row: &DbRow) -> Result<SeenOrder, StoreError> {
    let (position, order): (i64, String) = (row.try_get("partner_sequence")?, row.try_get("order_body")?);
    Ok(SeenOrder { position, share: share(row)?, bytes: order.len(), order, shipments: Vec::new() })
}

/// When the share's connection was ended.
fn ended_at(row: &DbRow) -> Result<Option<Timestamp>, StoreError> {
    Ok(row.try_get::<Option<i64>, _>("connection_revoked_at")?.map(Timestamp::from_ms))
}

/// The share as it is.
fn share(row: &DbRow) -> Result<OrderShare, StoreError> {
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
