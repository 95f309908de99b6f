//! The platform's own endpoint: contract 6.2.

use super::{Database, Shop, noon, read};

pub(crate) async fn the_platform_gets_everybodys_events(shop: Shop, database: &dyn Database) {
    let (other, test) = (Shop::new(&shop.store, "other").await, shop.in_test_mode());
    let platform = shop.platform();
    let sink = platform.endpoint(&["checkout.created"]).await;
    let own = shop.endpoint(&["*"]).await;
    for (seller, endpoints) in [(&shop, vec![&own, &sink]), (&other, vec![&sink]), (&test, vec![&sink])] {
        let committed = seller.open_checkout().await;
        let made: Vec<_> = committed.deliveries.iter().map(|delivery| &delivery.endpoint_id).collect();
        assert_eq!(made, endpoints, "{:?}", seller.tenant);
    }
    // It wants nothing else, and nobody's test is its business.
    let before = database.count("deliveries").await;
    other.sell().await;
    assert_eq!(database.count("deliveries").await, before + 1, "its checkout");
    let theirs = "deliveries WHERE merchant_id = 'operator' AND livemode = FALSE";
    assert_eq!(database.count(theirs).await, 4);

    let leased = shop.lease("a", noon(), 9, 9).await;
    let of_sink: Vec<_> = leased.iter().filter(|delivery| delivery.endpoint_id == sink).collect();
    assert_eq!((leased.len(), of_sink.len()), (5, 4));
    assert!(of_sink.iter().all(|delivery| !delivery.livemode && !delivery.secrets.is_empty()));
    // No tenant sees it.
    for reader in [&shop, &other, &test] {
        assert!(read!(reader, [sink], |tx| tx.endpoint_get(&reader.tenant, &sink)).is_none());
        let page = read!(reader, |tx| tx.endpoints_page(&reader.tenant, &[], None, 9));
        assert!(page.iter().all(|(_, endpoint)| endpoint.id != sink));
        let count = read!(reader, |tx| tx.endpoint_count(&reader.tenant));
        assert_eq!(count, i64::from(reader.tenant == shop.tenant));
    }
}
