//! Reading refunds: the merchant's own, and those of all merchants for the operator's payment adapter (contract 4.5,
//! 6.2).
//!
//! With each refund the adapter gets the merchant it belongs to, and the processor that took the payment.

use authority_domain::list_filter::{AllRefundsFilter, RefundFilter};
use authority_domain::payment::Processor;
use authority_domain::{ListKind, MerchantId, Refund, RefundId, Result};
use authority_store::tx::FoundRefund;
use serde::Serialize;

use crate::app::lists::written;
use crate::app::{Answer, App, Caller, List, ListRequest};

/// A refund as the operator reads it.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "OperatorRefund"))]
pub(in crate::app) struct OperatorView<'a> {
    #[serde(flatten)]
    refund: &'a Refund,
    /// The merchant it belongs to.
    merchant_id: &'a MerchantId,
    /// The processor of the refunded payment.
    processor: &'a Processor,
}

impl<'a> From<&'a FoundRefund> for OperatorView<'a> {
    fn from(found: &'a FoundRefund) -> Self {
        Self {
            refund: &found.refund,
            merchant_id: &found.tenant.merchant_id,
            processor: &found.payment.processor,
        }
    }
}

impl App {
    /// `GET /refunds/:refund` of the merchant API: returns the stored text unchanged.
    pub async fn refund_get(&self, caller: &Caller, id: RefundId) -> Result<Answer> {
        let tenant = caller.tenant.clone();
        let found = self.read(async move |tx| tx.refund_body(&tenant, &id).await).await?;
        found.map(Answer::stored).ok_or_else(RefundId::missing)
    }

    /// `GET /refunds` of the merchant API: newest first.
    pub async fn refunds_list(
        &self,
        caller: &Caller,
        request: &ListRequest,
        filter: RefundFilter,
    ) -> Result<List> {
        self.list(ListKind::Refunds, &caller.tenant, request, Ok, async move |tx, of| {
            Ok(tx.refunds_page(&of.tenant, &filter, of.before, of.rows).await?)
        })
        .await
    }

    /// `GET /refunds/:refund` of the operator API.
    pub async fn refund_find(&self, id: RefundId) -> Result<Answer> {
        let found = self.read(async move |tx| tx.refund_find(&id).await).await?;
        let found = found.ok_or_else(RefundId::missing)?;
        Answer::showing(200, &OperatorView::from(&found), &found.refund)
    }

    /// `GET /refunds` of the operator API: of all merchants, newest first.
    pub async fn refunds_everywhere(&self, request: &ListRequest, filter: AllRefundsFilter) -> Result<List> {
        let show =
            |found: FoundRefund| Ok((found.refund.id.to_string(), written(OperatorView::from(&found))?));
        self.operator_list(ListKind::OperatorRefunds, RefundId::PREFIX, request, show, async move |tx, of| {
            Ok(tx.refunds_everywhere(&filter.status, of.before.as_deref(), of.rows).await?)
        })
        .await
    }
}
