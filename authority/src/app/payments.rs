//! Payment attempts and the processor's reports about them (contract 3.5, 3.9 rows 2 to 5, 6.2).
//!
//! Both are idempotent for ever by the processor's own event id: the claim is a row of the same transaction, so that
//! a report counts exactly when its changes are committed.

use authority_domain::id::PaymentId;
use authority_domain::merchant::Merchant;
use authority_domain::order_number::OrderNumber;
use authority_domain::payment::{Payment, Reported};
use authority_domain::payment_flow::{self, Surroundings};
use authority_domain::refusal::{MemberCode, Refusal};
use authority_domain::requests::{PaymentReportRequest, PaymentRequest};
use authority_domain::tenant::Tenant;
use authority_store::StoreError;
use authority_store::commit::{Audience, commit_changes};
use authority_store::ports::{KeyScope, ProcessorMessage, Tx};
use serde::Serialize;
use serde_json::Value;

use super::access::Caller;
use super::checkouts::find_tenant;
use super::mutation::{Work, operator_scope};
use super::{Answer, App, Mutation};

/// What a report did: the payment as it is now, and whether this report changed it.
#[derive(Serialize)]
#[serde(tag = "object", rename = "report_result")]
struct ReportResult<'a> {
    applied: bool,
    payment: &'a Payment,
}

impl App {
    /// `POST /merchants/:m/:mode/payments`: an attempt on an open checkout.
    ///
    /// # Errors
    /// `not_found`; 422 for wrong members; `invalid_state_transition`, `currency_mismatch`.
    pub async fn payment_start(
        &self,
        mutation: Mutation,
        tenant: Option<Tenant>,
        body: Value,
    ) -> Result<Answer, Refusal> {
        mutation
            .run(self, operator_scope(tenant.clone()), move |work| {
                Box::pin(async move {
                    let (tenant, merchant) = find_tenant(work, tenant).await?;
                    let request = PaymentRequest::read(&body)?;
                    let (processor, event_id) =
                        (request.processor_name(), request.processor_event_id.as_str());
                    if let Some(known) =
                        work.tx.processor_report_get(processor, ProcessorMessage::Start, event_id).await?
                    {
                        return started_before(work, &tenant, &PaymentId::from_store(known), &request).await;
                    }
                    let payment = start(work, &tenant, &merchant, request).await?;
                    Ok(Answer::record(201, &payment)?
                        .version(payment.resource_version)
                        .about(payment.id.as_str()))
                })
            })
            .await
    }

    /// `POST /payments/:id/reports`.
    ///
    /// # Errors
    /// `not_found`; 422 for wrong members; `processor_conflict`.
    pub async fn payment_report(
        &self,
        mutation: Mutation,
        payment: Option<PaymentId>,
        body: Value,
    ) -> Result<Answer, Refusal> {
        mutation
            .run(self, KeyScope::Operator, move |work| {
                Box::pin(async move {
                    let missing = || Refusal::not_found("payment");
                    let id = payment.ok_or_else(missing)?;
                    let (tenant, payment) = work.tx.payment_find(&id).await?.ok_or_else(missing)?;
                    let request = PaymentReportRequest::read(&body, work.now)?;
                    let (applied, payment) = report(work, &tenant, payment, request).await?;
                    let result = ReportResult { applied, payment: &payment };
                    Ok(Answer::record(200, &result)?
                        .version(payment.resource_version)
                        .about(payment.id.as_str()))
                })
            })
            .await
    }

    /// `GET /payments/:payment`.
    ///
    /// # Errors
    /// `not_found`; `None` is a malformed id.
    pub async fn payment_get(&self, caller: &Caller, id: Option<PaymentId>) -> Result<Answer, Refusal> {
        let id = id.ok_or_else(|| Refusal::not_found("payment"))?;
        let tenant = caller.tenant.clone();
        let payment = self
            .store
            .read(move |tx: &mut dyn Tx| Box::pin(async move { tx.payment_get(&tenant, &id).await }))
            .await
            .map_err(|error: StoreError| Refusal::from(error))?
            .ok_or_else(|| Refusal::not_found("payment"))?;
        Ok(Answer::record(200, &payment)?.version(payment.resource_version))
    }
}

/// A repeated start answers with the payment of the first one; an id that was used for another start is refused.
async fn started_before(
    work: &mut Work<'_>,
    tenant: &Tenant,
    known: &PaymentId,
    request: &PaymentRequest,
) -> Result<Answer, Refusal> {
    match work.tx.payment_get(tenant, known).await? {
        Some(payment) if request.is_start_of(&payment) => {
            Ok(Answer::record(200, &payment)?.version(payment.resource_version).about(known.as_str()))
        }
        _ => Err(Refusal::member(
            "/processor_event_id",
            MemberCode::Duplicate,
            "was used before, for another payment",
        )),
    }
}

async fn start(
    work: &mut Work<'_>,
    tenant: &Tenant,
    merchant: &Merchant,
    request: PaymentRequest,
) -> Result<Payment, Refusal> {
    let checkout = work.tx.checkout_get(tenant, &request.checkout_id).await?.ok_or_else(|| {
        Refusal::member(
            "/checkout_id",
            MemberCode::UnknownReference,
            "is no checkout of this merchant and mode",
        )
    })?;
    let under_way = work.tx.payment_open_on(tenant, &checkout.id).await?;
    let (processor, event_id) = (request.processor_name().to_owned(), request.processor_event_id.clone());
    let new = request.into_new(work.now, &mut work.dice);
    let id = new.id.clone();
    let change = payment_flow::start(&checkout, under_way, new, work.now)?;
    let context = merchant.context();
    let audience = Audience::Subscribers;
    commit_changes(work.tx, tenant, &context, &[change], &audience, work.now, &mut work.dice).await?;
    work.tx
        .processor_report_claim(&processor, ProcessorMessage::Start, &event_id, id.as_str(), work.now)
        .await?;
    work.tx.payment_get(tenant, &id).await?.ok_or_else(Refusal::internal)
}

async fn report(
    work: &mut Work<'_>,
    tenant: &Tenant,
    payment: Payment,
    request: PaymentReportRequest,
) -> Result<(bool, Payment), Refusal> {
    let processor = payment.processor.name.clone();
    let claimed = work
        .tx
        .processor_report_claim(
            &processor,
            ProcessorMessage::Report,
            &request.processor_event_id,
            payment.id.as_str(),
            work.now,
        )
        .await?;
    match claimed {
        Some(first) if first == payment.id.as_str() => return Ok((false, payment)),
        Some(_) => {
            return Err(Refusal::member(
                "/processor_event_id",
                MemberCode::Duplicate,
                "was used before, for another payment",
            ));
        }
        None => {}
    }
    let before = payment.clone();
    let Reported::Changed(next) = payment.report(&request.report, work.now)? else {
        return Ok((false, before));
    };
    let merchant = work.tx.merchant_get(&tenant.merchant_id).await?.ok_or_else(Refusal::internal)?;
    let surroundings = surroundings(work, tenant, &merchant, &next).await?;
    let id = next.id.clone();
    let changes = payment_flow::settle(&before, next, surroundings, merchant.settings.confirm_on, work.now);
    let context = merchant.context();
    let audience = Audience::Subscribers;
    commit_changes(work.tx, tenant, &context, &changes, &audience, work.now, &mut work.dice).await?;
    let stored = work.tx.payment_get(tenant, &id).await?.ok_or_else(Refusal::internal)?;
    Ok((true, stored))
}

/// Loads what the payment stands in, and reserves an order number when it is about to make an order.
async fn surroundings(
    work: &mut Work<'_>,
    tenant: &Tenant,
    merchant: &Merchant,
    payment: &Payment,
) -> Result<Surroundings, Refusal> {
    if let Some(number) = &payment.order_number {
        let order = work.tx.order_get(tenant, number).await?.ok_or_else(Refusal::internal)?;
        let payments = work.tx.payments_of_order(tenant, number).await?;
        return Ok(Surroundings::Order { order: Box::new(order), payments });
    }
    let Some(checkout_id) = &payment.checkout_id else { return Ok(Surroundings::Ended) };
    let checkout = work.tx.checkout_get(tenant, checkout_id).await?.ok_or_else(Refusal::internal)?;
    if checkout.status != authority_domain::checkout::CheckoutStatus::Open {
        tracing::warn!(payment_id = %payment.id, "late_payment: the checkout had ended");
        return Ok(Surroundings::Ended);
    }
    if !payment_flow::completes(payment.status) {
        return Ok(Surroundings::OpenCheckout(Box::new(checkout)));
    }
    let order_number = free_order_number(work, tenant, merchant).await?;
    Ok(Surroundings::Completing { checkout: Box::new(checkout), order_number })
}

/// The next generated number that no order of the tenant has; an operator may have taken some by hand.
async fn free_order_number(
    work: &mut Work<'_>,
    tenant: &Tenant,
    merchant: &Merchant,
) -> Result<OrderNumber, Refusal> {
    loop {
        let n = work.tx.order_number_next(tenant).await?;
        let number = OrderNumber::generated(&merchant.settings.order_number_prefix, n);
        if work.tx.order_body(tenant, &number).await?.is_none() {
            return Ok(number);
        }
    }
}
