//! Reading refunds: the merchant's own, and those of all merchants for the operator's payment adapter (contract 4.5,
//! 6.2).
//!
//! With each refund the adapter gets the merchant it belongs to, and the processor that took the payment.

use authority_domain::cursor::ListKind;
use authority_domain::id::{MerchantId, RefundId};
use authority_domain::list_filter::RefundFilter;
use authority_domain::payment::Processor;
use authority_domain::refund::{Refund, RefundStatus};
use authority_domain::refusal::Refusal;
use authority_store::StoreError;
use authority_store::tx::{FoundRefund, Tx};
use serde::Serialize;

use crate::app::access::Caller;
use crate::app::lists::{List, ListRequest, written};
use crate::app::{Answer, App};

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
    ///
    /// # Errors
    /// `not_found`; `None` is a malformed id.
    pub async fn refund_get(&self, caller: &Caller, id: Option<RefundId>) -> Result<Answer, Refusal> {
        let missing = || Refusal::not_found("refund");
        let id = id.ok_or_else(missing)?;
        let tenant = caller.tenant.clone();
        let found: Option<(String, i64)> = self
            .store
            .read(move |tx: &mut Tx| Box::pin(async move { tx.refund_body(&tenant, &id).await }))
            .await
            .map_err(|error: StoreError| Refusal::from(error))?;
        let (body, version) = found.ok_or_else(missing)?;
        Ok(Answer::new(200, body).version(version))
    }

    /// `GET /refunds` of the merchant API: newest first.
    ///
    /// # Errors
    /// `invalid_cursor`.
    pub async fn refunds_list(
        &self,
        caller: &Caller,
        request: &ListRequest,
        filter: RefundFilter,
    ) -> Result<List, Refusal> {
        self.list(ListKind::Refunds, &caller.tenant, request, Ok, move |tx, of| {
            Box::pin(async move { Ok(tx.refunds_page(&of.tenant, &filter, of.before, of.rows).await?) })
        })
        .await
    }

    /// `GET /refunds/:refund` of the operator API.
    ///
    /// # Errors
    /// `not_found`; `None` is a malformed id.
    pub async fn refund_find(&self, id: Option<RefundId>) -> Result<Answer, Refusal> {
        let missing = || Refusal::not_found("refund");
        let id = id.ok_or_else(missing)?;
        let found: Option<FoundRefund> = self
            .store
            .read(move |tx: &mut Tx| Box::pin(async move { tx.refund_find(&id).await }))
            .await
            .map_err(|error: StoreError| Refusal::from(error))?;
        let found = found.ok_or_else(missing)?;
        Ok(Answer::record(200, &OperatorView::from(&found))?.version(found.refund.resource_version))
    }

    /// `GET /refunds` of the operator API: of all merchants, newest first.
    ///
    /// # Errors
    /// `invalid_cursor`.
    pub async fn refunds_everywhere(
        &self,
        request: &ListRequest,
        status: Vec<RefundStatus>,
    ) -> Result<List, Refusal> {
        let show =
            |found: FoundRefund| Ok((found.refund.id.to_string(), written(OperatorView::from(&found))?));
        self.operator_list(ListKind::OperatorRefunds, RefundId::PREFIX, request, show, move |tx, of| {
            Box::pin(async move { Ok(tx.refunds_everywhere(&status, of.before.as_deref(), of.rows).await?) })
        })
        .await
    }
}
