//! Processors' reports about refunds (contract 3.6, 3.9 rows 15 to 18, 6.2).
//!
//! A report is idempotent without time limit by the name of the payment's processor and the processor's own event
//! id. A report that contradicts an earlier one is refused and raises an operator alert, so that a person looks at
//! it.

use authority_domain::error_code::ErrorCode;
use authority_domain::id::RefundId;
use authority_domain::refund;
use authority_domain::refund::flow::RefundBasis;
use authority_domain::refund::{Refund, RefundReport, RefundReportRequest};
use authority_domain::refusal::Refusal;
use authority_domain::tenant::Tenant;
use authority_store::StoreError;
use authority_store::shards::Turns;
use authority_store::tx::{FirstRead, FoundRefund, KeyScope, MessageId, ProcessorMessage, Tx};
use serde::Serialize;
use serde_json::Value;

use crate::app::mutation::{Work, on_its_own};
use crate::app::payment::reports::check_repetition;
use crate::app::{self, Answer, App, Mutation, alerts};

/// The result of a report: the refund as it is now, and whether this report changed it.
#[derive(Serialize)]
#[serde(tag = "object", rename = "report_result")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "RefundReportResult"))]
pub(in crate::app) struct ReportResult<'a> {
    /// Whether the report changed it.
    applied: bool,
    /// The refund as it is now.
    refund: &'a Refund,
}

impl App {
    /// `POST /refunds/:id/reports`.
    ///
    /// # Errors
    /// `not_found`; 422 for wrong members; `processor_conflict`.
    pub async fn refund_report(
        &self,
        mutation: Mutation,
        refund: Option<RefundId>,
        body: Value,
    ) -> Result<Answer, Refusal> {
        let id = refund.clone();
        let found = match refund {
            Some(refund) => self.refund_to_report(refund).await?,
            None => None,
        };
        let owner = found.as_ref().map(|found| found.tenant.clone());
        let reads = found.as_ref().map_or_else(Vec::new, |found| first_reads(found, &body));
        let answered = mutation
            .run_for(self, KeyScope::Operator, owner, reads, move |work| {
                Box::pin(async move {
                    let missing = || Refusal::not_found("refund");
                    let FoundRefund { tenant, refund, payment } = found.ok_or_else(missing)?;
                    let refund = work.tx.refund_get(&tenant, &refund.id).await?.ok_or_else(missing)?;
                    let request = RefundReportRequest::read(&body)?;
                    let processor = &payment.processor.name;
                    let (applied, refund) = reported(work, &tenant, refund, processor, request).await?;
                    Ok(Answer::record(200, &ReportResult { applied, refund: &refund })?
                        .version(refund.resource_version)
                        .about(refund.id.as_str()))
                })
            })
            .await;
        if let (Err(refusal), Some(id)) = (&answered, id)
            && refusal.code == ErrorCode::ProcessorConflict
        {
            self.alert_refused_refund(id, refusal.clone()).await;
        }
        answered
    }

    /// The refund before the report's turn. Its tenant, its order and its processor never change.
    async fn refund_to_report(&self, id: RefundId) -> Result<Option<FoundRefund>, StoreError> {
        self.store.read(move |tx: &mut Tx| Box::pin(async move { tx.refund_find(&id).await })).await
    }

    /// Raises the alert about a refused report in its own transaction, because the refusal rolled the report's
    /// back.
    async fn alert_refused_refund(&self, id: RefundId, refusal: Refusal) {
        let raised = on_its_own(self, Turns::NONE, move |work| {
            Box::pin(async move { alerts::report_refused(work, "refund", id.as_str(), &refusal).await })
        });
        if let Err(error) = raised.await {
            tracing::error!(%error, "the alert about a refused report could not be raised");
        }
    }
}

/// What a report reads first. The transaction says what is wrong with a body that cannot be read.
fn first_reads(found: &FoundRefund, body: &Value) -> Vec<FirstRead> {
    let FoundRefund { tenant, refund, payment } = found;
    let order = refund.order_number.as_ref();
    let order = order.map(|number| FirstRead::Order(tenant.clone(), number.clone()));
    let message = RefundReportRequest::read(body).ok().map(|request| {
        let event_id = &request.processor_event_id;
        let processor = &payment.processor.name;
        FirstRead::Message(MessageId::new(tenant, processor, ProcessorMessage::RefundReport, event_id))
    });
    [FirstRead::Refund(refund.id.clone())].into_iter().chain(order).chain(message).collect()
}

/// Counts a processor's message once and applies it.
async fn reported(
    work: &mut Work<'_>,
    tenant: &Tenant,
    refund: Refund,
    processor: &str,
    request: RefundReportRequest,
) -> Result<(bool, Refund), Refusal> {
    let event_id = &request.processor_event_id;
    let message = MessageId::new(tenant, processor, ProcessorMessage::RefundReport, event_id);
    let said = request.report.status.as_str();
    match work.tx.processor_report_claim(&message, refund.id.as_str(), Some(said), work.now).await? {
        Some(known) => {
            check_repetition(&known, refund.id.as_str(), said, "refund")?;
            Ok((false, refund))
        }
        None => report(work, tenant, refund, &request.report).await,
    }
}

/// Applies a report to a refund of `tenant`; returns whether it said anything new, and the refund as it is then.
pub(in crate::app) async fn report(
    work: &mut Work<'_>,
    tenant: &Tenant,
    refund: Refund,
    reported: &RefundReport,
) -> Result<(bool, Refund), Refusal> {
    let standing = match &refund.order_number {
        Some(number) => {
            let order = work.tx.order_get(tenant, number).await?.ok_or_else(Refusal::internal)?;
            app::refund::create::standing(work, tenant, order).await?
        }
        None => {
            let payment = work.tx.payment_get(tenant, &refund.payment_id).await?;
            RefundBasis::without_order(payment.ok_or_else(Refusal::internal)?)
        }
    };
    let merchant = work.tx.merchant_get(&tenant.merchant_id).await?.ok_or_else(Refusal::internal)?;
    let before = refund.clone();
    match refund::flow::report(standing, refund, reported, merchant.settings.confirm_on, work.now)? {
        None => Ok((false, before)),
        Some(outcome) => {
            app::refund::create::commit(work, tenant, &merchant, &outcome).await?;
            Ok((true, outcome.refund))
        }
    }
}
