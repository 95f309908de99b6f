//! One fact, one commit: contract 7.8, 12 T1, I10 and I12.

use authority_domain::event::change::{Record, WebhookTest};
use authority_domain::list_filter::OrderFilter;
use authority_domain::{Change, ErrorCode, FulfillmentStatus, Order, OrderNumber};
use authority_store::commit::Audience;
use verify_core::catalog::EventType;

use super::{Database, Shop, noon, read};

/// How many rows each table has that a commit writes.
async fn rows(database: &dyn Database) -> Vec<i64> {
    let mut counts = Vec::new();
    for table in ["checkouts", "payments", "orders", "order_lines", "shipments", "events", "deliveries"] {
        counts.push(database.count(table).await);
    }
    counts
}

pub(crate) async fn rows_events_and_deliveries_are_there_together(shop: Shop, database: &dyn Database) {
    shop.endpoint(&["*"]).await;
    let sale = shop.sell().await;
    assert_eq!(rows(database).await, [1, 1, 1, 2, 0, 6, 6]);
    // The rows are the last versions of the records, the events all of them.
    let order = read!(shop, [sale], |tx| tx.order_get(&shop.tenant, &sale.order.order_number));
    assert_eq!(order, Some(sale.order.clone()));
    assert_eq!(sale.order.resource_version, 2);
    let payment = read!(shop, [sale], |tx| tx.payment_get(&shop.tenant, &sale.payment.id));
    assert_eq!(payment, Some(sale.payment.clone()));

    let (shipment, changes) = shop.parcel(&sale.order, &[], None);
    let committed = shop.commit(changes).await.unwrap();
    assert_eq!(rows(database).await, [1, 1, 1, 2, 1, 8, 8]);
    let stored: Vec<String> = shop.events().await.into_iter().skip(6).map(|(_, body)| body).collect();
    assert_eq!(stored, committed.events.iter().map(|event| event.body.clone()).collect::<Vec<_>>());
    let number = sale.order.order_number.clone();
    assert_eq!(read!(shop, |tx| tx.shipments_of_order(&shop.tenant, &number)), [shipment]);
    assert_eq!(database.number("SELECT CAST(SUM(shipped_quantity) AS BIGINT) FROM order_lines").await, 1);
    let waiting = database
        .count("deliveries WHERE status = 'pending' AND lease_token IS NULL AND attempt_count = 0")
        .await;
    assert_eq!(waiting, 8);
    assert_eq!(database.number("SELECT MAX(next_attempt_at) FROM deliveries").await, noon().as_ms());
}

pub(crate) async fn a_change_that_cannot_be_told_is_not_made(shop: Shop, database: &dyn Database) {
    shop.endpoint(&["*"]).await;
    let (mut large, _) = shop.opened();
    for n in 0..600 {
        large.metadata.insert(format!("k{n}"), "x".repeat(500));
    }
    let changes = vec![shop.opened().1, Change::checkout(EventType::CheckoutCreated, &large)];
    assert_eq!(shop.commit(changes).await.unwrap_err().code, ErrorCode::PayloadTooLarge);
    assert_eq!(rows(database).await, [0; 7]);
    assert_eq!(shop.open_checkout().await.events[0].sequence, 1, "the place was given back");
}

pub(crate) async fn a_stale_version_fails_the_whole_change(shop: Shop, database: &dyn Database) {
    shop.endpoint(&["*"]).await;
    let sale = shop.sell().await;
    // Two parcels made from the same version of the order: the second has not seen the first.
    let (_, first) = shop.parcel(&sale.order, &[], None);
    let (_, second) = shop.parcel(&sale.order, &[], None);
    shop.commit(first).await.unwrap();
    let before = rows(database).await;
    assert_eq!(shop.commit(second).await.unwrap_err().code, ErrorCode::InternalError);
    assert_eq!(rows(database).await, before);
    // The same version again is stale as well.
    let again = vec![Change::order(EventType::OrderUpdated, &sale.order)];
    assert_eq!(shop.commit(again).await.unwrap_err().code, ErrorCode::InternalError);
    let again = vec![Change::payment(EventType::PaymentSucceeded, &sale.payment)];
    assert_eq!(shop.commit(again).await.unwrap_err().code, ErrorCode::InternalError);
    assert_eq!(rows(database).await, before);
    assert_eq!(shop.open_checkout().await.events[0].sequence, before[5] + 1);
}

pub(crate) async fn every_endpoint_that_wants_an_event_gets_it_once(shop: Shop, database: &dyn Database) {
    let other = Shop::new(&shop.store, "other").await;
    let everything = shop.endpoint(&["*", "order.*", "order.created"]).await;
    let orders = shop.endpoint(&["order.*"]).await;
    let one = shop.endpoint(&["payment.succeeded"]).await;
    let disabled = shop.endpoint(&["*"]).await;
    shop.in_test_mode().endpoint(&["*"]).await;
    other.endpoint(&["*"]).await;
    database.set_endpoint(&disabled, "status = 'disabled'").await;
    shop.sell().await;
    let late = shop.endpoint(&["*"]).await;
    let sent = async |endpoint| {
        let sql = format!("deliveries WHERE endpoint_id = '{endpoint}' AND triggered_by = 'event'");
        database.count(&sql).await
    };
    assert_eq!(sent(&everything).await, 6);
    assert_eq!(sent(&orders).await, 2);
    assert_eq!(sent(&one).await, 1);
    assert_eq!(sent(&disabled).await, 0);
    assert_eq!(sent(&late).await, 0, "an endpoint gets nothing from before it was there");
    assert_eq!(database.count("deliveries").await, 9, "and nobody else anything");
    let torn = "deliveries d JOIN events e ON e.id = d.event_id \
                WHERE d.sequence <> e.sequence OR d.event_type <> e.type OR d.merchant_id <> e.merchant_id";
    assert_eq!(database.count(torn).await, 0);
}

pub(crate) async fn a_test_goes_to_its_endpoint_alone(shop: Shop, database: &dyn Database) {
    shop.endpoint(&["*"]).await;
    let tested = shop.endpoint(&["order.shipped"]).await;
    let test = || Change {
        event_type: EventType::WebhookTest,
        record: Record::WebhookTest(WebhookTest {
            endpoint_id: tested.clone(),
            message: None,
            requested_by: "key_1".into(),
        }),
    };
    for _ in 0..2 {
        shop.commit_at(vec![test()], Audience::Tested(tested.clone()), noon()).await.unwrap();
    }
    let sql = format!("deliveries WHERE triggered_by = 'test' AND endpoint_id = '{tested}'");
    assert_eq!(database.count(&sql).await, 2);
    assert_eq!(database.count("deliveries").await, 2);
    assert_eq!(shop.events().await.len(), 2, "a test stands in the stream");
}

pub(crate) async fn orders_stand_in_lists_by_their_first_event(shop: Shop, database: &dyn Database) {
    let (first, second, third) = (shop.sell().await, shop.sell().await, shop.sell().await);
    // A later change does not move an order in the list.
    let (_, changes) = shop.parcel(&first.order, &[], None);
    shop.commit(changes).await.unwrap();
    let page = async |filter: OrderFilter, before, limit| {
        read!(shop, |tx| tx.orders_page(&shop.tenant, &filter, before, limit))
            .rows
            .into_iter()
            .map(|(position, body)| {
                let order: Order = serde_json::from_str(&body).unwrap();
                (position, order.order_number)
            })
            .collect::<Vec<_>>()
    };
    let place = |n: usize, sale: &super::shop::Sale| ([4, 10, 16][n], sale.order.order_number.clone());
    let all = [place(2, &third), place(1, &second), place(0, &first)];
    assert_eq!(page(OrderFilter::default(), None, 10).await, all);
    assert_eq!(page(OrderFilter::default(), None, 2).await, all[..2]);
    assert_eq!(page(OrderFilter::default(), Some(10), 2).await, all[2..]);
    assert_eq!(page(OrderFilter::default(), Some(4), 2).await, []);
    let filter = OrderFilter {
        fulfillment_status: vec![FulfillmentStatus::PartiallyShipped],
        ..OrderFilter::default()
    };
    assert_eq!(page(filter, None, 10).await, all[2..]);
    let filter = OrderFilter { customer_reference: Some("c-77".into()), ..OrderFilter::default() };
    assert_eq!(page(filter, None, 10).await.len(), 3);
    let filter = OrderFilter { created_from: Some(noon().plus_ms(1)), ..OrderFilter::default() };
    assert_eq!(page(filter, None, 10).await, []);
    let last = async |created| {
        database.number(&format!("SELECT last_sequence FROM orders WHERE created_sequence = {created}")).await
    };
    assert_eq!(last(4).await, 20, "the parcel's");
    assert_eq!(last(10).await, 12, "the confirmation in the commit that created it");
}

pub(crate) async fn payments_and_parcels_of_an_order_come_oldest_first(shop: Shop, database: &dyn Database) {
    let (first, second) = (shop.sell().await, shop.sell().await);
    let number = first.order.order_number.clone();
    // Both payments are the first order's; the clock stepped back between them, the stream did not.
    let sql = format!(
        "UPDATE payments SET order_number = '{number}', created_at = created_at - 1 WHERE id = '{}'",
        second.payment.id
    );
    database.execute(&sql).await.unwrap();
    let payments = read!(shop, [number], |tx| tx.payments_of_order(&shop.tenant, &number));
    assert_eq!(payments, [first.payment, second.payment]);

    let (mut parcels, mut order) = (Vec::new(), first.order);
    for n in 0..3 {
        let (parcel, changes) = shop.parcel_at(&order, &parcels, None, noon().plus_ms(n));
        if let Some(Record::Order(next)) = changes.last().map(|change| change.record.clone()) {
            order = *next;
        }
        shop.commit(changes).await.unwrap();
        parcels.push(parcel);
    }
    let stored = read!(shop, |tx| tx.shipments_of_order(&shop.tenant, &number));
    assert_eq!(stored, parcels);
}

/// An operator chooses order numbers; one may look like the id of another record in the same commit.
pub(crate) async fn records_of_different_kinds_may_share_a_name(shop: Shop, database: &dyn Database) {
    let sale = shop.sell_as(|payment| OrderNumber::parse(payment.id.as_str()).unwrap()).await;
    assert_eq!(sale.order.order_number.as_str(), sale.payment.id.as_str());
    assert_eq!(rows(database).await, [1, 1, 1, 2, 0, 6, 0]);
    let order = read!(shop, [sale], |tx| tx.order_get(&shop.tenant, &sale.order.order_number));
    let payment = read!(shop, [sale], |tx| tx.payment_get(&shop.tenant, &sale.payment.id));
    assert_eq!((order, payment), (Some(sale.order), Some(sale.payment)));
}
