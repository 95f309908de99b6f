//! Processors' reports about refunds (contract 3.6, 3.9 rows 15 to 18, 6.2).
//!
//! A report is idempotent without time limit by the name of the payment's processor and the processor's own event
//! id. A report that contradicts an earlier one is refused and raises an operator alert, so that a person looks at
//! it.

use authority_domain::refund::{RefundReport, RefundReportRequest};
use authority_domain::{ErrorCode, Named, Refund, RefundId, Result, transitions};
use authority_store::tx::{FirstRead, FoundRefund, MessageId, ProcessorMessage};

use crate::app::payment::reports::check_repetition;
use crate::app::refund::create::{basis_of, commit};
use crate::app::report_result::RefundReportResult;
use crate::app::{Answer, App, Mutation, Owner, Work, alerts};

impl App {
    /// `POST /refunds/:id/reports`.
    pub async fn refund_report(&self, mutation: Mutation, id: Named<RefundId>) -> Result<Answer> {
        let request = RefundReportRequest::read(&mutation.body);
        // Its tenant, its order and its processor never change.
        let read = self.named(id.clone(), RefundId::missing, async move |tx, id| tx.refund_find(&id).await);
        let found = read.await?;
        let reads =
            found.as_ref().map_or_else(|_| Vec::new(), |found| first_reads(found, request.as_ref().ok()));
        let tenant = found.clone().map(|found| found.tenant);
        let answered = self
            .for_tenant(mutation, tenant, reads, async move |work, owner| {
                let FoundRefund { refund, payment, .. } = found?;
                let refund = work.tx.refund_get(&owner.tenant, &refund.id).await?;
                let refund = refund.ok_or_else(RefundId::missing)?;
                let (applied, refund) =
                    reported(work, &owner, refund, &payment.processor.name, request?).await?;
                Answer::showing(200, &RefundReportResult { applied, refund: &refund }, &refund)
            })
            .await;
        if let (Err(refusal), Ok(id)) = (&answered, id)
            && refusal.code == ErrorCode::ProcessorConflict
        {
            alerts::report_refused(self, "refund", id.as_str(), refusal).await;
        }
        answered
    }
}

/// What a report reads first.
fn first_reads(found: &FoundRefund, request: Option<&RefundReportRequest>) -> Vec<FirstRead> {
    let FoundRefund { tenant, refund, payment } = found;
    let order = refund.order_number.as_ref();
    let order = order.map(|number| FirstRead::Order(tenant.clone(), number.clone()));
    let message = request.map(|request| {
        let event_id = &request.processor_event_id;
        let processor = &payment.processor.name;
        FirstRead::Message(MessageId::new(tenant, processor, ProcessorMessage::RefundReport, event_id))
    });
    [FirstRead::Refund(refund.id.clone())].into_iter().chain(order).chain(message).collect()
}

/// Counts a processor's message once and applies it.
async fn reported(
    work: &mut Work<'_>,
    owner: &Owner,
    refund: Refund,
    processor: &str,
    request: RefundReportRequest,
) -> Result<(bool, Refund)> {
    let event_id = &request.processor_event_id;
    let message = MessageId::new(&owner.tenant, processor, ProcessorMessage::RefundReport, event_id);
    let said = request.report.status.as_str();
    match work.tx.processor_report_claim(&message, refund.id.as_str(), Some(said), work.now).await? {
        Some(known) => {
            check_repetition(&known, refund.id.as_str(), said, "refund")?;
            Ok((false, refund))
        }
        None => report(work, owner, refund, &request.report).await,
    }
}

/// Applies a report to a refund of `owner`; returns whether it said anything new, and the refund as it is then.
pub(in crate::app) async fn report(
    work: &mut Work<'_>,
    owner: &Owner,
    refund: Refund,
    reported: &RefundReport,
) -> Result<(bool, Refund)> {
    let basis = basis_of(work, &owner.tenant, refund.order_number.as_ref(), &refund.payment_id).await?;
    let (before, confirm_on) = (refund.clone(), owner.merchant.settings.confirm_on);
    match transitions::refund::report(basis, refund, reported, confirm_on, work.now)? {
        None => Ok((false, before)),
        Some(outcome) => {
            commit(work, owner, &outcome).await?;
            Ok((true, outcome.refund))
        }
    }
}
