//! The operator's changes to an existing order: edit, confirm, cancel (contract 3.1, 3.9 rows 8 and 21, 6.2).
//!
//! Each answers with the order as it is then; a request that changes nothing emits no event.

use authority_domain::body::read_optional_reason;
use authority_domain::event::change::{Change, Record};
use authority_domain::merchant::Merchant;
use authority_domain::order;
use authority_domain::order::number::OrderNumber;
use authority_domain::order::{CancelReason, Order, OrderCancelRequest, OrderEditRequest};
use authority_domain::refusal::Refusal;
use authority_domain::tenant::Tenant;
use authority_store::tx::FirstRead;
use serde_json::Value;

use crate::app::checkout::create::find_tenant;
use crate::app::mutation::{Work, operator_scope};
use crate::app::{Answer, App, Mutation};

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
    /// Edits, confirms or cancels an order; `None` is a malformed path.
    ///
    /// # Errors
    /// `not_found`; `resource_version_conflict`; 422 for wrong members; `invalid_state_transition`.
    pub async fn order_change(
        &self,
        mutation: Mutation,
        tenant: Option<Tenant>,
        number: Option<OrderNumber>,
        action: OrderAction,
        body: Value,
    ) -> Result<Answer, Refusal> {
        let if_match = mutation.if_match;
        let order = tenant.clone().zip(number.clone());
        let order = order.map(|(tenant, number)| FirstRead::Order(tenant, number));
        mutation
            .run_reading(self, operator_scope(tenant.clone()), Vec::from_iter(order), move |work| {
                Box::pin(async move {
                    let (tenant, merchant) = find_tenant(work, tenant).await?;
                    let missing = || Refusal::not_found("order");
                    let number = number.ok_or_else(missing)?;
                    let order = work.tx.order_get(&tenant, &number).await?.ok_or_else(missing)?;
                    Mutation::check_version(if_match, order.resource_version, false)?;
                    let order = change(work, &tenant, &merchant, order, action, &body).await?;
                    Ok(Answer::record(200, &order)?.version(order.resource_version).about(number.as_str()))
                })
            })
            .await
    }
}

async fn change(
    work: &mut Work<'_>,
    tenant: &Tenant,
    merchant: &Merchant,
    order: Order,
    action: OrderAction,
    body: &Value,
) -> Result<Order, Refusal> {
    let changes = match action {
        OrderAction::Edit => {
            let edit = OrderEditRequest::read(body, &order)?.into_edit();
            order::flow::edit(order.clone(), edit, work.now)
        }
        OrderAction::Confirm => {
            work.reason = read_optional_reason(body)?;
            return confirm(work, tenant, merchant, order).await;
        }
        OrderAction::Cancel => {
            let reason = OrderCancelRequest::read(body)?.reason;
            work.reason = Some(reason.to_string());
            return cancel(work, tenant, merchant, order, reason).await;
        }
    };
    work.commit(tenant, merchant, &changes).await?;
    Ok(last_order(changes).unwrap_or(order))
}

/// Confirms the order and records that the operator did: it may then be fulfilled whatever happens to its payments
/// (contract 18.3).
async fn confirm(
    work: &mut Work<'_>,
    tenant: &Tenant,
    merchant: &Merchant,
    order: Order,
) -> Result<Order, Refusal> {
    let changes = order::flow::confirm(order.clone(), work.now)?;
    work.commit(tenant, merchant, &changes).await?;
    work.tx.order_confirmed_by_operator(tenant, &order.order_number).await?;
    Ok(last_order(changes).unwrap_or(order))
}

/// Cancels the order and its open payments, and returns the order as it is then.
pub(in crate::app) async fn cancel(
    work: &mut Work<'_>,
    tenant: &Tenant,
    merchant: &Merchant,
    order: Order,
    reason: CancelReason,
) -> Result<Order, Refusal> {
    let payments = work.tx.payments_of_order(tenant, &order.order_number).await?;
    let changes = order::flow::cancel(order.clone(), payments, reason, work.now)?;
    work.commit(tenant, merchant, &changes).await?;
    Ok(last_order(changes).unwrap_or(order))
}

/// The order after the changes; `None` when no change concerns an order.
pub(in crate::app) fn last_order(changes: Vec<Change>) -> Option<Order> {
    changes.into_iter().rev().find_map(|change| match change.record {
        Record::Order(order) => Some(*order),
        _ => None,
    })
}
