//! The clocks of test merchants.

use async_trait::async_trait;
use authority_domain::id::{MerchantId, SubscriptionId};
use authority_domain::sandbox::clock::{ClockAdvance, SandboxClock};
use authority_domain::tenant::Tenant;

use crate::StoreError;

/// The clocks of test merchants, and the subscriptions that they renew.
#[async_trait]
pub trait SandboxClocks {
    /// The clock of a merchant's test mode.
    async fn sandbox_clock(&mut self, merchant: &MerchantId) -> Result<SandboxClock, StoreError>;

    /// Adds an advance, and forgets those before the last
    /// [`ADVANCES_MAX`](authority_domain::sandbox::clock::ADVANCES_MAX).
    async fn sandbox_clock_advance(
        &mut self,
        merchant: &MerchantId,
        advance: ClockAdvance,
    ) -> Result<(), StoreError>;

    /// The merchants whose clocks were advanced, by id.
    async fn sandbox_clocks_advanced(&mut self) -> Result<Vec<MerchantId>, StoreError>;

    /// The tenant's subscriptions that are on trial or active, by id, after `after`; at most `limit`.
    async fn subscriptions_running(
        &mut self,
        tenant: &Tenant,
        after: Option<&SubscriptionId>,
        limit: i64,
    ) -> Result<Vec<SubscriptionId>, StoreError>;
}
