//! What an advanced clock makes due (contract 6.3): checkouts, then orders, then subscriptions, a batch at a time, each
//! record in a transaction of its own that judges it again.
//!
//! A record that is refused is logged and stays for the next round. At most
//! [`CHANGES_MAX`](super::clock::CHANGES_MAX) records are changed; the rest stays for the next round too.

use authority_domain::sandbox::clock::period_report;
use authority_domain::subscription::SubscriptionReportRequest;
use authority_domain::{Result, SubscriptionId, Tenant, Timestamp};
use authority_store::StoreError;
use authority_store::shards::Turns;
use tokio::sync::watch;

use super::clock::CHANGES_MAX;
use crate::app::due::time_for;
use crate::app::mutation::on_its_own;
use crate::app::{App, subscriptions};

/// Records per batch.
const BATCH: i64 = 100;

/// One pass over a tenant's records.
pub(super) struct SettleClock<'a> {
    app: &'a App,
    tenant: &'a Tenant,
    /// The latest time that it can be for a record.
    time: Timestamp,
    stop: Option<&'a watch::Receiver<bool>>,
    changes: usize,
}

impl<'a> SettleClock<'a> {
    /// A pass over the records of `tenant` for which it may be as late as `time`.
    pub(super) fn new(
        app: &'a App,
        tenant: &'a Tenant,
        time: Timestamp,
        stop: Option<&'a watch::Receiver<bool>>,
    ) -> Self {
        Self { app, tenant, time, stop, changes: 0 }
    }

    /// Does it.
    ///
    /// # Errors
    /// [`StoreError`] when the due records cannot be read.
    pub(super) async fn run(mut self) -> Result<(), StoreError> {
        self.checkouts().await?;
        self.orders().await?;
        self.subscriptions().await
    }

    fn may_go_on(&self) -> bool {
        let stopped = self.stop.is_some_and(|stop| *stop.borrow()) || self.app.store.is_closed();
        self.changes < CHANGES_MAX && !stopped
    }

    /// Counts a change, or logs why there was none; returns whether there was one.
    fn note(&mut self, done: Result<bool>, record: &str) -> bool {
        let changed = done.unwrap_or_else(|error| {
            if !self.app.store.is_closed() {
                tracing::error!(record, %error, "its time has come by the sandbox's clock, but it could not be done");
            }
            false
        });
        self.changes += usize::from(changed);
        changed
    }

    async fn checkouts(&mut self) -> Result<(), StoreError> {
        let mut after = None;
        while self.may_go_on() {
            let batch = self.app.checkouts_due(Some(self.tenant.clone()), self.time, after, BATCH).await?;
            for due in &batch {
                if !self.may_go_on() {
                    return Ok(());
                }
                let done = self.app.checkout_expire_due(self.tenant.clone(), due.id.clone()).await;
                self.note(done, due.id.as_str());
            }
            after = batch.into_iter().last();
            if after.is_none() {
                break;
            }
        }
        Ok(())
    }

    async fn orders(&mut self) -> Result<(), StoreError> {
        let limits = self.app.pending_limits().await?;
        let Some(limit) = limits.into_iter().find(|limit| limit.merchant_id == self.tenant.merchant_id)
        else {
            return Ok(());
        };
        let mut after = None;
        while self.may_go_on() {
            let batch = self.app.orders_due(self.tenant, limit.hours, self.time, after, BATCH).await?;
            for due in &batch {
                if !self.may_go_on() {
                    return Ok(());
                }
                let done = self.app.order_cancel_due(self.tenant.clone(), due.number.clone()).await;
                self.note(done, due.number.as_str());
            }
            after = batch.into_iter().last();
            if after.is_none() {
                break;
            }
        }
        Ok(())
    }

    async fn subscriptions(&mut self) -> Result<(), StoreError> {
        let mut after: Option<SubscriptionId> = None;
        while self.may_go_on() {
            let (of, from) = (self.tenant.clone(), after.take());
            let batch = self
                .app
                .read_list(async move |tx| tx.subscriptions_running(&of, from.as_ref(), BATCH).await)
                .await?;
            for id in &batch {
                // Several periods may be over.
                while self.may_go_on() {
                    let done = end_period(self.app, self.tenant.clone(), id.clone()).await;
                    if !self.note(done, id.as_str()) {
                        break;
                    }
                }
            }
            after = batch.into_iter().last();
            if after.is_none() {
                break;
            }
        }
        Ok(())
    }
}

/// Ends a subscription's period if it is over by the merchant's clock; returns whether it did. As long as the clock was
/// not advanced since the subscription was created, its periods are the platform's matter, as in live mode.
async fn end_period(app: &App, tenant: Tenant, id: SubscriptionId) -> Result<bool> {
    on_its_own(app, Turns::of(&tenant.merchant_id), async move |work| {
        let found = work.tx.subscription_find(&id).await?;
        let Some((_, before)) = found.filter(|(owner, _)| *owner == tenant) else { return Ok(false) };
        let time = time_for(work, &tenant, before.record.created_at).await?;
        if time == work.now {
            return Ok(false);
        }
        let Some(report) = period_report(&before.record, time) else { return Ok(false) };
        let report = SubscriptionReportRequest::read(&report, work.now)?;
        let owner = work.owner(tenant).await?;
        Ok(subscriptions::report(work, &owner, before, report).await?.0)
    })
    .await
}
