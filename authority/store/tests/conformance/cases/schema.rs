//! The schema and the time between two processes: contract 8.1, 12 T9.

use authority_store::{Inspection, Store, StoreError};

use super::{Database, Shop, done, noon, read};

pub(crate) async fn a_newer_schema_is_refused(shop: Shop, database: &dyn Database) {
    let store = shop.store;
    store.close().await;
    drop(store);
    let known = database.number("SELECT MAX(version) FROM _sqlx_migrations").await;
    let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
                 SELECT version + 1, 'from the future', success, checksum, execution_time FROM _sqlx_migrations \
                 WHERE version = (SELECT MAX(version) FROM _sqlx_migrations)";
    database.execute(newer).await.unwrap();
    let refused = database.open().await.unwrap_err();
    let StoreError::UnknownSchema { found, known: told } = refused else { panic!("{refused}") };
    assert_eq!((found, told), (known + 1, known));
}

/// Before the first release the schema had other first migrations; what they made is not taken for a part of this one.
pub(crate) async fn a_schema_that_began_otherwise_is_refused(shop: Shop, database: &dyn Database) {
    let store = shop.store;
    store.close().await;
    drop(store);
    database.execute("UPDATE _sqlx_migrations SET checksum = 'another' WHERE version = 1").await.unwrap();
    for refused in [database.open().await.map(drop), Store::migrate(&database.url()).await] {
        assert!(matches!(refused, Err(StoreError::ForeignSchema)), "{refused:?}");
    }
    let inspection = Inspection::open(&database.url()).await.unwrap();
    assert!(!inspection.schema_fits);
    inspection.close().await;
}

/// A newer program that has only added to the schema leaves this one as it was: it goes on, starts again, is told to
/// migrate and finds nothing to do. With a change among the additions it may do none of that.
pub(crate) async fn what_a_newer_program_adds_is_no_obstacle(shop: Shop, database: &dyn Database) {
    let newer = async |description: &str| {
        let sql = format!(
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
             SELECT version + 1, '{description}', success, checksum, execution_time FROM _sqlx_migrations \
             WHERE version = (SELECT MAX(version) FROM _sqlx_migrations)"
        );
        database.execute(&sql).await.unwrap();
    };
    for (table, column) in [("events", "TEXT"), ("webhook_endpoints", "TEXT NOT NULL DEFAULT 'x'")] {
        database.execute(&format!("ALTER TABLE {table} ADD COLUMN from_the_future {column}")).await.unwrap();
    }
    newer("9001_expand_one").await;
    newer("9002_expand_another").await;
    let fits = async || read!(shop, |tx| tx.schema_fits());
    assert!(fits().await);
    shop.endpoint(&["*"]).await;
    shop.open_checkout().await;
    Store::migrate(&database.url()).await.unwrap();
    let inspection = Inspection::open(&database.url()).await.unwrap();
    assert_eq!((inspection.schema_found, inspection.schema_fits), (inspection.schema_known + 2, true));
    inspection.close().await;
    let Shop { store, tenant, context } = shop;
    store.close().await;
    drop(store);
    let shop = Shop { store: database.open().await.unwrap(), tenant, context };
    assert_eq!(shop.open_checkout().await.events[0].sequence, 2);

    newer("9003_contract_one").await;
    assert!(!read!(shop, |tx| tx.schema_fits()));
    shop.store.close().await;
    drop(shop);
    for refused in [database.open().await.map(drop), Store::migrate(&database.url()).await] {
        assert!(matches!(refused, Err(StoreError::UnknownSchema { .. })), "{refused:?}");
    }
}

pub(crate) async fn reopening_keeps_everything(shop: Shop, database: &dyn Database) {
    let endpoint = shop.endpoint(&["*"]).await;
    let sale = shop.sell().await;
    shop.lease("a", noon(), 2, 9).await;
    let events = shop.events().await;
    let Shop { store, tenant, context } = shop;
    store.close().await;
    drop(store);

    let store = database.open().await.unwrap();
    let shop = Shop { store, tenant, context };
    assert_eq!(shop.events().await, events);
    let order = read!(shop, [sale], |tx| tx.order_get(&shop.tenant, &sale.order.order_number));
    assert_eq!(order, Some(sale.order));
    assert_eq!(read!(shop, |tx| tx.merchant_get(&shop.tenant.merchant_id)).unwrap().slug, "acme");
    let (owner, secret) = read!(shop, |tx| tx.secret_sample(&[])).unwrap();
    assert_eq!((owner, secret.version, secret.sealed), (endpoint, 1, vec![1, 2, 3]));
    // Leases are there too, until the process that is alone with the database takes them back.
    assert_eq!(shop.lease("b", noon(), 9, 9).await.len(), 4);
    assert_eq!(done!(shop, |tx| tx.delivery_lease_release_all()), 6);
    assert_eq!(shop.lease("c", noon(), 9, 9).await.len(), 6);
    // The stream goes on where it was.
    let next = i64::try_from(events.len()).unwrap() + 1;
    assert_eq!(shop.open_checkout().await.events[0].sequence, next);
}
