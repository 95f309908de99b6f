//! Checkouts.

use async_trait::async_trait;
use authority_domain::checkout::Checkout;
use authority_domain::id::{CheckoutId, MerchantId};
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;
use sqlx::Row;

use super::{Session, bodies, one_row};
use crate::StoreError;
use crate::ports::{Checkouts, DueCheckout, Places};

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

    async fn checkout_find(&mut self, id: &CheckoutId) -> Result<Option<(Tenant, Checkout)>, StoreError> {
        let row = sqlx::query("SELECT merchant_id, livemode, body FROM checkouts WHERE id = $1")
            .bind(id.as_str())
            .fetch_optional(&mut *self.conn)
            .await?;
        let Some(row) = row else { return Ok(None) };
        let body: String = row.try_get("body")?;
        Ok(Some((bodies::tenant(&row)?, serde_json::from_str(&body)?)))
    }

    async fn checkouts_due(
        &mut self,
        now: Timestamp,
        after: Option<&DueCheckout>,
        limit: i64,
    ) -> Result<Vec<DueCheckout>, StoreError> {
        let rows = sqlx::query(
            "SELECT merchant_id, livemode, id, expires_at FROM checkouts \
             WHERE status = 'open' AND expires_at <= $1 AND (expires_at, id) > ($2, $3) \
             ORDER BY expires_at, id LIMIT $4",
        )
        .bind(now.as_ms())
        .bind(after.map_or(i64::MIN, |after| after.expires_at.as_ms()))
        .bind(after.map_or("", |after| after.id.as_str()))
        .bind(limit)
        .fetch_all(&mut *self.conn)
        .await?;
        rows.iter()
            .map(|row| {
                Ok(DueCheckout {
                    tenant: bodies::tenant(row)?,
                    id: CheckoutId::from_store(row.try_get("id")?),
                    expires_at: Timestamp::from_ms(row.try_get("expires_at")?),
                })
            })
            .collect()
    }

    async fn checkouts_next_due(&mut self) -> Result<Option<Timestamp>, StoreError> {
        let next: Option<i64> = sqlx::query_scalar(
            "SELECT expires_at FROM checkouts WHERE status = 'open' ORDER BY expires_at LIMIT 1",
        )
        .fetch_optional(&mut *self.conn)
        .await?;
        Ok(next.map(Timestamp::from_ms))
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
