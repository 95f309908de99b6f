//! Payment attempts on checkouts and orders (contract 3.5, 3.9 rows 2 and 7a, 6.2).
//!
//! Starting an attempt is idempotent without time limit by the processor's own event id: the claim is a row
//! written in the same transaction. The outcome of an attempt is reported later ([`super::reports`]).

use authority_domain::event::change::Record;
use authority_domain::payment::{NewPayment, PaymentRequest, PaymentTarget};
use authority_domain::{
    Change, CheckoutId, MemberCode, Named, Order, Payment, PaymentId, Refusal, Result, Tenant, transitions,
};
use authority_store::tx::{FirstRead, MessageId, ProcessorMessage};

use crate::app::subscriptions::order_to_pay;
use crate::app::{Answer, App, Mutation, Owner, Work};

impl App {
    /// `POST /merchants/:m/:mode/payments`: an attempt on an open checkout, on an unpaid order, or on the latest order
    /// of a subscription.
    pub async fn payment_start(&self, mutation: Mutation, tenant: Named<Tenant>) -> Result<Answer> {
        let request = PaymentRequest::read(&mutation.body);
        let reads = tenant.as_ref().ok().zip(request.as_ref().ok()).map(first_reads);
        self.for_tenant(mutation, tenant, reads.into_iter().flatten(), async move |work, owner| {
            let request = request?;
            let message = start_message(&owner.tenant, &request);
            if let Some(known) = work.tx.processor_report_get(&message).await? {
                let known = PaymentId::from_store(known.resource_id);
                return started_before(work, &owner.tenant, &known, &request).await;
            }
            Answer::of(201, &start(work, &owner, request).await?)
        })
        .await
    }
}

/// What a start reads first.
fn first_reads((tenant, request): (&Tenant, &PaymentRequest)) -> Vec<FirstRead> {
    let message = FirstRead::Message(start_message(tenant, request));
    match &request.target {
        PaymentTarget::Checkout(checkout) => vec![message, FirstRead::CheckoutToPay(checkout.clone())],
        PaymentTarget::Order(number) => vec![message, FirstRead::Order(tenant.clone(), number.clone())],
        PaymentTarget::Subscription(_) => vec![message],
    }
}

/// Stored as the contents of a start message; the request itself is compared with the payment.
const STARTED: &str = "created";

fn start_message(tenant: &Tenant, request: &PaymentRequest) -> MessageId {
    let (processor, event_id) = (request.processor_name(), &request.processor_event_id);
    MessageId::new(tenant, processor, ProcessorMessage::Start, event_id)
}

/// A repeated start answers with the first one's payment; an id that was used for another start is refused.
async fn started_before(
    work: &mut Work<'_>,
    tenant: &Tenant,
    known: &PaymentId,
    request: &PaymentRequest,
) -> Result<Answer> {
    match work.tx.payment_get(tenant, known).await? {
        Some(payment) if request.is_start_of(&payment) => Answer::of(200, &payment),
        _ => Err(Refusal::member(
            "/processor_event_id",
            MemberCode::Duplicate,
            "was used before, for another payment",
        )),
    }
}

/// Starts an attempt and stores the processor's event id permanently.
pub(in crate::app) async fn start(
    work: &mut Work<'_>,
    owner: &Owner,
    request: PaymentRequest,
) -> Result<Payment> {
    let tenant = &owner.tenant;
    let message = start_message(tenant, &request);
    let target = request.target.clone();
    let new = request.into_new(work.now, &mut work.dice);
    let id = new.id.clone();
    let changes = match target {
        PaymentTarget::Checkout(checkout) => {
            // It would end in a new order.
            owner.merchant.check_not_closed()?;
            start_on_checkout(work, tenant, &checkout, new).await?
        }
        PaymentTarget::Order(number) => {
            let missing = || unknown("/order_number", "is no order of this merchant and mode");
            let order = work.tx.order_get(tenant, &number).await?.ok_or_else(missing)?;
            start_on_order(work, owner, order, new).await?
        }
        PaymentTarget::Subscription(subscription) => {
            let order = order_to_pay(work, tenant, &subscription).await?;
            start_on_order(work, owner, order, new).await?
        }
    };
    work.commit(owner, &changes).await?;
    work.tx.processor_report_keep(&message, id.as_str(), Some(STARTED), work.now).await?;
    last_version(changes, &id).ok_or_else(Refusal::internal)
}

/// The payment after these changes.
pub(in crate::app) fn last_version(changes: Vec<Change>, id: &PaymentId) -> Option<Payment> {
    changes.into_iter().rev().find_map(|change| match change.record {
        Record::Payment(payment) if payment.id == *id => Some(*payment),
        _ => None,
    })
}

async fn start_on_checkout(
    work: &mut Work<'_>,
    tenant: &Tenant,
    checkout: &CheckoutId,
    new: NewPayment,
) -> Result<Vec<Change>> {
    let missing = || unknown("/checkout_id", "is no checkout of this merchant and mode");
    let (checkout, under_way) = work.tx.checkout_to_pay(tenant, checkout).await?.ok_or_else(missing)?;
    Ok(vec![transitions::payment::start(&checkout, under_way, new, work.now)?])
}

async fn start_on_order(
    work: &mut Work<'_>,
    owner: &Owner,
    order: Order,
    new: NewPayment,
) -> Result<Vec<Change>> {
    let payments = work.tx.payments_of_order(&owner.tenant, &order.order_number).await?;
    transitions::further_payments::start(order, payments, new, owner.merchant.settings.confirm_on, work.now)
}

fn unknown(pointer: &str, detail: &str) -> Refusal {
    Refusal::member(pointer, MemberCode::UnknownReference, detail)
}
