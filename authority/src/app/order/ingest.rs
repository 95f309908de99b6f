//! Ingesting an order from elsewhere: a point of sale, an import, the platform itself (contract 3.9 row 7, 6.2).
//!
//! The order, its payments and all their events are written in one transaction. The processors' ids of the
//! payments are stored permanently, like those of payments that are started and reported one by one: an order that
//! is sent twice is refused the second time because of its number or its payments.

use authority_domain::event::change::Record;
use authority_domain::order::OrderRequest;
use authority_domain::{
    MemberCode, Named, Order, OrderNumber, Payment, Refusal, Result, Tenant, transitions,
};
use authority_store::tx::{FirstRead, MessageId, ProcessorMessage};

use crate::app::order::read::free_order_number;
use crate::app::{Answer, App, Mutation, Owner, Work};

impl App {
    /// `POST /merchants/:m/:mode/orders`.
    ///
    /// # Errors
    /// `not_found`; 422 for wrong members, for a number or a processor's event id that was used before, and the
    /// refusals of [`transitions::order::ingest`]; `merchant_closed`.
    pub async fn order_ingest(&self, mutation: Mutation, tenant: Named<Tenant>) -> Result<Answer> {
        let request = OrderRequest::read(&mutation.body, self.now());
        let reads = tenant.as_ref().ok().zip(request.as_ref().ok()).map(first_reads);
        self.for_tenant(mutation, tenant, reads.into_iter().flatten(), async move |work, owner| {
            let request = request?;
            owner.merchant.check_not_closed()?;
            let events = request.processor_events();
            Answer::of(201, &ingest(work, &owner, request, &events).await?)
        })
        .await
    }
}

/// What an order reads first.
fn first_reads((tenant, request): (&Tenant, &OrderRequest)) -> Vec<FirstRead> {
    let number = match &request.order_number {
        Some(number) => FirstRead::Order(tenant.clone(), number.clone()),
        None => FirstRead::OrderNumber,
    };
    let events = request.processor_events();
    let messages = events.iter().flat_map(|(processor, event_id)| {
        [ProcessorMessage::Start, ProcessorMessage::Report]
            .map(|kind| FirstRead::Message(MessageId::new(tenant, processor, kind, event_id)))
    });
    [number].into_iter().chain(messages).collect()
}

/// Ingests the order and returns it as it is then. `events` are the processors and their event ids of the
/// payments, in order.
pub(in crate::app) async fn ingest(
    work: &mut Work<'_>,
    owner: &Owner,
    request: OrderRequest,
    events: &[(String, String)],
) -> Result<Order> {
    let Owner { tenant, merchant } = owner;
    let number = match &request.order_number {
        Some(number) => own_number(work, tenant, number.clone()).await?,
        None => free_order_number(work, owner).await?,
    };
    let (new, payments) = request.into_new(number, work.now, &mut work.dice)?;
    let confirm_on = merchant.settings.confirm_on;
    let changes = transitions::order::ingest(new, payments, confirm_on, tenant.livemode, work.now)?;
    let mut order = None;
    let mut made: Vec<&Payment> = Vec::new();
    for change in &changes {
        match &change.record {
            Record::Order(version) => order = Some(version),
            Record::Payment(payment) if payment.resource_version == 1 => made.push(payment),
            _ => {}
        }
    }
    for (index, (payment, (processor, event_id))) in made.into_iter().zip(events).enumerate() {
        claim(work, tenant, index, (processor, event_id), payment).await?;
    }
    work.commit(owner, &changes).await?;
    order.map(|order| (**order).clone()).ok_or_else(Refusal::internal)
}

/// A number is never used twice, not even after its order has ended (contract 1.1).
pub(in crate::app) async fn own_number(
    work: &mut Work<'_>,
    tenant: &Tenant,
    number: OrderNumber,
) -> Result<OrderNumber> {
    match work.tx.order_body(tenant, &number).await? {
        None => Ok(number),
        Some(_) => Err(Refusal::member("/order_number", MemberCode::Duplicate, "is another order's number")),
    }
}

/// The processor's event both starts the payment and reports its outcome, so that neither can be reported again.
async fn claim(
    work: &mut Work<'_>,
    tenant: &Tenant,
    index: usize,
    (processor, event_id): (&str, &str),
    payment: &Payment,
) -> Result<()> {
    for kind in [ProcessorMessage::Start, ProcessorMessage::Report] {
        let message = MessageId::new(tenant, processor, kind, event_id);
        let claimed = work.tx.processor_report_claim(&message, payment.id.as_str(), None, work.now).await?;
        if claimed.is_some() {
            let pointer = format!("/payments/{index}/processor_event_id");
            return Err(Refusal::member(
                pointer,
                MemberCode::Duplicate,
                "was used before, for another payment",
            ));
        }
    }
    Ok(())
}
