//! Opening checkouts (contract 3.9 row 1, 6.2).

use authority_domain::checkout::{Checkout, CheckoutRequest};
use authority_domain::event::change::Change;
use authority_domain::merchant::Merchant;
use authority_domain::refusal::Refusal;
use authority_domain::tenant::Tenant;
use serde_json::Value;
use verify_core::catalog::EventType;

use crate::app::mutation::{Work, operator_scope};
use crate::app::{Answer, App, Mutation};

impl App {
    /// `POST /merchants/:m/:mode/checkouts`.
    ///
    /// # Errors
    /// `not_found`; 422 for wrong members; `merchant_closed`.
    pub async fn checkout_open(
        &self,
        mutation: Mutation,
        tenant: Option<Tenant>,
        body: Value,
    ) -> Result<Answer, Refusal> {
        mutation
            .run(self, operator_scope(tenant.clone()), move |work| {
                Box::pin(async move {
                    let (tenant, merchant) = find_tenant(work, tenant).await?;
                    let checkout = open(work, &tenant, &merchant, &body).await?;
                    Ok(Answer::record(201, &checkout)?
                        .version(checkout.resource_version)
                        .about(checkout.id.as_str()))
                })
            })
            .await
    }
}

/// Opens a checkout.
pub(in crate::app) async fn open(
    work: &mut Work<'_>,
    tenant: &Tenant,
    merchant: &Merchant,
    body: &Value,
) -> Result<Checkout, Refusal> {
    let new = CheckoutRequest::read(body)?.into_new(work.now, &mut work.dice)?;
    merchant.check_not_closed()?;
    let terms = new.subscription.clone();
    let checkout = Checkout::open(new, tenant.livemode, work.now);
    work.commit(tenant, merchant, &[Change::checkout(EventType::CheckoutCreated, &checkout)]).await?;
    if let Some(terms) = terms {
        work.tx.subscription_terms_keep(tenant, &checkout.id, &terms).await?;
    }
    Ok(checkout)
}

/// The tenant in an operator's path, and its merchant; `None` is a malformed path.
pub(in crate::app) async fn find_tenant(
    work: &mut Work<'_>,
    tenant: Option<Tenant>,
) -> Result<(Tenant, Merchant), Refusal> {
    let missing = || Refusal::not_found("merchant");
    let tenant = tenant.ok_or_else(missing)?;
    let merchant = work.tx.merchant_get(&tenant.merchant_id).await?.ok_or_else(missing)?;
    Ok((tenant, merchant))
}
