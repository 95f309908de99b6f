//! Subscriptions, and the terms that checkouts agree on.

use authority_domain::id::{CheckoutId, MerchantId, SubscriptionId};
use authority_domain::list_filter::SubscriptionFilter;
use authority_domain::subscription::{AnchoredSubscription, Subscription, SubscriptionTerms};
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

use crate::StoreError;
use crate::driver::{Query, Row, query};
use crate::ports::{Page, SequenceRange};
use crate::sql::transaction::tx::one_row;
use crate::sql::transaction::{Tx, bodies};

impl Tx {
    /// One subscription.
    pub async fn subscription_get(
        &mut self,
        tenant: &Tenant,
        id: &SubscriptionId,
    ) -> Result<Option<Subscription>, StoreError> {
        let statement = "SELECT body FROM subscriptions WHERE merchant_id = $1 AND livemode = $2 AND id = $3";
        bodies::record(&mut self.conn, query(statement), tenant, id.as_str()).await
    }

    /// One subscription and its tenant, as the operator's paths name it.
    pub async fn subscription_find(
        &mut self,
        id: &SubscriptionId,
    ) -> Result<Option<(Tenant, AnchoredSubscription)>, StoreError> {
        let row = query("SELECT merchant_id, livemode, body, period_anchor FROM subscriptions WHERE id = $1")
            .bind(id.as_str())
            .read_optional::<Row>(&mut self.conn)
            .await?;
        let Some(row) = row else { return Ok(None) };
        let tenant = Tenant {
            merchant_id: MerchantId::from_store(row.get("merchant_id")?),
            livemode: row.get("livemode")?,
        };
        let body: String = row.get("body")?;
        let anchor: Option<i64> = row.get("period_anchor")?;
        let ongoing = AnchoredSubscription {
            record: serde_json::from_str(&body)?,
            anchor: anchor.map(Timestamp::from_ms),
        };
        Ok(Some((tenant, ongoing)))
    }

    /// One subscription as stored text, with its version.
    pub async fn subscription_body(
        &mut self,
        tenant: &Tenant,
        id: &SubscriptionId,
    ) -> Result<Option<(String, i64)>, StoreError> {
        let statement = "SELECT body, resource_version FROM subscriptions \
             WHERE merchant_id = $1 AND livemode = $2 AND id = $3";
        bodies::text(&mut self.conn, statement, tenant, id.as_str()).await
    }

    /// Up to `limit` subscriptions before `before` (newest first; `None` from the newest), as stored text.
    pub async fn subscriptions_page(
        &mut self,
        tenant: &Tenant,
        filter: &SubscriptionFilter,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Page<String>, StoreError> {
        let narrow = |query: &mut Query<'_>| {
            bodies::push_equal(query, "customer_reference", filter.customer_reference.as_ref());
        };
        let filters = |query: &mut Query<'_>| {
            query.push_in("status", &filter.status);
            bodies::push_created(query, filter.created_from, filter.created_to);
        };
        bodies::page(&mut self.conn, "subscriptions", (tenant, before), narrow, filters, limit).await
    }

    /// Writes a version of a subscription and its anchor.
    pub async fn subscription_put(
        &mut self,
        merchant: &MerchantId,
        subscription: &AnchoredSubscription,
        places: SequenceRange,
    ) -> Result<(), StoreError> {
        let record = &subscription.record;
        let done = query(
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
        .write(&mut self.conn)
        .await?;
        one_row(done, "subscription")
    }

    /// Stores the terms of an open checkout beside its record.
    pub async fn subscription_terms_keep(
        &mut self,
        tenant: &Tenant,
        checkout: &CheckoutId,
        terms: &SubscriptionTerms,
    ) -> Result<(), StoreError> {
        let done = query(
            "UPDATE checkouts SET subscription_terms = $4 WHERE merchant_id = $1 AND livemode = $2 AND id = $3",
        )
        .bind_tenant(tenant)
        .bind(checkout.as_str())
        .bind(serde_json::to_string(terms)?)
        .write(&mut self.conn)
        .await?;
        one_row(done, "checkout")
    }

    /// The terms of a checkout; `None` in mode `payment`.
    pub async fn subscription_terms(
        &mut self,
        tenant: &Tenant,
        checkout: &CheckoutId,
    ) -> Result<Option<SubscriptionTerms>, StoreError> {
        if let Some(found) = self.conn.cache.checkout(tenant, checkout.as_str()) {
            return Ok(found.terms.as_deref().map(serde_json::from_str).transpose()?);
        }
        let statement = "SELECT subscription_terms FROM checkouts \
             WHERE merchant_id = $1 AND livemode = $2 AND id = $3 AND subscription_terms IS NOT NULL";
        let about = [checkout.to_string()];
        bodies::record(&mut self.conn, query(statement).about(&about), tenant, checkout.as_str()).await
    }
}
