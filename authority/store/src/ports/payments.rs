//! Payments.

use async_trait::async_trait;
use authority_domain::id::{CheckoutId, MerchantId, PaymentId};
use authority_domain::list_filter::PaymentFilter;
use authority_domain::order::number::OrderNumber;
use authority_domain::payment::Payment;
use authority_domain::tenant::Tenant;

use super::{Page, SequenceRange};
use crate::StoreError;

/// A payment as the operator side reads it.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct FoundPayment {
    pub tenant: Tenant,
    pub payment: Payment,
}

/// The filters of the operator's list of payments. Empty and `None` do not narrow.
#[derive(Clone, Debug, Default)]
pub struct AllPaymentsFilter {
    /// Whether the money came late.
    pub late: Option<bool>,
    /// Any of these statuses.
    pub status: Vec<String>,
}

/// Payments.
#[async_trait]
pub trait Payments {
    /// One payment, as the tenant sees it.
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

    /// Up to `limit` payments before `before` (newest first; `None` from the newest), as stored text.
    async fn payments_page(
        &mut self,
        tenant: &Tenant,
        filter: &PaymentFilter,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Page<String>, StoreError>;

    /// Up to `limit` payments of all merchants before the one with the id `before`, newest first.
    async fn payments_everywhere(
        &mut self,
        filter: &AllPaymentsFilter,
        before: Option<&str>,
        limit: i64,
    ) -> Result<Vec<FoundPayment>, StoreError>;

    /// The attempt on the checkout that is still under way; there is at most one.
    async fn payment_open_on(
        &mut self,
        tenant: &Tenant,
        checkout: &CheckoutId,
    ) -> Result<Option<Payment>, StoreError>;

    /// Rewrites a payment under its current version, because what its open refunds reserve has changed (contract
    /// 3.6). Refuses another version, and a text whose `amount_refund_pending` is not the sum of the stored refunds.
    async fn payment_restate(&mut self, tenant: &Tenant, payment: &Payment) -> Result<(), StoreError>;

    /// Writes a version of a payment. Its `amount_refund_pending` must be the sum of the stored refunds.
    async fn payment_put(
        &mut self,
        merchant: &MerchantId,
        payment: &Payment,
        places: SequenceRange,
    ) -> Result<(), StoreError>;

    /// One payment and its tenant, without what stands around it.
    async fn payment_owned(&mut self, id: &PaymentId) -> Result<Option<(Tenant, Payment)>, StoreError>;
}
