//! Subscriptions.

use async_trait::async_trait;
use authority_domain::id::{MerchantId, SubscriptionId};
use authority_domain::subscription::Subscription;
use authority_domain::tenant::Tenant;

use super::Places;
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

    /// Writes a version of a subscription.
    async fn subscription_put(
        &mut self,
        merchant: &MerchantId,
        subscription: &Subscription,
        places: Places,
    ) -> Result<(), StoreError>;
}
