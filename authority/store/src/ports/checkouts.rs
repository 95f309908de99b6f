//! Checkouts.

use async_trait::async_trait;
use authority_domain::checkout::Checkout;
use authority_domain::id::{CheckoutId, MerchantId};
use authority_domain::tenant::Tenant;

use super::Places;
use crate::StoreError;

/// Checkouts.
#[async_trait]
pub trait Checkouts {
    /// One checkout.
    async fn checkout_get(
        &mut self,
        tenant: &Tenant,
        id: &CheckoutId,
    ) -> Result<Option<Checkout>, StoreError>;

    /// Writes a version of a checkout.
    async fn checkout_put(
        &mut self,
        merchant: &MerchantId,
        checkout: &Checkout,
        places: Places,
    ) -> Result<(), StoreError>;
}
