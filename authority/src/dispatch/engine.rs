//! The dispatcher: lease, act, settle (contract 7.4, 12 T4, T5, T8).
//!
//! It waits for a hint (a commit that made deliveries, a batch that was settled) or for the poll, which is the truth;
//! takes due deliveries in one short transaction, as many as there is room for and never more than the cap of one
//! endpoint; sends each in a task of its own while no transaction is open; and hands the outcomes to the settler.
//!
//! A dispatcher that dies keeps nothing: its leases run out, and whoever comes next sends again. Dropping the future of
//! [`Dispatcher::run`] is such a death: no task of it goes on. To stop in order, it takes no more, lets what is in flight
//! end, and waits until every outcome is written.

use std::sync::Arc;
use std::time::Duration;

use authority_domain::endpoint_condition::DisablePolicy;
use authority_domain::endpoint_url::UrlRules;
use authority_domain::outcome::{AttemptOutcome, classify};
use authority_domain::retry::RetryPolicy;
use authority_domain::time::Timestamp;
use authority_store::ports::{Lease, LeasedDelivery, Tx};
use authority_store::{Store, StoreError};
use bytes::Bytes;
use rand::SeedableRng;
use rand::rngs::StdRng;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::task::JoinSet;

use super::settle::{Finished, Settler};
use super::signing;
use super::transport::{AttemptReport, AttemptRequest, Transport};
use crate::clock::Clock;
use crate::dice::Dice;
use crate::metrics::Metrics;
use crate::secret_box::SecretBox;

/// How often due deliveries are looked for without a hint (contract 12 T5).
const POLL: Duration = Duration::from_secs(1);

/// How long a lease lasts (contract 7.4). An attempt may take the timeout (at most 50 s) and 2 s for the response's
/// body; the rest is for writing its outcome.
const LEASE_MS: i64 = 60_000;

/// Deliveries per lease: bounds the transaction and the bodies in memory.
const LEASE_BATCH: usize = 256;

/// What the dispatcher works with.
pub struct Dispatcher {
    /// The database.
    pub store: Store,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Names leases and varies waits.
    pub dice: Arc<dyn Dice>,
    /// Opens signing secrets.
    pub secrets: Arc<SecretBox>,
    /// Sends.
    pub transport: Arc<dyn Transport>,
    /// When to try again.
    pub retry: RetryPolicy,
    /// When to give an endpoint up.
    pub disable: DisablePolicy,
    /// Where events may be sent; asked again at every attempt.
    pub urls: UrlRules,
    /// Requests in flight, all endpoints together.
    pub concurrency: u32,
    /// Requests in flight to one endpoint.
    pub concurrency_per_endpoint: u32,
    /// Counts attempts.
    pub metrics: Arc<Metrics>,
}

/// What an attempt's task needs, shared by all of them.
struct Sender {
    clock: Arc<dyn Clock>,
    secrets: Arc<SecretBox>,
    transport: Arc<dyn Transport>,
    urls: UrlRules,
    metrics: Arc<Metrics>,
    finished: mpsc::Sender<Finished>,
}

impl Dispatcher {
    /// Delivers until `stop` turns true; returns when nothing is in flight and every outcome is written.
    pub async fn run(self, mut stop: watch::Receiver<bool>) {
        let (finished, outcomes) = mpsc::channel(LEASE_BATCH);
        let settled = Arc::new(Notify::new());
        let settler = Settler {
            store: self.store.clone(),
            clock: Arc::clone(&self.clock),
            retry: self.retry,
            disable: self.disable,
            dice: StdRng::from_seed(random(self.dice.as_ref())),
            settled: Arc::clone(&settled),
        };
        // Dropped with this future: nothing of a dispatcher outlives it.
        let mut settling = JoinSet::new();
        settling.spawn(settler.run(outcomes));
        let mut attempts = JoinSet::new();
        let sender = Arc::new(Sender {
            clock: Arc::clone(&self.clock),
            secrets: self.secrets,
            transport: self.transport,
            urls: self.urls,
            metrics: self.metrics,
            finished,
        });
        let room =
            Arc::new(Semaphore::new(usize::try_from(self.concurrency).unwrap_or(Semaphore::MAX_PERMITS)));
        let leases = Leases {
            store: self.store.clone(),
            clock: self.clock,
            dice: self.dice,
            per_endpoint: i64::from(self.concurrency_per_endpoint),
        };
        let committed = self.store.deliveries_committed();
        while !*stop.borrow() {
            while attempts.try_join_next().is_some() {}
            if leases.take_and_send(&room, &sender, &mut attempts).await == Found::More {
                continue;
            }
            tokio::select! {
                () = committed.notified() => {}
                () = settled.notified() => {}
                () = tokio::time::sleep(POLL) => {}
                changed = stop.changed() => if changed.is_err() { break },
            }
        }
        // Every attempt's task holds the sender: the settler ends when the last of them has handed in its outcome.
        drop(sender);
        while attempts.join_next().await.is_some() {}
        if settling.join_next().await.is_none_or(|ended| ended.is_err()) {
            tracing::error!("the settler panicked; what it held is sent again when the leases run out");
        }
    }
}

/// Whether it is worth looking again at once.
#[derive(PartialEq, Eq)]
enum Found {
    /// As many as were asked for: there may be more.
    More,
    /// Fewer.
    Rest,
}

struct Leases {
    store: Store,
    clock: Arc<dyn Clock>,
    dice: Arc<dyn Dice>,
    per_endpoint: i64,
}

impl Leases {
    async fn take_and_send(
        &self,
        room: &Arc<Semaphore>,
        sender: &Arc<Sender>,
        attempts: &mut JoinSet<()>,
    ) -> Found {
        let limit = room.available_permits().min(LEASE_BATCH);
        if limit == 0 {
            return Found::Rest;
        }
        let token = hex::encode(random::<16>(self.dice.as_ref()));
        let asked = i64::try_from(limit).unwrap_or(i64::MAX);
        let (clock, per_endpoint) = (Arc::clone(&self.clock), self.per_endpoint);
        let named = token.clone();
        let leased = self
            .store
            .write(move |tx: &mut dyn Tx| {
                Box::pin(async move {
                    // Read when the job's turn has come: a lease that aged in the queue would be born half over.
                    let now = Timestamp::from_ms(clock.now_ms());
                    let until = now.plus_ms(LEASE_MS);
                    let lease = Lease { token: named, now, until, limit: asked, per_endpoint };
                    Ok((tx.delivery_lease_due(&lease).await?, until))
                })
            })
            .await;
        let (leased, until): (Vec<LeasedDelivery>, Timestamp) = match leased {
            Ok(leased) => leased,
            Err(error) => {
                let error: StoreError = error;
                tracing::warn!(error = %error, "no deliveries could be leased");
                return Found::Rest;
            }
        };
        let found = if leased.len() == limit { Found::More } else { Found::Rest };
        for delivery in leased {
            // There is room: nobody else takes permits.
            let Ok(permit) = Arc::clone(room).try_acquire_owned() else { break };
            let sender = Arc::clone(sender);
            let token = token.clone();
            attempts.spawn(async move { sender.send(delivery, token, until, permit).await });
        }
        found
    }
}

impl Sender {
    async fn send(
        &self,
        delivery: LeasedDelivery,
        token: String,
        leased_until: Timestamp,
        permit: OwnedSemaphorePermit,
    ) {
        let number = delivery.attempt_count + 1;
        let started_at = Timestamp::from_ms(self.clock.now_ms());
        if number == 1 {
            self.metrics.first_attempt(between(delivery.created_at, started_at));
        }
        let report = self.attempt(&delivery, number, started_at).await;
        self.metrics
            .attempt(classify(report.outcome, report.status), Duration::from_millis(report.duration_ms));
        let finished_at = Timestamp::from_ms(self.clock.now_ms());
        let finished = Finished { delivery, token, leased_until, number, started_at, finished_at, report };
        // The settler outlives every sender.
        let _ = self.finished.send(finished).await;
        drop(permit);
    }

    async fn attempt(&self, delivery: &LeasedDelivery, number: i64, now: Timestamp) -> AttemptReport {
        // The rules may have changed since the endpoint was made.
        let Ok(url) = self.urls.parse(&delivery.url, delivery.livemode) else {
            return not_sent(AttemptOutcome::BlockedAddress);
        };
        let headers = match signing::headers(delivery, number, now, &self.secrets) {
            Ok(headers) => headers,
            Err(error) => {
                tracing::error!(delivery_id = %delivery.id, endpoint_id = %delivery.endpoint_id, %error, "not sent");
                return not_sent(AttemptOutcome::ProtocolError);
            }
        };
        let body = Bytes::copy_from_slice(delivery.body.as_bytes());
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

fn random<const N: usize>(dice: &dyn Dice) -> [u8; N] {
    let mut bytes = [0; N];
    dice.fill(&mut bytes);
    bytes
}
