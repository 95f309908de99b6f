//! The list of all merchants' deliveries, newest first, with what narrows it.
//!
//! It goes by ids, and that of one endpoint by the order in which its deliveries were made, which has an index. Failed
//! and cancelled ones are few and have indexes of their own. For anything else a page looks at [`LOOK_AHEAD`] rows at
//! most and says where it stopped. A page is chosen from the deliveries alone and joined with its events afterwards.

use authority_domain::list_filter::AllDeliveriesFilter;
use authority_domain::{DeliveryStatus, EndpointId, EventId, MerchantId, Mode};

use crate::sql::operator::reads::{DELIVERY_COLUMNS, FoundDelivery, found};
use crate::sql::transaction::pages::{LOOK_AHEAD, PageById};
use crate::sql::{Across, BufferedConnection, Query, Result, Row, ShardSet, Tx, bodies};

impl Tx {
    /// Up to `limit` deliveries before the one with the id `before`, newest first. Those of one endpoint stand in the
    /// order in which they were made.
    pub async fn all_deliveries_page(
        &mut self,
        filter: &AllDeliveriesFilter,
        before: Option<&str>,
        limit: i64,
    ) -> Result<PageById<FoundDelivery>> {
        let Some(shards) = shards(&mut self.conn, filter).await? else { return Ok(Vec::new().into()) };
        let list = AllDeliveries { filter, before, shards };
        let looked_to = if list.needs_bound() { list.end_of_look_ahead(&mut self.conn).await? } else { None };
        let mut query = Query::across(Across::OPERATOR, DELIVERY_COLUMNS);
        query.push("(SELECT * FROM deliveries WHERE ");
        list.push_place(&mut query);
        if let Some(end) = &looked_to {
            list.push_beside(&mut query, " >= ", end);
        }
        list.push_filter(&mut query);
        list.push_order(&mut query, "");
        query.push(" LIMIT ").push_bind(limit);
        query.push(") AS d JOIN events v ON v.shard = d.event_shard AND v.id = d.event_id");
        list.push_order(&mut query, "d.");
        let rows = query.read::<Row>(&mut self.conn).await?;
        Ok(PageById { rows: rows.iter().map(found).collect::<Result<_, _>>()?, looked_to })
    }
}

/// Where the deliveries are: in the shard of their endpoint, which is its merchant's. `None` when there is no such
/// endpoint.
async fn shards(conn: &mut BufferedConnection, filter: &AllDeliveriesFilter) -> Result<Option<ShardSet>> {
    let Some(endpoint) = &filter.endpoint_id else {
        return Ok(Some(filter.merchant_id.as_ref().map_or(ShardSet::ALL, ShardSet::of)));
    };
    let query = bodies::by_id(conn, "SELECT merchant_id FROM webhook_endpoints", endpoint.as_str());
    let owner: Option<MerchantId> = query.read_optional(conn).await?;
    Ok(owner.as_ref().map(ShardSet::of))
}

struct AllDeliveries<'a> {
    filter: &'a AllDeliveriesFilter,
    before: Option<&'a str>,
    shards: ShardSet,
}

impl AllDeliveries<'_> {
    /// The status, when it alone is asked for and has indexes. It stands in the statement as it is: a database takes an
    /// index of some rows only when it can see that the statement asks for these.
    fn given_up(&self) -> Option<&'static str> {
        let [status] = self.filter.status.as_slice() else { return None };
        matches!(status, DeliveryStatus::Failed | DeliveryStatus::Cancelled).then(|| status.as_str())
    }

    /// Whether rows are passed over that no index leaves out.
    fn needs_bound(&self) -> bool {
        let AllDeliveriesFilter { merchant_id, mode, status, event_id, .. } = self.filter;
        let by_status = !status.is_empty() && self.given_up().is_none();
        event_id.is_none() && (merchant_id.is_some() || mode.is_some() || by_status)
    }

    fn is_of_endpoint(&self) -> bool {
        self.filter.endpoint_id.is_some() && self.given_up().is_none() && self.filter.event_id.is_none()
    }

    /// By what it is ordered. The few deliveries of one event are found by the event and then sorted.
    fn position(&self) -> &'static str {
        match (self.is_of_endpoint(), &self.filter.event_id) {
            (true, _) => "created_sequence",
            (false, Some(_)) => "id || ''",
            (false, None) => "id",
        }
    }

    /// Compares the position with that of the delivery `id`.
    fn push_beside(&self, query: &mut Query<'_>, compared: &str, id: &str) {
        query.push(" AND ").push(self.position()).push(compared);
        if self.is_of_endpoint() {
            query
                .push("(SELECT created_sequence FROM deliveries WHERE ")
                .push_shards("", self.shards)
                .push(" AND id = ")
                .push_bind(id.to_owned())
                .push(")");
        } else {
            query.push_bind(id.to_owned());
        }
    }

    /// What the order's index serves: the endpoint or the status, and where the page begins.
    fn push_place(&self, query: &mut Query<'_>) {
        // The indexes of what was given up are those of all shards.
        match self.given_up() {
            Some(_) => query.push("TRUE"),
            None => query.push_shards("", self.shards),
        };
        if let Some(endpoint) = &self.filter.endpoint_id {
            query.push(" AND endpoint_id = ").push_bind(EndpointId::to_string(endpoint));
        }
        if let Some(status) = self.given_up() {
            // The first condition is that of the indexes, word by word: SQLite looks for it.
            query.push(" AND status IN ('failed', 'cancelled') AND status = '").push(status).push("'");
        }
        if let Some(before) = self.before {
            self.push_beside(query, " < ", before);
        }
    }

    fn push_filter(&self, query: &mut Query<'_>) {
        if let Some(merchant) = &self.filter.merchant_id {
            query.push(" AND merchant_id = ").push_bind(merchant.to_string());
        }
        query.push_some(" AND livemode = ", self.filter.mode.map(|mode| mode == Mode::Live));
        if let Some(event) = &self.filter.event_id {
            query.push(" AND event_id = ").push_bind(EventId::to_string(event));
        }
        if self.given_up().is_none() {
            query.push_in("status", &self.filter.status);
        }
    }

    fn push_order(&self, query: &mut Query<'_>, table: &str) {
        query.push(" ORDER BY ").push(table).push(self.position()).push(" DESC");
    }

    /// The last delivery that a page may look at; `None` when fewer are left. Reads nothing but an index.
    async fn end_of_look_ahead(&self, conn: &mut BufferedConnection) -> Result<Option<String>> {
        let mut query = Query::across(Across::OPERATOR, "SELECT id FROM deliveries WHERE ");
        if self.is_of_endpoint() {
            query
                .push_shards("", self.shards)
                .push(" AND endpoint_id = ")
                .push_bind(self.filter.endpoint_id.as_ref().map(EndpointId::to_string));
            query.push(" AND created_sequence = (SELECT created_sequence FROM deliveries WHERE ");
        }
        self.push_place(&mut query);
        self.push_order(&mut query, "");
        query.push(" LIMIT 1 OFFSET ").push_bind(LOOK_AHEAD - 1);
        if self.is_of_endpoint() {
            query.push(")");
        }
        Ok(query.read_optional(conn).await?)
    }
}
