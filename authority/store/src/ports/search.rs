//! Finding a record of any merchant by what people call it: for the operator's console.

use async_trait::async_trait;
use authority_domain::id::{
    AttemptId, CheckoutId, DeliveryId, EndpointId, RecoveryId, ShipmentId, SubscriptionId,
};
use authority_domain::tenant::Tenant;

use crate::StoreError;

/// Which of a record's names matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MatchedName {
    /// The number of an order.
    OrderNumber,
    /// The name of an order in a system of its merchant.
    ExternalReference,
    /// The platform's name for a customer.
    CustomerReference,
    /// A carrier's name for a parcel.
    TrackingNumber,
    /// A processor's name for a payment.
    ProcessorReference,
}

/// A record that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundRecord {
    /// The name that matched.
    pub by: MatchedName,
    /// Whose it is.
    pub tenant: Tenant,
    /// Its id; of an order, its number.
    pub id: String,
    /// The order it belongs to; of an order, its own number.
    pub order_number: Option<String>,
}

/// A record that has a merchant and may belong to an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedRecord {
    /// A checkout.
    Checkout(CheckoutId),
    /// A subscription; the order is its latest.
    Subscription(SubscriptionId),
    /// A shipment.
    Shipment(ShipmentId),
}

/// Search over all merchants.
#[async_trait]
pub trait Search {
    /// Records that have exactly this name, at most `limit` of each kind of name. Each kind is one index look-up.
    async fn records_named(&mut self, name: &str, limit: i64) -> Result<Vec<FoundRecord>, StoreError>;

    /// The stored text of a record, with its tenant.
    async fn record_find(&mut self, record: &NamedRecord) -> Result<Option<(Tenant, String)>, StoreError>;

    /// The delivery that an attempt belongs to.
    async fn delivery_of_attempt(&mut self, id: &AttemptId) -> Result<Option<DeliveryId>, StoreError>;

    /// The endpoint that a recovery is for.
    async fn endpoint_of_recovery(&mut self, id: &RecoveryId) -> Result<Option<EndpointId>, StoreError>;
}
