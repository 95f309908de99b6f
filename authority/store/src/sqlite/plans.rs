//! The cost of a merchant's lists, of lookups, and of what is read ahead, beside a large history.

use authority_domain::list_filter::{EventFilter, OrderFilter, PaymentFilter, RefundFilter};
use authority_domain::order::external_references::SystemName;
use authority_domain::order::payment_status::PaymentStatus;
use authority_domain::{
    FulfillmentStatus, MerchantId, OrderNumber, OrderStatus, RefundStatus, Tenant, Timestamp,
};
use verify_core::catalog::EventType;

use super::large::{Large, MANY, RESOLUTION, tenant};
use crate::error::StoreError;
use crate::sql::order::ORDERS_CHANGED;
use crate::sql::transaction::first_reads::Prefetch;
use crate::sql::transaction::keys::KeyScope;
use crate::sql::transaction::pages::LOOK_AHEAD;

#[tokio::test]
async fn a_page_of_events_reads_only_what_it_shows() {
    let mut large = Large::new().await;
    let none = EventFilter::default;
    let types = |types: &[EventType]| EventFilter { types: types.to_vec(), ..EventFilter::default() };
    let table = [
        ("from the start", none(), 0, 101),
        ("from the middle", none(), MANY / 2, 101),
        ("one frequent type", types(&[EventType::OrderCreated]), 0, 101),
        ("two frequent types", types(&[EventType::OrderCreated, EventType::OrderConfirmed]), 0, 101),
        ("a rare type", types(&[EventType::OrderShipped]), 0, 5),
        ("a record", EventFilter { resource: Some("ORD-9999".into()), ..none() }, 0, 5),
    ];
    for (what, filter, after, expected) in table {
        large.steps();
        let page = large.tx.events_page(&tenant(), &filter, after, 101).await.unwrap().rows;
        assert_eq!(page.len(), expected, "{what}");
        large.within_of(2_000, &what);
    }
    large.tx.stream_range(&tenant()).await.unwrap();
    large.within(500);
}

#[tokio::test]
async fn a_page_of_orders_reads_only_what_it_shows() {
    let mut large = Large::new().await;
    let confirmed = OrderFilter { status: vec![OrderStatus::Confirmed], ..OrderFilter::default() };
    for (filter, before) in [
        (OrderFilter::default(), None),
        (OrderFilter::default(), Some(MANY / 2)),
        (confirmed, Some(MANY / 2)),
    ] {
        large.steps();
        let page = large.tx.orders_page(&tenant(), &filter, before, 101).await.unwrap().rows;
        assert_eq!(page.len(), 101);
        large.within_of(2_000, &filter);
    }
}

/// Where few rows match, a page looks at [`LOOK_AHEAD`] of them: a fifth of what there is, and no more for any filter.
#[tokio::test]
async fn a_page_of_what_is_rare_ends_where_its_look_ahead_ends() {
    let mut large = Large::new().await;
    for filter in [
        OrderFilter { status: vec![OrderStatus::Cancelled], ..OrderFilter::default() },
        OrderFilter {
            payment_status: vec![PaymentStatus::Refunded],
            fulfillment_status: vec![FulfillmentStatus::Delivered],
            ..OrderFilter::default()
        },
        OrderFilter { created_to: Some(Timestamp::from_ms(0)), ..OrderFilter::default() },
        OrderFilter { updated_from: Some(Timestamp::from_ms(MANY * 1000)), ..OrderFilter::default() },
    ] {
        for (before, end) in [(None, Some(MANY - LOOK_AHEAD + 1)), (Some(LOOK_AHEAD), None)] {
            large.steps();
            let page = large.tx.orders_page(&tenant(), &filter, before, 101).await.unwrap();
            assert_eq!((page.rows.len(), page.looked_to), (0, end), "{filter:?}");
            large.within_of(30 * u64::try_from(LOOK_AHEAD).unwrap(), &filter);
        }
    }
}

/// The feed of changed orders walks its index, and an order is found by the name that a system gave it.
#[tokio::test]
async fn a_page_of_changed_orders_reads_only_what_it_shows() {
    let mut large = Large::new().await;
    let plan = large.plan(ORDERS_CHANGED).await;
    let walks = "SEARCH orders USING INDEX orders_by_change (shard=? AND merchant_id=? AND livemode=? AND last_sequence>?)";
    assert_eq!(plan, walks);
    for (after, expected) in [(0, 101), (MANY / 2, 101), (MANY - 3, 3), (MANY, 0)] {
        large.steps();
        let page = large.tx.orders_changed(&tenant(), after, 101).await.unwrap();
        assert_eq!(page.len(), expected);
        large.within_of(2_000, &format!("after {after}"));
    }
    let named = "INSERT INTO external_references (merchant_id, livemode, system, id, order_number) \
         SELECT 'mer', TRUE, 'erp', 'SO-' || sequence, 'ORD-' || sequence FROM events";
    large.execute(named).await;
    for before in [None, Some(MANY)] {
        let filter = OrderFilter {
            external_system: SystemName::parse("erp"),
            external_id: Some("SO-7".to_owned()),
            ..OrderFilter::default()
        };
        large.steps();
        let page = large.tx.orders_page(&tenant(), &filter, before, 101).await.unwrap().rows;
        assert_eq!(page.iter().map(|row| row.0).collect::<Vec<_>>(), [7]);
        large.within(500);
    }
}

/// The cost of the payment adapter's poll every few seconds, and of each page of a merchant's list.
#[tokio::test]
async fn a_work_list_of_refunds_reads_only_what_is_open() {
    let mut large = Large::new().await;
    for status in [&[RefundStatus::Requested][..], &[RefundStatus::Requested, RefundStatus::Processing]] {
        large.steps();
        // The rows of this table hold no records, so the reader fails on the first of them.
        let read = large.tx.refunds_everywhere(status, None, 101).await;
        assert!(matches!(read, Err(StoreError::Broken(_))), "{read:?}");
        large.within_of(2_000, &status);
    }
    let filter = RefundFilter::default();
    let page = large.tx.refunds_page(&tenant(), &filter, Some(MANY / 2), 101).await.unwrap().rows;
    assert_eq!(page.len(), 101);
    large.within(2_000);
    let number = OrderNumber::parse("ORD-1").unwrap();
    assert_eq!(large.tx.refunds_reserved(&tenant(), &number).await.unwrap().len(), 1);
    large.within(500);
}

/// Records of one order or one payment are found without a look at the rest, by every use case and in every list.
#[tokio::test]
async fn what_belongs_to_one_order_is_found_by_itself() {
    let mut large = Large::new().await;
    let payments = "INSERT INTO payments (id, merchant_id, livemode, status, order_number, currency, amount, \
         amount_authorized, amount_captured, amount_refunded, resource_version, created_sequence, created_at, body) \
         SELECT 'pay_' || sequence, 'mer', TRUE, 'succeeded', 'ORD-' || (sequence - 1), 'USD', 1, 1, 1, 0, 1, sequence, \
             1, '{}' FROM events WHERE sequence > 1";
    large.execute(payments).await;
    let name = || Some("ORD-7".to_owned());
    let of_order = RefundFilter { order_number: name(), ..RefundFilter::default() };
    let of_payment = RefundFilter { payment_id: Some("pay_7".to_owned()), ..RefundFilter::default() };
    for before in [None, Some(MANY)] {
        for (filter, expected) in [(&of_order, 1), (&of_payment, 0)] {
            large.steps();
            let page = large.tx.refunds_page(&tenant(), filter, before, 101).await.unwrap().rows;
            assert_eq!(page.len(), expected);
            large.within_of(500, &filter);
        }
        let filter = PaymentFilter { order_number: name(), ..PaymentFilter::default() };
        let page = large.tx.payments_page(&tenant(), &filter, before, 101).await.unwrap().rows;
        assert_eq!(page.len(), 1);
        large.within(500);
    }
    // The row holds no record, so the reader fails on it.
    let number = OrderNumber::parse("ORD-7").unwrap();
    large.tx.payments_of_order(&tenant(), &number).await.unwrap_err();
    large.within(500);
    let reserved = large.tx.refunds_reserved(&tenant(), &OrderNumber::parse("ORD-1").unwrap()).await.unwrap();
    assert_eq!(reserved.into_values().collect::<Vec<_>>(), [1]);
    large.steps();
    large.tx.inspect_orders(&tenant(), None, 10).await.unwrap();
    large.within(5_000);
}

/// With half of the orders pending, and half of as many checkouts open, a batch of due work costs as much as it
/// holds.
#[tokio::test]
async fn what_is_due_is_found_beside_what_is_not() {
    let mut large = Large::new().await;
    for sql in [
        "UPDATE orders SET status = 'pending' WHERE created_at % 2 = 0",
        "INSERT INTO checkouts (id, merchant_id, livemode, status, currency, total, expires_at, resource_version, body) \
         SELECT 'chk_' || sequence, 'mer', TRUE, CASE WHEN sequence % 2 = 0 THEN 'open' ELSE 'expired' END, 'USD', 0, \
             sequence, 1, '{}' FROM events",
    ] {
        large.execute(sql).await;
    }
    let middle = Timestamp::from_ms(MANY / 2);
    large.steps();
    let due = large.tx.checkouts_due(None, Timestamp::from_ms(MANY), None, 100).await.unwrap();
    let again = large.tx.checkouts_due(None, Timestamp::from_ms(MANY), due.last(), 100).await.unwrap();
    assert_eq!((due.len(), again.len()), (100, 100));
    assert_eq!(large.tx.checkouts_next_due().await.unwrap(), Some(Timestamp::from_ms(2)));
    let orders = large.tx.orders_pending(&tenant(), middle, None, 100).await.unwrap();
    let again = large.tx.orders_pending(&tenant(), middle, orders.last(), 100).await.unwrap();
    assert_eq!((orders.len(), again.len()), (100, 100));
    assert_eq!(large.tx.pending_limits().await.unwrap(), []);
    large.within(10_000);
}

/// The prefetch finds its rows by their keys, however many keys and streams there are.
#[tokio::test]
async fn looking_ahead_reads_only_what_is_asked_for() {
    let mut large = Large::new().await;
    for sql in [
        "INSERT INTO idempotency (merchant_id, livemode, key, fingerprint, operation, answer, request_id, created_at, \
             expires_at) SELECT 'mer', TRUE, 'key_' || sequence, x'00', 'checkouts.create', '{}', 'req', 0, 1 FROM events",
        "INSERT INTO streams (merchant_id, livemode, last_sequence, last_created_at) \
             SELECT 'mer_' || sequence, TRUE, sequence, 0 FROM events",
    ] {
        large.execute(sql).await;
    }
    let job = |n: i64| {
        let tenant = Tenant { merchant_id: MerchantId::from_store(format!("mer_{n}")), livemode: true };
        let key = (KeyScope::Merchant(self::tenant()), format!("key_{n}"));
        Prefetch { tenant: Some(tenant), key: Some(key), reads: Vec::new(), now: Timestamp::from_ms(0) }
    };
    let jobs = [job(7), job(MANY / 2), job(MANY)];
    large.tx.conn.begun(crate::shards::ShardSet::ALL);
    large.steps();
    large.tx.prefetch(&jobs.each_ref()).await.unwrap();
    large.within(3_000);
    let found =
        large.tx.stream_advance(jobs[1].tenant.as_ref().unwrap(), 1, Timestamp::from_ms(0)).await.unwrap();
    assert_eq!(found.last_sequence, MANY / 2 + 1);
    assert!(large.steps() < RESOLUTION.into(), "it was read before");
}
