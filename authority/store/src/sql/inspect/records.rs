//! The audit's reads of records: a stored text beside the columns that repeat parts of it.

use std::collections::BTreeMap;

use authority_domain::invariants::{RecordKind, StoredRecord};
use authority_domain::tenant::Tenant;
use serde_json::Value;

use crate::StoreError;
use crate::driver::{Query, Row};
use crate::sql::transaction::write_buffer::BufferedConnection;

/// A table of records: its key, and the columns that repeat parts of the record.
struct Table {
    name: &'static str,
    key: &'static str,
    texts: &'static [&'static str],
    flags: &'static [&'static str],
    numbers: &'static [&'static str],
}

const fn table(kind: RecordKind) -> Table {
    match kind {
        RecordKind::Checkout => Table {
            name: "checkouts",
            key: "id",
            texts: &["status", "currency"],
            flags: &[],
            numbers: &["total", "expires_at", "resource_version"],
        },
        RecordKind::Payment => Table {
            name: "payments",
            key: "id",
            texts: &["status", "checkout_id", "order_number", "subscription_id", "currency"],
            flags: &["late"],
            numbers: &[
                "amount",
                "amount_authorized",
                "amount_captured",
                "amount_refunded",
                "amount_refund_pending",
                "resource_version",
                "created_sequence",
                "created_at",
            ],
        },
        RecordKind::Order => Table {
            name: "orders",
            key: "order_number",
            texts: &["status", "payment_status", "fulfillment_status", "currency", "customer_reference"],
            flags: &[],
            numbers: &[
                "total",
                "resource_version",
                "created_sequence",
                "last_sequence",
                "created_at",
                "updated_at",
            ],
        },
        RecordKind::Refund => Table {
            name: "refunds",
            key: "id",
            texts: &["order_number", "payment_id", "status"],
            flags: &[],
            numbers: &["amount", "resource_version", "created_sequence", "created_at"],
        },
        RecordKind::Shipment => Table {
            name: "shipments",
            key: "id",
            texts: &["order_number", "status", "carrier", "tracking_number"],
            flags: &[],
            numbers: &["resource_version", "created_sequence"],
        },
        RecordKind::Subscription => Table {
            name: "subscriptions",
            key: "id",
            texts: &["status", "customer_reference"],
            flags: &[],
            numbers: &["resource_version", "created_sequence", "created_at"],
        },
    }
}

/// The records of a kind with these ids.
pub(crate) async fn of_kind(
    conn: &mut BufferedConnection,
    tenant: &Tenant,
    kind: RecordKind,
    ids: &[&str],
) -> Result<Vec<StoredRecord>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let Table { name, key, texts, flags, numbers } = table(kind);
    let mut query = Query::new("SELECT body");
    for column in texts.iter().chain(flags).chain(numbers).chain([&key]) {
        query.push(", ").push(column);
    }
    query.push(" FROM ").push(name).push(" WHERE merchant_id = ").push_bind(tenant.merchant_id.as_str());
    query.push(" AND livemode = ").push_bind(tenant.livemode).push(" AND ").push(key).push(" IN (");
    query.push_list(ids.iter().copied()).push(")");
    let rows = query.read::<Row>(conn).await?;
    let record = |row: &Row| {
        let mut columns = BTreeMap::new();
        for column in texts {
            columns.insert(*column, row.get::<Option<String>>(*column)?.into());
        }
        for column in flags {
            columns.insert(*column, row.get::<bool>(*column)?.into());
        }
        for column in numbers {
            columns.insert(*column, row.get::<Option<i64>>(*column)?.map_or(Value::Null, Value::from));
        }
        Ok(StoredRecord { kind, id: row.get(key)?, body: row.get("body")?, columns })
    };
    rows.iter().map(record).collect()
}

/// The ids of records made after a position of which no event tells.
pub(crate) async fn untold(
    conn: &mut BufferedConnection,
    tenant: &Tenant,
    kind: RecordKind,
    made_after: i64,
    limit: i64,
) -> Result<Vec<String>, StoreError> {
    let Table { name, key, .. } = table(kind);
    let mut query = Query::new("SELECT ");
    query.push(key).push(" FROM ").push(name).push(" r WHERE r.merchant_id = ");
    query.push_bind(tenant.merchant_id.as_str()).push(" AND r.livemode = ").push_bind(tenant.livemode);
    query.push(" AND COALESCE(r.created_sequence, 1) > ").push_bind(made_after);
    query.push(
        " AND NOT EXISTS (SELECT 1 FROM events e WHERE e.merchant_id = r.merchant_id \
         AND e.livemode = r.livemode AND e.resource_id = r.",
    );
    query.push(key).push(" AND e.type LIKE ").push_bind(format!("{kind}.%"));
    query.push(") ORDER BY ").push(key).push(" LIMIT ").push_bind(limit);
    Ok(query.read(conn).await?)
}
