//! Addresses, schemas, and who may open a database.

use authority_store::{Access, Store, StoreError, StoreUrl};

use super::PostgresDatabase;
use crate::cases::Database;
use crate::cases::fixtures::noon;
use crate::cases::shop::Shop;

#[tokio::test]
async fn an_empty_database_is_migrated_only_when_asked() {
    let database = PostgresDatabase::start().await;
    let refused = Store::open(&database.url(), Access::Exclusive).await.unwrap_err();
    let StoreError::OutdatedSchema { found, known } = refused else { panic!("{refused}") };
    assert_eq!(found, 0);
    let line = StoreError::OutdatedSchema { found, known }.to_string();
    assert!(line.contains("authority migrate") && !line.contains('\n'), "{line}");
    assert_eq!(database.count("pg_tables WHERE schemaname = 'public'").await, 0);

    // Several instances that are told to migrate do so once.
    let url = database.url();
    let migrations = (0..4).map(|_| {
        let url = url.clone();
        tokio::spawn(async move { Store::migrate(&url).await })
    });
    for migration in migrations.collect::<Vec<_>>() {
        migration.await.unwrap().unwrap();
    }
    assert_eq!(database.number("SELECT MAX(version) FROM _sqlx_migrations").await, known);
    Store::open(&url, Access::Exclusive).await.unwrap().close().await;
}

#[tokio::test]
async fn a_server_without_citus_is_not_distributed() {
    let database = PostgresDatabase::start().await;
    let refused = Store::distribute(&database.url()).await.unwrap_err();
    assert!(matches!(refused, StoreError::NotDistributable(_)), "{refused:?}");
    assert!(refused.to_string().contains("Citus") && !refused.to_string().contains('\n'), "{refused}");
    assert_eq!(database.count("pg_tables WHERE schemaname = 'public'").await, 0);
}

/// What one instance holds is not another's to give back, however often it is started.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_starting_instance_leaves_the_leases_of_others_alone() {
    let database = PostgresDatabase::start().await;
    let shop = Shop::open(&database).await;
    shop.endpoint(&["*"]).await;
    shop.open_checkout().await;
    assert_eq!(shop.lease("held", noon(), 9, 9).await.len(), 1);
    let second = database.open().await.unwrap();
    assert_eq!(second.take_back_leases().await.unwrap(), 0);
    assert_eq!(database.count("deliveries WHERE lease_token = 'held'").await, 1);
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_is_unavailable() {
    let nowhere = "postgres://user:pass-word@localhost/none?host=/nowhere";
    let refused = Store::open(&StoreUrl::parse(nowhere).unwrap(), Access::Shared).await.unwrap_err();
    assert!(matches!(refused, StoreError::Unavailable(_)), "{refused:?}");
    assert!(!refused.to_string().contains("pass-word"), "{refused}");
}

#[test]
fn an_address_is_libpqs_and_is_never_shown() {
    for good in [
        "postgres://u:pass-word@db.example.com:5433/authority?sslmode=verify-full",
        "postgresql://localhost/x",
    ] {
        let url = StoreUrl::parse(good).unwrap();
        assert!(matches!(url, StoreUrl::Postgres(_)), "{good}");
        assert_eq!(format!("{url:?}"), "Postgres(ServerUrl(..))");
    }
    for bad in
        ["postgres:", "postgres:/x", "mysql://a", "postgres://host:port/x", "postgres://a/b?sslmode=perhaps"]
    {
        assert_eq!(StoreUrl::parse(bad), None, "{bad}");
    }
}

/// A server that is made ready for Citus, whose tables are not distributed yet, is one server like any other:
/// deliveries of an endpoint go on being numbered by themselves.
#[tokio::test]
async fn the_extension_alone_changes_nothing() {
    let database = PostgresDatabase::start().await;
    let shop = Shop::open(&database).await;
    shop.endpoint(&["*"]).await;
    shop.open_checkouts(2).await;
    let extension = "CREATE TABLE pg_dist_partition (logicalrelid REGCLASS, partmethod \"char\")";
    database.execute(extension).await.unwrap();
    let restarted = Shop { store: database.open().await.unwrap(), ..shop };
    restarted.open_checkout().await;
    let places = "SELECT SUM(created_sequence)::BIGINT FROM deliveries";
    assert_eq!(database.number(places).await, 1 + 2 + 3);
}
