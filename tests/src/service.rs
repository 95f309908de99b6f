//! The service inside the test, where a test has to turn its clock or to say what names resolve to.
//!
//! [`InProcess::start`] runs [`Service`] as `authority serve` does, on a database of its own and on sockets of its own;
//! it is asked over those like any other. What differs is what the process would get from its machine: the time comes
//! from a [`HandClock`], and the addresses behind names from [`Names`].

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use authority::cli::{self, Exit, Process};
use authority::clock::Clock;
use authority::config::Config;
use authority::dice::SystemDice;
use authority::dispatch::connector::Resolve;
use authority::service::Service;
use postgres_cluster::CitusDatabase;
use serde_json::Value;
use tokio::sync::watch;

use crate::authority::{Database, KEK};
use crate::clock::HandClock;
use crate::eventually::eventually;
use crate::http::{Address, Api, Reply};
use crate::merchant::{ConsoleUrls, ServiceUrls};
use crate::prepared::Prepared;

/// What names lead to, as the test says; an address leads to itself.
#[derive(Debug, Default)]
pub struct Names(Mutex<BTreeMap<String, Name>>);

#[derive(Debug, Default)]
struct Name {
    addresses: Vec<IpAddr>,
    asked: usize,
}

impl Names {
    /// From now on `host` leads to these addresses.
    pub fn lead(&self, host: &str, addresses: &[&str]) {
        let addresses = addresses.iter().map(|address| address.parse().unwrap()).collect();
        self.0.lock().unwrap().entry(host.to_owned()).or_default().addresses = addresses;
    }

    /// How often it was asked for `host`.
    #[must_use]
    pub fn asked(&self, host: &str) -> usize {
        self.0.lock().unwrap().get(host).map_or(0, |name| name.asked)
    }
}

#[async_trait]
impl Resolve for Names {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        if let Ok(address) = host.parse() {
            return Ok(vec![address]);
        }
        let mut names = self.0.lock().unwrap();
        let known = names.get_mut(host).ok_or_else(|| io::Error::other("no such name"))?;
        known.asked += 1;
        Ok(known.addresses.clone())
    }
}

/// A running service.
#[derive(Debug)]
pub struct InProcess {
    service: Service,
    /// Its clock.
    pub clock: Arc<HandClock>,
    /// Its resolver.
    pub names: Arc<Names>,
    database_url: String,
    operator_key: String,
    _folder: tempfile::TempDir,
    _on_cluster: Option<CitusDatabase>,
}

impl InProcess {
    /// Starts one on an empty database of this kind, with a clock that stands. `variables` come on top of those that
    /// tests need, as for [`Authority::start`](crate::authority::Authority::start).
    pub async fn start(database: Database, variables: &[(&str, &str)]) -> Self {
        Self::start_at(database, HandClock::standing(), variables).await
    }

    /// The same with this clock.
    pub async fn start_at(database: Database, clock: Arc<HandClock>, variables: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let Prepared { url: database_url, operator_key, on_cluster } =
            Prepared::new(database, folder.path()).await;
        let names = Arc::<Names>::default();
        let service = serve(&database_url, Arc::clone(&clock), Arc::clone(&names), variables).await;
        Self { service, clock, names, database_url, operator_key, _folder: folder, _on_cluster: on_cluster }
    }

    /// The address of its database.
    #[must_use]
    pub fn database_url(&self) -> &str {
        &self.database_url
    }

    /// A path of the operator's listener outside the operator root.
    pub async fn probe(&self, path: &str) -> Reply {
        Api::new(self.operator_address(), "", &self.operator_key).with_key(None).get(path).await
    }

    /// Waits until no delivery waits for an attempt, now or later, as the database says.
    pub async fn nothing_pending(&self) {
        crate::database::nothing_pending(&self.database_url).await;
    }

    /// Lets time pass from one thing that is due to the next, until nothing is pending. The clock is turned while
    /// nothing is in flight, so every attempt begins and ends at the moment at which it was due.
    pub async fn play_out(&self) {
        self.play_until(i64::MAX).await;
    }

    /// The same until the clock shows `end_ms` (Unix milliseconds) or nothing is pending; whatever is due by then is
    /// done.
    pub async fn play_until(&self, end_ms: i64) {
        loop {
            let next = self.quiet().await;
            let Some(next_ms) = next.filter(|next_ms| *next_ms <= end_ms) else { break };
            self.clock.turn_to(next_ms);
        }
        if end_ms < i64::MAX {
            self.clock.turn_to(end_ms.max(self.clock.shown()));
        }
    }

    /// Waits until nothing is in flight or due. When the next attempt may begin, if any is to be made.
    async fn quiet(&self) -> Option<i64> {
        eventually("nothing in flight or due", async || {
            let waiting = crate::database::waiting(&self.database_url).await;
            let later = waiting.next_ms.is_none_or(|next_ms| next_ms > self.clock.shown());
            (waiting.leased == 0 && later).then_some(waiting.next_ms)
        })
        .await
    }

    /// Stops it in order and starts it again on the same database, with its clock and these variables.
    pub async fn restarted(self, variables: &[(&str, &str)]) -> Self {
        self.restarted_after(0, variables).await
    }

    /// The same; its clock, if it stands, is turned by so many milliseconds while it is stopped.
    pub async fn restarted_after(self, by_ms: i64, variables: &[(&str, &str)]) -> Self {
        self.service.stop().await;
        if by_ms != 0 {
            self.clock.turn(by_ms);
        }
        let (clock, names) = (Arc::clone(&self.clock), Arc::clone(&self.names));
        Self { service: serve(&self.database_url, clock, names, variables).await, ..self }
    }

    /// What the doctor says of its database on a machine with that clock.
    pub async fn doctor(&self, clock: Arc<HandClock>) -> (Exit, Value) {
        let url = self.database_url.clone();
        let examine = move || {
            let (mut said, mut log) = (Vec::new(), Vec::new());
            let mut process = Process {
                environment: &|name| match name {
                    "AUTHORITY_DATABASE_URL" => Some(url.clone().into()),
                    "AUTHORITY_SECRET_KEK" => Some(KEK.into()),
                    _ => None,
                },
                variables: &[],
                stdin: &mut io::empty(),
                stdout: &mut said,
                stderr: &mut log,
                colour: false,
                clock: &*clock,
            };
            let exit = cli::main(["authority", "doctor", "--json"].map(Into::into), &mut process);
            let said = serde_json::from_slice(&said);
            (exit, said.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&log))))
        };
        tokio::task::spawn_blocking(examine).await.unwrap()
    }

    /// Stops it in order: nothing is in flight then, and every outcome is written.
    pub async fn stop(self) {
        self.service.stop().await;
    }

    fn operator_address(&self) -> Address {
        watch::Sender::new(Some(format!("http://{}", self.service.operator_address))).subscribe()
    }
}

impl ServiceUrls for InProcess {
    fn operator(&self) -> Api {
        Api::new(self.operator_address(), "/v1/operator", &self.operator_key)
    }

    fn merchant(&self, key: &str) -> Api {
        let address = watch::Sender::new(Some(format!("http://{}", self.service.merchant_address)));
        Api::new(address.subscribe(), "/v1/merchant", key)
    }
}

impl ConsoleUrls for InProcess {
    fn operator_listener(&self) -> Api {
        Api::new(self.operator_address(), "", "").with_key(None)
    }

    fn operators_key(&self) -> &str {
        &self.operator_key
    }
}

/// A database of this kind with the schema and nothing but an operator's key; a file is in `folder`.
pub async fn new_database(database: Database, folder: &tempfile::TempDir) -> String {
    let Prepared { url, on_cluster, .. } = Prepared::new(database, folder.path()).await;
    assert!(on_cluster.is_none(), "another test would get the cluster's database at once");
    url
}

/// A service on this database, with this clock and these names.
pub async fn serve(
    database_url: &str,
    clock: Arc<HandClock>,
    names: Arc<Names>,
    variables: &[(&str, &str)],
) -> Service {
    let usual = [
        ("AUTHORITY_DATABASE_URL", database_url),
        ("AUTHORITY_SECRET_KEK", KEK),
        ("AUTHORITY_LISTEN", "127.0.0.1:0"),
        ("AUTHORITY_OPERATOR_LISTEN", "127.0.0.1:0"),
        ("AUTHORITY_ENV", "development"),
        ("AUTHORITY_ALLOW_LOOPBACK_ENDPOINTS", "true"),
        ("AUTHORITY_RATE_LIMITS", "off"),
        ("AUTHORITY_RETRY_JITTER", "0"),
    ];
    let all: BTreeMap<&str, &str> = usual.iter().chain(variables).copied().collect();
    let config = Config::read(&|name| all.get(name).map(OsString::from)).unwrap();
    Service::start_resolving(config, clock as Arc<dyn Clock>, Arc::new(SystemDice), names).await.unwrap()
}
