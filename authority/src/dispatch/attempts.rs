//! The attempts in flight: one task for every request (contract 7.2, 12 T8, 18.4).
//!
//! When the store's writer has leased a delivery and committed, it puts the delivery into the queue
//! ([`super::queue`]) at once, on the writer's own task, so that nothing in between can delay it. The delivery
//! begins as soon as it gets a slot, mostly immediately. Its task judges the URL again, signs, has the
//! [`Transport`](super::transport::Transport) make the attempt, frees the slot for the next delivery in the queue, and
//! reports the outcome. A lease that is too old for an attempt, because the commit took long or the clock was set
//! forward, is given back instead.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use authority_domain::{DeliveryId, EndpointId};
use authority_store::hand_off::{HandedOff, LeasedDelivery};
use authority_store::shards::{ShardSet, Turns};
use authority_store::slots::Moment;
use authority_store::tx::Tx;
use authority_store::{Store, StoreError};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::queue::SendQueue;
use super::sender::Sender;

/// The tasks and the queue in front of them. Dropping it stops all tasks where they are.
pub(super) struct Attempts(Arc<Mutex<State>>);

/// A handle to [`Attempts`]: hands off deliveries, recalls them, and begins the next ones.
#[derive(Clone)]
pub(super) struct AttemptsHandle(Arc<Mutex<State>>);

enum State {
    Running {
        tasks: JoinSet<()>,
        queue: SendQueue,
        sender: Arc<Sender>,
    },
    /// Leased deliveries that were not begun.
    Stopping(Leases),
    Dead,
}

/// Leases that are given back.
#[derive(Clone, Default)]
pub(super) struct Leases {
    by_token: BTreeMap<String, Vec<DeliveryId>>,
    /// The shards of their merchants.
    shards: ShardSet,
}

impl Leases {
    fn of(deliveries: &[HandedOff]) -> Self {
        let mut leases = Self::default();
        deliveries.iter().for_each(|leased| leases.add(&leased.token, &leased.delivery));
        leases
    }

    /// The lease of one delivery.
    pub(super) fn of_one(token: &str, delivery: &LeasedDelivery) -> Self {
        let mut leases = Self::default();
        leases.add(token, delivery);
        leases
    }

    fn add(&mut self, token: &str, delivery: &LeasedDelivery) {
        self.by_token.entry(token.to_owned()).or_default().push(delivery.id.clone());
        self.shards = self.shards.or(ShardSet::of(&delivery.merchant_id));
    }

    fn extend(&mut self, more: Self) {
        for (token, mut ids) in more.by_token {
            self.by_token.entry(token).or_default().append(&mut ids);
        }
        self.shards = self.shards.or(more.shards);
    }
}

impl Attempts {
    pub(super) fn begin_with(sender: Sender) -> Self {
        let queue = SendQueue::default();
        Self(Arc::new(Mutex::new(State::Running { tasks: JoinSet::new(), queue, sender: Arc::new(sender) })))
    }

    /// A handle that takes deliveries.
    pub(super) fn beginning(&self) -> AttemptsHandle {
        AttemptsHandle(Arc::clone(&self.0))
    }

    /// Gives back the leases of deliveries that have been queued for too long.
    pub(super) fn give_back_stale(&self) {
        if let State::Running { tasks, queue, sender } = &mut *locked(&self.0) {
            let stale = queue.take_stale(sender.now());
            if !stale.is_empty() {
                let sender = Arc::clone(sender);
                tasks.spawn(async move { give_back(&sender, stale).await });
            }
        }
    }

    /// Stops beginning attempts. The slots are already closed, so any delivery still to be handed off comes from one of
    /// the `jobs` that run already; this function waits for these. Their deliveries, and all that are queued here, are
    /// given back at once; attempts that have begun run to their end.
    pub(super) async fn stop(self, store: &Store, jobs: &watch::Sender<()>) {
        let state = std::mem::replace(&mut *locked(&self.0), State::Stopping(Leases::default()));
        let State::Running { mut tasks, mut queue, sender } = state else { return };
        drop(sender);
        let waiting = Leases::of(&queue.take_all());
        jobs.closed().await;
        let state = std::mem::replace(&mut *locked(&self.0), State::Dead);
        if let State::Stopping(mut not_begun) = state {
            not_begun.extend(waiting);
            release(store, not_begun).await;
        }
        while tasks.join_next().await.is_some() {}
    }
}

impl Drop for Attempts {
    fn drop(&mut self) {
        *locked(&self.0) = State::Dead;
    }
}

impl AttemptsHandle {
    /// Takes a delivery whose lease was committed.
    pub(super) fn hand_off(&self, delivery: HandedOff) {
        match &mut *locked(&self.0) {
            State::Running { tasks, queue, sender } => {
                while tasks.try_join_next().is_some() {}
                let (now, endpoint) = (sender.now(), delivery.delivery.endpoint_id.clone());
                queue.push(delivery, now);
                let begun = queue.begin(&endpoint, now);
                self.spawn(tasks, sender, begun);
            }
            State::Stopping(not_begun) => not_begun.add(&delivery.token, &delivery.delivery),
            State::Dead => {}
        }
    }

    /// A request to this endpoint has ended: begins queued deliveries that may use its slot.
    pub(super) fn go_on(&self, endpoint: &EndpointId) {
        if let State::Running { tasks, queue, sender } = &mut *locked(&self.0) {
            let begun = queue.begin(endpoint, sender.now());
            self.spawn(tasks, sender, begun);
        }
    }

    /// Gives back the queued deliveries of this endpoint: it was changed, or nothing may be sent there now.
    pub(super) fn recall(&self, endpoint: &EndpointId) {
        if let State::Running { tasks, queue, sender } = &mut *locked(&self.0) {
            let waiting = queue.take(endpoint);
            if !waiting.is_empty() {
                let sender = Arc::clone(sender);
                tasks.spawn(async move { give_back(&sender, waiting).await });
            }
        }
    }

    /// Gives back deliveries that were leased in the transaction that changed their endpoints.
    pub(super) fn give_back(&self, outdated: Vec<HandedOff>) {
        match &mut *locked(&self.0) {
            State::Running { tasks, sender, .. } => {
                let sender = Arc::clone(sender);
                tasks.spawn(async move { give_back(&sender, outdated).await });
            }
            State::Stopping(not_begun) => not_begun.extend(Leases::of(&outdated)),
            State::Dead => {}
        }
    }

    fn spawn(&self, tasks: &mut JoinSet<()>, sender: &Arc<Sender>, begun: Vec<HandedOff>) {
        for delivery in begun {
            let (sender, begin) = (Arc::clone(sender), self.clone());
            tasks.spawn(async move { sender.send(delivery, &begin).await });
        }
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives back the leases of queued deliveries, and wakes whoever may send them next.
async fn give_back(sender: &Sender, waiting: Vec<HandedOff>) {
    let mut endpoints: Vec<EndpointId> =
        waiting.iter().map(|waiting| waiting.delivery.endpoint_id.clone()).collect();
    endpoints.dedup();
    let leases = Leases::of(&waiting);
    drop(waiting);
    release(&sender.store, leases).await;
    for endpoint in &endpoints {
        sender.slots.leave_behind(endpoint);
    }
    sender.slots.committed_behind(&endpoints);
}

/// Gives back deliveries that were leased and not begun.
pub(super) async fn release(store: &Store, leases: Leases) {
    if leases.by_token.is_empty() {
        return;
    }
    let released: Result<(), StoreError> = store
        .write_with(Turns::each(leases.shards), move |tx: &mut Tx| {
            Box::pin(async move {
                for (token, ids) in &leases.by_token {
                    tx.delivery_lease_release(token, ids).await?;
                }
                Ok(())
            })
        })
        .await;
    if let Err(error) = released {
        tracing::warn!(error = %error, "leases could not be given back; they run out");
    }
}

/// The current time of this clock, monotonic and wall.
pub(super) fn moment(clock: &dyn crate::clock::Clock) -> Moment {
    Moment {
        monotonic_ms: u64::try_from(clock.monotonic().as_millis()).unwrap_or(u64::MAX),
        wall: authority_domain::time::Timestamp::from_ms(clock.now_ms()),
    }
}
