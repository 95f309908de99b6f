//! The pool of connections to receivers: finds, makes, shares and takes back connections (contract 7.6, 18.4-3,
//! 18.4-4, 18.4-8).
//!
//! An attempt asks for a connection to an [`Origin`] and gets a [`Lease`]. An open connection that is free and young
//! enough is taken at once. Otherwise the attempt waits in a queue, and the pool makes as many connections as the
//! queue needs: over HTTP/1.1 one for each request; over HTTP/2 as many as the receiver's stream limit requires; and
//! a single one as long as it is unknown which of the two the receiver speaks, so that a burst to a new receiver
//! needs one handshake if it speaks HTTP/2. The first connection that becomes available, new or given back, serves
//! the attempt that has waited longest.
//!
//! A connection is made under the address rules and is used for [`PoolLimits::age`]; then its requests end and a new
//! one is made and judged. Idle ones are closed sooner. hyper-util's pool does not fit: its client keeps one HTTP/2
//! connection per host whatever the receiver's limit is, knows no age limit, and begins as many handshakes as there
//! are requests.

mod connection;
mod host;
mod http2;
mod origin;
mod tasks;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::oneshot;
use tower_service::Service;

use self::connection::{Http1, Opened, open};
pub(super) use self::connection::{Lease, LeasedBody, SendAgain};
use self::host::{Host, Waiter};
use self::http2::Http2;
pub(super) use self::origin::Origin;
use self::origin::Stream;
use super::connection_count::{ConnectionCount, CountedConnection};
use super::connector::ConnectFailure;
use crate::clock::Clock;

/// How often to look for connections that have been idle for too long.
const SWEEP: Duration = Duration::from_secs(1);

/// The number of receivers, beyond those with connections, for which the pool remembers the HTTP version.
const HOSTS_REMEMBERED: usize = 4096;

/// After a further connection to a receiver failed, no other is tried for this long while some are open.
const FURTHER_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// How long connections are used.
#[derive(Clone, Copy, Debug)]
pub(super) struct PoolLimits {
    /// Measured from the look-up of the receiver's name.
    pub(super) age: Duration,
    /// Measured from the end of the last request.
    pub(super) idle: Duration,
    pub(super) ping_interval: Duration,
    pub(super) ping_timeout: Duration,
    /// How long a connection that nothing uses any more may take to be closed in order.
    pub(super) closing: Duration,
}

type Handed = Result<Lease, Arc<ConnectFailure>>;

/// Begins one connection; the result comes back through [`Pool::opened`].
type Begin = Box<dyn Fn(Weak<Pool>, Origin, About) + Send + Sync>;

/// A connection that is being made or is open.
#[derive(Clone, Copy, Debug)]
struct About {
    /// Later connections have higher numbers.
    number: u64,
    /// When it was begun: before the receiver's name was resolved.
    begun: Duration,
}

/// All connections under one address rule.
pub(super) struct Pool {
    state: Mutex<State>,
    begin: Begin,
    limits: PoolLimits,
    connection_count: ConnectionCount,
    clock: Arc<dyn Clock>,
}

#[derive(Default)]
struct State {
    hosts: HashMap<Origin, Host>,
    begun: u64,
    sweeping: bool,
}

impl Pool {
    pub(super) fn new<C, IO>(
        connector: C,
        limits: PoolLimits,
        connection_count: ConnectionCount,
        clock: Arc<dyn Clock>,
    ) -> Arc<Self>
    where
        C: Service<Origin, Response = CountedConnection<IO>, Error = ConnectFailure>,
        C: Clone + Send + Sync + 'static,
        C::Future: Send,
        IO: Stream,
    {
        let begin = move |pool: Weak<Self>, origin: Origin, about: About| {
            let mut connector = connector.clone();
            tokio::spawn(async move {
                let opened = match connector.call(origin.clone()).await {
                    Ok(stream) => open(stream, &origin, about, limits, &pool).await,
                    Err(failure) => Err(failure),
                };
                if let Some(pool) = pool.upgrade() {
                    pool.opened(&origin, opened);
                }
            });
        };
        Arc::new(Self { state: Mutex::default(), begin: Box::new(begin), limits, connection_count, clock })
    }

    /// Leases a connection to this origin. `after` asks for one that was begun after the connection with that
    /// number, and was not used.
    pub(super) async fn lease(self: &Arc<Self>, origin: &Origin, after: Option<u64>) -> Handed {
        let handed = {
            let mut state = self.locked();
            let host = state.at(origin);
            if let Some(lease) = host.take(after, self, origin) {
                return Ok(lease);
            }
            let (to, handed) = oneshot::channel();
            host.waiting.push_back(Waiter { to, after });
            self.begin_wanted(&mut state, origin);
            handed
        };
        // The pool outlives its leases, and a waiter is dropped only when its attempt no longer waits.
        handed.await.unwrap_or_else(|_| Err(Arc::new(ConnectFailure::Timeout)))
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins the connections that the queue needs and that are not being made yet.
    fn begin_wanted(self: &Arc<Self>, state: &mut State, origin: &Origin) {
        let now = self.now();
        let missing = state.at(origin).missing(now, self.limits, origin.is_https());
        for _ in 0..missing {
            if self.connection_count.is_full() {
                state.close_longest_idle();
            }
            state.begun += 1;
            let about = About { number: state.begun, begun: now };
            state.at(origin).connecting += 1;
            (self.begin)(Arc::downgrade(self), origin.clone(), about);
        }
    }

    /// Takes the result of a connection that was begun.
    fn opened(self: &Arc<Self>, origin: &Origin, opened: Result<Opened, ConnectFailure>) {
        let mut state = self.locked();
        let host = state.at(origin);
        host.connecting = host.connecting.saturating_sub(1);
        match opened {
            Ok(Opened::Http1(connection)) => host.came_http1(connection, self, origin),
            Ok(Opened::Http2(connection)) => host.came_http2(connection, self, origin),
            Err(failure) => {
                let again_at = self.now().saturating_add(FURTHER_AGAIN_AFTER);
                host.failed(Arc::new(failure), again_at);
            }
        }
        self.begin_wanted(&mut state, origin);
        self.sweep_later(&mut state);
    }

    fn now(&self) -> Duration {
        self.clock.monotonic()
    }

    /// A connection is about to come back; `near` tells whether this was noted before.
    fn comes_back(&self, origin: &Origin, near: &AtomicBool) {
        let mut state = self.locked();
        state.at(origin).returning += usize::from(!near.swap(true, Ordering::Relaxed));
    }

    /// Takes back a connection with no request in flight; `None` when it was closed instead.
    fn came_back(self: &Arc<Self>, origin: &Origin, connection: Option<Http1>, near: &AtomicBool) {
        let mut state = self.locked();
        let host = state.at(origin);
        host.returning = host.returning.saturating_sub(usize::from(near.swap(true, Ordering::Relaxed)));
        if let Some(connection) = connection {
            host.came_back(connection, self, origin);
        }
        self.begin_wanted(&mut state, origin);
        self.sweep_later(&mut state);
    }

    /// A stream of a connection has ended, or its stream limit has become known: waiting attempts may use it.
    fn has_room(self: &Arc<Self>, origin: &Origin) {
        let mut state = self.locked();
        state.at(origin).serve(self, origin);
        self.begin_wanted(&mut state, origin);
    }

    /// The connection takes no more requests.
    fn ended(self: &Arc<Self>, origin: &Origin, connection: &Arc<Http2>) {
        let mut state = self.locked();
        let host = state.at(origin);
        host.shared.retain(|other| !Arc::ptr_eq(other, connection));
        if connection.never_served() {
            let reset = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
            let failure = match connection.tls_failed() {
                true => ConnectFailure::Tls(reset.into()),
                false => ConnectFailure::Connect(reset),
            };
            let again_at = self.now().saturating_add(FURTHER_AGAIN_AFTER);
            host.failed(Arc::new(failure), again_at);
        }
        self.begin_wanted(&mut state, origin);
    }

    fn sweep_later(self: &Arc<Self>, state: &mut State) {
        if std::mem::replace(&mut state.sweeping, true) {
            return;
        }
        let pool = Arc::downgrade(self);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(SWEEP).await;
                match pool.upgrade() {
                    Some(pool) if pool.sweep() => {}
                    _ => return,
                }
            }
        });
    }

    /// Closes connections that have been idle for too long. True while there is anything left to sweep.
    fn sweep(&self) -> bool {
        let now = self.now();
        let mut state = self.locked();
        for host in state.hosts.values_mut() {
            host.close_idle(now, self.limits);
        }
        let full = state.hosts.len() > HOSTS_REMEMBERED;
        // An identity, which holds a private key, is not remembered for the sake of the HTTP version.
        state.hosts.retain(|origin, host| !(host.is_unused() && (full || origin.identity().is_some())));
        state.sweeping = state.hosts.values().any(|host| !host.is_unused());
        state.sweeping
    }
}

impl State {
    fn at(&mut self, origin: &Origin) -> &mut Host {
        self.hosts.entry(origin.clone()).or_default()
    }

    /// Makes room for a connection that is about to be made.
    fn close_longest_idle(&mut self) {
        let idle = self.hosts.values_mut().filter_map(|host| Some((host.longest_idle_since()?, host)));
        if let Some((since, host)) = idle.min_by_key(|(since, _)| *since) {
            host.close_idle_since(since);
        }
    }
}
