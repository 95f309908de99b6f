//! Checkouts.

use async_trait::async_trait;
use authority_domain::checkout::Checkout;
use authority_domain::id::{CheckoutId, MerchantId};
use authority_domain::tenant::Tenant;

use super::{Session, bodies, one_row};
use crate::StoreError;
use crate::ports::{Checkouts, Places};

#[async_trait]
impl Checkouts for Session<'_> {
    async fn checkout_get(
        &mut self,
        tenant: &Tenant,
        id: &CheckoutId,
    ) -> Result<Option<Checkout>, StoreError> {
        let statement = "SELECT body FROM checkouts WHERE merchant_id = $1 AND livemode = $2 AND id = $3";
        bodies::record(self.conn, statement, tenant, id.as_str()).await
    }

    async fn checkout_put(
        &mut self,
        merchant: &MerchantId,
        checkout: &Checkout,
        places: Places,
    ) -> Result<(), StoreError> {
        let done = sqlx::query(
            "INSERT INTO checkouts (id, merchant_id, livemode, status, currency, total, expires_at, resource_version, body, \
                 created_sequence) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
             ON CONFLICT (id) DO UPDATE SET status = excluded.status, total = excluded.total, \
                 expires_at = excluded.expires_at, resource_version = excluded.resource_version, body = excluded.body \
             WHERE checkouts.resource_version < excluded.resource_version AND checkouts.livemode = excluded.livemode \
                 AND checkouts.merchant_id = excluded.merchant_id",
        )
        .bind(checkout.id.as_str())
        .bind(merchant.as_str())
        .bind(checkout.livemode)
        .bind(checkout.status.as_str())
        .bind(&checkout.currency)
        .bind(checkout.amounts.total)
        .bind(checkout.expires_at.as_ms())
        .bind(checkout.resource_version)
        .bind(serde_json::to_string(checkout)?)
        .bind(places.first)
        .execute(&mut *self.conn)
        .await?;
        one_row(done.rows_affected(), "checkout")
    }
}
