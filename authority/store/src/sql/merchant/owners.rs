//! Whose a record is, for the operator's requests that name a record by its id alone.

use authority_domain::id::{CheckoutId, DeliveryId, MerchantId, PaymentId, SubscriptionId};
use authority_domain::tenant::Tenant;

use crate::Result;
use crate::driver::query;
use crate::sql::transaction::Tx;

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

impl Tx {
    /// The tenant of a record, which never changes; `None` when there is no such record.
    pub async fn owner_of(&mut self, record: &OwnedRecord) -> Result<Option<Tenant>> {
        let (statement, id) = match record {
            OwnedRecord::Checkout(id) => {
                ("SELECT merchant_id, livemode FROM checkouts WHERE id = $1", id.as_str())
            }
            OwnedRecord::Delivery(id) => {
                ("SELECT merchant_id, livemode FROM deliveries WHERE id = $1", id.as_str())
            }
            OwnedRecord::Payment(id) => {
                ("SELECT merchant_id, livemode FROM payments WHERE id = $1", id.as_str())
            }
            OwnedRecord::Subscription(id) => {
                ("SELECT merchant_id, livemode FROM subscriptions WHERE id = $1", id.as_str())
            }
        };
        let row: Option<(String, bool)> = query(statement).bind(id).read_optional(&mut self.conn).await?;
        Ok(row.map(|(merchant, livemode)| Tenant { merchant_id: MerchantId::from_store(merchant), livemode }))
    }
}
