//! Refunds.

use async_trait::async_trait;
use authority_domain::id::{MerchantId, RefundId};
use authority_domain::refund::Refund;
use authority_domain::tenant::Tenant;

use super::{Session, bodies, one_row};
use crate::StoreError;
use crate::ports::{Places, Refunds};

#[async_trait]
impl Refunds for Session<'_> {
    async fn refund_get(&mut self, tenant: &Tenant, id: &RefundId) -> Result<Option<Refund>, StoreError> {
        let statement = "SELECT body FROM refunds WHERE merchant_id = $1 AND livemode = $2 AND id = $3";
        bodies::record(self.conn, statement, tenant, id.as_str()).await
    }

    async fn refund_put(
        &mut self,
        merchant: &MerchantId,
        refund: &Refund,
        places: Places,
    ) -> Result<(), StoreError> {
        let done = sqlx::query(
            "INSERT INTO refunds (id, merchant_id, livemode, order_number, payment_id, status, amount, \
                 resource_version, created_sequence, created_at, body) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) \
             ON CONFLICT (id) DO UPDATE SET status = excluded.status, resource_version = excluded.resource_version, \
                 body = excluded.body \
             WHERE refunds.resource_version < excluded.resource_version AND refunds.livemode = excluded.livemode \
                 AND refunds.merchant_id = excluded.merchant_id",
        )
        .bind(refund.id.as_str())
        .bind(merchant.as_str())
        .bind(refund.livemode)
        .bind(refund.order_number.as_str())
        .bind(refund.payment_id.as_str())
        .bind(refund.status.as_str())
        .bind(refund.amount)
        .bind(refund.resource_version)
        .bind(places.first)
        .bind(refund.created_at.as_ms())
        .bind(serde_json::to_string(refund)?)
        .execute(&mut *self.conn)
        .await?;
        one_row(done.rows_affected(), "refund")
    }
}
