//! Refunds.

use async_trait::async_trait;
use authority_domain::id::{MerchantId, RefundId};
use authority_domain::refund::Refund;
use authority_domain::tenant::Tenant;

use super::Places;
use crate::StoreError;

/// Refunds.
#[async_trait]
pub trait Refunds {
    /// One refund.
    async fn refund_get(&mut self, tenant: &Tenant, id: &RefundId) -> Result<Option<Refund>, StoreError>;

    /// Writes a version of a refund.
    async fn refund_put(
        &mut self,
        merchant: &MerchantId,
        refund: &Refund,
        places: Places,
    ) -> Result<(), StoreError>;
}
