//! The scheduler makes the transitions that are due by time (contract 3.1, 3.4, 6.3). Checkouts expire at
//! `expires_at`; orders that stay pending longer than their merchant allows are cancelled. With the sandbox on,
//! refunds of test mode move by themselves if their merchant wants it, and merchants whose test clock was advanced
//! have theirs earlier.
//!
//! A round goes through everything that is due, a bounded batch at a time, each record in a transaction of its own.
//! Then it waits until the next checkout expires, at most a minute: nothing that is opened meanwhile can be due
//! earlier, and an order's limit is a matter of hours. The first round runs at the start, for records that became
//! due while no instance was running. A record that is refused is left for the next round and does not hold up the
//! others.
//!
//! Several instances may do this side by side; each finds the records that another has already handled done
//! ([`crate::app::due`]).

use std::time::Duration;

use authority_domain::sandbox::advances::RefundAdvance;
use authority_domain::{Result, Tenant};
use authority_store::StoreError;
use authority_store::tx::PendingLimit;
use tokio::sync::watch;

use super::goes_on;
use crate::app::App;
use crate::config::Sandbox;

/// The longest wait between rounds.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// The shortest wait, for records that are due but were refused.
const WAIT_MIN: Duration = Duration::from_secs(1);

/// Records per batch.
const BATCH: i64 = 100;

/// How often to look for refunds that move by themselves; they stay a second in each status.
const SANDBOX_POLL: Duration = Duration::from_millis(250);

/// Runs rounds until `stop` turns true.
pub async fn keep_time(app: App, sandbox: Sandbox, stop: watch::Receiver<bool>) {
    let playing = async {
        if sandbox == Sandbox::On {
            tokio::join!(keep_sandbox(&app, stop.clone()), keep_clocks(&app, stop.clone()));
        }
    };
    tokio::join!(keep_rounds(&app, stop.clone()), playing);
}

/// Moves refunds of test mode where their merchants let them move by themselves (contract 6.3).
async fn keep_sandbox(app: &App, mut stop: watch::Receiver<bool>) {
    let mut pause = Duration::ZERO;
    while goes_on(&mut stop, pause).await {
        if let Err(error) = sandbox_round(app, &stop).await {
            tracing::warn!(%error, "refunds of the sandbox could not be read; the next round tries again");
        }
        pause = SANDBOX_POLL;
    }
}

/// Does what the advanced clocks of test merchants have made due, at the start and every minute.
async fn keep_clocks(app: &App, mut stop: watch::Receiver<bool>) {
    let mut pause = Duration::ZERO;
    while goes_on(&mut stop, pause).await {
        if let Err(error) = app.sandbox_clocks_settle(&stop).await {
            tracing::warn!(%error, "what is due by the sandbox's clocks could not be read; the next round tries again");
        }
        pause = WAIT_MAX;
    }
}

async fn sandbox_round(app: &App, stop: &watch::Receiver<bool>) -> Result<(), StoreError> {
    let mut last = None;
    loop {
        let batch = app.sandbox_refunds_moving(last, BATCH).await?;
        for (tenant, refund) in &batch {
            if *stop.borrow() {
                return Ok(());
            }
            if RefundAdvance::by_itself(refund, app.now()).is_some() {
                let moved = app.sandbox_refund_move(tenant.clone(), refund.id.clone()).await;
                note(moved, refund.id.as_str());
            }
        }
        last = batch.into_iter().last().map(|(_, refund)| refund.id);
        if last.is_none() {
            return Ok(());
        }
    }
}

async fn keep_rounds(app: &App, mut stop: watch::Receiver<bool>) {
    let mut pause = Duration::ZERO;
    while goes_on(&mut stop, pause).await {
        if let Err(error) = round(app, &stop).await {
            tracing::warn!(%error, "what is due could not be read; the next round tries again");
        }
        pause = wait(app).await;
    }
}

/// Runs one round and commits record by record. Ends early when `stop` turns true.
///
/// # Errors
/// [`StoreError`] when the due records cannot be read.
pub async fn round(app: &App, stop: &watch::Receiver<bool>) -> Result<(), StoreError> {
    expire_checkouts(app, stop).await?;
    for PendingLimit { merchant_id, hours } in app.pending_limits().await? {
        if *stop.borrow() {
            return Ok(());
        }
        for livemode in [true, false] {
            let tenant = Tenant { merchant_id: merchant_id.clone(), livemode };
            cancel_orders(app, &tenant, hours, stop).await?;
        }
    }
    Ok(())
}

async fn expire_checkouts(app: &App, stop: &watch::Receiver<bool>) -> Result<(), StoreError> {
    let mut last = None;
    loop {
        let batch = app.checkouts_due(None, app.now(), last, BATCH).await?;
        for due in &batch {
            if *stop.borrow() {
                return Ok(());
            }
            let done = app.checkout_expire_due(due.tenant.clone(), due.id.clone()).await;
            note(done, due.id.as_str());
        }
        last = batch.into_iter().last();
        if last.is_none() {
            return Ok(());
        }
    }
}

async fn cancel_orders(
    app: &App,
    tenant: &Tenant,
    hours: i64,
    stop: &watch::Receiver<bool>,
) -> Result<(), StoreError> {
    let mut last = None;
    loop {
        let batch = app.orders_due(tenant, hours, app.now(), last, BATCH).await?;
        for due in &batch {
            if *stop.borrow() {
                return Ok(());
            }
            let done = app.order_cancel_due(tenant.clone(), due.number.clone()).await;
            note(done, due.number.as_str());
        }
        last = batch.into_iter().last();
        if last.is_none() {
            return Ok(());
        }
        // A merchant that has just set the limit may have very many overdue orders: checkouts do not wait for them.
        expire_checkouts(app, stop).await?;
    }
}

fn note(done: Result<bool>, record: &str) {
    match done {
        Ok(true) => tracing::debug!(record, "its time had come"),
        Ok(false) => {}
        Err(error) => tracing::error!(record, %error, "its time has come, but it could not be done"),
    }
}

async fn wait(app: &App) -> Duration {
    let Ok(Some(next)) = app.checkouts_next_due().await else { return WAIT_MAX };
    let ms = u64::try_from(next.as_ms() - app.now().as_ms()).unwrap_or(0);
    Duration::from_millis(ms).clamp(WAIT_MIN, WAIT_MAX)
}
