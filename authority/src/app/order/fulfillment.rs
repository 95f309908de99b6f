//! Setting an order's fulfilment (contract 3.3, 3.9 row 9, 4.6).

use authority_domain::order::{ConfirmedBy, FulfillmentUpdate};
use authority_domain::transitions::fulfillment;
use authority_domain::{Named, Order, OrderNumber, Result, Tenant};

use crate::app::{Answer, App, Caller, Mutation, Owner, Work};

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
        number: Named<OrderNumber>,
    ) -> Result<Answer> {
        let request = FulfillmentUpdate::read(&mutation.body);
        let read = super::first_read(Some(&caller.tenant), &number);
        self.for_caller(mutation, caller, read, async move |work, owner| {
            let order = work.order(&owner, number).await?;
            Answer::of(200, &update(work, &owner, order, request?).await?)
        })
        .await
    }
}

/// Applies a fulfilment update; returns the order as it is then.
pub(in crate::app) async fn update(
    work: &mut Work<'_>,
    owner: &Owner,
    order: Order,
    asked: FulfillmentUpdate,
) -> Result<Order> {
    let tenant = &owner.tenant;
    let number = order.order_number.clone();
    let parcels = work.tx.shipments_of_order(tenant, &number).await?;
    let before = work.tx.fulfillment_marks(tenant, &number).await?;
    let confirmed_by = confirmed_by(work, tenant, &order).await?;
    let updated = fulfillment::update(order, &parcels, before.clone(), confirmed_by, &asked, work.now)?;
    work.commit(owner, &updated.changes).await?;
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
) -> Result<ConfirmedBy> {
    if order.is_given_up_by_payments() {
        Ok(work.tx.order_confirmed_by(tenant, &order.order_number).await?)
    } else {
        Ok(ConfirmedBy::Payments)
    }
}
