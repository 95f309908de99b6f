//! Refunds.

use std::collections::BTreeMap;

use async_trait::async_trait;
use authority_domain::id::{MerchantId, PaymentId, RefundId};
use authority_domain::list_filter::RefundFilter;
use authority_domain::order::number::OrderNumber;
use authority_domain::parts::Money;
use authority_domain::payment::Payment;
use authority_domain::refund::{Refund, RefundStatus, RequesterType};
use authority_domain::tenant::Tenant;

use super::{MadeUnderKey, Page, SequenceRange};
use crate::StoreError;

/// A refund as the operator side works on it: with its tenant and the payment whose money it returns.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct FoundRefund {
    pub tenant: Tenant,
    pub refund: Refund,
    pub payment: Payment,
}

/// Refunds.
#[async_trait]
pub trait Refunds {
    /// One refund.
    async fn refund_get(&mut self, tenant: &Tenant, id: &RefundId) -> Result<Option<Refund>, StoreError>;

    /// One refund as stored text, with its version.
    async fn refund_body(
        &mut self,
        tenant: &Tenant,
        id: &RefundId,
    ) -> Result<Option<(String, i64)>, StoreError>;

    /// One refund, as the operator's paths name it.
    async fn refund_find(&mut self, id: &RefundId) -> Result<Option<FoundRefund>, StoreError>;

    /// The sum of the open refunds of each payment of an order that has any.
    async fn refunds_reserved(
        &mut self,
        tenant: &Tenant,
        order: &OrderNumber,
    ) -> Result<BTreeMap<PaymentId, Money>, StoreError>;

    /// The refund that an earlier request of this requester with this idempotency key made.
    async fn refund_by_key(
        &mut self,
        tenant: &Tenant,
        requester: RequesterType,
        key: &str,
    ) -> Result<Option<MadeUnderKey<Refund>>, StoreError>;

    /// Up to `limit` refunds before `before` (newest first; `None` from the newest), as stored text.
    async fn refunds_page(
        &mut self,
        tenant: &Tenant,
        filter: &RefundFilter,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Page<String>, StoreError>;

    /// Up to `limit` refunds of all merchants before the one with the id `before`, newest first, with any of these
    /// statuses; none given means all.
    async fn refunds_everywhere(
        &mut self,
        status: &[RefundStatus],
        before: Option<&str>,
        limit: i64,
    ) -> Result<Vec<FoundRefund>, StoreError>;

    /// Up to `limit` open refunds of test mode after the id `after`, oldest first, of merchants whose setting
    /// `sandbox_auto_advance` moves them.
    async fn refunds_moving_by_themselves(
        &mut self,
        after: Option<&RefundId>,
        limit: i64,
    ) -> Result<Vec<(Tenant, Refund)>, StoreError>;

    /// Writes a version of a refund, and with it what is reserved of its payment.
    async fn refund_put(
        &mut self,
        merchant: &MerchantId,
        refund: &Refund,
        places: SequenceRange,
    ) -> Result<(), StoreError>;
}
