//! What is being sent: a task for every delivery that was handed over (contract 7.2, 12 T8).
//!
//! A task begins as soon as the store's writer has committed the lease, on the writer's own thread of thought: there is
//! nothing in between that could hold it up. It judges the URL again, signs, has the [`Transport`] make the attempt, and
//! hands the outcome in. A lease that has grown too old for an attempt, because the commit took long or the clock was
//! put forward, is given back instead.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use authority_domain::endpoint_url::UrlRules;
use authority_domain::id::DeliveryId;
use authority_domain::outcome::{AttemptOutcome, classify};
use authority_domain::time::Timestamp;
use authority_store::hand_over::HandedOver;
use authority_store::ports::{LeasedDelivery, Tx};
use authority_store::{Store, StoreError};
use bytes::Bytes;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::settle::Finished;
use super::signing;
use super::transport::{AttemptReport, AttemptRequest, Transport};
use crate::clock::Clock;
use crate::metrics::Metrics;
use crate::secret_box::SecretBox;

/// The longest that an attempt may take: 50 s for the request, which is the most that can be configured, and 2 s for the
/// response's body. No attempt begins under a lease that would run out sooner.
const LONGEST_ATTEMPT_MS: i64 = 52_000;

/// What an attempt's task needs, shared by all of them.
pub(super) struct Sender {
    pub(super) store: Store,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) secrets: Arc<SecretBox>,
    pub(super) transport: Arc<dyn Transport>,
    pub(super) urls: UrlRules,
    pub(super) metrics: Arc<Metrics>,
    pub(super) finished: mpsc::Sender<Finished>,
}

/// The tasks. Dropped, all of them end where they are.
pub(super) struct Attempts(Arc<Mutex<State>>);

enum State {
    Running {
        tasks: JoinSet<()>,
        sender: Arc<Sender>,
    },
    /// What was leased and not begun, by token.
    Stopping(Vec<(String, DeliveryId)>),
    Dead,
}

impl Attempts {
    pub(super) fn begin_with(sender: Sender) -> Self {
        Self(Arc::new(Mutex::new(State::Running { tasks: JoinSet::new(), sender: Arc::new(sender) })))
    }

    /// What takes deliveries over.
    pub(super) fn beginning(&self) -> impl Fn(HandedOver) + Send + Sync + 'static {
        let state = Arc::clone(&self.0);
        move |handed_over| match &mut *locked(&state) {
            State::Running { tasks, sender } => {
                while tasks.try_join_next().is_some() {}
                let sender = Arc::clone(sender);
                tasks.spawn(async move { sender.send(handed_over).await });
            }
            State::Stopping(not_begun) => not_begun.push((handed_over.token, handed_over.delivery.id)),
            State::Dead => {}
        }
    }

    /// Begins no more. The slots are closed already: whatever is still to be handed over stands in the writer's queue
    /// before the job that waits for it here. It is given back at once; what has begun ends.
    pub(super) async fn stop(self, store: &Store) {
        let state = std::mem::replace(&mut *locked(&self.0), State::Stopping(Vec::new()));
        let State::Running { mut tasks, sender } = state else { return };
        drop(sender);
        let behind: Result<(), StoreError> = store.write(|_: &mut dyn Tx| Box::pin(async { Ok(()) })).await;
        let state = std::mem::replace(&mut *locked(&self.0), State::Dead);
        if let State::Stopping(not_begun) = state
            && behind.is_ok()
        {
            for (token, id) in not_begun {
                release(store, token, id).await;
            }
        }
        while tasks.join_next().await.is_some() {}
    }
}

impl Drop for Attempts {
    fn drop(&mut self) {
        *locked(&self.0) = State::Dead;
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives back a delivery that was leased and not begun.
async fn release(store: &Store, token: String, id: DeliveryId) {
    let released: Result<u64, StoreError> = store
        .write(move |tx: &mut dyn Tx| {
            Box::pin(async move { tx.delivery_lease_release(&token, std::slice::from_ref(&id)).await })
        })
        .await;
    if let Err(error) = released {
        tracing::warn!(error = %error, "a lease could not be given back; it runs out");
    }
}

impl Sender {
    async fn send(&self, handed_over: HandedOver) {
        let HandedOver { mut delivery, token, until, mut slot, .. } = handed_over;
        let number = delivery.attempt_count + 1;
        let started_at = Timestamp::from_ms(self.clock.now_ms());
        if until.as_ms().saturating_sub(started_at.as_ms()) < LONGEST_ATTEMPT_MS {
            tracing::warn!(delivery_id = %delivery.id, "not begun: its lease is too old");
            release(&self.store, token, delivery.id).await;
            return;
        }
        if number == 1 {
            self.metrics.first_attempt(between(delivery.created_at, started_at));
        }
        let body = Bytes::from(std::mem::take(&mut delivery.body));
        let report = self.attempt(&delivery, body, number, started_at).await;
        self.metrics
            .attempt(classify(report.outcome, report.status), Duration::from_millis(report.duration_ms));
        let finished_at = Timestamp::from_ms(self.clock.now_ms());
        // The settler outlives every sender.
        let Ok(place) = self.finished.reserve().await else { return };
        slot.attempt_ended();
        place.send(Finished {
            delivery,
            token,
            leased_until: until,
            number,
            started_at,
            finished_at,
            report,
            _slot: slot,
        });
    }

    async fn attempt(
        &self,
        delivery: &LeasedDelivery,
        body: Bytes,
        number: i64,
        now: Timestamp,
    ) -> AttemptReport {
        // The rules may have changed since the endpoint was made.
        let Ok(url) = self.urls.parse(&delivery.url, delivery.livemode) else {
            return not_sent(AttemptOutcome::BlockedAddress);
        };
        let headers = match signing::headers(delivery, &body, number, now, &self.secrets) {
            Ok(headers) => headers,
            Err(error) => {
                tracing::error!(delivery_id = %delivery.id, endpoint_id = %delivery.endpoint_id, %error, "not sent");
                return not_sent(AttemptOutcome::ProtocolError);
            }
        };
        self.transport.attempt(AttemptRequest { url: &url, headers, body }).await
    }
}

fn not_sent(outcome: AttemptOutcome) -> AttemptReport {
    AttemptReport { outcome, status: None, retry_after_ms: None, wish: None, excerpt: None, duration_ms: 0 }
}

/// The clock may have stepped back in between.
fn between(earlier: Timestamp, later: Timestamp) -> Duration {
    Duration::from_millis(u64::try_from(later.as_ms().saturating_sub(earlier.as_ms())).unwrap_or(0))
}
