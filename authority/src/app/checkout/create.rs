//! Opening checkouts (contract 3.9 row 1, 6.2).

use authority_domain::checkout::CheckoutRequest;
use authority_domain::{Change, Checkout, Named, Result, Tenant};
use verify_core::catalog::EventType;

use crate::app::{Answer, App, Mutation, Owner, Work};

impl App {
    /// `POST /merchants/:m/:mode/checkouts`.
    pub async fn checkout_open(&self, mutation: Mutation, tenant: Named<Tenant>) -> Result<Answer> {
        let request = CheckoutRequest::read(&mutation.body);
        self.for_tenant(mutation, tenant, None, async move |work, owner| {
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
) -> Result<Checkout> {
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
