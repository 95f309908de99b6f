//! The audit's reads of records: a stored text beside the columns that repeat parts of it, as their tables declare
//! them.

use std::collections::BTreeMap;

use authority_domain::Tenant;
use authority_domain::invariants::{RecordKind, StoredRecord};

use crate::sql::checkout::CHECKOUTS;
use crate::sql::order::ORDERS;
use crate::sql::payment::PAYMENTS;
use crate::sql::refund::REFUNDS;
use crate::sql::shipment::SHIPMENTS;
use crate::sql::subscription::SUBSCRIPTIONS;
use crate::sql::transaction::rows::Columns;
use crate::sql::{Kind, Query, Result, Row, Tx, query};

/// The columns of a table of records, most of which repeat parts of the record, and its key.
const fn table(kind: RecordKind) -> (&'static Columns, &'static str) {
    match kind {
        RecordKind::Checkout => (&CHECKOUTS.columns, "id"),
        RecordKind::Payment => (&PAYMENTS.columns, "id"),
        RecordKind::Order => (&ORDERS.columns, "order_number"),
        RecordKind::Refund => (&REFUNDS.columns, "id"),
        RecordKind::Shipment => (&SHIPMENTS.columns, "id"),
        RecordKind::Subscription => (&SUBSCRIPTIONS, "id"),
    }
}

impl Tx {
    /// The stored records with these ids, in any order.
    pub async fn inspect_records(
        &mut self,
        tenant: &Tenant,
        kind: RecordKind,
        ids: &[&str],
    ) -> Result<Vec<StoredRecord>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let (columns, key) = table(kind);
        let mut query = query(format!("SELECT {} FROM {} WHERE ", columns.names.join(", "), columns.table));
        query.push_tenant("", tenant).push(" AND ").push(key).push(" IN (");
        query.push_list(ids.iter().copied()).push(")");
        let record = |row: &Row| {
            let mut repeated = BTreeMap::new();
            for (name, kind) in columns.names.iter().copied().zip(columns.kinds) {
                let value = match kind {
                    _ if name == "body" => continue,
                    Kind::Text => row.get::<Option<String>>(name)?.into(),
                    Kind::Int => row.get::<Option<i64>>(name)?.into(),
                    Kind::Bool => row.get::<Option<bool>>(name)?.into(),
                    Kind::Bytes | Kind::Shard => continue,
                };
                repeated.insert(name, value);
            }
            Ok(StoredRecord { kind, id: row.get(key)?, body: row.get("body")?, columns: repeated })
        };
        query.read_as(&mut self.conn, record).await
    }

    /// Up to `limit` ids of records, made after the sequence `made_after`, that have no event.
    pub async fn inspect_untold(
        &mut self,
        tenant: &Tenant,
        kind: RecordKind,
        made_after: i64,
        limit: i64,
    ) -> Result<Vec<String>> {
        let (columns, key) = table(kind);
        let mut query = Query::new("SELECT ");
        query.push(key).push(" FROM ").push(columns.table).push(" r WHERE ").push_tenant("r.", tenant);
        query.push(" AND COALESCE(r.created_sequence, 1) > ").push_bind(made_after);
        query.push(
            " AND NOT EXISTS (SELECT 1 FROM events e WHERE e.shard = r.shard AND e.merchant_id = r.merchant_id \
             AND e.livemode = r.livemode AND e.resource_id = r.",
        );
        query.push(key).push(" AND e.type LIKE ").push_bind(format!("{kind}.%"));
        query.push(") ORDER BY ").push(key).push(" LIMIT ").push_bind(limit);
        Ok(query.read(&mut self.conn).await?)
    }
}
