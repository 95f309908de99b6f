//! The connection slots of a server, and which connection is evicted when none is free.
//!
//! A connection enters, waits for a request, serves it, waits again, and leaves. Only a connection that waits for its
//! peer can be evicted. First go those that are ending and wait for their peer to close. Then, when connections that
//! have never sent a request hold more than a quarter of the slots, go those, oldest first; after them those that are
//! idle between requests, longest idle first. While they hold a quarter or less, idle connections go before them:
//! otherwise peers that fill the slots with idle connections could keep everybody else from sending a first
//! request. Then go those that wait for the rest of a request's body, oldest first, and only while they hold more than
//! a quarter: a client that announces bodies and does not send them holds no more than that.
//!
//! Last of all go those whose answer is not yet written to its end, as its peer has not read it. While they hold more
//! than a quarter of the slots, they count as idle: otherwise peers that ask for large answers and do not read them
//! could leave everybody else the few slots that they do not have.
//!
//! The step from waiting to serving and the step from waiting to evicted exclude each other, so a request that has
//! arrived whole is never dropped for a new connection, and one that was evicted has done nothing.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::stream::Head;

/// Waits for its first request.
const FRESH: u8 = 0;
/// Idle: waits for a further request.
const RESTING: u8 = 1;
/// Has a request that is not yet answered.
const SERVING: u8 = 2;
/// Evicted.
const EVICTED: u8 = 3;
/// Answered before its request was read to the end, and so not reused.
const ENDING: u8 = 4;
/// Has a request whose body has not arrived to its end.
const RECEIVING: u8 = 5;
/// Has nothing to do but to write the rest of an answer.
const WRITING: u8 = 6;

/// One in this many slots is for connections that have not sent a request yet, one for requests whose bodies are
/// arriving, and one for answers that are being read.
const SHARE: usize = 4;

/// All connections of a server.
pub(super) struct Connections {
    limit: usize,
    open: Mutex<HashMap<u64, Arc<Slot>>>,
    counter: Arc<AtomicU64>,
    /// Woken when a connection leaves or becomes idle: there may be a free slot now.
    changed: Arc<Notify>,
}

/// One connection, as its task, its stream and the accept loop see it.
pub(super) struct Slot {
    id: u64,
    phase: AtomicU8,
    /// When it began to wait, counted in steps of the server, not as a time.
    waiting_since: AtomicU64,
    evict: Notify,
    head: Mutex<Head>,
    /// The last request was answered before its body was read to the end.
    body_left: AtomicBool,
    /// The router has answered, and not all of it is written.
    answer_unwritten: AtomicBool,
    counter: Arc<AtomicU64>,
    changed: Arc<Notify>,
}

/// The connection was evicted before its request had begun.
#[derive(Debug, thiserror::Error)]
#[error("the connection gave way to another")]
pub(super) struct Evicted;

/// Releases its slot when dropped.
pub(super) struct ConnectionPermit<'c> {
    connections: &'c Connections,
    id: u64,
}

/// When dropped, the connection waits for its peer: its answer was handed off.
pub(super) struct ActiveRequest(Arc<Slot>);

impl Connections {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit: limit.max(1),
            open: Mutex::new(HashMap::new()),
            counter: Arc::new(AtomicU64::new(0)),
            changed: Arc::new(Notify::new()),
        }
    }

    /// Takes a slot, evicting a waiting connection when none is free; waits while all of them serve.
    pub(super) async fn enter(&self) -> Arc<Slot> {
        self.enter_when(|| self.has_room() || self.evict_one()).await
    }

    /// Takes a slot when one is free.
    pub(super) async fn enter_when_free(&self) -> Arc<Slot> {
        self.enter_when(|| self.has_room()).await
    }

    fn has_room(&self) -> bool {
        self.lock().len() < self.limit
    }

    async fn enter_when(&self, may_enter: impl Fn() -> bool) -> Arc<Slot> {
        loop {
            let changed = self.changed.notified();
            if may_enter() {
                break;
            }
            changed.await;
        }
        let id = self.counter.fetch_add(1, Ordering::Relaxed);
        let slot = Arc::new(Slot {
            id,
            phase: AtomicU8::new(FRESH),
            waiting_since: AtomicU64::new(id),
            evict: Notify::new(),
            head: Mutex::new(Head::default()),
            body_left: AtomicBool::new(false),
            answer_unwritten: AtomicBool::new(false),
            counter: self.counter.clone(),
            changed: self.changed.clone(),
        });
        self.lock().insert(id, slot.clone());
        slot
    }

    /// The guard that releases `slot`.
    pub(super) fn place(&self, slot: &Slot) -> ConnectionPermit<'_> {
        ConnectionPermit { connections: self, id: slot.id }
    }

    /// Evicts the connection that comes first in the order above. False when none waits.
    pub(super) fn evict_one(&self) -> bool {
        let mut open = self.lock();
        loop {
            let longest = |phases: &[u8]| {
                let waiting = open.values().filter_map(|slot| {
                    let phase = slot.phase.load(Ordering::Acquire);
                    let since = slot.waiting_since.load(Ordering::Relaxed);
                    phases.contains(&phase).then_some((since, slot.id, phase))
                });
                waiting.min()
            };
            let beyond_share = |phase| {
                let of_phase = open.values().filter(|slot| slot.phase.load(Ordering::Acquire) == phase);
                of_phase.count() > self.limit / SHARE
            };
            let idle: &[u8] = if beyond_share(WRITING) { &[RESTING, WRITING] } else { &[RESTING] };
            let [sooner, later]: [&[u8]; 2] =
                if beyond_share(FRESH) { [&[FRESH], idle] } else { [idle, &[FRESH]] };
            let receiving: &[u8] = if beyond_share(RECEIVING) { &[RECEIVING] } else { &[] };
            let order: [&[u8]; 5] = [&[ENDING], sooner, later, receiving, &[WRITING]];
            let found = order.into_iter().find_map(longest);
            let Some((_, id, phase)) = found else { return false };
            let Some(slot) = open.get(&id) else { return false };
            if slot.phase.compare_exchange(phase, EVICTED, Ordering::AcqRel, Ordering::Acquire).is_ok() {
                slot.evict.notify_one();
                open.remove(&id);
                return true;
            }
            // It went on meanwhile: try another one.
        }
    }

    /// The number of open connections, without evicted ones.
    pub(super) fn count(&self) -> usize {
        self.lock().len()
    }

    /// Resolves when no connection is open. Only for shutdown, when nobody enters any more: it consumes the wake-ups
    /// that those who enter wait for.
    pub(super) async fn emptied(&self) {
        loop {
            let changed = self.changed.notified();
            if self.count() == 0 {
                return;
            }
            changed.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Arc<Slot>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ConnectionPermit<'_> {
    fn drop(&mut self) {
        self.connections.lock().remove(&self.id);
        self.connections.changed.notify_one();
    }
}

impl Slot {
    /// Resolves when the connection is evicted.
    pub(super) async fn evicted(&self) {
        self.evict.notified().await;
    }

    /// A request's head has arrived: returns the guard for serving it, and the head as it was read.
    pub(super) fn begin(self: &Arc<Self>) -> Result<(ActiveRequest, Head), Evicted> {
        let begin = |phase| (phase != EVICTED).then_some(SERVING);
        match self.phase.fetch_update(Ordering::AcqRel, Ordering::Acquire, begin) {
            Ok(_) => Ok((ActiveRequest(self.clone()), std::mem::take(&mut *self.head()))),
            Err(_) => Err(Evicted),
        }
    }

    /// The step since which the connection has waited for a head; `None` while it has a request.
    pub(super) fn waiting_since(&self) -> Option<u64> {
        let has_request = matches!(self.phase.load(Ordering::Acquire), SERVING | RECEIVING);
        (!has_request).then(|| self.waiting_since.load(Ordering::Relaxed))
    }

    /// Notes that the request waits for its body.
    pub(super) fn await_body(&self) {
        if self.phase.load(Ordering::Acquire) == SERVING {
            self.wait_as(SERVING, RECEIVING);
        }
    }

    /// Notes that the request no longer waits for its body.
    ///
    /// # Errors
    /// The connection was evicted meanwhile: nothing may be done for the request.
    pub(super) fn end_body(&self) -> Result<(), Evicted> {
        match self.phase.compare_exchange(RECEIVING, SERVING, Ordering::AcqRel, Ordering::Acquire) {
            Err(EVICTED) => Err(Evicted),
            _ => Ok(()),
        }
    }

    /// Goes from a phase in which it cannot be evicted to one in which it can.
    fn wait_as(&self, from: u8, to: u8) {
        self.waiting_since.store(self.counter.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        if self.phase.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            self.changed.notify_one();
        }
    }

    /// Notes that the request was answered before its body was read to the end.
    pub(super) fn leave_body(&self) {
        self.body_left.store(true, Ordering::Release);
    }

    /// Notes that the router has answered: what is written next is its answer.
    pub(super) fn note_answer(&self) {
        self.answer_unwritten.store(true, Ordering::Release);
    }

    /// Notes that hyper has written everything it had.
    pub(super) fn note_written(&self) {
        self.answer_unwritten.store(false, Ordering::Release);
        // It could be evicted before, so nobody has to be woken.
        let _ = self.phase.compare_exchange(WRITING, RESTING, Ordering::AcqRel, Ordering::Acquire);
    }

    /// Whether an answer of the router is being written.
    pub(super) fn writes_answer(&self) -> bool {
        self.answer_unwritten.load(Ordering::Acquire)
    }

    /// Whether the peer may still be sending bytes that will not be read: the rest of a body, or of a head that
    /// was refused.
    pub(super) fn leaves_unread(&self) -> bool {
        self.body_left.load(Ordering::Acquire) || !self.head().is_empty()
    }

    /// The bytes of the head that is arriving.
    pub(super) fn head(&self) -> MutexGuard<'_, Head> {
        self.head.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        let slot = &self.0;
        let waits = if slot.body_left.load(Ordering::Acquire) {
            ENDING
        } else if slot.writes_answer() {
            // The connection's own task is here, and is the one that notes when all of it is written.
            WRITING
        } else {
            RESTING
        };
        slot.wait_as(SERVING, waits);
    }
}

#[cfg(test)]
mod tests;
