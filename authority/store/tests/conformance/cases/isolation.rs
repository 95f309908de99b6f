//! Tenants do not meet: contract 1 and 12 T2. Another merchant, and the same merchant in the other mode, read nothing
//! and write nothing.

use authority_domain::Refusal;
use authority_domain::list_filter::{DeliveryFilter, EventFilter, OrderFilter};
use authority_store::StoreError;
use authority_store::tx::{KeyScope, SequenceRange};

use super::fixtures::kept_answer;
use super::shop::Sale;
use super::{Database, Shop, ask, done, noon, read};

/// Everything a tenant can have, and who may not see it.
async fn stocked(shop: &Shop) -> (Sale, [Shop; 2]) {
    let strangers = [Shop::new(&shop.store, "other").await, shop.in_test_mode()];
    shop.endpoint(&["*"]).await;
    let sale = shop.sell().await;
    (sale, strangers)
}

pub(crate) async fn nobody_reads_anothers_records(shop: Shop, _: &dyn Database) {
    let (sale, strangers) = stocked(&shop).await;
    let (open_checkout, opened) = shop.opened();
    let created = authority_domain::transitions::payment::start(
        &open_checkout,
        false,
        super::fixtures::new_payment(&open_checkout),
        noon(),
    );
    shop.commit(vec![opened, created.unwrap()]).await.unwrap();
    let (shipment, changes) = shop.parcel(&sale.order, &[], None);
    let committed = shop.commit_under(changes, shipment.id.as_str(), "k-1", [7; 32]).await.unwrap();
    let (events, deliveries) = (committed.events, committed.deliveries);
    let record = kept_answer(KeyScope::Merchant(shop.tenant.clone()), "k-1", "{}");
    done!(shop, |tx| tx.idempotency_insert(&record));

    let [other, test] = strangers;
    for (reader, sees) in [(&shop, true), (&other, false), (&test, false)] {
        let endpoint = database_endpoint(&shop).await;
        let all = DeliveryFilter::default();
        let found: Result<Vec<(&str, bool)>, StoreError> = ask!(
            reader.store.read,
            [reader, open_checkout, sale, shipment, events, deliveries],
            |tx| async {
                let (t, number) = (&reader.tenant, &sale.order.order_number);
                Ok(vec![
                    ("checkout_get", tx.checkout_get(t, &open_checkout.id).await?.is_some()),
                    ("payment_get", tx.payment_get(t, &sale.payment.id).await?.is_some()),
                    ("payments_of_order", !tx.payments_of_order(t, number).await?.is_empty()),
                    ("payment_open_on", tx.payment_open_on(t, &open_checkout.id).await?.is_some()),
                    ("order_get", tx.order_get(t, number).await?.is_some()),
                    ("order_body", tx.order_body(t, number).await?.is_some()),
                    (
                        "orders_page",
                        !tx.orders_page(t, &OrderFilter::default(), None, 9).await?.rows.is_empty(),
                    ),
                    ("shipment_body", tx.shipment_body(t, &shipment.id).await?.is_some()),
                    ("shipments_of_order", !tx.shipments_of_order(t, number).await?.is_empty()),
                    ("shipments_page", !tx.shipments_page(t, number, None, 9).await?.is_empty()),
                    ("shipment_by_key", tx.shipment_by_key(t, "k-1").await?.is_some()),
                    ("events_page", !tx.events_page(t, &EventFilter::default(), 0, 9).await?.rows.is_empty()),
                    ("event_body", tx.event_body(t, &events[0].id).await?.is_some()),
                    ("stream_range", tx.stream_range(t).await?.latest > 0),
                    ("endpoint_get", tx.endpoint_get(t, &endpoint).await?.is_some()),
                    ("endpoint_count", tx.endpoint_count(t).await? > 0),
                    ("endpoints_page", !tx.endpoints_page(t, &[], None, 9).await?.is_empty()),
                    ("secret_version", tx.secret_version(t, &endpoint).await.is_ok()),
                    (
                        "deliveries_page",
                        !tx.deliveries_page(t, &endpoint, &all, None, 9).await?.rows.is_empty(),
                    ),
                    ("delivery_get", tx.delivery_get(t, &deliveries[0].id).await?.is_some()),
                    ("event_head", tx.event_head(t, &events[0].id).await?.is_some()),
                    ("endpoint_figures", !tx.endpoint_figures(t, noon(), noon(), 9).await?.is_empty()),
                    (
                        "idempotency_get",
                        tx.idempotency_get(&KeyScope::Merchant(t.clone()), "k-1", noon()).await?.is_some(),
                    ),
                ])
            }
        );
        for (read, seen) in found.unwrap() {
            assert_eq!(seen, sees, "{read} as {:?}", reader.tenant);
        }
    }
    let operator = read!(shop, |tx| tx.idempotency_get(&KeyScope::Operator, "k-1", noon()));
    assert!(operator.is_none(), "the operator's keys are another room");
}

async fn database_endpoint(shop: &Shop) -> authority_domain::id::EndpointId {
    read!(shop, |tx| tx.endpoints_page(&shop.tenant, &[], None, 1)).remove(0).1.id
}

/// Sequence numbers that nothing else has.
const UNUSED_SEQUENCES: SequenceRange = SequenceRange { first: 900, last: 900 };

pub(crate) async fn nobody_writes_anothers_records(shop: Shop, database: &dyn Database) {
    let (sale, [other, test]) = stocked(&shop).await;
    let (shipment, changes) = shop.parcel(&sale.order, &[], None);
    shop.commit(changes).await.unwrap();
    let sums = "SELECT CAST((SELECT SUM(resource_version) FROM payments) \
                + (SELECT SUM(resource_version) FROM shipments) + (SELECT SUM(resource_version) FROM checkouts) \
                + (SELECT SUM(last_sequence) FROM orders) AS BIGINT)";
    let before = database.number(sums).await;
    for stranger in [other, test] {
        let livemode = stranger.tenant.livemode;
        let mut payment = sale.payment.clone();
        payment.resource_version += 1;
        payment.livemode = livemode;
        let mut parcel = shipment.clone();
        parcel.resource_version += 1;
        parcel.livemode = livemode;
        let put: Result<(), Refusal> = ask!(stranger.store.write, [stranger], |tx| async {
            Ok(tx.payment_put(&stranger.tenant.merchant_id, &payment, UNUSED_SEQUENCES).await?)
        });
        put.unwrap_err();
        ask!(stranger.store.write, [stranger], |tx| {
            tx.shipment_put(&stranger.tenant.merchant_id, &parcel, UNUSED_SEQUENCES)
        })
        .unwrap_err();
        assert_eq!(database.number(sums).await, before);
    }
}

pub(crate) async fn numbers_are_each_tenants_own(shop: Shop, database: &dyn Database) {
    let other = Shop::new(&shop.store, "other").await;
    let next = async |shop: &Shop| -> String {
        let number = ask!(shop.store.write, [shop], |tx| tx.order_number_reserve(&shop.tenant, "ORD-"));
        number.unwrap().as_str().to_owned()
    };
    assert_eq!([next(&shop).await, next(&shop).await], ["ORD-100001", "ORD-100002"]);
    assert_eq!([next(&other).await, next(&shop.in_test_mode()).await], ["ORD-100001", "ORD-100001"]);
    assert_eq!(next(&shop).await, "ORD-100003");
    // The same number in two tenants names two orders.
    let ours = shop.sell().await;
    let theirs = other.sell().await;
    assert_eq!(ours.order.order_number.as_str(), "ORD-100004");
    assert_eq!(theirs.order.order_number.as_str(), "ORD-100002");
    let (again, test) = (other.sell().await, shop.in_test_mode().sell().await);
    assert_eq!(again.order.order_number.as_str(), "ORD-100003");
    assert_eq!(test.order.order_number.as_str(), "ORD-100002");
    let named = "orders WHERE order_number = 'ORD-100002'";
    assert_eq!(database.count(named).await, 2);
}
