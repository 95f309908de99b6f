//! Look-ups of names, bounded so that a slow one delays only those who wait for it (contract 18.4-2).
//!
//! All callers that ask for a name while it is being looked up get the same answer; the look-up ends when the last
//! of them gives up. A look-up begins in a quick slot. If it has no answer soon, it moves to a slow slot; if none is
//! free, it ends. Names that were answered before have quick and slow slots of their own, and a name that was silent
//! the last time begins in a slow slot. So names that never answer take no slot from names in use, and take a quick
//! slot from new names only once and briefly.
//!
//! A name without any answer is not asked for again for a while, which doubles each time.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared, WeakShared};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::clock::Clock;

/// How long a look-up may hold a quick slot.
const QUICK: Duration = Duration::from_millis(250);

/// After this time a look-up counts as one without an answer, even when no caller waits for it any longer.
const SILENT_AFTER: Duration = Duration::from_millis(1500);

/// How long a name is not asked for after its first look-up without an answer. The wait doubles up to the maximum.
const LEFT_ALONE: Duration = Duration::from_secs(3);
const LEFT_ALONE_MAX: Duration = Duration::from_secs(60);

/// How long it is remembered that a name was answered, or how often it was not.
const REMEMBERED: Duration = Duration::from_secs(3600);

/// The most names for which that is remembered.
const REMEMBERED_MAX: usize = 8192;

/// How many look-ups run at a time: this many for names that were answered before, and as many again for others.
#[derive(Clone, Copy, Debug)]
pub(super) struct LookupLimits {
    pub(super) quick: usize,
    pub(super) slow: usize,
}

/// The slots for one kind of names.
struct Room {
    quick: Semaphore,
    slow: Semaphore,
}

impl Room {
    fn new(places: LookupLimits) -> Self {
        Self { quick: Semaphore::new(places.quick), slow: Semaphore::new(places.slow) }
    }
}

type Answer = Result<Vec<IpAddr>, Arc<io::Error>>;
type Lookup = BoxFuture<'static, Answer>;

/// The function that asks the name servers.
type Ask = Box<dyn Fn(&str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> + Send + Sync>;

pub(super) struct Lookups {
    ask: Ask,
    clock: Arc<dyn Clock>,
    /// For names that were answered before.
    known: Room,
    others: Room,
    running: Mutex<HashMap<String, WeakShared<Lookup>>>,
    memory: Mutex<HashMap<String, Memory>>,
}

/// What is remembered about a name.
#[derive(Clone, Copy, Debug)]
enum Memory {
    Answered { at: Duration },
    Silent { until: Duration, times: u32 },
}

impl Memory {
    fn is_old(self, now: Duration) -> bool {
        let (Self::Answered { at } | Self::Silent { until: at, .. }) = self;
        now.saturating_sub(at) >= REMEMBERED
    }
}

impl Lookups {
    pub(super) fn new(places: LookupLimits, clock: Arc<dyn Clock>, ask: Ask) -> Arc<Self> {
        Arc::new(Self {
            ask,
            clock,
            known: Room::new(places),
            others: Room::new(places),
            running: Mutex::default(),
            memory: Mutex::default(),
        })
    }

    pub(super) async fn resolve(self: &Arc<Self>, host: &str) -> io::Result<Vec<IpAddr>> {
        let lookup = self.lookup(host);
        lookup.await.map_err(|error| io::Error::new(error.kind(), error))
    }

    /// The look-up of this name that is under way, or a new one.
    fn lookup(self: &Arc<Self>, host: &str) -> Shared<Lookup> {
        let mut running = locked(&self.running);
        if let Some(lookup) = running.get(host).and_then(WeakShared::upgrade) {
            return lookup;
        }
        let entry = Entry { lookups: Arc::clone(self), host: host.to_owned() };
        let lookup = Self::run(entry).boxed().shared();
        running.extend(lookup.downgrade().map(|lookup| (host.to_owned(), lookup)));
        lookup
    }

    async fn run(entry: Entry) -> Answer {
        let Entry { lookups, host } = &entry;
        lookups.find(host).await
    }

    async fn find(&self, host: &str) -> Answer {
        let remembered = locked(&self.memory).get(host).copied();
        let answer = match remembered {
            Some(Memory::Silent { until, .. }) if self.clock.monotonic() < until => {
                Err(no_answer("the name servers did not answer a moment ago"))
            }
            Some(Memory::Silent { .. }) => self.ask_slowly(host).await,
            Some(Memory::Answered { .. }) => self.find_in(&self.known, host).await,
            None => self.find_in(&self.others, host).await,
        };
        answer.map_err(Arc::new)
    }

    async fn find_in(&self, room: &Room, host: &str) -> io::Result<Vec<IpAddr>> {
        // The semaphores are never closed.
        let quick = room.quick.acquire().await.map_err(io::Error::other)?;
        let mut question = self.question(host);
        match timeout(QUICK, &mut question).await {
            Ok(answer) => answer,
            Err(_) => {
                let slow = room.slow.try_acquire();
                drop(quick);
                let _slow = slow.map_err(|_| no_answer("too many names are without an answer"))?;
                question.await
            }
        }
    }

    async fn ask_slowly(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let slow = self.others.slow.try_acquire();
        let _slow = slow.map_err(|_| no_answer("too many names are without an answer"))?;
        self.question(host).await
    }

    /// Asks the name servers and remembers the result.
    fn question<'l>(&'l self, host: &'l str) -> BoxFuture<'l, io::Result<Vec<IpAddr>>> {
        async move {
            let mut asked =
                PendingLookup { lookups: self, host, since: self.clock.monotonic(), answered: false };
            let answer = (self.ask)(host).await;
            asked.answered = !answer.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::TimedOut);
            if answer.is_ok() {
                self.remember(host, |_, at| Memory::Answered { at });
            }
            answer
        }
        .boxed()
    }

    /// How many names are being looked up.
    #[cfg(test)]
    pub(super) fn running(&self) -> usize {
        locked(&self.running).len()
    }

    fn remember(&self, host: &str, note: impl FnOnce(Option<Memory>, Duration) -> Memory) {
        let now = self.clock.monotonic();
        let mut memory = locked(&self.memory);
        if memory.len() >= REMEMBERED_MAX && !memory.contains_key(host) {
            memory.retain(|_, memory| !memory.is_old(now));
            if memory.len() >= REMEMBERED_MAX {
                return;
            }
        }
        let before = memory.get(host).copied();
        memory.insert(host.to_owned(), note(before, now));
    }
}

/// The entry of a running look-up; dropping it removes the look-up.
struct Entry {
    lookups: Arc<Lookups>,
    host: String,
}

impl Drop for Entry {
    fn drop(&mut self) {
        locked(&self.lookups.running).remove(&self.host);
    }
}

/// A question in progress. If it is dropped without an answer after [`SILENT_AFTER`], its name counts as silent.
struct PendingLookup<'l> {
    lookups: &'l Lookups,
    host: &'l str,
    since: Duration,
    answered: bool,
}

impl Drop for PendingLookup<'_> {
    fn drop(&mut self) {
        let now = self.lookups.clock.monotonic();
        if self.answered || now.saturating_sub(self.since) < SILENT_AFTER {
            return;
        }
        self.lookups.remember(self.host, |before, now| {
            let times = match before {
                Some(Memory::Silent { times, .. }) => times.saturating_add(1),
                _ => 0,
            };
            let pause = LEFT_ALONE.saturating_mul(2_u32.saturating_pow(times)).min(LEFT_ALONE_MAX);
            Memory::Silent { until: now.saturating_add(pause), times }
        });
    }
}

fn no_answer(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, why)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
