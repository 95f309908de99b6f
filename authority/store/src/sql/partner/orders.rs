//! The orders that partners see through active shares (contract 4.14).

use authority_domain::list_filter::ShareFilter;
use authority_domain::partner::share::OrderShare;
use authority_domain::{ShareId, Tenant};
use futures_util::TryStreamExt;

use crate::driver::FromRow as _;
use crate::sql::partner::shares::{ACTIVE, COLUMNS, TABLE, push_filter, share};
use crate::sql::transaction::look_ahead::Listed;
use crate::sql::transaction::pages::{PAGE_BYTES, Page};
use crate::sql::{Across, Query, Result, Row, Shard, ShardSet, Tx};

/// An order that a partner may see.
#[derive(Clone, Debug)]
pub struct SeenOrder {
    /// Its position in the partner's list.
    pub position: i64,
    /// How it is shared.
    pub share: OrderShare,
    /// The owner's order as JSON text; it must be filtered before the partner sees it.
    pub order: String,
    /// The order's parcels as JSON texts, oldest first; these must be filtered too.
    pub shipments: Vec<String>,
    /// The size of these texts together.
    pub bytes: usize,
}

/// What [`COLUMNS`] and [`ORDER_BODY`] are read from beside [`TABLE`].
const JOINS_OF_SEEN: &str = " JOIN partner_connections c ON c.id = s.connection_id \
     JOIN merchants o ON o.id = s.owner_id JOIN merchants p ON p.id = s.partner_id \
     JOIN orders r ON r.shard = s.shard AND r.merchant_id = s.owner_id AND r.livemode = s.livemode AND r.order_number = s.order_number";

/// The column of an order's text, after [`COLUMNS`].
const ORDER_BODY: &str = ", r.body AS order_body";

/// The partner of rows that are named by their ids. SQLite would use the index of the partner's positions even so, and
/// walk over everything that is shared with the partner. It does not where the column is part of an expression.
const PARTNER_OF_NAMED: &str = "s.partner_id || ''";

impl Tx {
    /// An order that is shared with the tenant by this share.
    pub async fn partner_order(&mut self, tenant: &Tenant, id: &ShareId) -> Result<Option<SeenOrder>> {
        let mut query = Query::across(Across::PARTNERS, "SELECT ");
        query.push(COLUMNS).push(ORDER_BODY).push(" FROM ").push(TABLE).push(JOINS_OF_SEEN);
        query
            .push(" WHERE ")
            .push_shards("s.", ShardSet::ALL)
            .push(" AND ")
            .push(PARTNER_OF_NAMED)
            .push(" = ")
            .push_bind(tenant.merchant_id.as_str());
        query.push(" AND s.livemode = ").push_bind(tenant.livemode).push(ACTIVE);
        query.push(" AND s.id = ").push_bind(id.as_str());
        let row = query.read_optional::<Row>(&mut self.conn).await?;
        let found = row.iter().map(seen_order).collect::<Result<_, _>>()?;
        Ok(self.with_parcels(tenant, found).await?.pop())
    }

    /// Up to `limit` orders that are shared with the tenant, before position `before`, newest first.
    pub async fn partner_orders_page(
        &mut self,
        tenant: &Tenant,
        filter: &ShareFilter,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Page<SeenOrder>> {
        let of = |query: &mut Query<'_>| {
            query
                .push_shards("s.", ShardSet::ALL)
                .push(" AND s.partner_id = ")
                .push_bind(tenant.merchant_id.as_str().to_owned());
            query.push(" AND s.livemode = ").push_bind(tenant.livemode);
        };
        let filters = |query: &mut Query<'_>| {
            query.push(ACTIVE);
            query.push_some(" AND s.order_number = ", filter.order_number.clone());
            push_filter(query, filter);
        };
        let listed = Listed::newest_first(TABLE, "s.partner_sequence", before, of, filters);
        let listed = Listed { joins: JOINS_OF_SEEN, ..listed };
        let placed = |row: &Row| seen_order(row).map(|seen| (seen.bytes, (seen.position, seen)));
        let page = listed.page(&mut self.conn, &format!("{COLUMNS}{ORDER_BODY}"), limit, placed).await?;
        let found = page.rows.into_iter().map(|(_, seen)| seen).collect();
        let rows = self.with_parcels(tenant, found).await?;
        Ok(Page { rows: rows.into_iter().map(|seen| (seen.position, seen)).collect(), ..page })
    }

    /// The orders, as they were found, with their parcels, up to the first that does not fit on the page. The parcels
    /// are read under the same conditions: an order whose share was revoked between the two statements comes without
    /// any.
    async fn with_parcels(&mut self, tenant: &Tenant, mut found: Vec<SeenOrder>) -> Result<Vec<SeenOrder>> {
        if found.is_empty() {
            return Ok(found);
        }
        let mut query = Query::new("SELECT s.id, h.body FROM (VALUES ");
        let mut between = "(";
        for seen in &found {
            query.push(between).push_bind(seen.share.id.as_str().to_owned());
            query.push(", ").push_bind(Shard::of(&seen.share.owner.id)).push(")");
            between = ", (";
        }
        query.push(
            ") AS w JOIN order_shares s ON s.shard = w.column2 AND s.id = w.column1 JOIN partner_connections c ON c.id = s.connection_id \
             JOIN shipments h ON h.shard = s.shard AND h.merchant_id = s.owner_id AND h.livemode = s.livemode \
             AND h.order_number = s.order_number WHERE ",
        );
        query.push(PARTNER_OF_NAMED).push(" = ").push_bind(tenant.merchant_id.as_str());
        query.push(" AND s.livemode = ").push_bind(tenant.livemode).push(ACTIVE);
        query.push(" ORDER BY s.partner_sequence DESC, h.created_sequence");
        let mut parcels = query.read_stream(&mut self.conn).await?;
        let (mut at, mut before) = (0, 0);
        while let Some(parcel) = parcels.try_next().await? {
            let (id, body) = <(String, String)>::from_row(parcel)?;
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

/// The order of a row, without its parcels.
fn seen_order(row: &Row) -> Result<SeenOrder> {
    let (position, order): (i64, String) = (row.get("partner_sequence")?, row.get("order_body")?);
    Ok(SeenOrder { position, share: share(row)?, bytes: order.len(), order, shipments: Vec::new() })
}
