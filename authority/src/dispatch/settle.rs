//! The settler decides what an attempt means for its delivery and its endpoint, and writes that in batches (contract
//! 7.2, 7.3, 7.5).
//!
//! Attempts end one by one and report here; those that ended while the last batch was written make up the next one.
//! When the database cannot be written, the batch is tried again until its leases have run out; then the deliveries
//! are sent again, which at-least-once delivery allows. A batch that the database refuses is written one outcome at
//! a time, so that one bad outcome does not block the others.
//!
//! The transaction that writes outcomes also leases the next deliveries to the same endpoints, so that no further
//! transaction is needed to find them. It leases twice as many as have just ended, because about as many will end
//! again before the next batch is written. Slow endpoints that have to take turns are left to the claim over all
//! endpoints.
//!
//! A batch is about many merchants, and somebody else may be writing for some of them, or for all. The outcomes of
//! those are left (`late`); neither the others nor the next batch wait for that.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use authority_domain::delivery::outcome::{OutcomeClass, ReceiverWish, classify};
use authority_domain::delivery::retry::{Next, RetryPolicy, Tried};
use authority_domain::endpoint::condition::DisablePolicy;
use authority_domain::endpoint::hold::{Hold, hold_reason};
use authority_domain::{AttemptId, EndpointId, FailureReason, Timestamp};
use authority_store::claims::{Among, claim};
use authority_store::hand_off::LeasedDelivery;
use authority_store::shards::{ShardSet, Turns};
use authority_store::slots::{Slot, Slots, Want};
use authority_store::tx::{SettledAs, Settlement, Tx};
use authority_store::{Store, StoreError};
use rand::rngs::StdRng;

use super::attempts::AttemptsHandle;
use super::transport::AttemptReport;
use super::verdict::Verdict;
use crate::clock::Clock;

/// The most outcomes per transaction. This bounds the statement, far below SQLite's 32,766 parameters.
pub(super) const BATCH_MAX: usize = 256;

/// How long to wait before a batch is tried again.
const RETRY_WRITE: Duration = Duration::from_secs(1);

/// An attempt that has ended.
#[derive(Debug)]
pub(super) struct SentAttempt {
    pub(super) delivery: LeasedDelivery,
    pub(super) token: String,
    pub(super) leased_until: Timestamp,
    pub(super) number: i64,
    pub(super) started_at: Timestamp,
    pub(super) finished_at: Timestamp,
    pub(super) report: AttemptReport,
    /// The slot counts against its endpoint until it is dropped: when the outcome is written, or never will be.
    pub(super) _slot: Slot,
}

/// Writes outcomes.
pub(super) struct Settler {
    pub(super) store: Store,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) retry: RetryPolicy,
    pub(super) disable: DisablePolicy,
    pub(super) dice: Mutex<StdRng>,
    /// The dispatcher's slots.
    pub(super) slots: Arc<Slots>,
    /// Reaches the dispatcher's queue.
    pub(super) begin: AttemptsHandle,
}

/// How many attempts of one endpoint are in a batch.
#[derive(Clone, Copy, Default)]
struct OfEndpoint {
    outcomes: usize,
    refusals: usize,
}

impl Settler {
    /// Settles a batch with such turns of its shards; returns the outcomes whose turns were not to be had, in their
    /// order.
    pub(super) async fn settle(
        &self,
        batch: Vec<SentAttempt>,
        turns: fn(ShardSet) -> Turns,
    ) -> Vec<SentAttempt> {
        let verdict = self.judge(&batch);
        match self.written(verdict, &batch, turns).await {
            Some(endpoints) => {
                let is_left = |finished: &SentAttempt| !endpoints.contains(&finished.delivery.endpoint_id);
                batch.into_iter().filter(is_left).collect()
            }
            None if batch.len() < 2 => Vec::new(),
            None => {
                let mut left = Vec::new();
                for finished in batch {
                    let verdict = self.judge(std::slice::from_ref(&finished));
                    let written = self.written(verdict, std::slice::from_ref(&finished), turns).await;
                    if written.is_some_and(|endpoints| endpoints.is_empty()) {
                        left.push(finished);
                    }
                }
                left
            }
        }
    }

    /// Tries until the verdict is written, as far as turns are to be had, or its leases have run out. Returns the
    /// endpoints that are done with; `None` when the database refuses the verdict itself.
    async fn written(
        &self,
        verdict: Verdict,
        batch: &[SentAttempt],
        turns: fn(ShardSet) -> Turns,
    ) -> Option<BTreeSet<EndpointId>> {
        let turns = turns(batch.iter().map(|finished| &finished.delivery.merchant_id).collect());
        let give_up_at = batch.iter().map(|finished| finished.leased_until).max();
        let mut ended: BTreeMap<EndpointId, OfEndpoint> = BTreeMap::new();
        for SentAttempt { delivery, report, .. } in batch {
            let of = ended.entry(delivery.endpoint_id.clone()).or_default();
            of.outcomes += 1;
            of.refusals += usize::from(hold_reason(report.outcome, report.status).is_some());
        }
        let work = Arc::new((verdict, ended));
        loop {
            let (job, slots, clock) = (Arc::clone(&work), Arc::clone(&self.slots), Arc::clone(&self.clock));
            let written = self
                .store
                .write_with(turns, move |tx: &mut Tx| {
                    Box::pin(async move {
                        let now = Timestamp::from_ms(clock.now_ms());
                        let (done, holds) = job.0.write(tx, now).await?;
                        lease_next(tx, &slots, ended_of(&job.1, &done), now).await?;
                        Ok::<_, StoreError>((done, holds))
                    })
                })
                .await;
            let error = match written {
                Ok((done, holds)) => {
                    self.tell(ended_of(&work.1, &done), &holds);
                    return Some(done);
                }
                Err(error) => error,
            };
            tracing::warn!(error = %error, deliveries = batch.len(), "outcomes could not be written");
            let refused = !error.may_pass();
            let given_up = give_up_at.is_none_or(|at| Timestamp::from_ms(self.clock.now_ms()) >= at);
            if refused || given_up {
                if batch.len() == 1 || !refused {
                    self.tell(work.1.iter(), &BTreeMap::new());
                }
                return (!refused).then(|| work.1.keys().cloned().collect());
            }
            tokio::time::sleep(RETRY_WRITE).await;
        }
    }

    /// Reports to the slots what was written. Queued deliveries of an endpoint that may get nothing now are given
    /// back.
    fn tell<'e>(
        &self,
        ended: impl Iterator<Item = (&'e EndpointId, &'e OfEndpoint)>,
        holds: &BTreeMap<EndpointId, Hold>,
    ) {
        for (endpoint, of) in ended {
            if self.slots.settled(endpoint, of.outcomes, of.refusals, holds.get(endpoint)) {
                self.begin.recall(endpoint);
            } else {
                self.begin.go_on(endpoint);
            }
        }
    }

    fn judge(&self, batch: &[SentAttempt]) -> Verdict {
        let mut dice = self.dice.lock().unwrap_or_else(PoisonError::into_inner);
        let mut verdict = Verdict::new(self.disable, &mut dice);
        for finished in batch {
            let class = classify(finished.report.outcome, finished.report.status);
            let settlement = self.settlement(finished, class, &mut dice);
            verdict.add(finished, class, settlement);
        }
        verdict
    }

    fn settlement(&self, finished: &SentAttempt, class: OutcomeClass, dice: &mut StdRng) -> Settlement {
        let test = finished.delivery.trigger == "test";
        let policy = if test {
            Cow::Owned(self.retry.for_test_deliveries())
        } else {
            self.retry.for_schedule(finished.delivery.options.retry_schedule)
        };
        let next = match finished.report.wish {
            Some(ReceiverWish::Abort) if class != OutcomeClass::Gone => Next::GiveUp(FailureReason::Rejected),
            _ => policy.next_attempt(
                Tried {
                    number: u32::try_from(finished.number).unwrap_or(u32::MAX),
                    put_off: u32::try_from(finished.delivery.put_off_count).unwrap_or(u32::MAX),
                    created_at_ms: finished.delivery.created_at.as_ms(),
                },
                class,
                finished.report.retry_after_ms,
                finished.finished_at.as_ms(),
                dice,
            ),
        };
        Settlement {
            merchant_id: finished.delivery.merchant_id.clone(),
            delivery_id: finished.delivery.id.clone(),
            endpoint_id: finished.delivery.endpoint_id.clone(),
            token: finished.token.clone(),
            attempt_id: AttemptId::generate(finished.started_at, dice),
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
                Next::At(ms) => SettledAs::Retry { at: Timestamp::from_ms(ms), put_off: false },
                Next::PutOff(ms) => SettledAs::Retry { at: Timestamp::from_ms(ms), put_off: true },
                Next::GiveUp(reason) => SettledAs::Failed { reason: reason.as_str() },
            },
        }
    }
}

/// Leases the next deliveries of the endpoints whose attempts have `ended`.
async fn lease_next<'e>(
    tx: &mut Tx,
    slots: &Slots,
    ended: impl Iterator<Item = (&'e EndpointId, &'e OfEndpoint)> + Send,
    now: Timestamp,
) -> Result<(), StoreError> {
    let want = |(id, of): (&EndpointId, &OfEndpoint)| Some((id.clone(), slots.want_next(id, of.outcomes)?));
    let wants: BTreeMap<EndpointId, Want> = ended.filter_map(want).collect();
    if !wants.is_empty() {
        claim(tx, Among::These(&wants), now).await?;
    }
    Ok(())
}

/// Those endpoints of a batch that are done with.
fn ended_of<'e>(
    ended: &'e BTreeMap<EndpointId, OfEndpoint>,
    done: &'e BTreeSet<EndpointId>,
) -> impl Iterator<Item = (&'e EndpointId, &'e OfEndpoint)> + Send {
    ended.iter().filter(|(id, _)| done.contains(*id))
}

pub(super) fn log(finished: &SentAttempt) {
    let class = classify(finished.report.outcome, finished.report.status);
    let SentAttempt { delivery, report, number, .. } = finished;
    let (delivery_id, event_id, endpoint_id) = (&delivery.id, &delivery.event_id, &delivery.endpoint_id);
    let outcome = report.outcome.as_str();
    // What the service did by itself no request asked for.
    let request_id = delivery.cause.request_id.as_ref().map(tracing::field::display);
    if class == OutcomeClass::Success {
        tracing::debug!(%delivery_id, %event_id, %endpoint_id, request_id, attempt = number, outcome, "delivered");
    } else {
        tracing::info!(
            %delivery_id, %event_id, %endpoint_id, request_id, attempt = number, outcome,
            status = report.status, "attempt failed"
        );
    }
}
