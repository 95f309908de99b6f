//! Checkouts.

use async_trait::async_trait;
use authority_domain::checkout::Checkout;
use authority_domain::id::{CheckoutId, MerchantId};
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

use super::SequenceRange;
use crate::StoreError;

/// An open checkout that is past `expires_at`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueCheckout {
    /// Its tenant.
    pub tenant: Tenant,
    /// The checkout.
    pub id: CheckoutId,
    /// Its `expires_at`.
    pub expires_at: Timestamp,
}

/// Checkouts.
#[async_trait]
pub trait Checkouts {
    /// One checkout.
    async fn checkout_get(
        &mut self,
        tenant: &Tenant,
        id: &CheckoutId,
    ) -> Result<Option<Checkout>, StoreError>;

    /// One checkout, and whether a payment of it is still open.
    async fn checkout_to_pay(
        &mut self,
        tenant: &Tenant,
        id: &CheckoutId,
    ) -> Result<Option<(Checkout, bool)>, StoreError>;

    /// One checkout and its tenant, as the operator's paths name it.
    async fn checkout_find(&mut self, id: &CheckoutId) -> Result<Option<(Tenant, Checkout)>, StoreError>;

    /// Open checkouts of one tenant, or of all (`None`), with `expires_at` at or before `now`, the longest overdue
    /// first, at most `limit`, starting after `after`.
    async fn checkouts_due(
        &mut self,
        of: Option<&Tenant>,
        now: Timestamp,
        after: Option<&DueCheckout>,
        limit: i64,
    ) -> Result<Vec<DueCheckout>, StoreError>;

    /// The earliest `expires_at` of all open checkouts.
    async fn checkouts_next_due(&mut self) -> Result<Option<Timestamp>, StoreError>;

    /// Writes a version of a checkout.
    async fn checkout_put(
        &mut self,
        merchant: &MerchantId,
        checkout: &Checkout,
        places: SequenceRange,
    ) -> Result<(), StoreError>;
}
