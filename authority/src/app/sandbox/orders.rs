//! Orders in the sandbox: ingested, paid, cancelled (contract 6.3, 3.9 rows 7, 7a and 8).

use authority_domain::order::{OrderCancelRequest, OrderRequest};
use authority_domain::sandbox::requests::{OrderPaid, PayRequest, read_order};
use authority_domain::{Named, Order, OrderNumber, PaymentId, Result};
use serde_json::{Value, json};

use super::payments::{Owed, attempt};
use super::{PROCESSOR, processor_event_id};
use crate::app::{Answer, App, Mutation, Owner, Work, order};

impl App {
    /// `POST /orders`: the operator's body plus `pay`.
    ///
    /// # Errors
    /// 422 for wrong members, and the refusals of ingesting an order.
    pub async fn sandbox_order_ingest(&self, whose: Owner, mutation: Mutation) -> Result<Answer> {
        let body = mutation.body.clone();
        self.for_owner(mutation, whose, None, async move |work, owner| {
            Answer::of(201, &ingest(work, &owner, &body).await?)
        })
        .await
    }

    /// `POST /orders/:order/pay`: an attempt to pay the amount due, and its outcome; answers with the payment.
    pub async fn sandbox_order_pay(
        &self,
        whose: Owner,
        mutation: Mutation,
        number: Named<OrderNumber>,
    ) -> Result<Answer> {
        let pay = PayRequest::read(&mutation.body);
        self.for_owner(mutation, whose, None, async move |work, owner| {
            let order = work.order(&owner, number).await?;
            let pay = pay?;
            let payments = work.tx.payments_of_order(&owner.tenant, &order.order_number).await?;
            let owed = Owed::of_order(&order, &payments)?;
            Answer::of(201, &attempt(work, &owner, &owed, &pay).await?)
        })
        .await
    }

    /// `POST /orders/:order/cancel`: the operator's body; answers with the order.
    pub async fn sandbox_order_cancel(
        &self,
        whose: Owner,
        mutation: Mutation,
        number: Named<OrderNumber>,
    ) -> Result<Answer> {
        let request = OrderCancelRequest::read(&mutation.body);
        self.for_owner(mutation, whose, None, async move |work, owner| {
            let order = work.order(&owner, number).await?;
            Answer::of(200, &order::changes::cancel(work, &owner, order, request?.reason).await?)
        })
        .await
    }
}

/// Ingests an order, with one payment of its whole total when `pay` asks for it.
pub(super) async fn ingest(work: &mut Work<'_>, owner: &Owner, body: &Value) -> Result<Order> {
    let (mut given, pay) = read_order(body)?;
    if pay != OrderPaid::None {
        // The lines determine the total: they are read and priced once to compute it.
        let unpaid = OrderRequest::read(&given, work.now)?;
        let nobody = OrderNumber::from_store(PaymentId::generate(work.now, &mut work.dice).to_string());
        let (new, _) = unpaid.into_new(nobody, work.now, &mut work.dice)?;
        if new.amounts.total > 0 {
            let (status, capture_method) = match pay {
                OrderPaid::Authorized => ("authorized", "manual"),
                OrderPaid::None | OrderPaid::Paid => ("succeeded", "automatic"),
            };
            let payment = json!({
                "amount": new.amounts.total,
                "status": status,
                "capture_method": capture_method,
                "method": { "type": "card", "brand": "visa", "last4": "4242" },
                "processor": { "name": PROCESSOR },
                "processor_event_id": processor_event_id(work),
            });
            if let Value::Object(given) = &mut given {
                given.insert("payments".to_owned(), json!([payment]));
            }
        }
    }
    let request = OrderRequest::read(&given, work.now)?;
    // Processors' events share one name space for all merchants and modes. An event id sent with a test key is
    // kept within the merchant's own name space, so that it can neither take a live event's id nor reveal which
    // ids are known.
    let own = |(name, id): (String, String)| {
        (PROCESSOR.to_owned(), format!("{}:{name}:{id}", owner.tenant.merchant_id))
    };
    let events: Vec<(String, String)> = request.processor_events().into_iter().map(own).collect();
    order::ingest::ingest(work, owner, request, &events).await
}
