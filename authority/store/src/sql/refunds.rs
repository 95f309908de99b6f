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

use super::page_rows::page_rows;
use super::{Db, DbConnection, DbRow, Session, bodies, one_row, push_in};
use crate::StoreError;
use crate::ports::{FoundRefund, MadeUnderKey, Refunds, SequenceRange};

/// For the operator side, which acts for all tenants.
const FIND: &str = "SELECT r.merchant_id, r.livemode, r.body, p.body AS payment FROM refunds r \
     JOIN payments p ON p.id = r.payment_id WHERE ";

#[async_trait]
impl Refunds for Session<'_> {
    async fn refund_get(&mut self, tenant: &Tenant, id: &RefundId) -> Result<Option<Refund>, StoreError> {
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
        // Added up here: with GROUP BY, SQLite would walk through all refunds by payment.
        let open: Vec<(String, Money)> = sqlx::query_as(
            "SELECT payment_id, amount FROM refunds \
             WHERE merchant_id = $1 AND livemode = $2 AND order_number = $3 AND status IN ('requested', 'processing')",
        )
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .bind(order.as_str())
        .fetch_all(&mut *self.conn)
        .await?;
        let mut sums = BTreeMap::new();
        for (payment, amount) in open {
            *sums.entry(PaymentId::from_store(payment)).or_default() += amount;
        }
        Ok(sums)
    }

    async fn refund_by_key(
        &mut self,
        tenant: &Tenant,
        requester: RequesterType,
        key: &str,
    ) -> Result<Option<MadeUnderKey<Refund>>, StoreError> {
        let row = sqlx::query(
            "SELECT body, idempotency_fingerprint FROM refunds \
             WHERE merchant_id = $1 AND livemode = $2 AND requester = $3 AND idempotency_key = $4",
        )
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .bind(requester.as_str())
        .bind(key)
        .fetch_optional(&mut *self.conn)
        .await?;
        row.as_ref().map(bodies::made_under_key).transpose()
    }

    async fn refunds_page(
        &mut self,
        tenant: &Tenant,
        filter: &RefundFilter,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Vec<(i64, String)>, StoreError> {
        let mut query = bodies::page_of("refunds", tenant, before);
        for (condition, text) in
            [(" AND order_number = ", &filter.order_number), (" AND payment_id = ", &filter.payment_id)]
        {
            if let Some(text) = text {
                query.push(condition).push_bind(text);
            }
        }
        push_in(&mut query, "status", &filter.status);
        bodies::push_created(&mut query, filter.created_from, filter.created_to);
        bodies::page(self.conn, query, limit).await
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
        let rows = sqlx::query(
            "SELECT r.merchant_id, r.livemode, r.body FROM refunds r JOIN merchants m ON m.id = r.merchant_id \
             WHERE r.status IN ('requested', 'processing') AND r.livemode = FALSE AND m.sandbox_auto_advance = TRUE \
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
        let done = sqlx::query(
            "INSERT INTO refunds (id, merchant_id, livemode, order_number, payment_id, status, amount, \
                 resource_version, created_sequence, created_at, body, requester) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) \
             ON CONFLICT (id) DO UPDATE SET status = excluded.status, resource_version = excluded.resource_version, \
                 body = excluded.body \
             WHERE refunds.resource_version < excluded.resource_version AND refunds.livemode = excluded.livemode \
                 AND refunds.merchant_id = excluded.merchant_id",
        )
        .bind(refund.id.as_str())
        .bind(merchant.as_str())
        .bind(refund.livemode)
        .bind(refund.order_number.as_ref().map(OrderNumber::as_str))
        .bind(refund.payment_id.as_str())
        .bind(refund.status.as_str())
        .bind(refund.amount)
        .bind(refund.resource_version)
        .bind(places.first)
        .bind(refund.created_at.as_ms())
        .bind(serde_json::to_string(refund)?)
        .bind(refund.requested_by.kind.as_str())
        .execute(&mut *self.conn)
        .await?;
        one_row(done.rows_affected(), "refund")?;
        reserve(self.conn, merchant, refund).await
    }

    async fn refund_keep_key(
        &mut self,
        tenant: &Tenant,
        id: &RefundId,
        key: &str,
        fingerprint: &[u8; 32],
    ) -> Result<(), StoreError> {
        let done = sqlx::query(
            "UPDATE refunds SET idempotency_key = $4, idempotency_fingerprint = $5 \
             WHERE id = $1 AND merchant_id = $2 AND livemode = $3",
        )
        .bind(id.as_str())
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .bind(key)
        .bind(fingerprint.as_slice())
        .execute(&mut *self.conn)
        .await?;
        one_row(done.rows_affected(), "refund")
    }
}

/// Recomputes the sum of the payment's open refunds from their rows: whatever a use case computed, the schema's rule
/// (I2) checks what is stored.
async fn reserve(conn: &mut DbConnection, merchant: &MerchantId, refund: &Refund) -> Result<(), StoreError> {
    let done = sqlx::query(
        "UPDATE payments SET amount_refund_pending = ( \
             SELECT COALESCE(SUM(amount), 0) FROM refunds \
             WHERE payment_id = $1 AND merchant_id = $2 AND livemode = $3 AND status IN ('requested', 'processing')) \
         WHERE id = $1 AND merchant_id = $2 AND livemode = $3",
    )
    .bind(refund.payment_id.as_str())
    .bind(merchant.as_str())
    .bind(refund.livemode)
    .execute(conn)
    .await?;
    one_row(done.rows_affected(), "payment of a refund")
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
