//! Generated order numbers, among jobs that wait together (contract 1.1).

use authority_domain::{Change, ErrorCode, OrderNumber, Refusal};
use authority_store::StoreError;
use authority_store::tx::{FirstRead, Prefetch};

use verify_core::catalog::EventType;

use super::{Database, Pending, Shop, ask, hold, release, submit};

pub(crate) async fn generated_numbers_are_used_once(shop: Shop, _: &dyn Database) {
    let taken_before = shop.sell_as(|_| OrderNumber::from_store("ORD-100002".to_owned())).await;
    let held = hold(&shop.store).await;
    let first = reserving(&shop, Ok(()));
    // Jumps over what an operator took by hand, and gives back what it took itself.
    let refused = reserving(&shop, Err(Refusal::not_found("reason")));
    let second = reserving(&shop, Ok(()));
    let third = reserving(&shop, Ok(()));
    let other = Shop::clone(&shop).in_test_mode();
    let of_another = reserving(&other, Ok(()));
    release(held).await;
    assert_eq!(first.await.unwrap().as_str(), "ORD-100001");
    assert_eq!(refused.await.unwrap_err().code, ErrorCode::NotFound);
    assert_eq!(second.await.unwrap().as_str(), "ORD-100003");
    assert_eq!(third.await.unwrap().as_str(), "ORD-100004");
    assert_eq!(of_another.await.unwrap().as_str(), "ORD-100001");
    assert_eq!(reserving_now(&shop).await, "ORD-100005");
    assert_eq!(taken_before.order.order_number.as_str(), "ORD-100002");
}

/// An order that is made by hand under the number that is next is seen by the job after it, though it waits.
pub(crate) async fn a_number_that_was_just_taken_is_not_generated(shop: Shop, _: &dyn Database) {
    let sale = shop.sell_as(|_| OrderNumber::from_store("BY-HAND".to_owned())).await;
    let mut order = sale.order.clone();
    order.order_number = OrderNumber::from_store("ORD-100001".to_owned());
    order.resource_version = 1;
    let held = hold(&shop.store).await;
    let (inside, change) = (shop.clone(), Change::order(EventType::OrderCreated, &order));
    let by_hand = submit(async move { inside.commit(vec![change]).await });
    let generated = reserving(&shop, Ok(()));
    release(held).await;
    by_hand.await.unwrap();
    assert_eq!(generated.await.unwrap().as_str(), "ORD-100002");
}

/// The next numbers are looked up for all that wait together: from the counter, or from the start where there is none.
pub(crate) async fn numbers_used_by_hand_are_passed_over_by_all_that_wait_together(
    shop: Shop,
    _: &dyn Database,
) {
    let other = Shop::new(&shop.store, "other").await;
    let by_hand = async |shop: &Shop, number: &str| {
        let number = OrderNumber::from_store(number.to_owned());
        shop.sell_as(|_| number).await;
    };
    for (shop, number) in
        [(&shop, "ORD-100001"), (&shop, "ORD-100003"), (&other, "ORD-100002"), (&shop, "ORD-100007")]
    {
        by_hand(shop, number).await;
    }
    for expected in [
        ["ORD-100002", "ORD-100004", "ORD-100005", "ORD-100001", "ORD-100003"],
        ["ORD-100006", "ORD-100008", "ORD-100009", "ORD-100004", "ORD-100005"],
    ] {
        let held = hold(&shop.store).await;
        let waiting = [&shop, &shop, &shop, &other, &other].map(reserving_ahead);
        release(held).await;
        for (number, expected) in waiting.into_iter().zip(expected) {
            assert_eq!(number.await.unwrap().as_str(), expected);
        }
    }
}

/// Orders of another system may have been imported under the very numbers that come next, in any quantity.
pub(crate) async fn imported_numbers_are_passed_over_at_once(shop: Shop, database: &dyn Database) {
    let by_hand = shop.sell_as(|_| OrderNumber::from_store("BY-HAND".to_owned())).await;
    let columns = "status, payment_status, fulfillment_status, currency, total, resource_version, created_at, \
                   updated_at, body";
    let import = async |from: i64, to: i64| {
        let import = format!(
            "INSERT INTO orders (shard, merchant_id, livemode, order_number, {columns}) \
             WITH RECURSIVE n (n) AS (SELECT {from} UNION ALL SELECT n + 1 FROM n WHERE n < {to}) \
             SELECT shard, merchant_id, livemode, 'ORD-' || n, {columns} \
             FROM n CROSS JOIN orders WHERE order_number = '{}'",
            by_hand.order.order_number
        );
        assert_eq!(database.execute(&import).await.map(i64::try_from), Ok(Ok(to - from + 1)));
    };
    import(100_001, 101_000).await;
    import(101_003, 101_004).await;
    // All wait together: the second finds the number behind the gap taken by the first, the third the rest of them.
    let held = hold(&shop.store).await;
    let waiting = [&shop, &shop, &shop].map(reserving_ahead);
    let other = reserving(&shop.in_test_mode(), Ok(()));
    release(held).await;
    for (number, expected) in waiting.into_iter().zip(["ORD-101001", "ORD-101002", "ORD-101005"]) {
        assert_eq!(number.await.unwrap().as_str(), expected);
    }
    assert_eq!(other.await.unwrap().as_str(), "ORD-100001");
    assert_eq!(reserving_now(&shop).await, "ORD-101006");
}

/// Takes the next order number and then ends as `end` says.
fn reserving(shop: &Shop, end: Result<(), Refusal>) -> Pending<Result<OrderNumber, Refusal>> {
    submit(reserve(shop.clone(), end))
}

async fn reserve(shop: Shop, end: Result<(), Refusal>) -> Result<OrderNumber, Refusal> {
    let (store, tenant) = (shop.store, shop.tenant);
    ask!(store.write, |tx| async {
        let number = tx.order_number_reserve(&tenant, "ORD-").await?;
        end.map(|()| number)
    })
}

/// Takes the next order number, and has said before that it will.
fn reserving_ahead(shop: &Shop) -> Pending<Result<OrderNumber, StoreError>> {
    let (store, tenant) = (shop.store.clone(), shop.tenant.clone());
    let ahead = Prefetch { reads: vec![FirstRead::OrderNumber], ..shop.ahead() };
    submit(async move { ask!(store.write_ahead(ahead), |tx| tx.order_number_reserve(&tenant, "ORD-")) })
}

async fn reserving_now(shop: &Shop) -> String {
    // The writer is not held.
    reserve(shop.clone(), Ok(())).await.unwrap().to_string()
}
