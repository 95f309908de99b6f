//! Checkouts in the sandbox: opened, paid, ended (contract 6.3, 3.9 rows 1 to 6).

use authority_domain::checkout::CheckoutEnd;
use authority_domain::id::CheckoutId;
use authority_domain::order::no_members;
use authority_domain::refusal::Refusal;
use authority_domain::sandbox::requests::PayRequest;
use serde_json::Value;

use super::payments::{Owed, attempt};
use super::{Owner, run};
use crate::app::{Answer, App, Mutation, checkout};

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
        run(self, whose, mutation, move |work, tenant, merchant| {
            Box::pin(async move {
                let checkout = checkout::create::open(work, &tenant, &merchant, &body).await?;
                Ok(Answer::record(201, &checkout)?.version(checkout.resource_version))
            })
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
        id: Option<CheckoutId>,
        body: Value,
    ) -> Result<Answer, Refusal> {
        let if_match = mutation.if_match;
        run(self, whose, mutation, move |work, tenant, merchant| {
            Box::pin(async move {
                let missing = || Refusal::not_found("checkout");
                let id = id.ok_or_else(missing)?;
                let checkout = work.tx.checkout_get(&tenant, &id).await?.ok_or_else(missing)?;
                Mutation::check_version(if_match, checkout.resource_version, false)?;
                let pay = PayRequest::read(&body)?;
                let owed = Owed::of_checkout(&checkout)?;
                let payment = attempt(work, &tenant, &merchant, &owed, &pay).await?;
                Ok(Answer::record(201, &payment)?.version(payment.resource_version))
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
        id: Option<CheckoutId>,
        how: CheckoutEnd,
        body: Value,
    ) -> Result<Answer, Refusal> {
        let if_match = mutation.if_match;
        run(self, whose, mutation, move |work, tenant, merchant| {
            Box::pin(async move {
                let missing = || Refusal::not_found("checkout");
                let id = id.ok_or_else(missing)?;
                let checkout = work.tx.checkout_get(&tenant, &id).await?.ok_or_else(missing)?;
                Mutation::check_version(if_match, checkout.resource_version, false)?;
                no_members(&body)?;
                let checkout = checkout::end::end(work, &tenant, &merchant, checkout, how).await?;
                Ok(Answer::record(200, &checkout)?.version(checkout.resource_version))
            })
        })
        .await
    }
}
