//! One merchant with a million orders asks for every list with every filter (bench/README.md, "Lists").
//!
//! Processes: `authority serve` (release build), its database, and this one, which makes the records and asks. One
//! record of each kind is made through the API; the others are copies of it that the database makes ([`fill`]). Each
//! list is then asked for by one client on one connection, for its first page and for the one after it, with and
//! without each filter: some find much, some little, some nothing ([`asks`]).
//!
//! Run by `cargo xtask bench lists`. Words on the command line choose: `sqlite` or `postgres`, `orders=100000`. Not a
//! test: it asserts only that answers are good.

mod asks;
mod fill;

use std::time::Instant;

use bench_kit::connection::Connection;
use bench_kit::database::{Database, Kind};
use bench_kit::figures::Percentiles;
use serde_json::Value;

/// How often each page is asked for.
const ROUNDS: usize = 20;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let orders =
        words.iter().find_map(|word| word.strip_prefix("orders=")?.parse().ok()).unwrap_or(1_000_000);
    for kind in Kind::named(&words) {
        measure(kind, orders).await;
    }
}

async fn measure(kind: Kind, orders: u64) {
    let database = Database::make(kind);
    let mut authority = database.authority("lists", &[("AUTHORITY_LOG", "error")]).await;
    let url = authority.database_url().to_owned();
    let shop = fill::shop(&authority).await;
    authority.terminate().await;
    let begun = Instant::now();
    fill::copies(&url, &shop, orders).await;
    println!("\n{}: {orders} orders, made in {:.0} s", kind.name(), begun.elapsed().as_secs_f64());
    authority.restart().await;
    let mut connection = Connection::open(&authority.merchant_address(), Some(&shop.key)).await;
    let mut all = Vec::new();
    println!("{:>8}  {:>8}  {:>5}  list", "p50 ms", "p95 ms", "rows");
    for path in asks::paths(&shop, orders) {
        let (times, rows) = ask(&mut connection, &path).await;
        all.extend_from_slice(&times);
        let Percentiles { p50, p95, .. } = Percentiles::of(times);
        println!("{p50:>8.1}  {p95:>8.1}  {rows:>5}  {path}");
    }
    let Percentiles { p50, p95, p99 } = Percentiles::of(all);
    println!("{}, all pages: p50 {p50:.1} ms, p95 {p95:.1} ms (goal 50), p99 {p99:.1} ms", kind.name());
}

/// How long the first page takes and the one after it, in ms, and how many rows both have.
async fn ask(connection: &mut Connection, path: &str) -> (Vec<f64>, usize) {
    let (mut times, mut rows) = (Vec::new(), 0);
    for _ in 0..ROUNDS {
        let mut next = Some(path.to_owned());
        rows = 0;
        for _ in 0..2 {
            let Some(page) = next else { break };
            let begun = Instant::now();
            let answer = connection.get(&page).await;
            times.push(begun.elapsed().as_secs_f64() * 1e3);
            let answer: Value = serde_json::from_slice(&answer).unwrap();
            rows += answer["data"].as_array().unwrap().len();
            let between = if path.contains('?') { '&' } else { '?' };
            next = answer["next_cursor"].as_str().map(|cursor| format!("{path}{between}cursor={cursor}"));
        }
    }
    (times, rows)
}
