//! Keys of which waiting jobs expect that nothing is stored under them: the next generated order numbers, and the
//! idempotency keys of refunds and shipments.
//!
//! Only the keys that are free are cached. A job that finds its key neither free nor buffered runs its own query.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use authority_domain::order::number::OrderNumber;
use authority_domain::tenant::Tenant;
use sqlx::{QueryBuilder, Row as _};

use super::orders::{NUMBERS_START_ABOVE, counter_waits_under, order_key};
use super::prefetch::{WORTH_IT, padded};
use super::{Db, Session, bodies};
use crate::StoreError;

/// Where a key is used, for a row `t (merchant, mode, text, requester, key)`.
pub(super) const REFUNDS: &str = "refunds r WHERE r.merchant_id = t.column1 AND r.livemode = t.column2 \
     AND r.idempotency_key = t.column3 AND r.requester = t.column4";
pub(super) const SHIPMENTS: &str = "shipments s WHERE s.merchant_id = t.column1 AND s.livemode = t.column2 \
     AND s.idempotency_key = t.column3";
const ORDERS: &str = "orders o WHERE o.merchant_id = t.column1 AND o.livemode = t.column2 \
     AND o.order_number = t.column3";

/// The columns of a key.
pub(super) struct KeyColumns<'j> {
    pub(super) tenant: &'j Tenant,
    /// The idempotency key or order number.
    pub(super) text: Cow<'j, str>,
    /// Who asks for a refund.
    pub(super) requester: &'static str,
}

impl Session<'_> {
    /// The next order numbers of these tenants, as many as their jobs may take.
    pub(super) async fn numbers_ahead(
        &mut self,
        tenants: &BTreeMap<&Tenant, usize>,
    ) -> Result<(), StoreError> {
        self.counters_ahead(&Vec::from_iter(tenants.keys().copied())).await?;
        let mut numbers = BTreeMap::new();
        for (tenant, count) in tenants {
            let known = (self.conn.cache.counter(tenant), self.conn.cache.merchant(&tenant.merchant_id));
            let (Some(last), Some(merchant)) = known else { continue };
            for next in (last + 1..).take(*count) {
                let number = OrderNumber::generated(&merchant.settings.order_number_prefix, next);
                let key = order_key(&tenant.merchant_id, tenant.livemode, &number);
                let text = Cow::Owned(number.to_string());
                numbers.insert(key, KeyColumns { tenant, text, requester: "" });
            }
        }
        numbers.retain(|key, _| !self.conn.waits(key));
        self.unused_ahead(ORDERS, &numbers).await
    }

    /// The counters of generated numbers of these tenants, unless they are known.
    async fn counters_ahead(&mut self, tenants: &[&Tenant]) -> Result<(), StoreError> {
        let unknown = |tenant: &&Tenant| {
            self.conn.cache.counter(tenant).is_none() && !self.conn.waits(&counter_waits_under(tenant))
        };
        let tenants: Vec<&Tenant> = tenants.iter().copied().filter(unknown).collect();
        if tenants.len() < WORTH_IT {
            return Ok(());
        }
        let mut query = QueryBuilder::<Db>::new(
            "SELECT c.merchant_id, c.livemode, c.last_number FROM order_counters c WHERE c.merchant_id IN (",
        );
        let mut list = query.separated(", ");
        for tenant in padded(&tenants) {
            list.push_bind(tenant.merchant_id.as_str());
        }
        query.push(")");
        let rows = query.build().fetch_all(self.conn.about(&[]).await?).await?;
        let mut last_numbers = BTreeMap::new();
        for row in rows {
            last_numbers.insert(bodies::tenant(&row)?, row.try_get(2)?);
        }
        for tenant in tenants {
            let last_number = last_numbers.remove(tenant).unwrap_or(NUMBERS_START_ABOVE);
            self.conn.note_counter(tenant, &counter_waits_under(tenant), last_number);
        }
        Ok(())
    }

    /// Caches which of these keys are not used.
    pub(super) async fn unused_ahead(
        &mut self,
        used: &'static str,
        keys: &BTreeMap<String, KeyColumns<'_>>,
    ) -> Result<(), StoreError> {
        if keys.len() < WORTH_IT {
            return Ok(());
        }
        // Joined in this order: SQLite would else walk the whole table.
        let mut query = QueryBuilder::<Db>::new("SELECT t.column5 FROM (VALUES ");
        let mut between = "(CAST(";
        let all: Vec<_> = keys.iter().collect();
        for (key, columns) in padded(&all) {
            query.push(between).push_bind(columns.tenant.merchant_id.as_str()).push(" AS TEXT), CAST(");
            query.push_bind(columns.tenant.livemode).push(" AS BOOLEAN), CAST(");
            query.push_bind(columns.text.as_ref()).push(" AS TEXT), CAST(");
            query.push_bind(columns.requester).push(" AS TEXT), CAST(");
            query.push_bind(key.as_str()).push(" AS TEXT))");
            between = ", (CAST(";
        }
        query.push(") AS t CROSS JOIN ").push(used);
        let used: Vec<String> = query.build_query_scalar().fetch_all(self.conn.about(&[]).await?).await?;
        let used = BTreeSet::from_iter(used);
        for key in keys.keys().filter(|key| !used.contains(*key)) {
            self.conn.cache.note_unused(key.clone());
        }
        Ok(())
    }
}
