//! The clock of a test merchant: a developer lets time pass and sees what it does (contract 6.3).
//!
//! `POST /clock` stores the advance in one transaction. Then everything that is due at the merchant's new time happens
//! as it does when time really passes, each record in a transaction of its own: open checkouts expire, orders that
//! were pending for too long are cancelled, subscriptions renew or end. The request waits for this, for two seconds
//! at most; what is left goes on behind it. The scheduler looks at advanced clocks every minute too: a
//! service that was killed in the middle goes on at its next start, and an advance of an hour lets a checkout expire
//! one hour early later on.
//!
//! One request can make very much due. So a merchant has one transaction under way at a time, however many requests it
//! sends, and at most 1,000 changes per request and per minute.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use authority_domain::sandbox::clock::{ClockAdvance, ClockRequest, SandboxClock};
use authority_domain::{MerchantId, Result, Tenant, Timestamp};
use authority_store::StoreError;
use serde::Serialize;
use tokio::sync::watch;

use super::settle_clock::SettleClock;
use crate::app::{Answer, App, Mutation, Owner};

/// How long a request waits for what its advance makes due.
const WAIT: Duration = Duration::from_secs(2);

/// Changes that one request, or one of the scheduler's rounds, makes for a merchant.
pub(super) const CHANGES_MAX: usize = 1_000;

/// The merchants whose advances are being worked off here; true: another advance came meanwhile.
#[derive(Debug, Default)]
pub struct Settling(Mutex<HashMap<MerchantId, bool>>);

/// A merchant that is being worked on; free again when this ends, in whatever way.
struct SettleGuard {
    settling: Arc<Settling>,
    merchant: MerchantId,
    over: bool,
}

/// A merchant's clock.
#[derive(Serialize)]
#[serde(tag = "object", rename = "sandbox_clock")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "SandboxClock"))]
pub(in crate::app) struct ClockView {
    /// False: only test mode has such a clock.
    livemode: bool,
    /// How far it was advanced in all, in seconds.
    advanced_seconds: i64,
    /// When it was last advanced, by the real clock.
    last_advanced_at: Option<Timestamp>,
}

impl ClockView {
    fn of(clock: &SandboxClock) -> Self {
        let last_advanced_at = clock.last().map(|advance| advance.at);
        Self { livemode: false, advanced_seconds: clock.total_seconds(), last_advanced_at }
    }
}

impl App {
    /// `GET /clock`.
    pub async fn sandbox_clock_get(&self, whose: Owner) -> Result<Answer> {
        Answer::record(200, &ClockView::of(&self.sandbox_clock(&whose.tenant).await?))
    }

    /// `POST /clock`.
    pub async fn sandbox_clock_advance(&self, whose: Owner, mutation: Mutation) -> Result<Answer> {
        let (advanced, request) = (whose.tenant.clone(), ClockRequest::read(&mutation.body));
        let answer = self
            .for_owner(mutation, whose, None, async move |work, owner| {
                let advance = ClockAdvance { at: work.now, seconds: request?.advance_seconds };
                work.tx.sandbox_clock_advance(&owner.merchant.id, advance).await?;
                let clock = work.tx.sandbox_clock(&owner.merchant.id).await?;
                Answer::record(200, &ClockView::of(&clock))
            })
            .await?;
        self.settle_behind(advanced).await;
        Ok(answer)
    }

    /// Settles the tenant's clock in a task that goes on when the client has gone, and waits for it a little.
    async fn settle_behind(&self, tenant: Tenant) {
        let Some(mut guard) = Settling::begin(&self.settling, &tenant.merchant_id) else { return };
        let app = self.clone();
        let task = tokio::spawn(async move {
            loop {
                if let Err(error) = app.sandbox_clock_settle(&tenant, None).await {
                    tracing::warn!(%error, "what an advance made due could not be read; the scheduler tries again");
                }
                if !guard.again() {
                    break;
                }
            }
        });
        let _ = tokio::time::timeout(WAIT, task).await;
    }

    /// Does what is due at every merchant whose clock was advanced. Ends early when `stop` turns true.
    ///
    /// # Errors
    /// [`StoreError`] when the due records cannot be read.
    pub async fn sandbox_clocks_settle(&self, stop: &watch::Receiver<bool>) -> Result<(), StoreError> {
        let advanced = self.read_list(async move |tx| tx.sandbox_clocks_advanced().await).await?;
        for merchant_id in advanced {
            let Some(_guard) = Settling::begin(&self.settling, &merchant_id) else { continue };
            self.sandbox_clock_settle(&Tenant { merchant_id, livemode: false }, Some(stop)).await?;
        }
        Ok(())
    }

    async fn sandbox_clock(&self, tenant: &Tenant) -> Result<SandboxClock, StoreError> {
        let merchant = tenant.merchant_id.clone();
        self.read(async move |tx| tx.sandbox_clock(&merchant).await).await
    }

    async fn sandbox_clock_settle(
        &self,
        tenant: &Tenant,
        stop: Option<&watch::Receiver<bool>>,
    ) -> Result<(), StoreError> {
        let time = self.sandbox_clock(tenant).await?.latest_time(self.now());
        SettleClock::new(self, tenant, time, stop).run().await
    }
}

impl Settling {
    /// Takes the merchant on. `None`: it is being worked on, and will be once more.
    fn begin(settling: &Arc<Self>, merchant: &MerchantId) -> Option<SettleGuard> {
        let mut merchants = settling.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(again) = merchants.get_mut(merchant) {
            *again = true;
            return None;
        }
        merchants.insert(merchant.clone(), false);
        Some(SettleGuard { settling: settling.clone(), merchant: merchant.clone(), over: false })
    }
}

impl SettleGuard {
    /// Whether another advance came since this was last asked; if not, the merchant is free.
    fn again(&mut self) -> bool {
        let mut merchants = self.settling.0.lock().unwrap_or_else(PoisonError::into_inner);
        let again = merchants.get_mut(&self.merchant).is_some_and(|again| std::mem::replace(again, false));
        if !again {
            merchants.remove(&self.merchant);
            self.over = true;
        }
        again
    }
}

impl Drop for SettleGuard {
    fn drop(&mut self) {
        if !self.over {
            self.settling.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.merchant);
        }
    }
}
