//! Changes made by time alone: checkouts expire, orders that stay pending are cancelled (contract 3.1, 3.4).
//!
//! The scheduler asks which records are due and processes them one by one. Each record is checked again inside the
//! transaction that changes it, so several instances may run side by side: the second one finds nothing left to
//! do.

use authority_domain::order::CancelReason;
use authority_domain::{CheckoutEnd, CheckoutId, OrderNumber, Result, Tenant, Timestamp, transitions};
use authority_store::StoreError;
use authority_store::shards::Turns;
use authority_store::tx::{DueCheckout, PendingLimit, PendingOrder};

use super::mutation::{Work, on_its_own};
use crate::app::{self, App, checkout};

impl App {
    /// Open checkouts of one tenant, or of all (`None`), with `expires_at` at or before `until`, by that time, after
    /// `after`; at most `limit`.
    pub async fn checkouts_due(
        &self,
        of: Option<Tenant>,
        until: Timestamp,
        after: Option<DueCheckout>,
        limit: i64,
    ) -> Result<Vec<DueCheckout>, StoreError> {
        self.read_list(async move |tx| tx.checkouts_due(of.as_ref(), until, after.as_ref(), limit).await)
            .await
    }

    /// When the next open checkout expires; `None` when there is none.
    pub async fn checkouts_next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        self.read_list(async move |tx| tx.checkouts_next_due().await).await
    }

    /// Expires a checkout that is still open and due; returns whether it did.
    ///
    /// # Errors
    /// What the store reports, or `payload_too_large`.
    pub async fn checkout_expire_due(&self, tenant: Tenant, id: CheckoutId) -> Result<bool> {
        on_its_own(self, Turns::of(&tenant.merchant_id), async move |work| {
            let Some(checkout) = work.tx.checkout_get(&tenant, &id).await? else { return Ok(false) };
            if !checkout.is_overdue(time_for(work, &tenant, checkout.created_at).await?) {
                return Ok(false);
            }
            let owner = work.owner(tenant).await?;
            checkout::end::end(work, &owner, checkout, CheckoutEnd::Expired).await?;
            Ok(true)
        })
        .await
    }

    /// The merchants that have pending orders and limit how long an order may be pending.
    pub async fn pending_limits(&self) -> Result<Vec<PendingLimit>, StoreError> {
        self.read_list(async move |tx| tx.pending_limits().await).await
    }

    /// A tenant's orders that have been pending for `hours` or longer at `time`, oldest first, after `after`; at
    /// most `limit`.
    pub async fn orders_due(
        &self,
        tenant: &Tenant,
        hours: i64,
        time: Timestamp,
        after: Option<PendingOrder>,
        limit: i64,
    ) -> Result<Vec<PendingOrder>, StoreError> {
        let tenant = tenant.clone();
        let until = time.plus_ms(-transitions::order::pending_ms(hours));
        self.read_list(async move |tx| tx.orders_pending(&tenant, until, after.as_ref(), limit).await).await
    }

    /// Cancels an order that is still pending and due, with the reason `expired`; returns whether it did.
    ///
    /// # Errors
    /// What the store reports, or `payload_too_large`.
    pub async fn order_cancel_due(&self, tenant: Tenant, number: OrderNumber) -> Result<bool> {
        on_its_own(self, Turns::of(&tenant.merchant_id), async move |work| {
            let Some(order) = work.tx.order_get(&tenant, &number).await? else { return Ok(false) };
            let time = time_for(work, &tenant, order.created_at).await?;
            let owner = work.owner(tenant).await?;
            if !transitions::order::is_overdue(&order, owner.merchant.settings.pending_order_ttl_hours, time)
            {
                return Ok(false);
            }
            app::order::changes::cancel(work, &owner, order, CancelReason::Expired).await?;
            Ok(true)
        })
        .await
    }
}

/// What time it is for a record of this tenant: in test mode its developers may have let time pass.
pub(super) async fn time_for(
    work: &mut Work<'_>,
    tenant: &Tenant,
    created_at: Timestamp,
) -> Result<Timestamp> {
    if tenant.livemode {
        return Ok(work.now);
    }
    Ok(work.tx.sandbox_clock(&tenant.merchant_id).await?.time_for(created_at, work.now))
}
