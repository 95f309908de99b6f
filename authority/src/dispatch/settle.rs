//! Settling: what an attempt means for its delivery and its endpoint, written in batches (contract 7.2, 7.3, 7.5).
//!
//! Attempts end one by one and report here; whatever has ended while the last batch was written makes the next one.
//! When the database cannot be written the batch is tried again until its leases have run out; then the deliveries are
//! sent again, which at-least-once allows. A batch that the database refuses is written one outcome at a time, so that a
//! single one holds nothing up.
//!
//! With the outcomes, in the same transaction, whatever may go next to the same endpoints is leased: so a place that has
//! become free stays idle for one commit, and no transaction is needed to look for its next delivery. Where slots are
//! short, everybody's turn is looked at instead.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use authority_domain::endpoint_condition::DisablePolicy;
use authority_domain::id::{AttemptId, EndpointId};
use authority_domain::outcome::{FailureReason, OutcomeClass, ReceiverWish, classify};
use authority_domain::retry::{Next, RetryPolicy};
use authority_domain::time::Timestamp;
use authority_store::hand_over::{Among, claim};
use authority_store::ports::{LeasedDelivery, SettledAs, Settlement, Tx};
use authority_store::slots::{Slot, Slots};
use authority_store::{Store, StoreError};
use rand::rngs::StdRng;
use tokio::sync::mpsc;

use super::transport::AttemptReport;
use super::verdict::Verdict;
use crate::clock::Clock;

/// Outcomes per transaction: bounds the statement, far below SQLite's 32,766 parameters.
const BATCH_MAX: usize = 256;

/// How long to wait before a batch is tried again.
const RETRY_WRITE: Duration = Duration::from_secs(1);

/// An attempt that has ended.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) delivery: LeasedDelivery,
    pub(super) token: String,
    pub(super) leased_until: Timestamp,
    pub(super) number: i64,
    pub(super) started_at: Timestamp,
    pub(super) finished_at: Timestamp,
    pub(super) report: AttemptReport,
    /// Counts against its endpoint until this is dropped: when the outcome is written, or never will be.
    pub(super) _slot: Slot,
}

/// Writes outcomes.
pub(super) struct Settler {
    pub(super) store: Store,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) retry: RetryPolicy,
    pub(super) disable: DisablePolicy,
    pub(super) dice: StdRng,
    /// Those of the dispatcher.
    pub(super) slots: Arc<Slots>,
}

impl Settler {
    /// Settles until every sender is gone.
    pub(super) async fn run(mut self, mut finished: mpsc::Receiver<Finished>) {
        let mut batch = Vec::with_capacity(BATCH_MAX);
        while finished.recv_many(&mut batch, BATCH_MAX).await > 0 {
            self.settle(std::mem::take(&mut batch)).await;
        }
    }

    async fn settle(&mut self, batch: Vec<Finished>) {
        let verdict = self.judge(&batch);
        if self.written(verdict, &batch).await || batch.len() < 2 {
            return;
        }
        for finished in batch {
            let alone = [finished];
            let verdict = self.judge(&alone);
            self.written(verdict, &alone).await;
        }
    }

    /// Tries until the verdict is written or its leases are over. False when the database refuses it as it is.
    async fn written(&self, verdict: Verdict, batch: &[Finished]) -> bool {
        let give_up_at = batch.iter().map(|finished| finished.leased_until).max();
        let mut freed: BTreeMap<EndpointId, usize> = BTreeMap::new();
        for finished in batch {
            *freed.entry(finished.delivery.endpoint_id.clone()).or_default() += 1;
        }
        let work = Arc::new((verdict, freed));
        loop {
            let (work, slots, clock) = (Arc::clone(&work), Arc::clone(&self.slots), Arc::clone(&self.clock));
            let written = self
                .store
                .write(move |tx: &mut dyn Tx| {
                    Box::pin(async move {
                        work.0.write(tx).await?;
                        lease_next(tx, &slots, &work.1, Timestamp::from_ms(clock.now_ms())).await
                    })
                })
                .await;
            let Err(error) = written else { return true };
            tracing::warn!(error = %error, deliveries = batch.len(), "outcomes could not be written");
            if !matches!(error, StoreError::Unavailable(_)) {
                return false;
            }
            if give_up_at.is_none_or(|at| Timestamp::from_ms(self.clock.now_ms()) >= at) {
                return true;
            }
            tokio::time::sleep(RETRY_WRITE).await;
        }
    }

    fn judge(&mut self, batch: &[Finished]) -> Verdict {
        let mut verdict = Verdict::new(self.disable, &mut self.dice);
        for finished in batch {
            let class = classify(finished.report.outcome, finished.report.status);
            let settlement = self.settlement(finished, class);
            verdict.add(finished, class, settlement);
            log(finished, class);
        }
        verdict
    }

    fn settlement(&mut self, finished: &Finished, class: OutcomeClass) -> Settlement {
        let test = finished.delivery.trigger == "test";
        let policy = if test { &self.retry.for_test_deliveries() } else { &self.retry };
        let number = u32::try_from(finished.number).unwrap_or(u32::MAX);
        let next = match finished.report.wish {
            Some(ReceiverWish::Abort) if class != OutcomeClass::Gone => Next::GiveUp(FailureReason::Rejected),
            _ => policy.next_attempt(
                number,
                class,
                finished.report.retry_after_ms,
                finished.finished_at.as_ms(),
                &mut self.dice,
            ),
        };
        Settlement {
            delivery_id: finished.delivery.id.clone(),
            endpoint_id: finished.delivery.endpoint_id.clone(),
            token: finished.token.clone(),
            attempt_id: AttemptId::generate(finished.started_at, &mut self.dice),
            number: finished.number,
            started_at: finished.started_at,
            finished_at: finished.finished_at,
            signed_timestamp: finished.started_at.as_unix_seconds(),
            duration_ms: i64::try_from(finished.report.duration_ms).unwrap_or(i64::MAX),
            outcome: finished.report.outcome.as_str(),
            response_status: finished.report.status.map(i64::from),
            response_excerpt: finished.report.excerpt.clone(),
            settled_as: match next {
                Next::Succeeded => SettledAs::Succeeded,
                Next::At(ms) => SettledAs::Retry { at: Timestamp::from_ms(ms) },
                Next::GiveUp(reason) => SettledAs::Failed { reason: reason.as_str() },
            },
        }
    }
}

/// Leases what may go next, now that so many places have become `freed`.
async fn lease_next(
    tx: &mut dyn Tx,
    slots: &Slots,
    freed: &BTreeMap<EndpointId, usize>,
    now: Timestamp,
) -> Result<(), StoreError> {
    if slots.take_short() {
        claim(tx, Among::All, now).await?;
        return Ok(());
    }
    let mut behind = freed.clone();
    slots.retain_behind(&mut behind);
    if !behind.is_empty() {
        claim(tx, Among::These(&behind), now).await?;
    }
    Ok(())
}

fn log(finished: &Finished, class: OutcomeClass) {
    let Finished { delivery, report, number, .. } = finished;
    let (delivery_id, event_id, endpoint_id) = (&delivery.id, &delivery.event_id, &delivery.endpoint_id);
    let outcome = report.outcome.as_str();
    if class == OutcomeClass::Success {
        tracing::debug!(%delivery_id, %event_id, %endpoint_id, attempt = number, outcome, "delivered");
    } else {
        tracing::info!(
            %delivery_id, %event_id, %endpoint_id, attempt = number, outcome, status = report.status, "attempt failed"
        );
    }
}
