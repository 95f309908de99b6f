//! A server that has fewer connections left than an instance would like: fewer transactions run at a time, and nobody
//! is refused.

use std::sync::Arc;

use authority_store::{Access, Store};
use futures_util::future::join_all;
use postgres_cluster::{Cluster, Durability};
use sqlx::ConnectOptions as _;
use sqlx::postgres::PgConnectOptions;

use super::PostgresDatabase;
use super::turns::{beside, hold, open_checkout, shops};
use crate::cases::Database;

/// The same database for a role that may have so many connections.
async fn limited(database: &PostgresDatabase, connections: u32) -> PostgresDatabase {
    for statement in [
        format!("CREATE ROLE few LOGIN CONNECTION LIMIT {connections}"),
        "GRANT ALL ON ALL TABLES IN SCHEMA public TO few".to_owned(),
    ] {
        database.execute(&statement).await.unwrap();
    }
    let options: PgConnectOptions = database.address.parse().unwrap();
    PostgresDatabase { address: options.username("few").to_url_lossy().to_string() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_finds_no_connection_left_waits_for_those_that_are() {
    // A server of its own, since roles belong to the whole server.
    let cluster = Cluster::start(Durability::Off);
    let database = PostgresDatabase { address: cluster.database().await };
    let shops = Arc::new(shops::<4>(&database.open().await.unwrap()).await);
    // One that writes, and one that reads.
    let limited = limited(&database, 2).await;
    let store = Store::open(&limited.url(), Access::Exclusive).await.unwrap();
    let beside: Vec<_> = shops.iter().map(|shop| beside(shop, &store)).collect();
    beside[0].events().await;
    // The only connection that writes is taken, so the others ask for more.
    let (open, holding) = hold(&beside[0]).await;
    let writing = join_all(beside.iter().skip(1).map(open_checkout));
    let reading = join_all((0..24).map(|nth| beside[nth % 4].events()));
    let released = async {
        reading.await;
        open.send(true).unwrap();
        holding.await.unwrap().unwrap();
    };
    tokio::join!(writing, released);
    for shop in &beside[1..] {
        assert_eq!(shop.events().await.len(), 1);
    }
    store.close().await;
}
