//! Setting how far an order has come (contract 3.3, 3.9 row 9, 4.6).

use authority_domain::fulfillment;
use authority_domain::order_number::OrderNumber;
use authority_domain::refusal::Refusal;
use authority_domain::requests::FulfillmentRequest;
use authority_store::commit::{Audience, commit_changes};
use authority_store::ports::KeyScope;
use serde_json::Value;

use super::access::Caller;
use super::{Answer, App, Mutation};

impl App {
    /// `PATCH /orders/:order/fulfillment`: the order as it is then, changed or not.
    ///
    /// # Errors
    /// `not_found`; `resource_version_conflict`, `precondition_required`; 422 for wrong members; the refusals of
    /// [`fulfillment::update`].
    pub async fn fulfillment_update(
        &self,
        caller: &Caller,
        mutation: Mutation,
        number: Option<OrderNumber>,
        body: Value,
    ) -> Result<Answer, Refusal> {
        let tenant = caller.tenant.clone();
        let merchant = caller.merchant.clone();
        let if_match = mutation.if_match;
        mutation
            .run(self, KeyScope::Merchant(tenant.clone()), move |work| {
                Box::pin(async move {
                    let missing = || Refusal::not_found("order");
                    let number = number.ok_or_else(missing)?;
                    let order = work.tx.order_get(&tenant, &number).await?.ok_or_else(missing)?;
                    let strict = merchant.settings.require_if_match;
                    Mutation::check_version(if_match, order.resource_version, strict)?;
                    let update = FulfillmentRequest::read(&body)?.into_update();
                    let parcels = work.tx.shipments_of_order(&tenant, &number).await?;
                    let before = work.tx.shipped_marks(&tenant, &number).await?;
                    let updated = fulfillment::update(order, &parcels, before.clone(), &update, work.now)?;
                    if !updated.changes.is_empty() {
                        let context = merchant.context();
                        let changes = &updated.changes;
                        let audience = Audience::Subscribers;
                        commit_changes(
                            work.tx,
                            &tenant,
                            &context,
                            changes,
                            &audience,
                            work.now,
                            &mut work.dice,
                        )
                        .await?;
                    }
                    if updated.marked != before {
                        work.tx.shipped_marks_put(&tenant, &number, &updated.marked).await?;
                    }
                    let order = &updated.order;
                    Ok(Answer::record(200, order)?
                        .version(order.resource_version)
                        .about(order.order_number.as_str()))
                })
            })
            .await
    }
}
