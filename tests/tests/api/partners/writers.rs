//! Eight writers over shared orders of five merchants, through two instances on one PostgreSQL: no deadlock, every
//! stream gapless, every partner told of everything while it may be told (contract 8.3).

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};
use sqlx::{ConnectOptions as _, Connection as _};
use tests::partners::{connect, share};
use tests::{Authority, Merchant, rows, sequences, text};

const MERCHANTS: usize = 5;
const ORDERS_EACH: usize = 4;
const WRITERS: usize = 8;
/// What each writer does at least: fewer writes would hardly meet each other.
const FEWEST: usize = 40;

/// How long the writers go on.
#[derive(Clone, Copy)]
enum Until {
    Changes(usize),
    Time(Duration),
}

impl Until {
    fn goes_on(self, done: usize, since: Instant) -> bool {
        match self {
            Self::Changes(changes) => done < changes,
            Self::Time(time) => since.elapsed() < time,
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_of_shared_orders_never_wait_for_each_other() {
    run(Until::Changes(FEWEST)).await;
}

/// The same for as many seconds as `PARTNERS_SECONDS` says: `cargo xtask prove partners`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes a minute"]
async fn proof_on_postgres() {
    let seconds = std::env::var("PARTNERS_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    run(Until::Time(Duration::from_secs(seconds))).await;
}

#[expect(clippy::disallowed_methods, reason = "the proof goes on for as long as it was asked to")]
async fn run(until: Until) {
    let database = postgres_cluster::database().await;
    let variables = [("AUTHORITY_DATABASE_URL", database.as_str()), ("AUTHORITY_LOG", "warn")];
    let (first, second) = (Authority::start(&variables).await, Authority::start(&variables).await);
    let (merchants, orders) = merchants(&first).await;
    let deadlocks = deadlocks(&database).await;
    // The time is the writers' own: making merchants and shares can take longer than the proof itself.
    let since = Instant::now();
    let done = join_all((0..WRITERS).map(async |writer| {
        let instance = if writer % 2 == 0 { &first } else { &second };
        let merchants: Vec<Merchant> = merchants.iter().map(|merchant| merchant.at(instance)).collect();
        let merchants: Vec<Merchant> = merchants
            .into_iter()
            .map(|merchant| Merchant { operator: first.operator(), ..merchant })
            .collect();
        let mut dice = StdRng::seed_from_u64(writer as u64);
        let mut done = 0;
        while until.goes_on(done, since) {
            write(&merchants, &orders, &mut dice).await;
            done += 1;
        }
        done
    }))
    .await;
    assert!(done.iter().all(|done| *done >= FEWEST), "a writer wrote next to nothing: {done:?}");
    assert_eq!(self::deadlocks(&database).await, deadlocks, "PostgreSQL counted a deadlock");
    let (events, copies) = judge(&merchants).await;
    first.is_sound().await;
    println!("{} writes, {events} events, {copies} of them copies, no deadlock", done.iter().sum::<usize>());
}

/// Everybody is connected with everybody, and half of all orders are shared with all.
async fn merchants(authority: &Authority) -> (Vec<Merchant>, Vec<(usize, String)>) {
    let mut merchants: Vec<Merchant> = Vec::new();
    let mut connections = BTreeMap::new();
    for n in 0..MERCHANTS {
        let merchant = Merchant::create(authority, &format!("merchant-{n}")).await;
        for (other, partner) in merchants.iter().enumerate() {
            connections.insert((other, n), connect(partner, &merchant).await);
        }
        merchants.push(merchant);
    }
    let mut orders = Vec::new();
    for (n, merchant) in merchants.iter().enumerate() {
        for order in 0..ORDERS_EACH {
            let number = merchant.paid_order().await;
            for (pair, connection) in &connections {
                if (pair.0 == n || pair.1 == n) && order % 2 == 0 {
                    share(merchant, &number, connection).await;
                }
            }
            orders.push((n, number));
        }
    }
    (merchants, orders)
}

/// One request of a random merchant: mostly a change of an order, now and then a share is made or taken back.
async fn write(merchants: &[Merchant], orders: &[(usize, String)], dice: &mut StdRng) {
    let (owner, number) = &orders[dice.random_range(0..orders.len())];
    let merchant = &merchants[*owner];
    match dice.random_range(0..10) {
        0 => {
            let page = merchant.api.get("/partner-connections?limit=100&status=active").await.expect(200);
            let page = rows(&page);
            let connection = &page[dice.random_range(0..page.len())]["id"];
            let body = json!({ "connection_id": connection });
            let reply = merchant.api.post(&format!("/orders/{number}/shares"), &body).await;
            assert!([201, 409].contains(&reply.status), "{}", reply.text());
        }
        1 => {
            let path = format!("/order-shares?status=active&order_number={number}");
            let page = merchant.api.get(&path).await.expect(200);
            if let Some(share) = rows(&page).first() {
                let path = format!("/order-shares/{}/revoke", text(share, "id"));
                merchant.api.post(&path, &json!({})).await.expect(200);
            }
        }
        2 => {
            merchant.paid_order().await;
        }
        _ => {
            merchant.note(number, &format!("note {}", dice.random::<u64>())).await;
        }
    }
}

/// Every stream, read through: 1..n, and by every share all versions from the first to the end, or to the present one.
async fn judge(merchants: &[Merchant]) -> (usize, usize) {
    let mut active: BTreeMap<String, i64> = BTreeMap::new();
    for merchant in merchants {
        for share in merchant.api.list("/order-shares?limit=100&status=active").await {
            let order = merchant.order(&text(&share, "order_number")).await;
            active.insert(text(&share, "id"), order["resource_version"].as_i64().unwrap());
        }
    }
    let (mut all, mut copies) = (0, 0);
    let mut last: BTreeMap<String, (i64, bool)> = BTreeMap::new();
    for merchant in merchants {
        let events = merchant.events().await;
        assert_eq!(sequences(&events), Vec::from_iter(1..=events.len() as u64));
        all += events.len();
        for event in events.iter().filter(|event| event["merchant"]["id"] != merchant.id.as_str()) {
            copies += 1;
            follow(&mut last, event);
        }
    }
    for (share, version) in &active {
        assert_eq!(last.get(share), Some(&(*version, false)), "share {share}");
    }
    assert!(last.iter().all(|(share, (_, ended))| *ended || active.contains_key(share)));
    (all, copies)
}

fn follow(last: &mut BTreeMap<String, (i64, bool)>, event: &Value) {
    let share = text(&event["recipient"], "share_id");
    let version = event["resource_version"].as_i64().unwrap();
    let before = last.get(&share).copied();
    let now = match event["type"].as_str().unwrap() {
        "order.shared" => {
            assert_eq!(before, None, "{share} begins twice");
            (version, false)
        }
        "order.share_revoked" => {
            assert_eq!(before, Some((version, false)), "{share} ends");
            (version, true)
        }
        _ => {
            assert_eq!(before, Some((version - 1, false)), "{share} goes on");
            (version, false)
        }
    };
    last.insert(share, now);
}

/// What the server has counted in this database. Its figures may come a moment late, so the waiting ones are sent
/// first.
async fn deadlocks(database: &str) -> i64 {
    let options: sqlx::postgres::PgConnectOptions = database.parse().unwrap();
    let mut conn = options.connect().await.unwrap();
    sqlx::query("SELECT pg_stat_clear_snapshot()").execute(&mut conn).await.unwrap();
    let count =
        sqlx::query_scalar("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
            .fetch_one(&mut conn)
            .await
            .unwrap();
    conn.close().await.unwrap();
    count
}
