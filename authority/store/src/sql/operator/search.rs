//! Finding a record of any merchant by what people call it: for the operator's console.
//!
//! Every kind of name has an index over all merchants, so a search is one look-up for each and costs the same beside
//! any history.

use authority_domain::{
    AlertId, AlertStatus, AttemptId, CheckoutId, CheckpointId, ConnectionId, DeliveryId, EndpointId, KeyId,
    RecoveryId, ShareId, ShipmentId, SubscriptionId, Tenant, Timestamp,
};

use crate::driver::Dialect;
use crate::sql::{Across, Query, Result, Row, Tx, bodies};

/// Which of a record's names matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MatchedName {
    /// The number of an order.
    OrderNumber,
    /// The name of an order in a system of its merchant.
    ExternalReference,
    /// The platform's name for a customer.
    CustomerReference,
    /// A carrier's name for a parcel.
    TrackingNumber,
    /// A processor's name for a payment.
    ProcessorReference,
}

/// A record that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundRecord {
    /// The name that matched.
    pub by: MatchedName,
    /// Whose it is.
    pub tenant: Tenant,
    /// Its id; of an order, its number.
    pub id: String,
    /// The order it belongs to; of an order, its own number.
    pub order_number: Option<String>,
}

/// A record that has a merchant and may belong to an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedRecord {
    /// A checkout.
    Checkout(CheckoutId),
    /// A subscription; the order is its latest.
    Subscription(SubscriptionId),
    /// A shipment.
    Shipment(ShipmentId),
}

/// A record that pages show only beside its merchant or its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SideRecord {
    /// A merchant's key.
    ApiKey(KeyId),
    /// A checkpoint of a merchant's systems.
    Checkpoint(CheckpointId),
    /// A partner connection; the merchant is the one that invited.
    Connection(ConnectionId),
    /// A shared order; the merchant is the order's owner.
    Share(ShareId),
}

/// The order of ids, as no index has it. Else PostgreSQL, where it has no statistics of a name, walks through all ids
/// in their order to find it: 600 ms with 100,000 payments.
const ID_BY_SORTING: &str = "id || ''";

/// What each kind of name is looked up in: owner, id and order of what has it.
fn look_ups(dialect: &Dialect) -> [(MatchedName, String); 6] {
    [
        (
            MatchedName::OrderNumber,
            "order_number AS id, order_number FROM orders",
            "order_number",
            "created_sequence",
        ),
        (
            MatchedName::ExternalReference,
            "order_number AS id, order_number FROM external_references",
            "id",
            "order_number",
        ),
        (
            MatchedName::CustomerReference,
            "order_number AS id, order_number FROM orders",
            "customer_reference",
            "created_at",
        ),
        (
            MatchedName::CustomerReference,
            "id, CAST(NULL AS TEXT) AS order_number FROM subscriptions",
            "customer_reference",
            "created_at",
        ),
        (MatchedName::TrackingNumber, "id, order_number FROM shipments", "tracking_number", ID_BY_SORTING),
        (
            MatchedName::ProcessorReference,
            "id, order_number FROM payments",
            dialect.processor_reference,
            ID_BY_SORTING,
        ),
    ]
    .map(|(by, columns, name, order)| {
        let select = format!(
            "SELECT merchant_id, livemode, {columns} WHERE {name} = $1 ORDER BY {order} DESC LIMIT $2"
        );
        (by, select)
    })
}

impl Tx {
    /// Records that have exactly this name, at most `limit` of each kind of name. Each kind is one index look-up.
    pub async fn records_named(&mut self, name: &str, limit: i64) -> Result<Vec<FoundRecord>> {
        let mut found = Vec::new();
        for (by, statement) in look_ups(self.conn.dialect()) {
            let rows = Query::across(Across::OPERATOR, &statement)
                .bind(name)
                .bind(limit)
                .read::<Row>(&mut self.conn)
                .await?;
            for row in &rows {
                found.push(FoundRecord {
                    by,
                    tenant: row.tenant()?,
                    id: row.get("id")?,
                    order_number: row.get("order_number")?,
                });
            }
        }
        Ok(found)
    }

    /// The stored text of a record, with its tenant.
    pub async fn record_find(&mut self, record: &NamedRecord) -> Result<Option<(Tenant, String)>> {
        let (table, id) = match record {
            NamedRecord::Checkout(id) => ("checkouts", id.as_str()),
            NamedRecord::Subscription(id) => ("subscriptions", id.as_str()),
            NamedRecord::Shipment(id) => ("shipments", id.as_str()),
        };
        let query = bodies::by_id(&self.conn, format!("SELECT merchant_id, livemode, body FROM {table}"), id);
        query.read_optional_as(&mut self.conn, |row| Ok((row.tenant()?, row.get("body")?))).await
    }

    /// Whose record this is, and the number of the order that it is about.
    pub async fn side_record_owner(
        &mut self,
        record: &SideRecord,
    ) -> Result<Option<(Tenant, Option<String>)>> {
        let (statement, id) = match record {
            SideRecord::ApiKey(id) => (
                "SELECT merchant_id, livemode, CAST(NULL AS TEXT) AS order_number FROM api_keys WHERE",
                id.as_str(),
            ),
            SideRecord::Connection(id) => (
                "SELECT inviter_id AS merchant_id, livemode, CAST(NULL AS TEXT) AS order_number FROM partner_connections WHERE",
                id.as_str(),
            ),
            SideRecord::Checkpoint(id) => (
                "SELECT merchant_id, livemode, CAST(NULL AS TEXT) AS order_number FROM checkpoints WHERE ",
                id.as_str(),
            ),
            SideRecord::Share(id) => (
                "SELECT owner_id AS merchant_id, livemode, order_number FROM order_shares WHERE ",
                id.as_str(),
            ),
        };
        let mut query = Query::new(statement);
        if matches!(record, SideRecord::Checkpoint(_) | SideRecord::Share(_)) {
            query.push_shards("", self.conn.shards()).push(" AND");
        }
        query.push(" id = ").push_bind(id);
        query.read_optional_as(&mut self.conn, |row| Ok((row.tenant()?, row.get("order_number")?))).await
    }

    /// Whether an alert is open.
    pub async fn alert_status(&mut self, id: &AlertId) -> Result<Option<AlertStatus>> {
        let query = bodies::by_id(&self.conn, "SELECT closed_at FROM alerts", id.as_str());
        let status = |row: &Row| {
            let closed_at: Option<Timestamp> = row.read("closed_at")?;
            Ok(if closed_at.is_none() { AlertStatus::Open } else { AlertStatus::Closed })
        };
        query.read_optional_as(&mut self.conn, status).await
    }

    /// The delivery that an attempt belongs to.
    pub async fn delivery_of_attempt(&mut self, id: &AttemptId) -> Result<Option<DeliveryId>> {
        let query = bodies::by_id(&self.conn, "SELECT delivery_id FROM attempts", id.as_str());
        Ok(query.read_optional(&mut self.conn).await?)
    }

    /// The endpoint that a recovery is for.
    pub async fn endpoint_of_recovery(&mut self, id: &RecoveryId) -> Result<Option<EndpointId>> {
        let query = bodies::by_id(&self.conn, "SELECT endpoint_id FROM endpoint_recoveries", id.as_str());
        Ok(query.read_optional(&mut self.conn).await?)
    }
}
