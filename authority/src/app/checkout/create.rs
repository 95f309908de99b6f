//! Opening checkouts (contract 3.9 row 1, 6.2).

use authority_domain::checkout::{Checkout, CheckoutRequest};
use authority_domain::event::change::Change;
use authority_domain::id::Named;
use authority_domain::refusal::Refusal;
use authority_domain::tenant::Tenant;
use serde_json::Value;
use verify_core::catalog::EventType;

use crate::app::mutation::Work;
use crate::app::{Answer, App, Mutation, Owner};

impl App {
    /// `POST /merchants/:m/:mode/checkouts`.
    ///
    /// # Errors
    /// `not_found`; 422 for wrong members; `merchant_closed`.
    pub async fn checkout_open(
        &self,
        mutation: Mutation,
        tenant: Named<Tenant>,
        body: Value,
    ) -> Result<Answer, Refusal> {
        let request = CheckoutRequest::read(&body);
        mutation
            .for_tenant(self, tenant, None, move |work, owner| {
                Box::pin(async move { Answer::of(201, &open(work, &owner, request?).await?) })
            })
            .await
    }
}

/// Opens a checkout.
pub(in crate::app) async fn open(
    work: &mut Work<'_>,
    owner: &Owner,
    request: CheckoutRequest,
) -> Result<Checkout, Refusal> {
    let new = request.into_new(work.now, &mut work.dice)?;
    owner.merchant.check_not_closed()?;
    let terms = new.subscription.clone();
    let checkout = Checkout::open(new, owner.tenant.livemode, work.now);
    work.commit(owner, &[Change::checkout(EventType::CheckoutCreated, &checkout)]).await?;
    if let Some(terms) = terms {
        work.tx.subscription_terms_keep(&owner.tenant, &checkout.id, &terms).await?;
    }
    Ok(checkout)
}
