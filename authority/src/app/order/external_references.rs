//! External references: the ids that the merchant's systems use for an order (contract 4.13).
//!
//! Writing transactions run one at a time, so no other request can take a reference between the check and the
//! write; a unique index enforces it as well.

use authority_domain::order::external_references::{ExternalName, NewReference, SystemName, conflict};
use authority_domain::sync::read_reference;
use authority_domain::transitions::external_references::{remove, set};
use authority_domain::{Change, Named, Order, OrderNumber, Result, Tenant};

use crate::app::order::changes::commit;
use crate::app::{Answer, App, Caller, Mutation, Work};

/// The change to an entry.
#[derive(Clone, Debug)]
pub enum ReferenceAction {
    /// `PUT`
    Set,
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
        number: Named<OrderNumber>,
        system: SystemName,
        action: ReferenceAction,
    ) -> Result<Answer> {
        let reference = read_reference(&mutation.body);
        self.for_caller(mutation, caller, None, async move |work, owner| {
            let order = work.order(&owner, number).await?;
            let changes = match action {
                ReferenceAction::Set => put(work, &owner.tenant, &order, system, reference?).await?,
                ReferenceAction::Remove => delete(work, &owner.tenant, &order, &system).await?,
            };
            Answer::of(200, &commit(work, &owner, order, changes).await?)
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
    new: NewReference,
) -> Result<Vec<Change>> {
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
) -> Result<Vec<Change>> {
    let changes = remove(order, system, work.now);
    if !changes.is_empty() {
        work.tx.reference_delete(tenant, &order.order_number, system).await?;
    }
    Ok(changes)
}
