//! Merchants, as the operator manages them.

use async_trait::async_trait;
use authority_domain::id::MerchantId;
use authority_domain::merchant::Merchant;

use crate::StoreError;

/// What narrows the list of merchants. Empty and `None` do not narrow.
#[derive(Clone, Debug, Default)]
pub struct MerchantFilter {
    /// Any of these statuses.
    pub status: Vec<String>,
    /// The one with this slug.
    pub slug: Option<String>,
}

/// Merchants.
#[async_trait]
pub trait Merchants {
    /// Adds a merchant.
    ///
    /// # Errors
    /// [`Conflict(MerchantSlug)`](crate::Constraint::MerchantSlug) when the slug is taken.
    async fn merchant_insert(&mut self, merchant: &Merchant) -> Result<(), StoreError>;

    /// One merchant.
    async fn merchant_get(&mut self, id: &MerchantId) -> Result<Option<Merchant>, StoreError>;

    /// Up to `limit` merchants before the one with the id `before`, newest first.
    async fn merchants_page(
        &mut self,
        filter: &MerchantFilter,
        before: Option<&str>,
        limit: i64,
    ) -> Result<Vec<Merchant>, StoreError>;

    /// Writes the next version of a merchant. Its id and slug never change.
    async fn merchant_update(&mut self, merchant: &Merchant) -> Result<(), StoreError>;

    /// The merchant that the sandbox made for `of` to share orders with.
    async fn merchant_counterpart(&mut self, of: &MerchantId) -> Result<Option<Merchant>, StoreError>;

    /// Notes that a merchant was made for `of`, which has none yet.
    async fn merchant_counterpart_put(&mut self, id: &MerchantId, of: &MerchantId) -> Result<(), StoreError>;
}
