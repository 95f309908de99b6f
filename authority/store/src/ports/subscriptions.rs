//! Subscriptions, and the terms that checkouts agree on.

use async_trait::async_trait;
use authority_domain::id::{CheckoutId, MerchantId, SubscriptionId};
use authority_domain::list_filter::SubscriptionFilter;
use authority_domain::subscription::{AnchoredSubscription, Subscription, SubscriptionTerms};
use authority_domain::tenant::Tenant;

use super::{Page, SequenceRange};
use crate::StoreError;

/// Subscriptions.
#[async_trait]
pub trait Subscriptions {
    /// One subscription.
    async fn subscription_get(
        &mut self,
        tenant: &Tenant,
        id: &SubscriptionId,
    ) -> Result<Option<Subscription>, StoreError>;

    /// One subscription and its tenant, as the operator's paths name it.
    async fn subscription_find(
        &mut self,
        id: &SubscriptionId,
    ) -> Result<Option<(Tenant, AnchoredSubscription)>, StoreError>;

    /// One subscription as stored text, with its version.
    async fn subscription_body(
        &mut self,
        tenant: &Tenant,
        id: &SubscriptionId,
    ) -> Result<Option<(String, i64)>, StoreError>;

    /// Up to `limit` subscriptions before `before` (newest first; `None` from the newest), as stored text.
    async fn subscriptions_page(
        &mut self,
        tenant: &Tenant,
        filter: &SubscriptionFilter,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Page<String>, StoreError>;

    /// Writes a version of a subscription and its anchor.
    async fn subscription_put(
        &mut self,
        merchant: &MerchantId,
        subscription: &AnchoredSubscription,
        places: SequenceRange,
    ) -> Result<(), StoreError>;

    /// Stores the terms of an open checkout beside its record.
    async fn subscription_terms_keep(
        &mut self,
        tenant: &Tenant,
        checkout: &CheckoutId,
        terms: &SubscriptionTerms,
    ) -> Result<(), StoreError>;

    /// The terms of a checkout; `None` in mode `payment`.
    async fn subscription_terms(
        &mut self,
        tenant: &Tenant,
        checkout: &CheckoutId,
    ) -> Result<Option<SubscriptionTerms>, StoreError>;
}
