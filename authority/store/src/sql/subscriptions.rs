//! Subscriptions.

use async_trait::async_trait;
use authority_domain::id::{MerchantId, SubscriptionId};
use authority_domain::subscription::Subscription;
use authority_domain::tenant::Tenant;

use super::{Session, bodies, one_row};
use crate::StoreError;
use crate::ports::{Places, Subscriptions};

#[async_trait]
impl Subscriptions for Session<'_> {
    async fn subscription_get(
        &mut self,
        tenant: &Tenant,
        id: &SubscriptionId,
    ) -> Result<Option<Subscription>, StoreError> {
        let statement = "SELECT body FROM subscriptions WHERE merchant_id = $1 AND livemode = $2 AND id = $3";
        bodies::record(self.conn, statement, tenant, id.as_str()).await
    }

    async fn subscription_put(
        &mut self,
        merchant: &MerchantId,
        subscription: &Subscription,
        places: Places,
    ) -> Result<(), StoreError> {
        let done = sqlx::query(
            "INSERT INTO subscriptions (id, merchant_id, livemode, status, customer_reference, resource_version, \
                 created_sequence, created_at, body) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
             ON CONFLICT (id) DO UPDATE SET status = excluded.status, \
                 customer_reference = excluded.customer_reference, resource_version = excluded.resource_version, \
                 body = excluded.body \
             WHERE subscriptions.resource_version < excluded.resource_version \
                 AND subscriptions.livemode = excluded.livemode \
                 AND subscriptions.merchant_id = excluded.merchant_id",
        )
        .bind(subscription.id.as_str())
        .bind(merchant.as_str())
        .bind(subscription.livemode)
        .bind(subscription.status.as_str())
        .bind(subscription.customer.reference.as_deref())
        .bind(subscription.resource_version)
        .bind(places.first)
        .bind(subscription.created_at.as_ms())
        .bind(serde_json::to_string(subscription)?)
        .execute(&mut *self.conn)
        .await?;
        one_row(done.rows_affected(), "subscription")
    }
}
