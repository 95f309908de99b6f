//! Setting an order's fulfilment (contract 3.3, 3.9 row 9, 4.6).

use authority_domain::merchant::Merchant;
use authority_domain::order::number::OrderNumber;
use authority_domain::order::{ConfirmedBy, FulfillmentRequest, Order, fulfillment};
use authority_domain::refusal::Refusal;
use authority_domain::tenant::Tenant;
use authority_store::tx::{FirstRead, KeyScope};
use serde_json::Value;

use crate::app::access::Caller;
use crate::app::mutation::Work;
use crate::app::{Answer, App, Mutation};

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
        let order = number.clone().map(|number| FirstRead::Order(tenant.clone(), number));
        mutation
            .run_reading(self, KeyScope::Merchant(tenant.clone()), Vec::from_iter(order), move |work| {
                Box::pin(async move {
                    let missing = || Refusal::not_found("order");
                    let number = number.ok_or_else(missing)?;
                    let order = work.tx.order_get(&tenant, &number).await?.ok_or_else(missing)?;
                    let strict = merchant.settings.require_if_match;
                    Mutation::check_version(if_match, order.resource_version, strict)?;
                    let order = update(work, &tenant, &merchant, order, &body).await?;
                    Ok(Answer::record(200, &order)?
                        .version(order.resource_version)
                        .about(order.order_number.as_str()))
                })
            })
            .await
    }
}

/// Applies a fulfilment update; returns the order as it is then.
pub(in crate::app) async fn update(
    work: &mut Work<'_>,
    tenant: &Tenant,
    merchant: &Merchant,
    order: Order,
    body: &Value,
) -> Result<Order, Refusal> {
    let asked = FulfillmentRequest::read(body)?.into_update();
    let number = order.order_number.clone();
    let parcels = work.tx.shipments_of_order(tenant, &number).await?;
    let before = work.tx.fulfillment_marks(tenant, &number).await?;
    let confirmed_by = confirmed_by(work, tenant, &order).await?;
    let updated = fulfillment::update(order, &parcels, before.clone(), confirmed_by, &asked, work.now)?;
    work.commit(tenant, merchant, &updated.changes).await?;
    if updated.marked != before {
        work.tx.fulfillment_marks_put(tenant, &number, &updated.marked).await?;
    }
    Ok(updated.order)
}

/// Who confirmed the order, where that makes a difference.
pub(in crate::app) async fn confirmed_by(
    work: &mut Work<'_>,
    tenant: &Tenant,
    order: &Order,
) -> Result<ConfirmedBy, Refusal> {
    if order.is_given_up_by_payments() {
        Ok(work.tx.order_confirmed_by(tenant, &order.order_number).await?)
    } else {
        Ok(ConfirmedBy::Payments)
    }
}
