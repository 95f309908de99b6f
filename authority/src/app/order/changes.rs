//! The operator's changes to an existing order: edit, confirm, cancel (contract 3.1, 3.9 rows 8 and 21, 6.2).
//!
//! Each answers with the order as it is then; a request that changes nothing emits no event.

use authority_domain::body::read_optional_reason;
use authority_domain::event::change::Record;
use authority_domain::order::{CancelReason, OrderCancelRequest, OrderEdit};
use authority_domain::{Change, Named, Order, OrderNumber, Result, Tenant, transitions};
use serde_json::Value;

use crate::app::{Answer, App, Mutation, Owner, Work};

/// The change to the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderAction {
    /// `PATCH …/orders/:order`
    Edit,
    /// `POST …/orders/:order/confirm`
    Confirm,
    /// `POST …/orders/:order/cancel`
    Cancel,
}

impl App {
    /// Edits, confirms or cancels an order.
    ///
    /// # Errors
    /// `not_found`; `resource_version_conflict`; 422 for wrong members; `invalid_state_transition`.
    pub async fn order_change(
        &self,
        mutation: Mutation,
        tenant: Named<Tenant>,
        number: Named<OrderNumber>,
        action: OrderAction,
    ) -> Result<Answer> {
        let body = mutation.body.clone();
        let read = super::first_read(tenant.as_ref().ok(), &number);
        self.for_tenant(mutation, tenant, read, async move |work, owner| {
            let order = work.order(&owner, number).await?;
            Answer::of(200, &change(work, &owner, order, action, &body).await?)
        })
        .await
    }
}

async fn change(
    work: &mut Work<'_>,
    owner: &Owner,
    order: Order,
    action: OrderAction,
    body: &Value,
) -> Result<Order> {
    match action {
        OrderAction::Edit => {
            let edit = OrderEdit::read(body, &order)?;
            let changes = transitions::order::edit(&order, edit, work.now)?;
            commit(work, owner, order, changes).await
        }
        OrderAction::Confirm => {
            work.reason = read_optional_reason(body)?;
            confirm(work, owner, order).await
        }
        OrderAction::Cancel => {
            let reason = OrderCancelRequest::read(body)?.reason;
            work.reason = Some(reason.to_string());
            cancel(work, owner, order, reason).await
        }
    }
}

/// Confirms the order and records that the operator did: it may then be fulfilled whatever happens to its payments
/// (contract 18.3).
async fn confirm(work: &mut Work<'_>, owner: &Owner, order: Order) -> Result<Order> {
    let changes = transitions::order::confirm(order.clone(), work.now)?;
    let order = commit(work, owner, order, changes).await?;
    work.tx.order_confirmed_by_operator(&owner.tenant, &order.order_number).await?;
    Ok(order)
}

/// Cancels the order and its open payments, and returns the order as it is then.
pub(in crate::app) async fn cancel(
    work: &mut Work<'_>,
    owner: &Owner,
    order: Order,
    reason: CancelReason,
) -> Result<Order> {
    let payments = work.tx.payments_of_order(&owner.tenant, &order.order_number).await?;
    let changes = transitions::order::cancel(order.clone(), payments, reason, work.now)?;
    commit(work, owner, order, changes).await
}

/// Writes changes to the order and what belongs to it, and returns the order as it is then.
pub(super) async fn commit(
    work: &mut Work<'_>,
    owner: &Owner,
    order: Order,
    changes: Vec<Change>,
) -> Result<Order> {
    work.commit(owner, &changes).await?;
    let last = changes.into_iter().rev().find_map(|change| match change.record {
        Record::Order(order) => Some(*order),
        _ => None,
    });
    Ok(last.unwrap_or(order))
}
