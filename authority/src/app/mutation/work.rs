//! What use cases do alike inside their transaction: find what a request addresses, compare its version, commit.

use authority_domain::{
    Change, Checkout, CheckoutId, ErrorCode, Merchant, MerchantId, Named, Order, OrderNumber, Refusal,
    Result, Tenant,
};
use authority_store::commit::{Audience, Commit, commit_changes};

use super::{IfMatch, Work};
use crate::app::Caller;

/// A merchant in one of its modes, as it is now: whose records a request is about.
#[derive(Clone, Debug)]
pub struct Owner {
    /// The merchant and mode.
    pub tenant: Tenant,
    /// The merchant.
    pub merchant: Merchant,
}

/// The caller's own merchant.
impl From<&Caller> for Owner {
    fn from(caller: &Caller) -> Self {
        Self { tenant: caller.tenant.clone(), merchant: caller.merchant.clone() }
    }
}

impl Work<'_> {
    /// The merchant that an operator's request is about.
    pub(in crate::app) async fn owner(&mut self, tenant: Tenant) -> Result<Owner> {
        let merchant = self.tx.merchant_get(&tenant.merchant_id).await?.ok_or_else(MerchantId::missing)?;
        Ok(Owner { tenant, merchant })
    }

    /// The order that a request is about, in the version that it expects.
    pub(in crate::app) async fn order(&mut self, owner: &Owner, number: Named<OrderNumber>) -> Result<Order> {
        let order = self.tx.order_get(&owner.tenant, &number?).await?.ok_or_else(OrderNumber::missing)?;
        self.check_version(order.resource_version)?;
        Ok(order)
    }

    /// The checkout that a request is about, in the version that it expects.
    pub(in crate::app) async fn checkout(
        &mut self,
        owner: &Owner,
        id: Named<CheckoutId>,
    ) -> Result<Checkout> {
        let found = self.tx.checkout_get(&owner.tenant, &id?).await?.ok_or_else(CheckoutId::missing)?;
        self.check_version(found.resource_version)?;
        Ok(found)
    }

    /// The order that a stored record belongs to.
    pub(in crate::app) async fn order_of(&mut self, tenant: &Tenant, number: &OrderNumber) -> Result<Order> {
        self.tx.order_get(tenant, number).await?.ok_or_else(Refusal::internal)
    }

    /// Refuses a change that expects another version (contract 4.4).
    pub(in crate::app) fn check_version(&self, current: i64) -> Result<()> {
        match self.if_match {
            Some(IfMatch::Version(supplied)) if supplied != current => Err(Refusal::new(
                ErrorCode::ResourceVersionConflict,
                format!("The record is at version {current}; the request was made for version {supplied}."),
            )
            .with("current_version", current)
            .with("supplied_version", supplied)),
            None if self.strict => Err(Refusal::new(
                ErrorCode::PreconditionRequired,
                "This merchant's changes need If-Match with the current version.",
            )
            .param("If-Match")),
            _ => Ok(()),
        }
    }

    /// Writes changes and their events for all subscribers; writes nothing when there are no changes.
    pub(in crate::app) async fn commit(&mut self, owner: &Owner, changes: &[Change]) -> Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        let (tenant, merchant, audience) = (&owner.tenant, &owner.merchant.context(), &Audience::Subscribers);
        let commit = Commit { tenant, merchant, changes, audience, cause: &self.cause, now: self.now };
        commit_changes(self.tx, commit, &mut self.dice).await?;
        Ok(())
    }
}
