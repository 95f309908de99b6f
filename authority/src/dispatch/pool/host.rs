//! One receiver's connections, and the attempts that wait for one.
//!
//! Everything here runs under the lock of the pool. So nothing may be dropped here that takes the lock in its
//! `drop`: a lease that no attempt wants any more is undone first.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use super::connection::Http1;
use super::http2::Http2;
use super::{Handed, Lease, Origin, Pool, PoolLimits};
use crate::dispatch::connector::ConnectFailure;

/// The most idle HTTP/1.1 connections to one receiver: the most requests that one endpoint may have in flight
/// (contract 18.4-8).
const IDLE_MAX: usize = 256;

/// The most HTTP/2 connections to one receiver; needed when it allows very few streams on each.
const SHARED_MAX: usize = 256;

/// Which HTTP version the receiver spoke last.
#[derive(Clone, Copy, Debug, Default)]
enum Speaks {
    #[default]
    Unknown,
    Http1,
    /// With this many streams on a connection at a time.
    Http2 {
        streams: usize,
    },
}

/// An attempt that waits for a connection.
pub(super) struct Waiter {
    pub(super) to: oneshot::Sender<Handed>,
    /// If set, it wants a connection that was begun after the one with this number.
    pub(super) after: Option<u64>,
}

#[derive(Default)]
pub(super) struct Host {
    /// Idle HTTP/1.1 connections. The one used last is at the end, and is taken first.
    pub(super) idle: Vec<Http1>,
    /// HTTP/2 connections that take requests.
    pub(super) shared: Vec<Arc<Http2>>,
    pub(super) waiting: VecDeque<Waiter>,
    /// Connections that are being made.
    pub(super) connecting: usize,
    /// HTTP/1.1 connections whose response has ended and which will be back shortly.
    pub(super) returning: usize,
    speaks: Speaks,
    /// When a further connection beside open ones may be tried.
    further_at: Duration,
}

impl Host {
    /// Takes a connection that is open and free.
    pub(super) fn take(&mut self, after: Option<u64>, pool: &Arc<Pool>, origin: &Origin) -> Option<Lease> {
        let now = pool.now();
        if let Some(lease) = self.take_shared(after, pool, origin) {
            return Some(lease);
        }
        if after.is_some() {
            return None;
        }
        while let Some(connection) = self.idle.pop() {
            if connection.is_usable(now, pool.limits) {
                return Some(Lease::http1(connection, pool, origin));
            }
        }
        None
    }

    fn take_shared(&mut self, after: Option<u64>, pool: &Arc<Pool>, origin: &Origin) -> Option<Lease> {
        let now = pool.now();
        self.shared.retain(|connection| connection.is_usable(now, pool.limits));
        let wanted = |connection: &&Arc<Http2>| is_after(connection, after) && connection.has_room();
        let connection = self.shared.iter().find(wanted)?;
        Some(Lease::http2(connection, pool, origin))
    }

    /// Gives the free streams of HTTP/2 connections to waiting attempts. What nobody needs of those opened above the
    /// limit is closed.
    pub(super) fn serve(&mut self, pool: &Arc<Pool>, origin: &Origin) {
        if let Some(streams) =
            self.shared.iter().filter_map(|connection| connection.known_limit()).next_back()
        {
            self.speaks = Speaks::Http2 { streams };
        }
        let mut room = true;
        for waiter in std::mem::take(&mut self.waiting) {
            let lease = match room && !waiter.to.is_closed() {
                true => self.take_shared(waiter.after, pool, origin),
                false => None,
            };
            match lease {
                Some(lease) => undo(waiter.to.send(Ok(lease))),
                None => {
                    // If a waiter that accepts any connection gets none, no later waiter gets one.
                    room &= waiter.after.is_some() || waiter.to.is_closed();
                    self.waiting.push_back(waiter);
                }
            }
        }
        if !self.is_waited_for() {
            self.shared.retain(|connection| !connection.above_limit || connection.idle_since().is_none());
        }
    }

    fn is_waited_for(&self) -> bool {
        self.waiting.iter().any(|waiter| !waiter.to.is_closed())
    }

    /// Adds an HTTP/1.1 connection that was just made: it may serve any waiter.
    pub(super) fn came_http1(&mut self, connection: Http1, pool: &Arc<Pool>, origin: &Origin) {
        self.speaks = Speaks::Http1;
        self.hand(connection, pool, origin, |_| true);
    }

    /// Takes back a used HTTP/1.1 connection: it may serve the waiters that do not ask for a newer one.
    pub(super) fn came_back(&mut self, connection: Http1, pool: &Arc<Pool>, origin: &Origin) {
        self.hand(connection, pool, origin, |waiter| waiter.after.is_none());
    }

    fn hand(
        &mut self,
        mut connection: Http1,
        pool: &Arc<Pool>,
        origin: &Origin,
        serves: impl Fn(&Waiter) -> bool,
    ) {
        if !connection.is_usable(pool.now(), pool.limits) {
            return;
        }
        while let Some(at) = self.waiting.iter().position(|waiter| !waiter.to.is_closed() && serves(waiter)) {
            let Some(waiter) = self.waiting.remove(at) else { break };
            match waiter.to.send(Ok(Lease::http1(connection, pool, origin))) {
                Ok(()) => return,
                Err(unwanted) => match unwanted.ok().and_then(Lease::undo) {
                    Some(again) => connection = again,
                    None => return,
                },
            }
        }
        if self.idle.len() < IDLE_MAX && !connection.serves_once {
            connection.kept = true;
            self.idle.push(connection);
        }
    }

    /// Adds an HTTP/2 connection that was just made.
    pub(super) fn came_http2(&mut self, connection: Arc<Http2>, pool: &Arc<Pool>, origin: &Origin) {
        if !matches!(self.speaks, Speaks::Http2 { .. }) {
            // The receiver announces its stream limit after the handshake; until then one connection counts as
            // enough for all.
            self.speaks = Speaks::Http2 { streams: usize::MAX };
        }
        self.shared.push(connection);
        self.serve(pool, origin);
    }

    /// A connection could not be made. The waiters fail that no other connection can serve, neither an open one nor
    /// one that is still being made.
    pub(super) fn failed(&mut self, failure: Arc<ConnectFailure>, further_at: Duration) {
        self.further_at = further_at;
        let mut coming = match self.speaks {
            Speaks::Unknown if self.connecting > 0 => usize::MAX,
            Speaks::Unknown => 0,
            Speaks::Http1 => self.connecting,
            Speaks::Http2 { streams } => self.connecting.saturating_mul(streams.max(1)),
        };
        // From the end of the queue: the connections still being made belong to the newest waiters.
        let mut kept = VecDeque::new();
        while let Some(waiter) = self.waiting.pop_back() {
            if self.shared.iter().any(|connection| is_after(connection, waiter.after)) {
                kept.push_front(waiter);
            } else if coming > 0 {
                coming -= 1;
                kept.push_front(waiter);
            } else {
                undo(waiter.to.send(Err(Arc::clone(&failure))));
            }
        }
        self.waiting = kept;
    }

    /// How many connections to begin for the waiting attempts.
    pub(super) fn missing(&mut self, now: Duration, limits: PoolLimits, https: bool) -> usize {
        self.waiting.retain(|waiter| !waiter.to.is_closed());
        let waiting = self.waiting.len();
        if !https {
            // HTTP/2 is agreed on in the TLS handshake.
            self.speaks = Speaks::Http1;
        }
        let wanted = match self.speaks {
            Speaks::Unknown => waiting.min(1),
            Speaks::Http1 => waiting.saturating_sub(self.returning),
            Speaks::Http2 { .. } if !self.shared.is_empty() && now < self.further_at => 0,
            Speaks::Http2 { .. } if self.is_halted(now, limits) => 0,
            Speaks::Http2 { streams } => {
                let more = SHARED_MAX.saturating_sub(self.shared.len());
                waiting.div_ceil(streams.max(1)).min(more)
            }
        };
        let unknown = self.shared.iter().filter(|connection| !connection.is_settled()).count();
        wanted.saturating_sub(self.connecting + unknown)
    }

    /// Whether the receiver allows no requests at present. The newest connection counts: on a further one it would most
    /// likely say the same, and on the one after that.
    fn is_halted(&self, now: Duration, limits: PoolLimits) -> bool {
        let said = self.shared.iter().rfind(|other| other.is_settled() && other.is_usable(now, limits));
        said.is_some_and(|newest| newest.is_halted())
    }

    pub(super) fn close_idle(&mut self, now: Duration, limits: PoolLimits) {
        self.idle.retain(|connection| connection.is_usable(now, limits));
        let waited_for = self.is_waited_for();
        self.shared.retain(|connection| {
            let idle = connection.idle_since().map(|since| now.saturating_sub(since));
            connection.is_usable(now, limits) && (waited_for || idle.is_none_or(|idle| idle < limits.idle))
        });
    }

    /// Since when the connection has been idle that has been so for longest. A shared one is not idle while attempts
    /// wait: they wait for it.
    pub(super) fn longest_idle_since(&self) -> Option<Duration> {
        let kept = self.idle.first().map(|connection| connection.idle_since);
        let shared = self.shared.iter().filter(|_| !self.is_waited_for());
        shared.filter_map(|connection| connection.idle_since()).chain(kept).min()
    }

    /// Closes a connection that has been idle since then.
    pub(super) fn close_idle_since(&mut self, since: Duration) {
        if self.idle.first().is_some_and(|connection| connection.idle_since == since) {
            self.idle.remove(0);
        } else if let Some(at) =
            self.shared.iter().position(|connection| connection.idle_since() == Some(since))
        {
            self.shared.remove(at);
        }
    }

    pub(super) fn is_unused(&self) -> bool {
        self.idle.is_empty() && self.shared.is_empty() && self.waiting.is_empty() && self.connecting == 0
    }
}

fn is_after(connection: &Arc<Http2>, after: Option<u64>) -> bool {
    after.is_none_or(|number| connection.number() > number)
}

/// Undoes a lease that no waiter took, so that dropping it does not call back into the pool.
fn undo(sent: Result<(), Handed>) {
    if let Err(Ok(lease)) = sent {
        let _closed = lease.undo();
    }
}
