//! Reading payments: the merchant's own, and those of all merchants for the operator (contract 2.3, 4.1, 4.5, 18.3).
//!
//! The answer is the stored text. It is written again whenever a refund changes the amount it reserves, so
//! `amount_refund_pending` always matches the open refunds (contract 3.6).

use authority_domain::list_filter::{AllPaymentsFilter, PaymentFilter};
use authority_domain::{ListKind, MerchantId, Payment, PaymentId, Result};
use authority_store::tx::FoundPayment;
use serde::Serialize;

use crate::app::lists::written;
use crate::app::{Answer, App, Caller, List, ListRequest};

/// A payment as the operator reads it.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "OperatorPayment"))]
pub(in crate::app) struct OperatorView<'a> {
    #[serde(flatten)]
    payment: &'a Payment,
    /// The merchant it belongs to.
    merchant_id: &'a MerchantId,
}

impl<'a> From<&'a FoundPayment> for OperatorView<'a> {
    fn from(found: &'a FoundPayment) -> Self {
        Self { payment: &found.payment, merchant_id: &found.tenant.merchant_id }
    }
}

impl App {
    /// `GET /payments/:payment`.
    pub async fn payment_get(&self, caller: &Caller, id: PaymentId) -> Result<Answer> {
        let tenant = caller.tenant.clone();
        let found = self.read(async move |tx| tx.payment_body(&tenant, &id).await).await?;
        // The amount that open refunds reserve changes without a new version.
        Ok(Answer::stored(found.ok_or_else(PaymentId::missing)?).volatile())
    }

    /// `GET /payments`: newest first.
    pub async fn payments_list(
        &self,
        caller: &Caller,
        request: &ListRequest,
        filter: PaymentFilter,
    ) -> Result<List> {
        self.list(ListKind::Payments, &caller.tenant, request, Ok, async move |tx, of| {
            Ok(tx.payments_page(&of.tenant, &filter, of.before, of.rows).await?)
        })
        .await
    }

    /// `GET /payments/:payment` of the operator API.
    pub async fn payment_find(&self, id: PaymentId) -> Result<Answer> {
        let found = self.read(async move |tx| tx.payment_owned(&id).await).await?;
        let (tenant, payment) = found.ok_or_else(PaymentId::missing)?;
        let found = FoundPayment { tenant, payment };
        Ok(Answer::showing(200, &OperatorView::from(&found), &found.payment)?.volatile())
    }

    /// `GET /payments` of the operator API: of all merchants, newest first.
    pub async fn payments_everywhere(
        &self,
        request: &ListRequest,
        filter: AllPaymentsFilter,
    ) -> Result<List> {
        let show =
            |found: FoundPayment| Ok((found.payment.id.to_string(), written(OperatorView::from(&found))?));
        self.operator_list(
            ListKind::OperatorPayments,
            PaymentId::PREFIX,
            request,
            show,
            async move |tx, of| Ok(tx.payments_everywhere(&filter, of.before.as_deref(), of.rows).await?),
        )
        .await
    }
}
