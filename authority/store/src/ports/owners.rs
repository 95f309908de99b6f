//! Whose a record is, for the operator's requests that name a record by its id alone.

use async_trait::async_trait;
use authority_domain::id::{CheckoutId, DeliveryId, PaymentId, SubscriptionId};
use authority_domain::tenant::Tenant;

use crate::StoreError;

/// A record of some merchant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnedRecord {
    /// A checkout.
    Checkout(CheckoutId),
    /// A delivery, of the platform's endpoint too.
    Delivery(DeliveryId),
    /// A payment.
    Payment(PaymentId),
    /// A subscription.
    Subscription(SubscriptionId),
}

/// Owners of records.
#[async_trait]
pub trait Owners {
    /// The tenant of a record, which never changes; `None` when there is no such record.
    async fn owner_of(&mut self, record: &OwnedRecord) -> Result<Option<Tenant>, StoreError>;
}
