//! Payments, and what processors have told.

use async_trait::async_trait;
use authority_domain::id::{CheckoutId, MerchantId, PaymentId};
use authority_domain::list_filter::PaymentFilter;
use authority_domain::order_number::OrderNumber;
use authority_domain::payment::Payment;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

use super::Places;
use crate::StoreError;

/// What a processor tells of a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessorMessage {
    /// That an attempt began.
    Start,
    /// How it went.
    Report,
    /// How a refund of it goes.
    RefundReport,
}

impl ProcessorMessage {
    /// The word in the store.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Report => "report",
            Self::RefundReport => "refund_report",
        }
    }
}

/// Payments.
#[async_trait]
pub trait Payments {
    /// One payment, by the tenant's own view.
    async fn payment_get(&mut self, tenant: &Tenant, id: &PaymentId) -> Result<Option<Payment>, StoreError>;

    /// One payment as stored text, with its version.
    async fn payment_body(
        &mut self,
        tenant: &Tenant,
        id: &PaymentId,
    ) -> Result<Option<(String, i64)>, StoreError>;

    /// One payment and its tenant, as the operator's paths name it.
    async fn payment_find(&mut self, id: &PaymentId) -> Result<Option<(Tenant, Payment)>, StoreError>;

    /// All payments of an order, oldest first.
    async fn payments_of_order(
        &mut self,
        tenant: &Tenant,
        order: &OrderNumber,
    ) -> Result<Vec<Payment>, StoreError>;

    /// Up to `limit` payments before `before` (newest first; `None` from the newest), each with its place.
    async fn payments_page(
        &mut self,
        tenant: &Tenant,
        filter: &PaymentFilter,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Vec<(i64, String)>, StoreError>;

    /// The attempt on the checkout that is still under way; there is at most one.
    async fn payment_open_on(
        &mut self,
        tenant: &Tenant,
        checkout: &CheckoutId,
    ) -> Result<Option<Payment>, StoreError>;

    /// States a payment anew under the version it has, because what its open refunds reserve has changed (contract
    /// 3.6). Refuses another version, and a text whose `amount_refund_pending` is not the sum of the stored refunds.
    async fn payment_restate(&mut self, tenant: &Tenant, payment: &Payment) -> Result<(), StoreError>;

    /// Writes a version of a payment. Its `amount_refund_pending` must be the sum of the stored refunds.
    async fn payment_put(
        &mut self,
        merchant: &MerchantId,
        payment: &Payment,
        places: Places,
    ) -> Result<(), StoreError>;

    /// Notes a processor's message for ever. `None` when it is new; else the id of the record the first one was about.
    async fn processor_report_claim(
        &mut self,
        processor: &str,
        message: ProcessorMessage,
        processor_event_id: &str,
        resource_id: &str,
        now: Timestamp,
    ) -> Result<Option<String>, StoreError>;

    /// Notes for ever a message whose id no earlier one had ([`Payments::processor_report_get`]).
    async fn processor_report_keep(
        &mut self,
        processor: &str,
        message: ProcessorMessage,
        processor_event_id: &str,
        resource_id: &str,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// The record an earlier message with this id was about.
    async fn processor_report_get(
        &mut self,
        processor: &str,
        message: ProcessorMessage,
        processor_event_id: &str,
    ) -> Result<Option<String>, StoreError>;
}
