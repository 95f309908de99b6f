//! Refunds, and the amounts that they reserve of their payments.

use std::collections::BTreeMap;

use async_trait::async_trait;
use authority_domain::id::{MerchantId, PaymentId, RefundId};
use authority_domain::list_filter::RefundFilter;
use authority_domain::order::number::OrderNumber;
use authority_domain::parts::Money;
use authority_domain::refund::{Refund, RefundStatus, RequesterType};
use authority_domain::tenant::Tenant;
use sqlx::{QueryBuilder, Row};

use super::orders::order_key;
use super::page_rows::page_rows;
use super::rows::{Form, Kind, Table, TableOrder, Together, Touches};
use super::{Db, DbRow, Session, bodies, push_in};
use crate::StoreError;
use crate::ports::{FoundRefund, MadeUnderKey, Page, Refunds, SequenceRange};

/// A version of a refund. Its idempotency key stays as it was inserted (contract 4.3).
static REFUNDS: Table = Table {
    order: TableOrder::Refund,
    touches: Touches::Each("refund"),
    into: "INSERT INTO refunds (id, merchant_id, livemode, order_number, payment_id, status, amount, \
        resource_version, created_sequence, created_at, body, requester, idempotency_key, idempotency_fingerprint)",
    columns: &[
        Kind::Text,
        Kind::Text,
        Kind::Bool,
        Kind::Text,
        Kind::Text,
        Kind::Text,
        Kind::Int,
        Kind::Int,
        Kind::Int,
        Kind::Int,
        Kind::Text,
        Kind::Text,
        Kind::Text,
        Kind::Bytes,
    ],
    form: Form::Insert,
    rest: "ON CONFLICT (id) DO UPDATE SET status = excluded.status, resource_version = excluded.resource_version, \
             body = excluded.body \
         WHERE refunds.resource_version < excluded.resource_version AND refunds.livemode = excluded.livemode \
             AND refunds.merchant_id = excluded.merchant_id",
    together: Together::Apart,
};

/// The key under which a refund is buffered that was made with an idempotency key.
pub(super) fn refund_key(tenant: &Tenant, requester: RequesterType, key: &str) -> String {
    format!("refund/{}/{}/{requester}/{key}", tenant.merchant_id, tenant.livemode)
}

/// For the operator side, which acts for all tenants.
const FIND: &str = "SELECT r.merchant_id, r.livemode, r.body, p.body AS payment FROM refunds r \
     JOIN payments p ON p.id = r.payment_id WHERE ";

#[async_trait]
impl Refunds for Session<'_> {
    async fn refund_get(&mut self, tenant: &Tenant, id: &RefundId) -> Result<Option<Refund>, StoreError> {
        if let Some(known) = self.conn.cache.record(id.as_str()) {
            let own = known.filter(|found| found.tenant == *tenant);
            return Ok(own.map(|found| serde_json::from_str(&found.body)).transpose()?);
        }
        let found = self.refund_body(tenant, id).await?;
        Ok(found.map(|(body, _)| serde_json::from_str(&body)).transpose()?)
    }

    async fn refund_body(
        &mut self,
        tenant: &Tenant,
        id: &RefundId,
    ) -> Result<Option<(String, i64)>, StoreError> {
        let statement =
            "SELECT body, resource_version FROM refunds WHERE merchant_id = $1 AND livemode = $2 AND id = $3";
        bodies::text(self.conn, statement, tenant, id.as_str()).await
    }

    async fn refund_find(&mut self, id: &RefundId) -> Result<Option<FoundRefund>, StoreError> {
        let mut query = QueryBuilder::<Db>::new(FIND);
        query.push("r.id = ").push_bind(id.as_str());
        let row = query.build().fetch_optional(&mut *self.conn).await?;
        row.as_ref().map(found).transpose()
    }

    async fn refunds_reserved(
        &mut self,
        tenant: &Tenant,
        order: &OrderNumber,
    ) -> Result<BTreeMap<PaymentId, Money>, StoreError> {
        let around = self.order_surroundings(tenant, order).await?;
        let mut sums = BTreeMap::new();
        for (payment, amount) in &around.open_refunds {
            *sums.entry(PaymentId::from_store(payment.clone())).or_default() += amount;
        }
        Ok(sums)
    }

    async fn refund_by_key(
        &mut self,
        tenant: &Tenant,
        requester: RequesterType,
        key: &str,
    ) -> Result<Option<MadeUnderKey<Refund>>, StoreError> {
        let waits_under = refund_key(tenant, requester, key);
        if self.conn.cache.is_unused(&waits_under) {
            return Ok(None);
        }
        let row = sqlx::query(
            "SELECT body, idempotency_fingerprint FROM refunds \
             WHERE merchant_id = $1 AND livemode = $2 AND requester = $3 AND idempotency_key = $4",
        )
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .bind(requester.as_str())
        .bind(key)
        .fetch_optional(self.conn.about(&[waits_under]).await?)
        .await?;
        row.as_ref().map(bodies::made_under_key).transpose()
    }

    async fn refunds_page(
        &mut self,
        tenant: &Tenant,
        filter: &RefundFilter,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Page<String>, StoreError> {
        let narrow = |query: &mut QueryBuilder<Db>| {
            bodies::push_equal(query, "order_number", filter.order_number.as_ref());
            bodies::push_equal(query, "payment_id", filter.payment_id.as_ref());
        };
        let filters = |query: &mut QueryBuilder<Db>| {
            push_in(query, "status", &filter.status);
            bodies::push_created(query, filter.created_from, filter.created_to);
        };
        bodies::page(self.conn, "refunds", (tenant, before), narrow, filters, limit).await
    }

    async fn refunds_everywhere(
        &mut self,
        status: &[RefundStatus],
        before: Option<&str>,
        limit: i64,
    ) -> Result<Vec<FoundRefund>, StoreError> {
        let mut query = QueryBuilder::<Db>::new(FIND);
        query.push("TRUE");
        if !status.is_empty() && status.iter().all(|status| status.is_open()) {
            // The condition of the index of open refunds, word for word: what has ended costs nothing.
            query.push(" AND r.status IN ('requested', 'processing')");
        }
        let words: Vec<String> = status.iter().map(|status| status.to_string()).collect();
        push_in(&mut query, "r.status", &words);
        if let Some(before) = before {
            query.push(" AND r.id < ").push_bind(before);
        }
        query.push(" ORDER BY r.id DESC LIMIT ").push_bind(limit);
        let rows = query.build().fetch(&mut *self.conn);
        page_rows(rows, |row| Ok((row.try_get::<&str, _>("body")?.len(), found(row)?))).await
    }

    async fn refunds_moving_by_themselves(
        &mut self,
        after: Option<&RefundId>,
        limit: i64,
    ) -> Result<Vec<(Tenant, Refund)>, StoreError> {
        // From a merchant with open refunds of test mode to the next one whose refunds move, and so on: as many index
        // steps as there are merchants of the kind that fewer are of.
        let rows = sqlx::query(
            "WITH RECURSIVE moving (id) AS ( \
                 SELECT (SELECT MIN(m.id) FROM merchants m WHERE m.sandbox_auto_advance = TRUE AND m.id >= ( \
                         SELECT MIN(n.merchant_id) FROM refunds n \
                         WHERE n.status NOT IN ('completed', 'failed') AND n.livemode = FALSE)) \
                 UNION ALL \
                 SELECT (SELECT MIN(m.id) FROM merchants m WHERE m.sandbox_auto_advance = TRUE AND m.id >= ( \
                         SELECT MIN(n.merchant_id) FROM refunds n \
                         WHERE n.status NOT IN ('completed', 'failed') AND n.livemode = FALSE \
                             AND n.merchant_id > moving.id)) \
                 FROM moving WHERE moving.id IS NOT NULL) \
             SELECT r.merchant_id, r.livemode, r.body FROM moving CROSS JOIN refunds r \
             WHERE r.merchant_id = moving.id AND r.status NOT IN ('completed', 'failed') AND r.livemode = FALSE \
                 AND r.id > $1 ORDER BY r.id LIMIT $2",
        )
        .bind(after.map_or("", RefundId::as_str))
        .bind(limit)
        .fetch_all(&mut *self.conn)
        .await?;
        rows.iter()
            .map(|row| {
                let body: String = row.try_get("body")?;
                Ok((bodies::tenant(row)?, serde_json::from_str(&body)?))
            })
            .collect()
    }

    async fn refund_put(
        &mut self,
        merchant: &MerchantId,
        refund: &Refund,
        places: SequenceRange,
    ) -> Result<(), StoreError> {
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
            [
                refund.id.as_str().into(),
                merchant.as_str().into(),
                refund.livemode.into(),
                order.map(OrderNumber::as_str).into(),
                refund.payment_id.as_str().into(),
                refund.status.as_str().into(),
                refund.amount.into(),
                refund.resource_version.into(),
                places.first.into(),
                refund.created_at.as_ms().into(),
                body.into(),
                requester.as_str().into(),
                key.as_deref().into(),
                fingerprint.map(Vec::from).into(),
            ],
        );
        self.reserve(merchant, refund);
        Ok(())
    }
}

fn found(row: &DbRow) -> Result<FoundRefund, StoreError> {
    let (refund, payment): (String, String) = (row.try_get("body")?, row.try_get("payment")?);
    let tenant = Tenant {
        merchant_id: MerchantId::from_store(row.try_get("merchant_id")?),
        livemode: row.try_get("livemode")?,
    };
    Ok(FoundRefund {
        tenant,
        refund: serde_json::from_str(&refund)?,
        payment: serde_json::from_str(&payment)?,
    })
}
