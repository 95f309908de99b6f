//! Endpoints as records: contract 2.8, 4.10.

use authority_domain::endpoint::Endpoint;
use authority_domain::id::EndpointId;
use authority_store::StoreError;
use authority_store::ports::SealedSecret;

use super::fixtures::endpoint;
use super::shop::Shop;
use super::{Database, job};

pub(crate) async fn endpoints_come_back_as_they_were<D: Database>() {
    let database = D::start().await;
    let shop = Shop::open(&database).await;
    let mut made = endpoint(true, &["order.*", "payment.failed"]);
    made.description = Some("Grüße".into());
    made.metadata.insert("k".into(), "v".into());
    let (store, tenant, inserted) = (&shop.store, shop.tenant.clone(), made.clone());
    let secret = SealedSecret { version: 1, sealed: vec![0, 255] };
    let done: Result<(), StoreError> =
        job!(store.write, tx => tx.endpoint_insert(&tenant, &inserted, &secret));
    done.unwrap();
    let (tenant, id) = (shop.tenant.clone(), made.id.clone());
    let found: Result<Option<Endpoint>, StoreError> = job!(store.read, tx => tx.endpoint_get(&tenant, &id));
    assert_eq!(found.unwrap(), Some(made.clone()));
    let tenant = shop.tenant.clone();
    let enabled: Result<Vec<_>, StoreError> = job!(store.read, tx => tx.endpoints_enabled(&tenant));
    assert_eq!(enabled.unwrap(), [(made.id, made.enabled_events)]);
}

pub(crate) async fn endpoints_are_listed_newest_first<D: Database>() {
    let database = D::start().await;
    let shop = Shop::open(&database).await;
    let mut ids = Vec::new();
    for _ in 0..4 {
        ids.push(shop.endpoint(&["*"]).await);
        // Another tenant's do not count.
        shop.in_test_mode().endpoint(&["*"]).await;
    }
    let disabled = format!("UPDATE webhook_endpoints SET status = 'disabled' WHERE id = '{}'", ids[2]);
    database.execute(&disabled).await.unwrap();
    let page = async |status: &[&str], before, limit| -> Vec<(i64, EndpointId)> {
        let (store, tenant) = (&shop.store, shop.tenant.clone());
        let status: Vec<String> = status.iter().map(|status| (*status).to_owned()).collect();
        let page: Result<Vec<_>, StoreError> =
            job!(store.read, tx => tx.endpoints_page(&tenant, &status, before, limit));
        page.unwrap().into_iter().map(|(place, endpoint)| (place, endpoint.id)).collect()
    };
    let place = |n: usize| (i64::try_from(n).unwrap() + 1, ids[n].clone());
    assert_eq!(page(&[], None, 9).await, [place(3), place(2), place(1), place(0)]);
    assert_eq!(page(&[], None, 2).await, [place(3), place(2)]);
    assert_eq!(page(&[], Some(3), 2).await, [place(1), place(0)]);
    assert_eq!(page(&["enabled"], None, 9).await, [place(3), place(1), place(0)]);
    assert_eq!(page(&["disabled"], None, 9).await, [place(2)]);
    assert_eq!(page(&["enabled", "disabled"], Some(2), 9).await, [place(0)]);
    let (store, tenant) = (&shop.store, shop.tenant.clone());
    let count: Result<i64, StoreError> = job!(store.read, tx => tx.endpoint_count(&tenant));
    assert_eq!(count.unwrap(), 4);
}
