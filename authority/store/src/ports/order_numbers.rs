//! The numbers that the authority gives to orders that come without one.

use async_trait::async_trait;
use authority_domain::order::number::OrderNumber;
use authority_domain::tenant::Tenant;

use crate::StoreError;

/// Generated order numbers.
#[async_trait]
pub trait OrderNumbers {
    /// Reserves the tenant's next generated order number that no order has: `prefix` and a count, which starts at
    /// 100001 (contract 1.1).
    async fn order_number_reserve(
        &mut self,
        tenant: &Tenant,
        prefix: &str,
    ) -> Result<OrderNumber, StoreError>;
}
