//! The platform's own endpoint: contract 6.2.

use authority_domain::Tenant;

use super::{Database, Shop, ask, noon};

pub(crate) async fn the_platform_gets_everybodys_events(database: &dyn Database) {
    let shop = Shop::open(database).await;
    let (other, test) = (Shop::new(&shop.store, "other").await, shop.in_test_mode());
    let platform = Shop { tenant: Tenant::operator(), ..shop.clone() };
    let sink = platform.endpoint(&["checkout.created"]).await;
    let own = shop.endpoint(&["*"]).await;
    for (seller, endpoints) in [(&shop, vec![&own, &sink]), (&other, vec![&sink]), (&test, vec![&sink])] {
        let committed = seller.open_checkout().await;
        let made: Vec<_> = committed.deliveries.iter().map(|delivery| &delivery.endpoint_id).collect();
        assert_eq!(made, endpoints, "{:?}", seller.tenant);
    }
    // It wants nothing else, and nobody's test is its business.
    let before = database.number("SELECT COUNT(*) FROM deliveries").await;
    other.sell().await;
    assert_eq!(database.number("SELECT COUNT(*) FROM deliveries").await, before + 1, "its checkout");
    let theirs = "SELECT COUNT(*) FROM deliveries WHERE merchant_id = 'operator' AND livemode = FALSE";
    assert_eq!(database.number(theirs).await, 4);

    let leased = shop.lease("a", noon(), 9, 9).await;
    let of_sink: Vec<_> = leased.iter().filter(|delivery| delivery.endpoint_id == sink).collect();
    assert_eq!((leased.len(), of_sink.len()), (5, 4));
    assert!(of_sink.iter().all(|delivery| !delivery.livemode && !delivery.secrets.is_empty()));
    // No tenant sees it.
    for reader in [&shop, &other, &test] {
        let store = &reader.store;
        let found = ask!(store.read, [reader, sink], |tx| tx.endpoint_get(&reader.tenant, &sink));
        assert!(found.unwrap().is_none());
        let page = ask!(store.read, [reader], |tx| tx.endpoints_page(&reader.tenant, &[], None, 9));
        assert!(page.unwrap().iter().all(|(_, endpoint)| endpoint.id != sink));
        let count = ask!(store.read, [reader], |tx| tx.endpoint_count(&reader.tenant));
        assert_eq!(count.unwrap(), i64::from(reader.tenant == shop.tenant));
    }
}
