//! The two sides, each on a database of its own with the same merchants and endpoints.

use std::process::Stdio;

use bench_kit::connection::Connection;
use bench_kit::database::Database;
use bench_kit::process::Processes;
use futures_util::future::join_all;
use tests::authority::Authority;
use tests::memory::peak_memory_mib;
use tests::merchant;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::floor::{Endpoint, Merchant, Setting};
use crate::receiver::Receivers;

/// Merchants that the load is spread over, where it is spread.
pub(crate) const MERCHANTS: usize = 32;

/// Who is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    Authority,
    Floor,
}

impl Side {
    pub(crate) const BOTH: [Self; 2] = [Self::Authority, Self::Floor];
}

/// Both sides, running.
pub(crate) struct Stand {
    pub(crate) receivers: Receivers,
    authority: Authority,
    authority_paths: Vec<String>,
    floor: Child,
    floor_address: String,
    floor_paths: Vec<String>,
    server: Option<u32>,
    /// Its files are the floor's.
    _maker: Authority,
}

impl Stand {
    pub(crate) async fn start(database: &Database, merchants: usize, fanout: usize) -> Self {
        let receivers = Receivers::new();
        let shops = Shops { merchants, fanout, variables: &[] };
        let (authority, merchants) = shop(database, &receivers, shops).await;
        let authority_paths = merchants.iter().map(path).collect();
        let (mut maker, merchants) = shop(database, &receivers, shops).await;
        let floor_paths = merchants.iter().map(path).collect();
        maker.terminate().await;
        let setting = Setting { database: maker.database_url().to_owned(), merchants };
        let (floor, floor_address) = start_floor(&setting).await;
        Self {
            receivers,
            authority,
            authority_paths,
            floor,
            floor_address,
            floor_paths,
            server: database.server(),
            _maker: maker,
        }
    }

    /// Connections to a side, and the paths that open a checkout at each merchant.
    pub(crate) async fn connections(&self, side: Side, count: usize) -> (Vec<Connection>, &[String]) {
        let (address, paths) = match side {
            Side::Authority => (self.authority.operator_address(), &self.authority_paths),
            Side::Floor => (self.floor_address.clone(), &self.floor_paths),
        };
        let key = Some(self.authority.operator_key());
        (join_all((0..count).map(|_| Connection::open(&address, key))).await, paths)
    }

    pub(crate) fn processes(&self, side: Side) -> Processes {
        let asked = match side {
            Side::Authority => self.authority.pid(),
            Side::Floor => self.floor.id().expect("the floor runs"),
        };
        Processes { asked, database: self.server }
    }

    /// The most memory that a side ever held.
    pub(crate) fn peak_memory_mib(&self, side: Side) -> u64 {
        peak_memory_mib(self.processes(side).asked)
    }
}

/// The path that opens a checkout at a merchant.
pub(crate) fn path(merchant: &Merchant) -> String {
    format!("/v1/operator/merchants/{}/test/checkouts", merchant.id)
}

/// Who is on a database.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shops<'v> {
    pub(crate) merchants: usize,
    /// Endpoints of each.
    pub(crate) fanout: usize,
    /// Of the authority's environment.
    pub(crate) variables: &'v [(&'v str, &'v str)],
}

/// An authority on a new database, with merchants whose endpoints are receivers. One checkout is there already, which
/// nobody was told of.
pub(crate) async fn shop(
    database: &Database,
    receivers: &Receivers,
    shops: Shops<'_>,
) -> (Authority, Vec<Merchant>) {
    use std::sync::atomic::{AtomicU32, Ordering};
    static MADE: AtomicU32 = AtomicU32::new(0);
    let url = database.url(&format!("deliver-{}.db", MADE.fetch_add(1, Ordering::Relaxed))).await;
    let usual = [("AUTHORITY_DATABASE_URL", url.as_str()), ("AUTHORITY_LOG", "warn")];
    let authority = Authority::start(&[&usual, shops.variables].concat()).await;
    let merchants = join_all((0..shops.merchants).map(async |n| {
        let merchant = merchant::Merchant::create(&authority, &format!("shop-{n}")).await;
        if n == 0 {
            merchant.checkout().await;
        }
        let mut endpoints = Vec::new();
        for _ in 0..shops.fanout {
            let url = receivers.open().await;
            let merchant::Endpoint { id, secret } = merchant.endpoint(&url, &["*"]).await;
            endpoints.push(Endpoint { id, url, secret });
        }
        Merchant { id: merchant.id, endpoints }
    }))
    .await;
    (authority, merchants)
}

async fn start_floor(setting: &Setting) -> (Child, String) {
    let mut floor = Command::new(std::env::current_exe().unwrap())
        .arg("floor")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut input = floor.stdin.take().unwrap();
    input.write_all(&serde_json::to_vec(setting).unwrap()).await.unwrap();
    drop(input);
    let mut lines = BufReader::new(floor.stdout.take().unwrap()).lines();
    let address = lines.next_line().await.unwrap().expect("the floor serves");
    (floor, address)
}
