//! Ending checkouts without a payment: cancelled, expired, or completed because nothing is due (contract 3.4, 3.9
//! row 6, 6.2).
//!
//! The operator calls these functions; the scheduler uses the same ones to expire checkouts ([`crate::app::due`]).

use authority_domain::checkout;
use authority_domain::checkout::{Checkout, CheckoutEnd};
use authority_domain::event::change::{Change, Record};
use authority_domain::id::CheckoutId;
use authority_domain::merchant::Merchant;
use authority_domain::order::no_members;
use authority_domain::refusal::Refusal;
use authority_domain::tenant::Tenant;
use authority_store::StoreError;
use authority_store::tx::{OwnedRecord, Tx};
use serde_json::Value;

use crate::app::mutation::Work;
use crate::app::order::read::free_order_number;
use crate::app::subscriptions::founding;
use crate::app::{Answer, App, Mutation};

/// How the operator ends a checkout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckoutAction {
    /// `POST /checkouts/:id/cancel` and `/expire`
    End(CheckoutEnd),
    /// `POST /checkouts/:id/complete`
    Complete,
}

impl App {
    /// Ends a checkout; `None` is a malformed id.
    ///
    /// `not_found`; `resource_version_conflict`; 422 for wrong members; `invalid_state_transition`;
    /// `merchant_closed` when the checkout would create an order.
    pub async fn checkout_end(
        &self,
        mutation: Mutation,
        id: Option<CheckoutId>,
        action: CheckoutAction,
        body: Value,
    ) -> Result<Answer, Refusal> {
        let if_match = mutation.if_match;
        mutation
            .run_about(self, id.clone().map(OwnedRecord::Checkout), move |work| {
                Box::pin(async move {
                    let missing = || Refusal::not_found("checkout");
                    let id = id.ok_or_else(missing)?;
                    let (tenant, checkout) = work.tx.checkout_find(&id).await?.ok_or_else(missing)?;
                    Mutation::check_version(if_match, checkout.resource_version, false)?;
                    no_members(&body)?;
                    let merchant =
                        work.tx.merchant_get(&tenant.merchant_id).await?.ok_or_else(Refusal::internal)?;
                    let checkout = match action {
                        CheckoutAction::End(how) => end(work, &tenant, &merchant, checkout, how).await?,
                        CheckoutAction::Complete => complete(work, &tenant, &merchant, checkout).await?,
                    };
                    Ok(Answer::record(200, &checkout)?.version(checkout.resource_version).about(id.as_str()))
                })
            })
            .await
    }

    /// `GET /checkouts/:id`; `None` is a malformed id.
    ///
    /// # Errors
    /// `not_found`.
    pub async fn checkout_get(&self, id: Option<CheckoutId>) -> Result<Answer, Refusal> {
        let id = id.ok_or_else(|| Refusal::not_found("checkout"))?;
        let found: Option<(Tenant, Checkout)> = self
            .store
            .read(move |tx: &mut Tx| Box::pin(async move { tx.checkout_find(&id).await }))
            .await
            .map_err(|error: StoreError| Refusal::from(error))?;
        let (_, checkout) = found.ok_or_else(|| Refusal::not_found("checkout"))?;
        Ok(Answer::record(200, &checkout)?.version(checkout.resource_version))
    }
}

/// Ends the checkout and its open payment attempt, and returns the checkout as it is then.
pub(in crate::app) async fn end(
    work: &mut Work<'_>,
    tenant: &Tenant,
    merchant: &Merchant,
    checkout: Checkout,
    how: CheckoutEnd,
) -> Result<Checkout, Refusal> {
    let open_payment = work.tx.payment_open_on(tenant, &checkout.id).await?;
    let changes = checkout::flow::end(checkout.clone(), open_payment, how, work.now)?;
    work.commit(tenant, merchant, &changes).await?;
    Ok(last_checkout(changes).unwrap_or(checkout))
}

async fn complete(
    work: &mut Work<'_>,
    tenant: &Tenant,
    merchant: &Merchant,
    checkout: Checkout,
) -> Result<Checkout, Refusal> {
    if !checkout::flow::needs_completion(&checkout) {
        return Ok(checkout);
    }
    merchant.check_not_closed()?;
    let number = free_order_number(work, tenant, merchant).await?;
    let confirm_on = merchant.settings.confirm_on;
    let founding = founding(work, tenant, &checkout.id).await?;
    let changes = checkout::flow::complete(checkout.clone(), number, founding, confirm_on, work.now)?;
    work.commit(tenant, merchant, &changes).await?;
    Ok(last_checkout(changes).unwrap_or(checkout))
}

fn last_checkout(changes: Vec<Change>) -> Option<Checkout> {
    changes.into_iter().rev().find_map(|change| match change.record {
        Record::Checkout(checkout) => Some(*checkout),
        _ => None,
    })
}
