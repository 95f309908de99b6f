//! One receiver's connections, and the attempts that wait for one.
//!
//! Everything here runs under the lock of the pool. Nothing that takes the lock when it is dropped may therefore be
//! dropped here: a lease that nobody wants any more is taken apart first.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use super::connection::Http1;
use super::http2::Http2;
use super::{Handed, Lease, Origin, Pool, PoolLimits};
use crate::dispatch::connector::ConnectFailure;

/// Idle HTTP/1.1 connections to one receiver: as many as one endpoint may have requests in flight (contract 18.4-8).
const IDLE_MAX: usize = 256;

/// HTTP/2 connections to one receiver, for one that allows very few streams on each.
const SHARED_MAX: usize = 256;

/// Which HTTP the receiver spoke last.
#[derive(Clone, Copy, Debug, Default)]
enum Speaks {
    #[default]
    Unknown,
    Http1,
    /// With so many streams on a connection at a time.
    Http2 {
        streams: usize,
    },
}

/// An attempt that waits.
pub(super) struct Waiter {
    pub(super) to: oneshot::Sender<Handed>,
    /// It wants a connection that was begun after this one.
    pub(super) after: Option<u64>,
}

#[derive(Default)]
pub(super) struct Host {
    /// HTTP/1.1 connections without a request; the one that was used last is at the end, and is used first.
    pub(super) idle: Vec<Http1>,
    /// HTTP/2 connections that take requests.
    pub(super) shared: Vec<Arc<Http2>>,
    pub(super) waiting: VecDeque<Waiter>,
    /// Connections that are being made.
    pub(super) connecting: usize,
    /// HTTP/1.1 connections whose response has ended, and which are there in a moment.
    pub(super) returning: usize,
    speaks: Speaks,
    /// When a further connection beside open ones may be tried.
    further_at: Duration,
}

impl Host {
    /// A connection that is there.
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

    /// Hands the HTTP/2 connections that have room to those who wait.
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
                    // Where nobody is served who takes any connection, nobody is.
                    room &= waiter.after.is_some() || waiter.to.is_closed();
                    self.waiting.push_back(waiter);
                }
            }
        }
    }

    /// Takes in an HTTP/1.1 connection that was just made: it serves anybody.
    pub(super) fn came_http1(&mut self, connection: Http1, pool: &Arc<Pool>, origin: &Origin) {
        self.speaks = Speaks::Http1;
        self.hand(connection, pool, origin, |_| true);
    }

    /// Takes back one that was used: it serves those who do not ask for a new one.
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
        if self.idle.len() < IDLE_MAX && !connection.serves_once() {
            connection.is_kept();
            self.idle.push(connection);
        }
    }

    /// Takes in an HTTP/2 connection that was just made.
    pub(super) fn came_http2(&mut self, connection: Arc<Http2>, pool: &Arc<Pool>, origin: &Origin) {
        if !matches!(self.speaks, Speaks::Http2 { .. }) {
            // How many streams it allows comes after the handshake; until then one connection is enough for all.
            self.speaks = Speaks::Http2 { streams: usize::MAX };
        }
        if connection.serves_once() {
            while let Some(waiter) = self.waiting.pop_front() {
                if !waiter.to.is_closed() {
                    return undo(waiter.to.send(Ok(Lease::http2(&connection, pool, origin))));
                }
            }
            return;
        }
        self.shared.push(connection);
        self.serve(pool, origin);
    }

    /// A connection could not be made. Those fail whom no other one can serve: neither one that is open nor one that is
    /// still being made.
    pub(super) fn failed(&mut self, failure: Arc<ConnectFailure>, further_at: Duration) {
        self.further_at = further_at;
        let mut coming = match self.speaks {
            Speaks::Unknown if self.connecting > 0 => usize::MAX,
            Speaks::Unknown => 0,
            Speaks::Http1 => self.connecting,
            Speaks::Http2 { streams } => self.connecting.saturating_mul(streams.max(1)),
        };
        // From the end: the connections to come are of those who came last.
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

    /// How many connections are to be begun for those who wait.
    pub(super) fn missing(&mut self, now: Duration, https: bool) -> usize {
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
            Speaks::Http2 { streams } => {
                let more = SHARED_MAX.saturating_sub(self.shared.len());
                waiting.div_ceil(streams.max(1)).min(more)
            }
        };
        let unknown = self.shared.iter().filter(|connection| !connection.is_settled()).count();
        wanted.saturating_sub(self.connecting + unknown)
    }

    pub(super) fn close_idle(&mut self, now: Duration, limits: PoolLimits) {
        self.idle.retain(|connection| connection.is_usable(now, limits));
        self.shared
            .retain(|connection| connection.is_usable(now, limits) && !connection.is_idle(now, limits));
    }

    pub(super) fn is_unused(&self) -> bool {
        self.idle.is_empty() && self.shared.is_empty() && self.waiting.is_empty() && self.connecting == 0
    }
}

fn is_after(connection: &Arc<Http2>, after: Option<u64>) -> bool {
    after.is_none_or(|number| connection.number() > number)
}

/// What could not be handed over is taken apart, so that it does not go back by itself.
fn undo(sent: Result<(), Handed>) {
    if let Err(Ok(lease)) = sent {
        let _closed = lease.undo();
    }
}
