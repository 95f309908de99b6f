//! Processors' reports about payments (contract 3.5, 3.9 rows 2 to 5, 6.2).
//!
//! A report is idempotent without time limit by the processor's own event id: the claim is a row written in the
//! same transaction, so a report counts exactly when its changes are committed. A refused report, and money that
//! arrives when there is nothing left to pay for (contract 18.3), need a person's attention: both raise an
//! operator alert.

use authority_domain::checkout::CheckoutStatus;
use authority_domain::payment::{PaymentOutcome, PaymentReport, PaymentReportRequest};
use authority_domain::transitions::payment::{PaidFor, Surroundings};
use authority_domain::{
    ErrorCode, MemberCode, Named, Payment, PaymentId, Refusal, Result, Tenant, Timestamp, transitions,
};
use authority_store::tx::{FirstRead, KnownMessage, MessageId, ProcessorMessage};

use crate::app::order::read::free_order_number;
use crate::app::payment::create::last_version;
use crate::app::report_result::PaymentReportResult;
use crate::app::subscriptions::founding;
use crate::app::{Answer, App, Mutation, Owner, Work, alerts};

impl App {
    /// `POST /payments/:id/reports`.
    pub async fn payment_report(&self, mutation: Mutation, id: Named<PaymentId>) -> Result<Answer> {
        let request = PaymentReportRequest::read(&mutation.body, self.now());
        // Neither its tenant nor its processor ever changes, nor the order that it
        // belongs to.
        let read =
            self.named(id.clone(), PaymentId::missing, async move |tx, id| tx.payment_owned(&id).await);
        let found = read.await?;
        let reads =
            found.as_ref().map_or_else(|_| Vec::new(), |found| first_reads(found, request.as_ref().ok()));
        let (tenant, named) = (found.map(|(tenant, _)| tenant), id.clone());
        let answered = self
            .for_tenant(mutation, tenant, reads, async move |work, owner| {
                let (_, payment) = work.tx.payment_find(&named?).await?.ok_or_else(PaymentId::missing)?;
                let request = request?;
                request.check(&payment)?;
                let (applied, payment) = report(work, &owner, payment, request).await?;
                let result = PaymentReportResult { applied, payment: &payment };
                Answer::showing(200, &result, &payment)
            })
            .await;
        if let (Err(refusal), Ok(id)) = (&answered, id)
            && violates_a_rule(refusal)
        {
            alerts::report_refused(self, "payment", id.as_str(), refusal).await;
        }
        answered
    }
}

/// What a report reads first.
fn first_reads(
    (tenant, payment): &(Tenant, Payment),
    request: Option<&PaymentReportRequest>,
) -> Vec<FirstRead> {
    let order = payment.order_number.clone().map(|number| FirstRead::Order(tenant.clone(), number));
    let message = request.map(|request| {
        let (processor, event_id) = (&payment.processor.name, &request.processor_event_id);
        FirstRead::Message(MessageId::new(tenant, processor, ProcessorMessage::Report, event_id))
    });
    [FirstRead::Payment(payment.id.clone())].into_iter().chain(order).chain(message).collect()
}

/// Refusals about currency, amounts and transitions (contract 6.2), and for want of room; an unreadable body is left to
/// its sender.
fn violates_a_rule(refusal: &Refusal) -> bool {
    match refusal.code {
        ErrorCode::ProcessorConflict | ErrorCode::CurrencyMismatch | ErrorCode::PayloadTooLarge => true,
        ErrorCode::ValidationFailed => {
            refusal.members.iter().any(|member| member.pointer.starts_with("/amount_"))
        }
        _ => false,
    }
}

/// Counts a processor's message once and applies it; returns whether it said anything new, and the payment as it
/// is then. An exact repetition changes nothing; the same message with different contents is refused.
pub(in crate::app) async fn report(
    work: &mut Work<'_>,
    owner: &Owner,
    payment: Payment,
    request: PaymentReportRequest,
) -> Result<(bool, Payment)> {
    let Owner { tenant, merchant } = owner;
    let event_id = &request.processor_event_id;
    let message = MessageId::new(tenant, &payment.processor.name, ProcessorMessage::Report, event_id);
    let said = request.report.said();
    let known = work.tx.processor_report_claim(&message, payment.id.as_str(), Some(&said), work.now).await?;
    if let Some(known) = known {
        check_repetition(&known, payment.id.as_str(), &said, "payment")?;
        if known.said.is_none() {
            check_against_record(&payment, &request.report, work.now)?;
        }
        return Ok((false, payment));
    }
    let before = payment.clone();
    let reported = if payment.may_be_late(&request.report) && was_given_up(work, tenant, &payment).await? {
        payment.report_late(&request.report, work.now)?
    } else {
        payment.report(&request.report, work.now)?
    };
    let PaymentOutcome::Changed(next) = reported else { return Ok((false, before)) };
    let surroundings = surroundings(work, owner, &next).await?;
    let (id, reported) = (next.id.clone(), next.status);
    let changes =
        transitions::payment::settle(&before, next, surroundings, merchant.settings.confirm_on, work.now);
    work.commit(owner, &changes).await?;
    let stored = last_version(changes, &id).ok_or_else(Refusal::internal)?;
    if stored.late && !before.late {
        alerts::late_payment(work, &stored).await?;
    }
    Ok((stored.status == reported, stored))
}

/// Checks a repeated message of which only the id is stored, because it was ingested with its order or is old. It
/// is refused unless the payment already shows what it reports.
fn check_against_record(payment: &Payment, report: &PaymentReport, now: Timestamp) -> Result<()> {
    match payment.clone().report(report, now)? {
        PaymentOutcome::Unchanged => Ok(()),
        PaymentOutcome::Changed(_) => Err(Refusal::new(
            ErrorCode::ProcessorConflict,
            format!("This processor_event_id was used before; now it says {}.", report.said()),
        )),
    }
}

/// Refuses a message whose id was used before, unless it says the same about the same record. The contents of the
/// earlier message may be unknown, because they were not always stored.
pub(in crate::app) fn check_repetition(
    known: &KnownMessage,
    record: &str,
    said: &str,
    what: &str,
) -> Result<()> {
    if known.resource_id != record {
        let detail = format!("was used before, for another {what}");
        return Err(Refusal::member("/processor_event_id", MemberCode::Duplicate, detail));
    }
    match &known.said {
        Some(before) if before != said => Err(Refusal::new(
            ErrorCode::ProcessorConflict,
            format!("This processor_event_id was used before and said {before}; now it says {said}."),
        )),
        _ => Ok(()),
    }
}

/// Whether the payment was cancelled because its order or checkout had ended.
async fn was_given_up(work: &mut Work<'_>, tenant: &Tenant, payment: &Payment) -> Result<bool> {
    if let Some(number) = &payment.order_number {
        let order = work.order_of(tenant, number).await?;
        return Ok(transitions::payment::was_given_up(payment, PaidFor::Order(&order)));
    }
    let Some(checkout) = &payment.checkout_id else { return Ok(false) };
    let checkout = work.tx.checkout_get(tenant, checkout).await?.ok_or_else(Refusal::internal)?;
    Ok(transitions::payment::was_given_up(payment, PaidFor::Checkout(&checkout)))
}

/// Loads the records around the payment, and reserves an order number when the payment is about to create an
/// order.
async fn surroundings(work: &mut Work<'_>, owner: &Owner, payment: &Payment) -> Result<Surroundings> {
    let tenant = &owner.tenant;
    if let Some(number) = &payment.order_number {
        let order = work.order_of(tenant, number).await?;
        let payments = work.tx.payments_of_order(tenant, number).await?;
        return Ok(Surroundings::Order { order: Box::new(order), payments });
    }
    let Some(checkout_id) = &payment.checkout_id else { return Ok(Surroundings::Ended) };
    let checkout = work.tx.checkout_get(tenant, checkout_id).await?.ok_or_else(Refusal::internal)?;
    if checkout.status != CheckoutStatus::Open {
        return Ok(Surroundings::Ended);
    }
    // The scheduler may not have run yet. The time of the report's arrival decides, not the time of the payment.
    if checkout.is_overdue(work.now) {
        return Ok(Surroundings::Overdue(Box::new(checkout)));
    }
    if !transitions::payment::completes(payment.status) {
        return Ok(Surroundings::OpenCheckout(Box::new(checkout)));
    }
    let order_number = free_order_number(work, owner).await?;
    let subscription = founding(work, tenant, checkout_id).await?.map(Box::new);
    Ok(Surroundings::Completing { checkout: Box::new(checkout), order_number, subscription })
}
