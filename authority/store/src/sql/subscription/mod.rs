//! Subscriptions, and the terms that checkouts agree on.

use authority_domain::list_filter::SubscriptionFilter;
use authority_domain::subscription::{AnchoredSubscription, Subscription, SubscriptionTerms};
use authority_domain::{CheckoutId, MerchantId, SubscriptionId, Tenant, Timestamp};

use crate::sql::transaction::pages::{Page, SequenceRange};
use crate::sql::transaction::rows::Columns;
use crate::sql::{Query, Result, Row, Shard, Tx, Value, bodies, columns, newer, query, upsert};

/// A version of a subscription.
pub(crate) static SUBSCRIPTIONS: Columns = columns!("subscriptions":
    shard Shard, id Text, merchant_id Text, livemode Bool, status Text, customer_reference Text, resource_version Int,
    created_sequence Int, created_at Int, body Text, period_anchor Int, resumed_at Int);

impl Tx {
    /// One subscription.
    pub async fn subscription_get(
        &mut self,
        tenant: &Tenant,
        id: &SubscriptionId,
    ) -> Result<Option<Subscription>> {
        let statement = "SELECT body FROM subscriptions WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 AND id = $4";
        bodies::record(&mut self.conn, query(statement), tenant, id.as_str()).await
    }

    /// One subscription and its tenant, as the operator's paths name it.
    pub async fn subscription_find(
        &mut self,
        id: &SubscriptionId,
    ) -> Result<Option<(Tenant, AnchoredSubscription)>> {
        let query = bodies::by_id(
            &self.conn,
            "SELECT merchant_id, livemode, body, period_anchor, resumed_at FROM subscriptions",
            id.as_str(),
        );
        let found = |row: &Row| {
            let (anchor, resumed_at) = (row.read("period_anchor")?, row.read("resumed_at")?);
            Ok((row.tenant()?, AnchoredSubscription { record: row.record("body")?, anchor, resumed_at }))
        };
        query.read_optional_as(&mut self.conn, found).await
    }

    /// One subscription as stored text, with its version.
    pub async fn subscription_body(
        &mut self,
        tenant: &Tenant,
        id: &SubscriptionId,
    ) -> Result<Option<(String, i64)>> {
        let statement = "SELECT body, resource_version FROM subscriptions \
             WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 AND id = $4";
        bodies::found(&mut self.conn, query(statement), tenant, id.as_str()).await
    }

    /// Up to `limit` subscriptions before `before` (newest first; `None` from the newest), as stored text.
    pub async fn subscriptions_page(
        &mut self,
        tenant: &Tenant,
        filter: &SubscriptionFilter,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Page<String>> {
        let narrow = |query: &mut Query<'_>| {
            query.push_some(" AND customer_reference = ", filter.customer_reference.clone());
        };
        let filters = |query: &mut Query<'_>| {
            query.push_in("status", &filter.status);
            bodies::push_created(query, filter.created_from, filter.created_to);
        };
        bodies::page(&mut self.conn, "subscriptions", (tenant, before), narrow, filters, limit).await
    }

    /// Writes a version of a subscription, and what stands beside it.
    pub(crate) async fn subscription_put(
        &mut self,
        merchant: &MerchantId,
        subscription: &AnchoredSubscription,
        places: SequenceRange,
    ) -> Result<()> {
        let record = &subscription.record;
        let (shard, mut query) = (Shard::of(merchant), Query::new(SUBSCRIPTIONS.into));
        query.push(" SELECT ").push_list([
            Value::from(shard),
            record.id.as_str().into(),
            merchant.as_str().into(),
            record.livemode.into(),
            record.status.as_str().into(),
            record.customer.reference.as_deref().into(),
            record.resource_version.into(),
            places.first.into(),
            record.created_at.as_ms().into(),
            serde_json::to_string(record)?.into(),
            subscription.anchor.map(Timestamp::as_ms).into(),
            subscription.resumed_at.map(Timestamp::as_ms).into(),
        ]);
        // A later version replaces one. In another merchant's shard there is none to replace.
        match record.resource_version {
            1 => query.push(" WHERE TRUE "),
            _ => {
                query.push(" WHERE EXISTS (SELECT 1 FROM subscriptions WHERE ").push_shard("", shard);
                query.push(" AND id = ").push_bind(record.id.as_str()).push(") ")
            }
        };
        query.push(upsert!("shard, id":
            status, customer_reference, resource_version, body, period_anchor, resumed_at; newer!("subscriptions")));
        query.push(" RETURNING id");
        query.write_one_returned(&mut self.conn, "subscription").await
    }

    /// Stores the terms of an open checkout beside its record.
    pub async fn subscription_terms_keep(
        &mut self,
        tenant: &Tenant,
        checkout: &CheckoutId,
        terms: &SubscriptionTerms,
    ) -> Result<()> {
        query(
            "UPDATE checkouts SET subscription_terms = $5 WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 AND id = $4",
        )
        .bind_tenant(tenant)
        .binds((checkout.as_str(), serde_json::to_string(terms)?))
        .write_one(&mut self.conn, "checkout").await
    }

    /// The terms of a checkout; `None` in mode `payment`.
    pub async fn subscription_terms(
        &mut self,
        tenant: &Tenant,
        checkout: &CheckoutId,
    ) -> Result<Option<SubscriptionTerms>> {
        if let Some(found) = self.conn.cache.checkout(tenant, checkout.as_str()) {
            return Ok(found.terms.as_deref().map(serde_json::from_str).transpose()?);
        }
        let statement = "SELECT subscription_terms FROM checkouts \
             WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 AND id = $4 AND subscription_terms IS NOT NULL";
        let about = [checkout.to_string()];
        bodies::record(&mut self.conn, query(statement).about(&about), tenant, checkout.as_str()).await
    }
}
