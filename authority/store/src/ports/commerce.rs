//! Checkouts, payments, orders and shipments: the records that events tell of.
//!
//! `*_put` writes one version of a record: version 1 inserts it, a later one replaces the version before it. They are
//! called by [`crate::commit`] alone, which writes the events from the same list.

use async_trait::async_trait;
use authority_domain::checkout::Checkout;
use authority_domain::id::{CheckoutId, MerchantId, PaymentId, ShipmentId};
use authority_domain::list_filter::OrderFilter;
use authority_domain::order::Order;
use authority_domain::order_number::OrderNumber;
use authority_domain::payment::Payment;
use authority_domain::shipment::Shipment;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

use crate::StoreError;

/// What a processor tells of a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessorMessage {
    /// That an attempt began.
    Start,
    /// How it went.
    Report,
}

impl ProcessorMessage {
    /// The word in the store.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Report => "report",
        }
    }
}

/// One order of a page.
#[derive(Clone, Debug)]
pub struct StoredOrder {
    /// The sequence of the order's first event: its place in lists.
    pub position: i64,
    /// The record as JSON text.
    pub body: String,
}

/// Checkouts, payments, orders, shipments.
#[async_trait]
pub trait Commerce {
    /// Reserves the next generated order number of the tenant; the first is 100001 (contract 1.1).
    async fn order_number_next(&mut self, tenant: &Tenant) -> Result<i64, StoreError>;

    /// One checkout.
    async fn checkout_get(
        &mut self,
        tenant: &Tenant,
        id: &CheckoutId,
    ) -> Result<Option<Checkout>, StoreError>;

    /// Writes a version of a checkout.
    async fn checkout_put(&mut self, merchant: &MerchantId, checkout: &Checkout) -> Result<(), StoreError>;

    /// One payment, by the tenant's own view.
    async fn payment_get(&mut self, tenant: &Tenant, id: &PaymentId) -> Result<Option<Payment>, StoreError>;

    /// One payment and its tenant, as the operator's paths name it.
    async fn payment_find(&mut self, id: &PaymentId) -> Result<Option<(Tenant, Payment)>, StoreError>;

    /// All payments of an order, oldest first.
    async fn payments_of_order(
        &mut self,
        tenant: &Tenant,
        order: &OrderNumber,
    ) -> Result<Vec<Payment>, StoreError>;

    /// Whether an attempt on the checkout is still under way.
    async fn payment_open_on(&mut self, tenant: &Tenant, checkout: &CheckoutId) -> Result<bool, StoreError>;

    /// Writes a version of a payment.
    async fn payment_put(&mut self, merchant: &MerchantId, payment: &Payment) -> Result<(), StoreError>;

    /// Notes a processor's message for ever. `None` when it is new; else the payment the first one was about.
    async fn processor_report_claim(
        &mut self,
        processor: &str,
        message: ProcessorMessage,
        processor_event_id: &str,
        payment: &PaymentId,
        now: Timestamp,
    ) -> Result<Option<PaymentId>, StoreError>;

    /// The payment an earlier message with this id was about.
    async fn processor_report_get(
        &mut self,
        processor: &str,
        message: ProcessorMessage,
        processor_event_id: &str,
    ) -> Result<Option<PaymentId>, StoreError>;

    /// One order.
    async fn order_get(&mut self, tenant: &Tenant, number: &OrderNumber)
    -> Result<Option<Order>, StoreError>;

    /// One order as stored text, with its version.
    async fn order_body(
        &mut self,
        tenant: &Tenant,
        number: &OrderNumber,
    ) -> Result<Option<(String, i64)>, StoreError>;

    /// Up to `limit` orders before `before` (newest first; `None` from the newest).
    async fn orders_page(
        &mut self,
        tenant: &Tenant,
        filter: &OrderFilter,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Vec<StoredOrder>, StoreError>;

    /// Writes a version of an order and its lines.
    async fn order_put(&mut self, merchant: &MerchantId, order: &Order) -> Result<(), StoreError>;

    /// Sets the order's place in lists (once, by its first event) and in the feed of changes.
    async fn order_place(
        &mut self,
        tenant: &Tenant,
        number: &OrderNumber,
        first_sequence: i64,
        last_sequence: i64,
    ) -> Result<(), StoreError>;

    /// One shipment as stored text, with its version.
    async fn shipment_body(
        &mut self,
        tenant: &Tenant,
        id: &ShipmentId,
    ) -> Result<Option<(String, i64)>, StoreError>;

    /// All shipments of an order, oldest first.
    async fn shipments_of_order(
        &mut self,
        tenant: &Tenant,
        order: &OrderNumber,
    ) -> Result<Vec<Shipment>, StoreError>;

    /// The shipment that a request with this idempotency key once made.
    async fn shipment_by_key(&mut self, tenant: &Tenant, key: &str) -> Result<Option<Shipment>, StoreError>;

    /// Writes a version of a shipment.
    async fn shipment_put(&mut self, merchant: &MerchantId, shipment: &Shipment) -> Result<(), StoreError>;

    /// Keeps the idempotency key with the shipment it made, for ever (contract 4.3).
    async fn shipment_keep_key(
        &mut self,
        tenant: &Tenant,
        id: &ShipmentId,
        key: &str,
    ) -> Result<(), StoreError>;
}
