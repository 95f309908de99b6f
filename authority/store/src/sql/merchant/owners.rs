//! Whose a record is, for the operator's requests that name a record by its id alone.

use authority_domain::{CheckoutId, DeliveryId, EndpointId, PaymentId, SubscriptionId, Tenant};

use crate::sql::{Result, Row, Tx, bodies};

/// A record of some merchant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnedRecord {
    /// A checkout.
    Checkout(CheckoutId),
    /// A delivery, of the platform's endpoint too.
    Delivery(DeliveryId),
    /// A webhook endpoint, the platform's too, deleted or not.
    Endpoint(EndpointId),
    /// A payment.
    Payment(PaymentId),
    /// A subscription.
    Subscription(SubscriptionId),
}

impl Tx {
    /// The tenant of a record, which never changes; `None` when there is no such record.
    pub async fn owner_of(&mut self, record: &OwnedRecord) -> Result<Option<Tenant>> {
        let (table, id) = match record {
            OwnedRecord::Checkout(id) => ("checkouts", id.as_str()),
            OwnedRecord::Delivery(id) => ("deliveries", id.as_str()),
            OwnedRecord::Endpoint(id) => ("webhook_endpoints", id.as_str()),
            OwnedRecord::Payment(id) => ("payments", id.as_str()),
            OwnedRecord::Subscription(id) => ("subscriptions", id.as_str()),
        };
        let query = bodies::by_id(&self.conn, format!("SELECT merchant_id, livemode FROM {table}"), id);
        query.read_optional_as(&mut self.conn, Row::tenant).await
    }
}
