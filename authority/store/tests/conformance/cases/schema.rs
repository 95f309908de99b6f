//! The schema and the time between two processes: contract 8.1, 12 T9.

use authority_domain::merchant::Merchant;
use authority_store::StoreError;

use super::fixtures::noon;
use super::shop::Shop;
use super::{Database, job};

pub(crate) async fn a_newer_schema_is_refused(database: &dyn Database) {
    let store = database.open().await.unwrap();
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

pub(crate) async fn reopening_keeps_everything(database: &dyn Database) {
    let shop = Shop::open(database).await;
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
    let store = &shop.store;
    let (tenant, number) = (shop.tenant.clone(), sale.order.order_number.clone());
    let order: Result<_, StoreError> = job!(store.read, tx => tx.order_get(&tenant, &number));
    assert_eq!(order.unwrap(), Some(sale.order));
    let id = shop.tenant.merchant_id.clone();
    let merchant: Result<Option<Merchant>, StoreError> = job!(store.read, tx => tx.merchant_get(&id));
    assert_eq!(merchant.unwrap().unwrap().slug, "acme");
    let sample: Result<_, StoreError> = job!(store.read, tx => tx.secret_sample());
    let (owner, secret) = sample.unwrap().unwrap();
    assert_eq!((owner, secret.version, secret.sealed), (endpoint, 1, vec![1, 2, 3]));
    // Leases are there too, until the process that is alone with the database takes them back.
    assert_eq!(shop.lease("b", noon(), 9, 9).await.len(), 4);
    let released: Result<u64, StoreError> = job!(store.write, tx => tx.delivery_lease_release_all());
    assert_eq!(released.unwrap(), 6);
    assert_eq!(shop.lease("c", noon(), 9, 9).await.len(), 6);
    // The stream goes on where it was.
    let next = i64::try_from(events.len()).unwrap() + 1;
    assert_eq!(shop.open_checkout().await.events[0].sequence, next);
}
