//! Whose endpoint it is: rules of addresses differ between merchants and the platform.

use crate::id::MerchantId;
use crate::tenant::Tenant;

/// Whose endpoint it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EndpointOwner {
    /// A merchant.
    Merchant,
    /// The platform itself, which has one endpoint.
    Platform,
}

impl EndpointOwner {
    /// The owner of an endpoint with this merchant id.
    #[must_use]
    pub fn of(merchant_id: &MerchantId) -> Self {
        if Tenant::is_of_operator(merchant_id) { Self::Platform } else { Self::Merchant }
    }
}
