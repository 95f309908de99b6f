//! Ending checkouts without a payment: cancelled, expired, or completed because nothing is due (contract 3.4, 3.9
//! row 6, 6.2).
//!
//! The operator calls these functions; the scheduler uses the same ones to expire checkouts ([`crate::app::due`]).

use authority_domain::event::change::Record;
use authority_domain::order::no_members;
use authority_domain::{Change, Checkout, CheckoutEnd, CheckoutId, Named, Result, transitions};
use authority_store::tx::OwnedRecord;

use crate::app::order::read::free_order_number;
use crate::app::subscriptions::founding;
use crate::app::{Answer, App, Mutation, Owner, Work};

/// How the operator ends a checkout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckoutAction {
    /// `POST /checkouts/:id/cancel` and `/expire`
    End(CheckoutEnd),
    /// `POST /checkouts/:id/complete`
    Complete,
}

impl App {
    /// Ends a checkout.
    ///
    /// # Errors
    /// `not_found`; `resource_version_conflict`; 422 for wrong members; `invalid_state_transition`;
    /// `merchant_closed` when the checkout would create an order.
    pub async fn checkout_end(
        &self,
        mutation: Mutation,
        id: Named<CheckoutId>,
        action: CheckoutAction,
    ) -> Result<Answer> {
        let empty = no_members(&mutation.body);
        let tenant = self.owner_of(id.clone().map(OwnedRecord::Checkout), CheckoutId::missing).await?;
        self.for_tenant(mutation, tenant, None, async move |work, owner| {
            let checkout = work.checkout(&owner, id).await?;
            empty?;
            let checkout = match action {
                CheckoutAction::End(how) => end(work, &owner, checkout, how).await?,
                CheckoutAction::Complete => complete(work, &owner, checkout).await?,
            };
            Answer::of(200, &checkout)
        })
        .await
    }

    /// `GET /checkouts/:id`.
    pub async fn checkout_get(&self, id: CheckoutId) -> Result<Answer> {
        let found = self.read(async move |tx| tx.checkout_find(&id).await).await?;
        Answer::of(200, &found.ok_or_else(CheckoutId::missing)?.1)
    }
}

/// Ends the checkout and its open payment attempt, and returns the checkout as it is then.
pub(in crate::app) async fn end(
    work: &mut Work<'_>,
    owner: &Owner,
    checkout: Checkout,
    how: CheckoutEnd,
) -> Result<Checkout> {
    let open_payment = work.tx.payment_open_on(&owner.tenant, &checkout.id).await?;
    let changes = transitions::checkout::end(checkout.clone(), open_payment, how, work.now)?;
    work.commit(owner, &changes).await?;
    Ok(last_checkout(changes).unwrap_or(checkout))
}

async fn complete(work: &mut Work<'_>, owner: &Owner, checkout: Checkout) -> Result<Checkout> {
    if !transitions::checkout::needs_completion(&checkout) {
        return Ok(checkout);
    }
    owner.merchant.check_not_closed()?;
    let number = free_order_number(work, owner).await?;
    let confirm_on = owner.merchant.settings.confirm_on;
    let founding = founding(work, &owner.tenant, &checkout.id).await?;
    let changes = transitions::checkout::complete(checkout.clone(), number, founding, confirm_on, work.now)?;
    work.commit(owner, &changes).await?;
    Ok(last_checkout(changes).unwrap_or(checkout))
}

fn last_checkout(changes: Vec<Change>) -> Option<Checkout> {
    changes.into_iter().rev().find_map(|change| match change.record {
        Record::Checkout(checkout) => Some(*checkout),
        _ => None,
    })
}
