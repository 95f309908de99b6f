//! The processes that are asked, and what asking each of them looks like.

use std::cell::RefCell;
use std::time::Duration;

use bench_kit::connection::Connection;
use bench_kit::database::Database;
use bench_kit::process::{Processes, start_floor};
use bytes::Bytes;
use futures_util::future::join_all;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};
use tests::authority::Authority;
use tests::memory::peak_memory_mib;
use tests::merchant::{Merchant, checkout_body, payment_body, report_body, text};
use tokio::process::Child;

use crate::CLIENTS;
use crate::fill::{EVENTS_PER_ORDER, fill, order_number};
use crate::load::{Measured, drive};
use crate::work::{Side, Work};

const LONG: i64 = 1_000_000;
const SHORT: i64 = 10_000;
/// Events of a page.
const PAGE: i64 = 100;
/// Merchants that the paid orders are spread over.
const MERCHANTS: usize = 100;

/// An authority and the merchant whose history is long or short.
struct Shop {
    authority: Authority,
    merchant: Merchant,
    first_order: String,
    /// Cursors of every page but the first.
    cursors: Vec<String>,
}

/// Everything that runs while one database is measured.
pub(crate) struct Sides {
    long: Shop,
    short: Shop,
    floor: Child,
    floor_address: String,
    server: Option<u32>,
    merchants: Vec<String>,
    dice: RefCell<StdRng>,
    /// Open checkouts: the merchant and the checkout.
    checkouts: RefCell<Vec<(String, Value)>>,
}

impl Shop {
    async fn open(database: &Database, name: &str, events: i64) -> (Self, String) {
        let authority = database.authority(name, &[("AUTHORITY_LOG", "warn")]).await;
        let url = authority.database_url().to_owned();
        let merchant = Merchant::create(&authority, "history").await;
        let first_order = merchant.paid_order().await;
        eprintln!("{}: {events} events", database.kind.name());
        fill(&url, &merchant.id, events).await;
        let mut connection = Connection::open(&authority.merchant_address(), Some(&merchant.key)).await;
        let mut cursors = Vec::new();
        let mut seen = 0;
        let mut page = connection.get("/v1/merchant/events?limit=100").await;
        while let Some(cursor) = next_cursor(&page) {
            seen += PAGE;
            page = connection.get(&format!("/v1/merchant/events?limit=100&cursor={cursor}")).await;
            cursors.push(cursor);
        }
        assert!(events - seen <= PAGE + EVENTS_PER_ORDER, "a page is missing: {seen}");
        // The last page may be short.
        cursors.pop();
        (Self { authority, merchant, first_order, cursors }, url)
    }
}

impl Sides {
    pub(crate) async fn start(database: &Database) -> Self {
        let (long, url) = Shop::open(database, "long.db", LONG).await;
        let (short, _) = Shop::open(database, "short.db", SHORT).await;
        let (floor, floor_address) = start_floor(&[&url, &long.merchant.id], b"").await;
        let mut merchants = Vec::new();
        for n in 0..MERCHANTS {
            merchants.push(Merchant::create(&long.authority, &format!("shop-{n}")).await.id);
        }
        Self {
            long,
            short,
            floor,
            floor_address,
            server: database.server(),
            merchants,
            dice: RefCell::new(StdRng::seed_from_u64(3)),
            checkouts: RefCell::default(),
        }
    }

    pub(crate) fn authority_memory_mib(&self) -> u64 {
        peak_memory_mib(self.long.authority.pid())
    }

    /// Lets `side` do `work` for `time`.
    pub(crate) async fn ask(&self, side: Side, work: Work, time: Duration) -> Measured {
        match work {
            Work::Order => self.orders(side, time).await,
            Work::Events | Work::AnyPages => self.events(side, time, Spread::Anywhere).await,
            Work::SamePages => self.events(side, time, Spread::HundredPages).await,
            Work::PaidOrder => {
                // Not measured: as many as the fastest side could pay in the time, and more.
                self.open_checkouts((time.as_secs_f64() * 6_000.0) as usize).await;
                self.paid_orders(side, time).await
            }
        }
    }

    async fn orders(&self, side: Side, time: Duration) -> Measured {
        let shop = &self.long;
        let mut connections = self.connections(side, Root::Merchant).await;
        drive(&mut connections, time, &self.processes(side), async |connection, _| {
            let n = self.dice.borrow_mut().random_range(0..LONG / EVENTS_PER_ORDER);
            let order = order_number(&shop.first_order, n);
            let path = match side {
                Side::Floor => format!("/orders/{}/{order}", shop.merchant.id),
                Side::Authority | Side::Short => format!("/v1/merchant/orders/{order}"),
            };
            connection.get(&path).await;
        })
        .await
    }

    async fn events(&self, side: Side, time: Duration, spread: Spread) -> Measured {
        let shop = if side == Side::Short { &self.short } else { &self.long };
        let mut connections = self.connections(side, Root::Merchant).await;
        drive(&mut connections, time, &self.processes(side), async |connection, _| {
            let page = match spread {
                Spread::Anywhere => self.dice.borrow_mut().random_range(0..shop.cursors.len()),
                Spread::HundredPages => {
                    self.dice.borrow_mut().random_range(0..100) * (shop.cursors.len() / 100).max(1)
                        % shop.cursors.len()
                }
            };
            let path = match side {
                Side::Floor => {
                    let after = (page as i64 + 1) * PAGE;
                    format!("/events/{}?limit={PAGE}&after={after}", shop.merchant.id)
                }
                Side::Authority | Side::Short => {
                    format!("/v1/merchant/events?limit={PAGE}&cursor={}", shop.cursors[page])
                }
            };
            connection.get(&path).await;
        })
        .await
    }

    async fn paid_orders(&self, side: Side, time: Duration) -> Measured {
        let mut connections = self.connections(side, Root::Operator).await;
        drive(&mut connections, time, &self.processes(side), async |connection, _| {
            let (merchant, checkout) = self.checkouts.borrow_mut().pop().expect("more open checkouts");
            let start = payment_body(&checkout, "automatic", &format!("start:{}", text(&checkout, "id")));
            let root = if side == Side::Floor { "" } else { "/v1/operator" };
            let tenant = if side == Side::Floor { merchant } else { format!("{merchant}/test") };
            let payment = read(
                &connection.post(&format!("{root}/merchants/{tenant}/payments"), start.to_string()).await,
            );
            let id = text(&payment, "id");
            let mut report = report_body("succeeded", &format!("succeeded:{id}"));
            let path = if side == Side::Floor {
                report["checkout_id"] = checkout["id"].clone();
                format!("/merchants/{tenant}/payments/{id}/reports")
            } else {
                format!("{root}/payments/{id}/reports")
            };
            connection.post(&path, report.to_string()).await;
        })
        .await
    }

    /// Opens checkouts until there are `wanted`, at all merchants in turn.
    async fn open_checkouts(&self, wanted: usize) {
        let mut connections = self.connections(Side::Authority, Root::Operator).await;
        let body = checkout_body().to_string();
        let missing = wanted.saturating_sub(self.checkouts.borrow().len());
        let clients = connections.iter_mut().enumerate().map(async |(number, connection)| {
            for n in (number..missing).step_by(CLIENTS) {
                let merchant = &self.merchants[n % MERCHANTS];
                let opened = connection
                    .post(&format!("/v1/operator/merchants/{merchant}/test/checkouts"), body.clone())
                    .await;
                let opened = read(&opened);
                let kept = json!({
                    "id": opened["id"], "currency": opened["currency"],
                    "amounts": { "total": opened["amounts"]["total"] },
                });
                self.checkouts.borrow_mut().push((merchant.clone(), kept));
            }
        });
        join_all(clients).await;
    }

    async fn connections(&self, side: Side, root: Root) -> Vec<Connection> {
        let shop = if side == Side::Short { &self.short } else { &self.long };
        let (address, key) = match (side, root) {
            (Side::Floor, _) => (self.floor_address.clone(), None),
            (_, Root::Merchant) => (shop.authority.merchant_address(), Some(shop.merchant.key.as_str())),
            (_, Root::Operator) => (shop.authority.operator_address(), Some(shop.authority.operator_key())),
        };
        join_all((0..CLIENTS).map(|_| Connection::open(&address, key))).await
    }

    fn processes(&self, side: Side) -> Processes {
        let asked = match side {
            Side::Authority => self.long.authority.pid(),
            Side::Short => self.short.authority.pid(),
            Side::Floor => self.floor.id().expect("the floor runs"),
        };
        Processes { asked, database: self.server }
    }
}

/// Which pages.
#[derive(Clone, Copy)]
enum Spread {
    Anywhere,
    HundredPages,
}

#[derive(Clone, Copy)]
enum Root {
    Merchant,
    Operator,
}

fn read(body: &Bytes) -> Value {
    serde_json::from_slice(body).unwrap()
}

/// Without reading the page: it stands behind the events.
fn next_cursor(page: &[u8]) -> Option<String> {
    let end = std::str::from_utf8(&page[page.len().saturating_sub(600)..]).ok()?;
    let (_, rest) = end.rsplit_once("\"next_cursor\":\"")?;
    Some(rest.split_once('"')?.0.to_owned())
}
