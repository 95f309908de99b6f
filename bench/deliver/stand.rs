//! The two sides, each on a database of its own with the same merchants and endpoints.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bench_kit::connection::Connection;
use bench_kit::database::Database;
use bench_kit::figures::of;
use bench_kit::process::{Processes, start_floor};
use futures_util::future::join_all;
use tests::authority::Authority;
use tests::memory::peak_memory_mib;
use tests::merchant;
use tokio::process::Child;

use crate::floor::{Endpoint, Merchant, Setting};
use crate::load::{self, Bound};
use crate::receiver::Receivers;
use crate::turn::{Turn, turn_of};

/// Merchants that the load is spread over, where it is spread.
pub(crate) const MERCHANTS: usize = 32;

/// Clients of a shop that is asked alone, and connections that a plan's requests find.
pub(crate) const CONNECTIONS: usize = 64;

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
    pub(crate) shop: Shop,
    floor: Child,
    floor_address: String,
    /// Its files are the floor's.
    maker: Shop,
}

impl Stand {
    pub(crate) async fn start(database: &Database, merchants: usize, fanout: usize) -> Self {
        let receivers = Receivers::default();
        let shop = Shop::open(database, &receivers, merchants, fanout, &[]).await;
        let mut maker = Shop::open(database, &receivers, merchants, fanout, &[]).await;
        maker.authority.terminate().await;
        let database = maker.authority.database_url().to_owned();
        let setting = Setting { database, merchants: maker.merchants.clone() };
        let (floor, floor_address) = start_floor(&[], &serde_json::to_vec(&setting).unwrap()).await;
        Self { receivers, shop, floor, floor_address, maker }
    }

    /// One turn of a side with so many clients, each with one request in flight.
    pub(crate) async fn closed(&self, side: Side, clients: usize, fanout: usize, bound: Bound) -> Turn {
        let (connections, paths) = self.connections(side, clients).await;
        let journal = &self.receivers.journal;
        let ask = async || load::closed(connections, paths, bound, journal).await;
        turn_of(self.processes(side), journal, fanout, ask).await
    }

    /// One turn of a side at a fixed rate, of merchants with one endpoint each.
    pub(crate) async fn open(&self, side: Side, rate: f64, time: Duration) -> Turn {
        let (connections, paths) = self.connections(side, CONNECTIONS).await;
        let journal = &self.receivers.journal;
        let ask = async || load::open(connections, paths, rate, time, journal).await;
        turn_of(self.processes(side), journal, 1, ask).await
    }

    /// Connections to a side, and the paths that open a checkout at each merchant.
    async fn connections(&self, side: Side, count: usize) -> (Vec<Connection>, &[String]) {
        let authority = &self.shop.authority;
        let (address, paths) = match side {
            Side::Authority => (authority.operator_address(), &self.shop.paths),
            Side::Floor => (self.floor_address.clone(), &self.maker.paths),
        };
        let key = Some(authority.operator_key());
        (join_all((0..count).map(|_| Connection::open(&address, key))).await, paths)
    }

    fn processes(&self, side: Side) -> Processes {
        let shop = self.shop.processes();
        match side {
            Side::Authority => shop,
            Side::Floor => Processes { asked: self.floor.id().expect("the floor runs"), ..shop },
        }
    }

    /// The most memory that a side ever held.
    pub(crate) fn peak_memory_mib(&self, side: Side) -> u64 {
        peak_memory_mib(self.processes(side).asked)
    }
}

/// The path that opens a checkout at the merchant with this id.
pub(crate) fn path(merchant: &str) -> String {
    format!("/v1/operator/merchants/{merchant}/test/checkouts")
}

/// An authority, and the merchants whose endpoints are receivers.
pub(crate) struct Shop {
    pub(crate) authority: Authority,
    pub(crate) receivers: Receivers,
    merchants: Vec<Merchant>,
    /// Each opens a checkout at one of the merchants.
    paths: Vec<String>,
    server: Option<u32>,
}

impl Shop {
    /// An authority on a new database, with these variables in its environment and `fanout` endpoints for each
    /// merchant. One checkout is there already, which nobody was told of.
    pub(crate) async fn open(
        database: &Database,
        receivers: &Receivers,
        merchants: usize,
        fanout: usize,
        variables: &[(&str, &str)],
    ) -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let name = format!("deliver-{}.db", MADE.fetch_add(1, Ordering::Relaxed));
        let variables = [&[("AUTHORITY_LOG", "warn")], variables].concat();
        let authority = database.authority(&name, &variables).await;
        let merchants = join_all((0..merchants).map(async |n| {
            let merchant = merchant::Merchant::create(&authority, &format!("shop-{n}")).await;
            if n == 0 {
                merchant.checkout().await;
            }
            let mut endpoints = Vec::new();
            for _ in 0..fanout {
                let url = receivers.open().await;
                let merchant::Endpoint { id, secret } = merchant.endpoint(&url, &["*"]).await;
                endpoints.push(Endpoint { id, url, secret });
            }
            Merchant { id: merchant.id, endpoints }
        }))
        .await;
        let paths = merchants.iter().map(|merchant| path(&merchant.id)).collect();
        let (receivers, server) = (receivers.clone(), database.server());
        Self { authority, receivers, merchants, paths, server }
    }

    pub(crate) fn processes(&self) -> Processes {
        Processes { asked: self.authority.pid(), database: self.server }
    }

    /// One turn at a fixed rate, of merchants with one endpoint each.
    pub(crate) async fn ask(&self, rate: f64, time: Duration) -> Turn {
        let connections = Connection::of_operator(&self.authority, CONNECTIONS).await;
        let journal = &self.receivers.journal;
        let ask = async || load::open(connections, &self.paths, rate, time, journal).await;
        turn_of(self.processes(), journal, 1, ask).await
    }

    /// How much [`CONNECTIONS`] clients get delivered per second, who ask for as long as a turn lasts.
    pub(crate) async fn capacity(&self, time: Duration) -> f64 {
        let bound = Bound { time, requests: usize::MAX };
        let mut turns = Vec::new();
        for _ in 0..3 {
            let connections = Connection::of_operator(&self.authority, CONNECTIONS).await;
            let journal = &self.receivers.journal;
            let ask = async || load::closed(connections, &self.paths, bound, journal).await;
            turns.push(turn_of(self.processes(), journal, 1, ask).await);
        }
        of(&turns, |turn| turn.delivered)
    }
}
