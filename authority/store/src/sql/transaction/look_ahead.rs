//! How far a filtered page of a list looks.
//!
//! A page is read in the order of its list until it is full. Where few rows match and no index knows them, that would
//! be the whole list, for one request. So such a page looks at [`LOOK_AHEAD`] rows at most and says where it stopped
//! ([`Page::looked_to`]); the next page goes on there. The rows that are counted are those that the conditions with an
//! index leave over: a list of one customer's orders counts that customer's.
//!
//! Most filters find a page's rows nearby. So the page is read from the next [`LOOK_AHEAD`] positions first, which hold
//! no more rows than that. Only when these do not fill it, a statement that reads nothing but an index finds how far it
//! may look, and it is read once more. A page whose conditions all have an index has no bound.

use authority_domain::Tenant;

use crate::driver::{Query, Row};
use crate::error::Result;
use crate::sql::transaction::pages::{LOOK_AHEAD, Page, page_rows};
use crate::sql::transaction::write_buffer::BufferedConnection;

/// A list and its filters.
pub(crate) struct Listed<'a, Of, Filter> {
    pub(crate) table: &'static str,
    /// What the page's columns and filters need beside the table; it has one row for each of the table's.
    pub(crate) joins: &'static str,
    /// The column of the position, by which the list is ordered. It is unique in the list.
    pub(crate) position: &'static str,
    pub(crate) order: ListOrder,
    /// The position after which the page begins, in the order of the list; `None` from its start.
    pub(crate) after: Option<i64>,
    /// Adds the conditions that an index serves, without ` WHERE `: whose list it is.
    pub(crate) of: Of,
    /// Whose rows they must be as well, where `of` does not say so: the index that serves it does not know.
    pub(crate) owner: Option<&'a Tenant>,
    /// Adds ` AND …` for each other condition, or nothing.
    pub(crate) filter: Filter,
}

/// Where a list begins, in words of SQL: its direction, and which positions are after another one or up to it.
#[derive(Clone, Copy)]
pub(crate) struct ListOrder {
    direction: &'static str,
    after: &'static str,
    up_to: &'static str,
    ahead: i64,
}

impl ListOrder {
    pub(crate) const NEWEST_FIRST: Self =
        Self { direction: " DESC", after: " < ", up_to: " >= ", ahead: -LOOK_AHEAD };
    pub(crate) const OLDEST_FIRST: Self =
        Self { direction: "", after: " > ", up_to: " <= ", ahead: LOOK_AHEAD };
}

impl<Of, Filter> Listed<'_, Of, Filter> {
    /// A list of one table, the newest rows first.
    pub(crate) fn newest_first(
        table: &'static str,
        position: &'static str,
        after: Option<i64>,
        of: Of,
        filter: Filter,
    ) -> Self {
        Self { table, joins: "", position, order: ListOrder::NEWEST_FIRST, after, of, owner: None, filter }
    }
}

impl<Of: Fn(&mut Query<'_>), Filter: Fn(&mut Query<'_>)> Listed<'_, Of, Filter> {
    /// Up to `limit` rows, as far as they fit on a page. `read` tells the size of a row in bytes, and what it is.
    pub(crate) async fn page<T>(
        &self,
        conn: &mut BufferedConnection,
        columns: &str,
        limit: i64,
        read: impl Fn(&Row) -> Result<(usize, (i64, T))>,
    ) -> Result<Page<T>> {
        let mut query = self.select(columns, self.joins);
        let is_filtered = self.is_filtered();
        if is_filtered {
            self.push_nearby(&mut query);
        }
        let rows = page_rows(self.filtered(query, limit).read_stream(conn).await?, &read).await?;
        if !is_filtered || i64::try_from(rows.len()) == Ok(limit) {
            return Ok(rows.into());
        }
        let looked_to = self.end_of_look_ahead(conn).await?;
        let mut query = self.select(columns, self.joins);
        if let Some(end) = looked_to {
            query.push(" AND ").push(self.position).push(self.order.up_to).push_bind(end);
        }
        let rows = page_rows(self.filtered(query, limit).read_stream(conn).await?, &read).await?;
        Ok(Page { rows, looked_to })
    }

    fn is_filtered(&self) -> bool {
        let mut conditions = Query::new("");
        (self.filter)(&mut conditions);
        !conditions.is_empty()
    }

    /// The position of the last row that a page may look at; `None` when fewer rows are left.
    async fn end_of_look_ahead(&self, conn: &mut BufferedConnection) -> Result<Option<i64>> {
        let mut query = self.select(self.position, "");
        self.push_order(&mut query);
        query.push(" LIMIT 1 OFFSET ").push_bind(LOOK_AHEAD - 1);
        Ok(query.read_optional(conn).await?)
    }

    fn select(&self, columns: &str, joins: &str) -> Query<'static> {
        let mut query = Query::new("SELECT ");
        query.push(columns).push(" FROM ").push(self.table).push(joins).push(" WHERE ");
        (self.of)(&mut query);
        if let Some(after) = self.after {
            query.push(" AND ").push(self.position).push(self.order.after).push_bind(after);
        }
        query
    }

    /// Narrows the query to the positions nearby.
    fn push_nearby(&self, query: &mut Query<'_>) {
        query.push(" AND ").push(self.position).push(self.order.up_to);
        match self.after {
            Some(after) => {
                query.push_bind(after.saturating_add(self.order.ahead));
            }
            None => {
                query.push("(SELECT ").push(self.position).push(" FROM ").push(self.table).push(" WHERE ");
                (self.of)(query);
                self.push_order(query);
                query.push(" LIMIT 1) + ").push_bind(self.order.ahead);
            }
        }
    }

    fn filtered(&self, mut query: Query<'static>, limit: i64) -> Query<'static> {
        if let Some(owner) = self.owner {
            query.push(" AND ").push_tenant("", owner);
        }
        (self.filter)(&mut query);
        self.push_order(&mut query);
        query.push(" LIMIT ").push_bind(limit);
        query
    }

    fn push_order(&self, query: &mut Query<'_>) {
        query.push(" ORDER BY ").push(self.position).push(self.order.direction);
    }
}
