//! A TCP proxy between a service and its PostgreSQL server: a network with a delay, whose round trips are counted.
//!
//! The service connects to [`DatabaseProxy::url`]; for each connection the proxy opens one to the server (`link`).
//! Bytes are read at once in both directions and written half a round trip later, in order, each piece at a time of its
//! own (`pace`): the delay does not limit how much is on the way. On their way past, the messages are read
//! (`conversation`), and the round trips of every transaction are counted ([`Trips`]).
//!
//! A test can also stall all connections, cut them, silence them, lead new ones to another server, and hold one
//! connection in the middle of a transaction.
//!
//! The proxy runs on threads of its own, so that a busy test does not delay it. Deliberately absent: TLS, which hides
//! the messages, and a limit on the bytes under way.

mod conversation;
mod link;
mod pace;
mod statement;
mod trips;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::process::{Pid, setpriority_process};
use sqlx::postgres::PgConnectOptions;
use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;

pub use pace::Lateness;
use pace::Pacer;
pub use trips::{Kind, Trips};

/// Where a server listens.
#[derive(Clone, Debug)]
enum Upstream {
    Socket(PathBuf),
    Address(String),
}

/// The thread's priority: a network does not wait for a processor. Only root gets it.
const PRIORITY: i32 = -10;

/// What the connections share.
#[derive(Debug)]
struct Shared {
    upstream: Mutex<Upstream>,
    /// Half a round trip, in nanoseconds.
    half_trip: AtomicU64,
    trips: Mutex<Trips>,
    stalled: watch::Sender<bool>,
    /// Connections that were opened before the last cut have a smaller number.
    cuts: watch::Sender<u64>,
    /// Changes when all present connections fall silent.
    silences: watch::Sender<()>,
    hold: Mutex<Option<Hold>>,
    pacer: Pacer,
}

/// The next connection that has made so many round trips in a transaction is held.
#[derive(Debug)]
struct Hold {
    after: u32,
    held: oneshot::Sender<Held>,
}

/// A connection that is held in the middle of a transaction: the server has answered, and the service does not get the
/// answer. It goes on when this value is dropped.
#[derive(Debug)]
pub struct Held {
    _gate: watch::Sender<()>,
}

/// A running proxy; its connections end when this value is dropped.
#[derive(Debug)]
pub struct DatabaseProxy {
    address: SocketAddr,
    url: String,
    shared: Arc<Shared>,
    _stop: oneshot::Sender<()>,
}

impl DatabaseProxy {
    /// Listens on a free loopback port for connections to the server of the database at `url`.
    ///
    /// # Panics
    /// When the proxy cannot listen, or the address cannot be read.
    #[must_use]
    pub fn start(url: &str) -> Self {
        let shared = Arc::new(Shared {
            upstream: Mutex::new(upstream(url)),
            half_trip: AtomicU64::new(0),
            trips: Mutex::default(),
            stalled: watch::Sender::new(false),
            cuts: watch::Sender::new(0),
            silences: watch::Sender::new(()),
            hold: Mutex::default(),
            pacer: Pacer::start(),
        });
        let (stop, stopped) = oneshot::channel();
        let (told, address) = std::sync::mpsc::channel();
        let serving = Arc::clone(&shared);
        std::thread::spawn(move || {
            raise_priority();
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                told.send(listener.local_addr().unwrap()).unwrap();
                tokio::select! {
                    () = accept(listener, serving) => {}
                    _ = stopped => {}
                }
            });
        });
        let address = address.recv().expect("the proxy listens");
        Self { address, url: url_through(url, address), shared, _stop: stop }
    }

    /// The database's address through the proxy.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What is read from now on takes this time to the server and back.
    pub fn delay(&self, round_trip: Duration) {
        let half = u64::try_from((round_trip / 2).as_nanos()).unwrap();
        self.shared.half_trip.store(half, Ordering::Relaxed);
    }

    /// Leads new connections to the server of the database at `url`. Present ones stay until [`DatabaseProxy::cut`].
    pub fn lead_to(&self, url: &str) {
        *self.shared.upstream.lock().unwrap() = upstream(url);
    }

    /// Closes every connection.
    pub fn cut(&self) {
        self.shared.cuts.send_modify(|cuts| *cuts += 1);
    }

    /// From now on the present connections carry nothing more and stay open, as behind a firewall that has forgotten
    /// them. New ones are not concerned.
    pub fn silence(&self) {
        self.shared.silences.send_replace(());
    }

    /// Lets nothing pass, in either direction, until [`DatabaseProxy::go_on`]. New connections wait too.
    pub fn stall(&self) {
        self.shared.stalled.send_replace(true);
    }

    /// Ends a stall: what was read meanwhile passes.
    pub fn go_on(&self) {
        self.shared.stalled.send_replace(false);
    }

    /// Holds the first connection that makes its `after`-th round trip in a transaction, as soon as the server's answer
    /// has come; returns then.
    ///
    /// # Panics
    /// When another hold is waited for.
    pub async fn hold_in_transaction(&self, after: u32) -> Held {
        let (held, holding) = oneshot::channel();
        let before = self.shared.hold.lock().unwrap().replace(Hold { after, held });
        assert!(before.is_none_or(|hold| hold.held.is_closed()), "one hold at a time");
        holding.await.expect("the proxy runs")
    }

    /// What was counted since it was last taken.
    #[must_use]
    pub fn take_trips(&self) -> Trips {
        std::mem::take(&mut self.shared.trips.lock().unwrap())
    }

    /// How far from their due times pieces were written since this was last taken.
    #[must_use]
    pub fn take_lateness(&self) -> Lateness {
        self.shared.pacer.take_lateness()
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut links = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (client, _) = accepted.unwrap();
                links.spawn(link::carry(client, Arc::clone(&shared)));
            }
            // Ended links are forgotten.
            Some(_) = links.join_next() => {}
        }
    }
}

fn upstream(url: &str) -> Upstream {
    let options: PgConnectOptions = url.parse().expect("the address of a database");
    match options.get_socket() {
        Some(folder) => Upstream::Socket(folder.join(format!(".s.PGSQL.{}", options.get_port()))),
        None => Upstream::Address(format!("{}:{}", options.get_host(), options.get_port())),
    }
}

/// The same database and user behind the proxy.
fn url_through(url: &str, address: SocketAddr) -> String {
    let (scheme, rest) = url.split_once("://").expect("the address of a database");
    let path = rest.split('?').next().unwrap_or_default();
    let (server, database) = path.split_once('/').expect("a named database");
    let user = server.rsplit_once('@').map_or(String::new(), |(user, _)| format!("{user}@"));
    format!("{scheme}://{user}{address}/{database}?sslmode=disable")
}

/// Raises the priority of this thread, if it may.
fn raise_priority() {
    let thread = std::fs::read_link("/proc/thread-self").ok();
    let id = thread.and_then(|path| path.file_name()?.to_str()?.parse().ok());
    if let Some(thread) = id.and_then(Pid::from_raw) {
        let _ = setpriority_process(Some(thread), PRIORITY);
    }
}
