//! The connections to receivers: found, made, shared and given back (contract 7.6, 18.4-3, 18.4-4, 18.4-8).
//!
//! An attempt asks for a connection to an [`Origin`] and gets a [`Lease`]. What is there and young enough is taken at
//! once; otherwise the attempt waits in a queue, and the pool makes as many connections as the queue needs: one for each
//! request over HTTP/1.1; over HTTP/2 as many as the receiver's own limit of streams asks for; and a single one as long
//! as nobody knows which of the two the receiver speaks, so that a burst to a new receiver is one handshake if it speaks
//! HTTP/2. Whichever comes first, a new connection or one that was given back, serves who has waited longest.
//!
//! A connection is made under the address rules and is used for [`PoolLimits::age`]; then its requests end and a new one
//! is made and judged. Idle ones are closed sooner. Why not hyper-util's pool: its client keeps one HTTP/2 connection per
//! host whatever the receiver's limit is, knows no age, and begins as many handshakes as there are requests.

mod connection;
mod host;
mod http2;
mod origin;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::oneshot;

use self::connection::{Http1, Opened, open};
pub(super) use self::connection::{Lease, LeasedBody, SendAgain};
use self::host::{Host, Waiter};
use self::http2::Http2;
pub(super) use self::origin::Origin;
use self::origin::{Connector, Stream};
use super::connection_count::ConnectionCount;
use super::connector::ConnectFailure;
use crate::clock::Clock;

/// How often connections that have been idle for too long are looked for.
const SWEEP: Duration = Duration::from_secs(1);

/// Receivers of which it is remembered what they speak, beyond those with connections.
const HOSTS_REMEMBERED: usize = 4096;

/// After a further connection to a receiver failed, none is tried for so long while others are open.
const FURTHER_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// How long connections are used.
#[derive(Clone, Copy, Debug)]
pub(super) struct PoolLimits {
    /// From the look-up of the receiver's name on.
    pub(super) age: Duration,
    /// From the end of the last request on.
    pub(super) idle: Duration,
    pub(super) ping_interval: Duration,
    pub(super) ping_timeout: Duration,
}

type Handed = Result<Lease, Arc<ConnectFailure>>;

/// Begins one connection; the result comes back through [`Pool::opened`].
type Begin = Box<dyn Fn(Weak<Pool>, Origin, About) + Send + Sync>;

/// A connection that is being made or is there.
#[derive(Clone, Copy, Debug)]
struct About {
    /// Later ones have higher numbers.
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
        C: Connector<IO>,
        IO: Stream,
    {
        let begin = move |pool: Weak<Self>, origin: Origin, about: About| {
            let mut connector = connector.clone();
            tokio::spawn(async move {
                let opened = match connector.call(origin.uri()).await {
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

    /// A connection to this origin; `after` asks for one that was begun after the one of that number, and was not used.
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
        // The pool outlives its leases, and no waiter is dropped but by a sender that has gone.
        handed.await.unwrap_or_else(|_| Err(Arc::new(ConnectFailure::Timeout)))
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins the connections that the queue needs and that are not under way.
    fn begin_wanted(self: &Arc<Self>, state: &mut State, origin: &Origin) {
        let now = self.now();
        let missing = state.at(origin).missing(now, origin.is_https());
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

    /// Takes in what came of a connection that was begun.
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

    /// A connection is about to come back; `near` is whether that was said before.
    fn comes_back(&self, origin: &Origin, near: &AtomicBool) {
        let mut state = self.locked();
        state.at(origin).returning += usize::from(!near.swap(true, Ordering::Relaxed));
    }

    /// Takes back a connection of which nothing is under way; `None` when it was closed instead.
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

    /// A stream of this connection has ended, or its limit has become known: somebody else may use it.
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
            let reset = std::io::ErrorKind::ConnectionReset.into();
            let again_at = self.now().saturating_add(FURTHER_AGAIN_AFTER);
            host.failed(Arc::new(ConnectFailure::Connect(reset)), again_at);
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

    /// Closes what has been idle for too long. Whether there is something left to look after.
    fn sweep(&self) -> bool {
        let now = self.now();
        let mut state = self.locked();
        for host in state.hosts.values_mut() {
            host.close_idle(now, self.limits);
        }
        if state.hosts.len() > HOSTS_REMEMBERED {
            state.hosts.retain(|_, host| !host.is_unused());
        }
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
        let idle = self.hosts.values_mut().filter_map(|host| {
            let since = host.idle.first()?.idle_since();
            Some((since, host))
        });
        if let Some((_, host)) = idle.min_by_key(|(since, _)| *since) {
            host.idle.remove(0);
        }
    }
}
