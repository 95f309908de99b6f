//! Checkouts in the sandbox: opened, paid, ended (contract 6.3, 3.9 rows 1 to 6).

use authority_domain::checkout::CheckoutRequest;
use authority_domain::order::no_members;
use authority_domain::sandbox::requests::PayRequest;
use authority_domain::{CheckoutEnd, CheckoutId, Named, Result};

use super::payments::{Owed, attempt};
use crate::app::{Answer, App, Mutation, Owner, checkout};

impl App {
    /// `POST /checkouts`.
    pub async fn sandbox_checkout_open(&self, whose: Owner, mutation: Mutation) -> Result<Answer> {
        let request = CheckoutRequest::read(&mutation.body);
        self.for_owner(mutation, whose, None, async move |work, owner| {
            Answer::of(201, &checkout::create::open(work, &owner, request?).await?)
        })
        .await
    }

    /// `POST /checkouts/:id/pay`: an attempt to pay the whole checkout, and its outcome; answers with the payment.
    pub async fn sandbox_checkout_pay(
        &self,
        whose: Owner,
        mutation: Mutation,
        id: Named<CheckoutId>,
    ) -> Result<Answer> {
        let pay = PayRequest::read(&mutation.body);
        self.for_owner(mutation, whose, None, async move |work, owner| {
            let checkout = work.checkout(&owner, id).await?;
            let pay = pay?;
            let owed = Owed::of_checkout(&checkout)?;
            Answer::of(201, &attempt(work, &owner, &owed, &pay).await?)
        })
        .await
    }

    /// `POST /checkouts/:id/cancel` and `/expire`; answers with the checkout.
    pub async fn sandbox_checkout_end(
        &self,
        whose: Owner,
        mutation: Mutation,
        id: Named<CheckoutId>,
        how: CheckoutEnd,
    ) -> Result<Answer> {
        let empty = no_members(&mutation.body);
        self.for_owner(mutation, whose, None, async move |work, owner| {
            let checkout = work.checkout(&owner, id).await?;
            empty?;
            Answer::of(200, &checkout::end::end(work, &owner, checkout, how).await?)
        })
        .await
    }
}
