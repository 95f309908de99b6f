//! Refunds.

use std::collections::BTreeMap;

use authority_domain::list_filter::RefundFilter;
use authority_domain::parts::Money;
use authority_domain::refund::RequesterType;
use authority_domain::{MerchantId, OrderNumber, Payment, PaymentId, Refund, RefundId, RefundStatus, Tenant};

use crate::sql::transaction::keys::{MadeUnderKey, order_key, refund_key};
use crate::sql::transaction::pages::{Page, SequenceRange, page_rows};
use crate::sql::{
    Across, Form, Query, Result, Row, Shard, ShardSet, Table, TableOrder, Together, Touches, Tx, bodies,
    columns, newer, query, row, upsert,
};

/// A refund as the operator side works on it: with its tenant and the payment whose money it returns.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct FoundRefund {
    pub tenant: Tenant,
    pub refund: Refund,
    pub payment: Payment,
}

/// A version of a refund. Its idempotency key stays as it was inserted (contract 4.3).
pub(crate) static REFUNDS: Table = Table {
    order: TableOrder::Refund,
    touches: Touches::Each("refund"),
    columns: columns!("refunds":
        shard Shard, id Text, merchant_id Text, livemode Bool, order_number Text, payment_id Text, status Text,
        amount Int, resource_version Int, created_sequence Int, created_at Int, body Text, requester Text,
        idempotency_key Text, idempotency_fingerprint Bytes),
    form: Form::Insert,
    rest: upsert!("shard, id": status, resource_version, body;
        newer!("refunds")),
    together: Together::Apart,
};

/// For the operator side, which acts for all tenants.
const FIND: &str = "SELECT r.merchant_id, r.livemode, r.body, p.body AS payment FROM refunds r \
     JOIN payments p ON p.shard = r.shard AND p.id = r.payment_id WHERE ";

impl Tx {
    /// One refund.
    pub async fn refund_get(&mut self, tenant: &Tenant, id: &RefundId) -> Result<Option<Refund>> {
        if let Some(known) = self.conn.cache.records.get(id.as_str()) {
            let own = known.as_ref().filter(|found| found.tenant == *tenant);
            return Ok(own.map(|found| serde_json::from_str(&found.body)).transpose()?);
        }
        let found = self.refund_body(tenant, id).await?;
        Ok(found.map(|(body, _)| serde_json::from_str(&body)).transpose()?)
    }

    /// One refund as stored text, with its version.
    pub async fn refund_body(&mut self, tenant: &Tenant, id: &RefundId) -> Result<Option<(String, i64)>> {
        let statement = "SELECT body, resource_version FROM refunds WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 AND id = $4";
        bodies::found(&mut self.conn, query(statement), tenant, id.as_str()).await
    }

    /// One refund, as the operator's paths name it.
    pub async fn refund_find(&mut self, id: &RefundId) -> Result<Option<FoundRefund>> {
        let mut query = Query::new(FIND);
        query.push_shards("r.", self.conn.shards()).push(" AND r.id = ").push_bind(id.as_str());
        query.read_optional_as(&mut self.conn, found).await
    }

    /// The sum of the open refunds of each payment of an order that has any.
    pub async fn refunds_reserved(
        &mut self,
        tenant: &Tenant,
        order: &OrderNumber,
    ) -> Result<BTreeMap<PaymentId, Money>> {
        let around = self.order_surroundings(tenant, order).await?;
        let mut sums = BTreeMap::new();
        for (payment, amount) in &around.open_refunds {
            *sums.entry(PaymentId::from_store(payment.clone())).or_default() += amount;
        }
        Ok(sums)
    }

    /// The refund that an earlier request of this requester with this idempotency key made.
    pub async fn refund_by_key(
        &mut self,
        tenant: &Tenant,
        requester: RequesterType,
        key: &str,
    ) -> Result<Option<MadeUnderKey<Refund>>> {
        let key_of_row = refund_key(tenant, requester, key);
        if self.conn.cache.unused.contains(&key_of_row) {
            return Ok(None);
        }
        query(
            "SELECT body, idempotency_fingerprint FROM refunds \
             WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 AND requester = $4 AND idempotency_key = $5",
        )
        .bind_tenant(tenant)
        .binds((requester.as_str(), key))
        .about(&[key_of_row])
        .read_optional_as(&mut self.conn, bodies::made_under_key).await
    }

    /// Up to `limit` refunds before `before` (newest first; `None` from the newest), as stored text.
    pub async fn refunds_page(
        &mut self,
        tenant: &Tenant,
        filter: &RefundFilter,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Page<String>> {
        let narrow = |query: &mut Query<'_>| {
            query.push_some(" AND order_number = ", filter.order_number.clone());
            query.push_some(" AND payment_id = ", filter.payment_id.clone());
        };
        let filters = |query: &mut Query<'_>| {
            query.push_in("status", &filter.status);
            bodies::push_created(query, filter.created_from, filter.created_to);
        };
        bodies::page(&mut self.conn, "refunds", (tenant, before), narrow, filters, limit).await
    }

    /// Up to `limit` refunds of all merchants before the one with the id `before`, newest first, with any of these
    /// statuses; none given means all.
    pub async fn refunds_everywhere(
        &mut self,
        status: &[RefundStatus],
        before: Option<&str>,
        limit: i64,
    ) -> Result<Vec<FoundRefund>> {
        let mut query = Query::across(Across::OPERATOR, FIND);
        if !status.is_empty() && status.iter().all(|status| status.is_open()) {
            // The condition of the index of open refunds, word for word: what has ended costs nothing.
            query.push("r.status IN ('requested', 'processing')");
        } else {
            query.push_shards("r.", ShardSet::ALL);
        }
        query.push_in("r.status", status);
        query.push_some(" AND r.id < ", before);
        query.push(" ORDER BY r.id DESC LIMIT ").push_bind(limit);
        let rows = query.read_stream(&mut self.conn).await?;
        page_rows(rows, |row| Ok((row.get::<&str>("body")?.len(), found(row)?))).await
    }

    /// Up to `limit` open refunds of test mode after the id `after`, oldest first, of merchants whose setting
    /// `sandbox_auto_advance` moves them.
    pub async fn refunds_moving_by_themselves(
        &mut self,
        after: Option<&RefundId>,
        limit: i64,
    ) -> Result<Vec<(Tenant, Refund)>> {
        // From a merchant with open refunds of test mode to the next one whose refunds move, and so on: as many index
        // steps as there are merchants of the kind that fewer are of.
        let moving = match self.conn.dialect().shards_apart {
            true => "WITH moving (id) AS (SELECT id FROM merchants WHERE sandbox_auto_advance = TRUE)",
            false => {
                "WITH RECURSIVE moving (id) AS ( \
                     SELECT (SELECT MIN(m.id) FROM merchants m WHERE m.sandbox_auto_advance = TRUE AND m.id >= ( \
                             SELECT MIN(n.merchant_id) FROM refunds n \
                             WHERE n.status NOT IN ('completed', 'failed') AND n.livemode = FALSE)) \
                     UNION ALL \
                     SELECT (SELECT MIN(m.id) FROM merchants m WHERE m.sandbox_auto_advance = TRUE AND m.id >= ( \
                             SELECT MIN(n.merchant_id) FROM refunds n \
                             WHERE n.status NOT IN ('completed', 'failed') AND n.livemode = FALSE \
                                 AND n.merchant_id > moving.id)) \
                     FROM moving WHERE moving.id IS NOT NULL)"
            }
        };
        let mut query = Query::across(Across::DUE, moving);
        query.push(
            " SELECT r.merchant_id, r.livemode, r.body FROM moving CROSS JOIN refunds r \
             WHERE r.merchant_id = moving.id AND r.status NOT IN ('completed', 'failed') AND r.livemode = FALSE \
                 AND r.id > $1 ORDER BY r.id LIMIT $2",
        );
        let query = query.binds((after.map_or("", RefundId::as_str), limit));
        query.read_as(&mut self.conn, |row| Ok((row.tenant()?, row.record("body")?))).await
    }

    /// Writes a version of a refund, and with it what is reserved of its payment.
    pub(crate) async fn refund_put(
        &mut self,
        merchant: &MerchantId,
        refund: &Refund,
        places: SequenceRange,
    ) -> Result<()> {
        let body = serde_json::to_string(refund)?;
        let made_under = self.take_key_of(refund.id.as_str());
        let (key, fingerprint) = made_under.unzip();
        let tenant = Tenant { merchant_id: merchant.clone(), livemode: refund.livemode };
        let requester = refund.requested_by.kind;
        let order = refund.order_number.as_ref();
        let keys = [refund.id.to_string()]
            .into_iter()
            .chain(order.map(|number| order_key(merchant, refund.livemode, number)))
            .chain(key.as_ref().map(|key| refund_key(&tenant, requester, key)));
        self.conn.buffer(
            &REFUNDS,
            keys,
            row!(
                Shard::of(merchant), refund.id.as_str(), merchant.as_str(), refund.livemode;
                order.map(OrderNumber::as_str);
                refund.payment_id.as_str(), refund.status.as_str(), refund.amount, refund.resource_version;
                places.first, refund.created_at.as_ms(), body, requester.as_str(), key.as_deref();
                fingerprint.map(Vec::from)),
        );
        self.reserve(merchant, refund);
        Ok(())
    }
}

fn found(row: &Row) -> Result<FoundRefund> {
    Ok(FoundRefund { tenant: row.tenant()?, refund: row.record("body")?, payment: row.record("payment")? })
}
