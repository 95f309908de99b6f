//! Orders in the sandbox: ingested, paid, cancelled (contract 6.3, 3.9 rows 7, 7a and 8).

use authority_domain::id::PaymentId;
use authority_domain::merchant::Merchant;
use authority_domain::order::number::OrderNumber;
use authority_domain::order::{Order, OrderCancelRequest, OrderRequest};
use authority_domain::refusal::Refusal;
use authority_domain::sandbox::requests::{OrderPaid, PayRequest, read_order};
use authority_domain::tenant::Tenant;
use serde_json::{Value, json};

use super::payments::{Owed, attempt};
use super::{Owner, PROCESSOR, processor_event_id, run};
use crate::app::mutation::Work;
use crate::app::{Answer, App, Mutation, order};

impl App {
    /// `POST /orders`: the operator's body plus `pay`.
    ///
    /// # Errors
    /// 422 for wrong members, and the refusals of ingesting an order.
    pub async fn sandbox_order_ingest(
        &self,
        whose: Owner,
        mutation: Mutation,
        body: Value,
    ) -> Result<Answer, Refusal> {
        run(self, whose, mutation, move |work, tenant, merchant| {
            Box::pin(async move {
                let order = ingest(work, &tenant, &merchant, &body).await?;
                Ok(Answer::record(201, &order)?.version(order.resource_version))
            })
        })
        .await
    }

    /// `POST /orders/:order/pay`: an attempt to pay the amount due, and its outcome; answers with the payment.
    ///
    /// # Errors
    /// `not_found`; `resource_version_conflict`; 422 for wrong members; `invalid_state_transition`.
    pub async fn sandbox_order_pay(
        &self,
        whose: Owner,
        mutation: Mutation,
        number: Option<OrderNumber>,
        body: Value,
    ) -> Result<Answer, Refusal> {
        let if_match = mutation.if_match;
        run(self, whose, mutation, move |work, tenant, merchant| {
            Box::pin(async move {
                let order = find(work, &tenant, number).await?;
                Mutation::check_version(if_match, order.resource_version, false)?;
                let pay = PayRequest::read(&body)?;
                let payments = work.tx.payments_of_order(&tenant, &order.order_number).await?;
                let owed = Owed::of_order(&order, &payments)?;
                let payment = attempt(work, &tenant, &merchant, &owed, &pay).await?;
                Ok(Answer::record(201, &payment)?.version(payment.resource_version))
            })
        })
        .await
    }

    /// `POST /orders/:order/cancel`: the operator's body; answers with the order.
    ///
    /// # Errors
    /// `not_found`; `resource_version_conflict`; 422 for wrong members; `invalid_state_transition`.
    pub async fn sandbox_order_cancel(
        &self,
        whose: Owner,
        mutation: Mutation,
        number: Option<OrderNumber>,
        body: Value,
    ) -> Result<Answer, Refusal> {
        let if_match = mutation.if_match;
        run(self, whose, mutation, move |work, tenant, merchant| {
            Box::pin(async move {
                let order = find(work, &tenant, number).await?;
                Mutation::check_version(if_match, order.resource_version, false)?;
                let reason = OrderCancelRequest::read(&body)?.reason;
                let order = order::changes::cancel(work, &tenant, &merchant, order, reason).await?;
                Ok(Answer::record(200, &order)?.version(order.resource_version))
            })
        })
        .await
    }
}

pub(super) async fn find(
    work: &mut Work<'_>,
    tenant: &Tenant,
    number: Option<OrderNumber>,
) -> Result<Order, Refusal> {
    let missing = || Refusal::not_found("order");
    let number = number.ok_or_else(missing)?;
    work.tx.order_get(tenant, &number).await?.ok_or_else(missing)
}

/// Ingests an order, with one payment of its whole total when `pay` asks for it.
pub(super) async fn ingest(
    work: &mut Work<'_>,
    tenant: &Tenant,
    merchant: &Merchant,
    body: &Value,
) -> Result<Order, Refusal> {
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
    let own =
        |(name, id): (String, String)| (PROCESSOR.to_owned(), format!("{}:{name}:{id}", tenant.merchant_id));
    let events: Vec<(String, String)> = request.processor_events().into_iter().map(own).collect();
    order::ingest::ingest(work, tenant, merchant, request, &events).await
}
