//! Finding a record of any merchant by what people call it.
//!
//! Every kind of name has an index over all merchants, so a search is one look-up for each and costs the same beside
//! any history.

use async_trait::async_trait;
use authority_domain::id::{AttemptId, DeliveryId, EndpointId, MerchantId, RecoveryId};
use authority_domain::tenant::Tenant;
use sqlx::{AssertSqlSafe, Row};

use super::{DbRow, PROCESSOR_REFERENCE, Session};
use crate::StoreError;
use crate::ports::{FoundRecord, MatchedName, NamedRecord, Search};

/// The order of ids, as no index has it. Else PostgreSQL, where it has no statistics of a name, walks through all ids
/// in their order to find it: 600 ms with 100,000 payments.
const ID_BY_SORTING: &str = "id || ''";

/// What each kind of name is looked up in: owner, id and order of what has it.
fn look_ups() -> [(MatchedName, String); 6] {
    let in_table = |columns: &str, condition: &str, order: &str| {
        format!(
            "SELECT merchant_id, livemode, {columns} WHERE {condition} = $1 ORDER BY {order} DESC LIMIT $2"
        )
    };
    let order = "order_number AS id, order_number";
    [
        (
            MatchedName::OrderNumber,
            in_table(&format!("{order} FROM orders"), "order_number", "created_sequence"),
        ),
        (
            MatchedName::ExternalReference,
            in_table(&format!("{order} FROM external_references"), "id", "order_number"),
        ),
        (
            MatchedName::CustomerReference,
            in_table(&format!("{order} FROM orders"), "customer_reference", "created_at"),
        ),
        (
            MatchedName::CustomerReference,
            in_table(
                "id, CAST(NULL AS TEXT) AS order_number FROM subscriptions",
                "customer_reference",
                "created_at",
            ),
        ),
        (
            MatchedName::TrackingNumber,
            in_table("id, order_number FROM shipments", "tracking_number", ID_BY_SORTING),
        ),
        (
            MatchedName::ProcessorReference,
            in_table("id, order_number FROM payments", PROCESSOR_REFERENCE, ID_BY_SORTING),
        ),
    ]
}

#[async_trait]
impl Search for Session<'_> {
    async fn records_named(&mut self, name: &str, limit: i64) -> Result<Vec<FoundRecord>, StoreError> {
        let mut found = Vec::new();
        for (by, statement) in look_ups() {
            let rows = sqlx::query(AssertSqlSafe(statement))
                .bind(name)
                .bind(limit)
                .fetch_all(&mut *self.conn)
                .await?;
            for row in &rows {
                found.push(FoundRecord {
                    by,
                    tenant: tenant(row)?,
                    id: row.try_get("id")?,
                    order_number: row.try_get("order_number")?,
                });
            }
        }
        Ok(found)
    }

    async fn record_find(&mut self, record: &NamedRecord) -> Result<Option<(Tenant, String)>, StoreError> {
        let (statement, id) = match record {
            NamedRecord::Checkout(id) => {
                ("SELECT merchant_id, livemode, body FROM checkouts WHERE id = $1", id.as_str())
            }
            NamedRecord::Subscription(id) => {
                ("SELECT merchant_id, livemode, body FROM subscriptions WHERE id = $1", id.as_str())
            }
            NamedRecord::Shipment(id) => {
                ("SELECT merchant_id, livemode, body FROM shipments WHERE id = $1", id.as_str())
            }
        };
        let row = sqlx::query(statement).bind(id).fetch_optional(&mut *self.conn).await?;
        row.map(|row| Ok((tenant(&row)?, row.try_get("body")?))).transpose()
    }

    async fn delivery_of_attempt(&mut self, id: &AttemptId) -> Result<Option<DeliveryId>, StoreError> {
        let found: Option<String> = sqlx::query_scalar("SELECT delivery_id FROM attempts WHERE id = $1")
            .bind(id.as_str())
            .fetch_optional(&mut *self.conn)
            .await?;
        Ok(found.map(DeliveryId::from_store))
    }

    async fn endpoint_of_recovery(&mut self, id: &RecoveryId) -> Result<Option<EndpointId>, StoreError> {
        let found: Option<String> =
            sqlx::query_scalar("SELECT endpoint_id FROM endpoint_recoveries WHERE id = $1")
                .bind(id.as_str())
                .fetch_optional(&mut *self.conn)
                .await?;
        Ok(found.map(EndpointId::from_store))
    }
}

fn tenant(row: &DbRow) -> Result<Tenant, StoreError> {
    let merchant_id = MerchantId::from_store(row.try_get("merchant_id")?);
    Ok(Tenant { merchant_id, livemode: row.try_get("livemode")? })
}
