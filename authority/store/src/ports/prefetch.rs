//! What a job declares before it runs.

use authority_domain::id::{CheckoutId, PaymentId, RefundId, ShipmentId};
use authority_domain::order::number::OrderNumber;
use authority_domain::refund::RequesterType;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

use super::{KeyScope, MessageId};

/// What a job will read first, so that it can be read for all queued jobs together. The job may read anything else,
/// and need not read this.
#[derive(Clone, Debug)]
pub struct Prefetch {
    /// The merchant and mode it is about.
    pub tenant: Option<Tenant>,
    /// Its idempotency key.
    pub key: Option<(KeyScope, String)>,
    /// The records it is about.
    pub reads: Vec<FirstRead>,
    /// The time of the request.
    pub now: Timestamp,
}

/// A record that a job will read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FirstRead {
    /// A checkout of the job's tenant that is to be paid ([`super::Checkouts::checkout_to_pay`]).
    CheckoutToPay(CheckoutId),
    /// An earlier message of a processor ([`super::ProcessorReports::processor_report_get`]).
    Message(MessageId),
    /// An order of this tenant, with its payments, open refunds, shipments and marked lines.
    Order(Tenant, OrderNumber),
    /// The next generated order number of the job's tenant ([`super::OrderNumbers::order_number_reserve`]).
    OrderNumber,
    /// A payment, with what stands around it ([`super::Payments::payment_find`]). It may need an order number.
    Payment(PaymentId),
    /// A refund ([`super::Refunds::refund_get`]).
    Refund(RefundId),
    /// The refund of this tenant that a requester made with this key ([`super::Refunds::refund_by_key`]).
    RefundUnderKey(Tenant, RequesterType, String),
    /// A shipment ([`super::Shipments::shipment_find`]).
    Shipment(ShipmentId),
    /// The shipment of this tenant that was made with this key ([`super::Shipments::shipment_by_key`]).
    ShipmentUnderKey(Tenant, String),
}
