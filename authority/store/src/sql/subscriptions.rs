//! Subscriptions, and the terms that checkouts agree on.

use async_trait::async_trait;
use authority_domain::id::{CheckoutId, MerchantId, SubscriptionId};
use authority_domain::list_filter::SubscriptionFilter;
use authority_domain::subscription::{AnchoredSubscription, Subscription, SubscriptionTerms};
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;
use sqlx::{QueryBuilder, Row};

use super::{Db, Session, bodies, one_row, push_in};
use crate::StoreError;
use crate::ports::{Page, SequenceRange, Subscriptions};

#[async_trait]
impl Subscriptions for Session<'_> {
    async fn subscription_get(
        &mut self,
        tenant: &Tenant,
        id: &SubscriptionId,
    ) -> Result<Option<Subscription>, StoreError> {
        let statement = "SELECT body FROM subscriptions WHERE merchant_id = $1 AND livemode = $2 AND id = $3";
        bodies::record(&mut *self.conn, statement, tenant, id.as_str()).await
    }

    async fn subscription_find(
        &mut self,
        id: &SubscriptionId,
    ) -> Result<Option<(Tenant, AnchoredSubscription)>, StoreError> {
        let row =
            sqlx::query("SELECT merchant_id, livemode, body, period_anchor FROM subscriptions WHERE id = $1")
                .bind(id.as_str())
                .fetch_optional(&mut *self.conn)
                .await?;
        let Some(row) = row else { return Ok(None) };
        let tenant = Tenant {
            merchant_id: MerchantId::from_store(row.try_get("merchant_id")?),
            livemode: row.try_get("livemode")?,
        };
        let body: String = row.try_get("body")?;
        let anchor: Option<i64> = row.try_get("period_anchor")?;
        let ongoing = AnchoredSubscription {
            record: serde_json::from_str(&body)?,
            anchor: anchor.map(Timestamp::from_ms),
        };
        Ok(Some((tenant, ongoing)))
    }

    async fn subscription_body(
        &mut self,
        tenant: &Tenant,
        id: &SubscriptionId,
    ) -> Result<Option<(String, i64)>, StoreError> {
        let statement = "SELECT body, resource_version FROM subscriptions \
             WHERE merchant_id = $1 AND livemode = $2 AND id = $3";
        bodies::text(self.conn, statement, tenant, id.as_str()).await
    }

    async fn subscriptions_page(
        &mut self,
        tenant: &Tenant,
        filter: &SubscriptionFilter,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Page<String>, StoreError> {
        let narrow = |query: &mut QueryBuilder<Db>| {
            bodies::push_equal(query, "customer_reference", filter.customer_reference.as_ref());
        };
        let filters = |query: &mut QueryBuilder<Db>| {
            push_in(query, "status", &filter.status);
            bodies::push_created(query, filter.created_from, filter.created_to);
        };
        bodies::page(self.conn, "subscriptions", (tenant, before), narrow, filters, limit).await
    }

    async fn subscription_put(
        &mut self,
        merchant: &MerchantId,
        subscription: &AnchoredSubscription,
        places: SequenceRange,
    ) -> Result<(), StoreError> {
        let record = &subscription.record;
        let done = sqlx::query(
            "INSERT INTO subscriptions (id, merchant_id, livemode, status, customer_reference, resource_version, \
                 created_sequence, created_at, body, period_anchor) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
             ON CONFLICT (id) DO UPDATE SET status = excluded.status, \
                 customer_reference = excluded.customer_reference, resource_version = excluded.resource_version, \
                 body = excluded.body, period_anchor = excluded.period_anchor \
             WHERE subscriptions.resource_version < excluded.resource_version \
                 AND subscriptions.livemode = excluded.livemode \
                 AND subscriptions.merchant_id = excluded.merchant_id",
        )
        .bind(record.id.as_str())
        .bind(merchant.as_str())
        .bind(record.livemode)
        .bind(record.status.as_str())
        .bind(record.customer.reference.as_deref())
        .bind(record.resource_version)
        .bind(places.first)
        .bind(record.created_at.as_ms())
        .bind(serde_json::to_string(record)?)
        .bind(subscription.anchor.map(Timestamp::as_ms))
        .execute(&mut *self.conn)
        .await?;
        one_row(done.rows_affected(), "subscription")
    }

    async fn subscription_terms_keep(
        &mut self,
        tenant: &Tenant,
        checkout: &CheckoutId,
        terms: &SubscriptionTerms,
    ) -> Result<(), StoreError> {
        let done = sqlx::query(
            "UPDATE checkouts SET subscription_terms = $4 WHERE merchant_id = $1 AND livemode = $2 AND id = $3",
        )
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .bind(checkout.as_str())
        .bind(serde_json::to_string(terms)?)
        .execute(&mut *self.conn)
        .await?;
        one_row(done.rows_affected(), "checkout")
    }

    async fn subscription_terms(
        &mut self,
        tenant: &Tenant,
        checkout: &CheckoutId,
    ) -> Result<Option<SubscriptionTerms>, StoreError> {
        if let Some(found) = self.conn.cache.checkout(tenant, checkout.as_str()) {
            return Ok(found.terms.as_deref().map(serde_json::from_str).transpose()?);
        }
        let statement = "SELECT subscription_terms FROM checkouts \
             WHERE merchant_id = $1 AND livemode = $2 AND id = $3 AND subscription_terms IS NOT NULL";
        let conn = self.conn.about(&[checkout.to_string()]).await?;
        bodies::record(conn, statement, tenant, checkout.as_str()).await
    }
}
