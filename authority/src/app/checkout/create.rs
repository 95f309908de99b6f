//! Opening checkouts (contract 3.9 row 1, 6.2).

use authority_domain::checkout::{Checkout, CheckoutRequest};
use authority_domain::event::change::Change;
use authority_domain::id::Named;
use authority_domain::refusal::Refusal;
use authority_domain::tenant::Tenant;
use verify_core::catalog::EventType;

use crate::app::mutation::Work;
use crate::app::{Answer, App, Mutation, Owner};

impl App {
    /// `POST /merchants/:m/:mode/checkouts`.
    pub async fn checkout_open(&self, mutation: Mutation, tenant: Named<Tenant>) -> Result<Answer, Refusal> {
        let request = CheckoutRequest::read(&mutation.body);
        mutation
            .for_tenant(self, tenant, None, async move |work, owner| {
                Answer::of(201, &open(work, &owner, request?).await?)
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
