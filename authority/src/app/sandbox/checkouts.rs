//! Checkouts in the sandbox: opened, paid, ended (contract 6.3, 3.9 rows 1 to 6).

use authority_domain::checkout::{CheckoutEnd, CheckoutRequest};
use authority_domain::id::{CheckoutId, Named};
use authority_domain::order::no_members;
use authority_domain::refusal::Refusal;
use authority_domain::sandbox::requests::PayRequest;
use serde_json::Value;

use super::payments::{Owed, attempt};
use crate::app::{Answer, App, Mutation, Owner, checkout};

impl App {
    /// `POST /checkouts`.
    ///
    /// # Errors
    /// 422 for wrong members.
    pub async fn sandbox_checkout_open(
        &self,
        whose: Owner,
        mutation: Mutation,
        body: Value,
    ) -> Result<Answer, Refusal> {
        let request = CheckoutRequest::read(&body);
        mutation
            .for_owner(self, whose, None, move |work, owner| {
                Box::pin(
                    async move { Answer::of(201, &checkout::create::open(work, &owner, request?).await?) },
                )
            })
            .await
    }

    /// `POST /checkouts/:id/pay`: an attempt to pay the whole checkout, and its outcome; answers with the payment.
    ///
    /// # Errors
    /// `not_found`; `resource_version_conflict`; 422 for wrong members; `invalid_state_transition`.
    pub async fn sandbox_checkout_pay(
        &self,
        whose: Owner,
        mutation: Mutation,
        id: Named<CheckoutId>,
        body: Value,
    ) -> Result<Answer, Refusal> {
        let pay = PayRequest::read(&body);
        mutation
            .for_owner(self, whose, None, move |work, owner| {
                Box::pin(async move {
                    let checkout = work.checkout(&owner, id).await?;
                    let pay = pay?;
                    let owed = Owed::of_checkout(&checkout)?;
                    Answer::of(201, &attempt(work, &owner, &owed, &pay).await?)
                })
            })
            .await
    }

    /// `POST /checkouts/:id/cancel` and `/expire`; answers with the checkout.
    ///
    /// # Errors
    /// `not_found`; `resource_version_conflict`; 422 for a body with members; `invalid_state_transition`.
    pub async fn sandbox_checkout_end(
        &self,
        whose: Owner,
        mutation: Mutation,
        id: Named<CheckoutId>,
        how: CheckoutEnd,
        body: Value,
    ) -> Result<Answer, Refusal> {
        let empty = no_members(&body);
        mutation
            .for_owner(self, whose, None, move |work, owner| {
                Box::pin(async move {
                    let checkout = work.checkout(&owner, id).await?;
                    empty?;
                    Answer::of(200, &checkout::end::end(work, &owner, checkout, how).await?)
                })
            })
            .await
    }
}
