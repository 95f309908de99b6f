//! External references: the ids that the merchant's systems use for an order (contract 4.13).
//!
//! Writing transactions run one at a time, so no other request can take a reference between the check and the
//! write; a unique index enforces it as well.

use authority_domain::event::change::Change;
use authority_domain::merchant::Merchant;
use authority_domain::order::Order;
use authority_domain::order::external_references::{ExternalName, SystemName, conflict, remove, set};
use authority_domain::order::number::OrderNumber;
use authority_domain::refusal::Refusal;
use authority_domain::sync::read_reference;
use authority_domain::tenant::Tenant;
use authority_store::tx::KeyScope;
use serde_json::Value;

use crate::app::access::Caller;
use crate::app::mutation::Work;
use crate::app::order::changes::last_order;
use crate::app::{Answer, App, Mutation};

/// The change to an entry.
#[derive(Clone, Debug)]
pub enum ReferenceAction {
    /// `PUT`, with this body.
    Set(Value),
    /// `DELETE`
    Remove,
}

impl App {
    /// `PUT` and `DELETE /orders/:order/external-references/:system`: the order as it is then, changed or not.
    ///
    /// # Errors
    /// `not_found`; `resource_version_conflict`, `precondition_required`; 422 for wrong members and the twenty-first
    /// system; `external_reference_conflict`; `payload_too_large`.
    pub async fn external_reference_change(
        &self,
        caller: &Caller,
        mutation: Mutation,
        number: Option<OrderNumber>,
        system: SystemName,
        action: ReferenceAction,
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
                    let changes = match action {
                        ReferenceAction::Set(body) => put(work, &tenant, &order, system, &body).await?,
                        ReferenceAction::Remove => delete(work, &tenant, &order, &system).await?,
                    };
                    let order = commit(work, &tenant, &merchant, order, changes).await?;
                    Ok(Answer::record(200, &order)?.version(order.resource_version).about(number.as_str()))
                })
            })
            .await
    }
}

/// Sets the entry, unless another order already has that reference.
async fn put(
    work: &mut Work<'_>,
    tenant: &Tenant,
    order: &Order,
    system: SystemName,
    body: &Value,
) -> Result<Vec<Change>, Refusal> {
    let new = read_reference(body)?;
    let name = ExternalName { system, id: new.id.clone() };
    let holder = work.tx.reference_holder(tenant, &name).await?;
    if let Some(other) = holder.as_ref().filter(|holder| **holder != order.order_number) {
        return Err(conflict(other));
    }
    let changes = set(order, &name.system, new, work.now)?;
    if holder.is_none() {
        work.tx.reference_put(tenant, &order.order_number, &name).await?;
    }
    Ok(changes)
}

async fn delete(
    work: &mut Work<'_>,
    tenant: &Tenant,
    order: &Order,
    system: &SystemName,
) -> Result<Vec<Change>, Refusal> {
    let changes = remove(order, system, work.now);
    if !changes.is_empty() {
        work.tx.reference_delete(tenant, &order.order_number, system).await?;
    }
    Ok(changes)
}

async fn commit(
    work: &mut Work<'_>,
    tenant: &Tenant,
    merchant: &Merchant,
    order: Order,
    changes: Vec<Change>,
) -> Result<Order, Refusal> {
    work.commit(tenant, merchant, &changes).await?;
    Ok(last_order(changes).unwrap_or(order))
}
