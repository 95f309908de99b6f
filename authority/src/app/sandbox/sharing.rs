//! Sharing an order in the sandbox, where there is no real partner (contract 6.3).
//!
//! A developer has only one test merchant. The sandbox creates a counterpart for it, a separate merchant without
//! keys and endpoints; connects the two as merchants do; and shares the order as the owner would. From there on
//! only the merchant API is involved: the share is listed, its events are sent, and it is revoked like any other.

use authority_domain::merchant::limits::Limits;
use authority_domain::merchant::{MerchantStatus, Settings};
use authority_domain::partner::connection::{ConnectionSide, PartnerConnection};
use authority_domain::partner::read_share_terms;
use authority_domain::{Merchant, MerchantId, Named, OrderNumber, Refusal, Result, Tenant};

use crate::app::mutation::dice;
use crate::app::{Answer, App, Mutation, Owner, Work, partner};

impl App {
    /// `POST /orders/:order/share`: shares the order with the merchant's counterpart; answers with the share.
    pub async fn sandbox_order_share(
        &self,
        whose: Owner,
        mutation: Mutation,
        number: Named<OrderNumber>,
    ) -> Result<Answer> {
        let terms = read_share_terms(&mutation.body);
        // Before the work, which runs again when it finds that it needs the turn of this id's shard.
        let new_id = MerchantId::generate(self.now(), &mut dice(self));
        self.for_owner(mutation, whose, None, async move |work, owner| {
            let order = work.tx.order_get(&owner.tenant, &number?).await?.ok_or_else(OrderNumber::missing)?;
            let terms = terms?;
            let connection = connected(work, &owner, new_id).await?;
            let share = partner::shares::share(work, &owner, order, &connection, terms).await?;
            Answer::record(201, &share)
        })
        .await
    }
}

/// The active connection with the counterpart; both are created if they do not exist, the counterpart with `new_id`.
async fn connected(
    work: &mut Work<'_>,
    Owner { tenant, merchant }: &Owner,
    new_id: MerchantId,
) -> Result<PartnerConnection> {
    let counterpart = counterpart(work, merchant, new_id).await?;
    if let Some(id) = work.tx.connection_between(tenant, &counterpart.id).await?
        && let Some(connection) = work.tx.connection_get(tenant, &id).await?
    {
        return Ok(connection);
    }
    let side = |merchant: &Merchant| ConnectionSide { merchant: merchant.context(), label: None };
    let (invited, _) = partner::connections::invite(work, tenant, side(merchant)).await?;
    let accepted = invited.accept(side(&counterpart), work.now).ok_or_else(Refusal::internal)?;
    let theirs = Tenant { merchant_id: counterpart.id.clone(), livemode: tenant.livemode };
    partner::connections::accept(work, &theirs, &accepted).await?;
    Ok(accepted)
}

async fn counterpart(work: &mut Work<'_>, merchant: &Merchant, new_id: MerchantId) -> Result<Merchant> {
    if let Some(found) = work.tx.merchant_counterpart(&merchant.id).await? {
        return Ok(found);
    }
    let (_, unique) = merchant.id.as_str().split_once('_').ok_or_else(Refusal::internal)?;
    let made = Merchant {
        id: new_id,
        slug: format!("sandbox-partner-{unique}"),
        name: "Sandbox partner".to_owned(),
        status: MerchantStatus::Active,
        settings: Settings::default(),
        limits: Limits::default(),
        resource_version: 1,
        created_at: work.now,
        updated_at: work.now,
        ..merchant.clone()
    };
    work.tx.merchant_insert(&made).await?;
    work.tx.merchant_counterpart_put(&made.id, &merchant.id).await?;
    Ok(made)
}
