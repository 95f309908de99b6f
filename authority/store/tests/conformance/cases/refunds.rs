//! Refunds: what they reserve of their payments, and what they remember (contract 2.3, 3.6, 3.11 I2, 4.3).

use std::collections::BTreeMap;

use authority_domain::refund::RequesterType;
use authority_domain::{
    Change, ErrorCode, Order, OrderNumber, Payment, PaymentId, Refund, RefundId, RefundStatus, Tenant,
};
use authority_store::StoreError;
use authority_store::tx::MadeUnderKey;
use verify_core::catalog::EventType;

use super::refund_steps::{payment_now, report, request, request_under};
use super::shop::Sale;
use super::{Database, Shop, ask, at, dice, hold, read, release, submit};

async fn order_now(shop: &Shop, number: &OrderNumber) -> Order {
    read!(shop, [number], |tx| tx.order_get(&shop.tenant, &number)).unwrap()
}

async fn reserved(shop: &Shop, number: &OrderNumber) -> BTreeMap<PaymentId, i64> {
    read!(shop, [number], |tx| tx.refunds_reserved(&shop.tenant, &number))
}

pub(crate) async fn open_refunds_reserve_and_ended_ones_do_not(shop: Shop, database: &dyn Database) {
    let sale = shop.sell().await;
    let (number, id) = (&sale.order.order_number, &sale.payment.id);
    let column =
        async || database.number("SELECT CAST(SUM(amount_refund_pending) AS BIGINT) FROM payments").await;
    assert_eq!((reserved(&shop, number).await, column().await), (BTreeMap::new(), 0));

    let first = request(&shop, number, 100, RequesterType::ApiKey, 1).await;
    let second = request(&shop, number, 30, RequesterType::ApiKey, 2).await;
    assert_eq!(reserved(&shop, number).await, BTreeMap::from([(id.clone(), 130)]));
    let payment = payment_now(&shop, id).await;
    assert_eq!((payment.amount_refund_pending, payment.amount_refunded), (130, 0));
    assert_eq!(
        payment.resource_version, sale.payment.resource_version,
        "nothing happened to the payment itself"
    );
    assert_eq!(read!(shop, [number], |tx| tx.payments_of_order(&shop.tenant, &number)), [payment]);

    let first = report(&shop, &first, RefundStatus::Processing, 3).await;
    assert_eq!((reserved(&shop, number).await.get(id), column().await), (Some(&130), 130));
    report(&shop, &first, RefundStatus::Completed, 4).await;
    assert_eq!((reserved(&shop, number).await.get(id), column().await), (Some(&30), 30));
    let payment = payment_now(&shop, id).await;
    assert_eq!((payment.amount_refund_pending, payment.amount_refunded), (30, 100));
    assert_eq!(payment.resource_version, sale.payment.resource_version + 1);
    report(&shop, &second, RefundStatus::Failed, 5).await;
    assert_eq!((reserved(&shop, number).await, column().await), (BTreeMap::new(), 0));
    let payment = payment_now(&shop, id).await;
    assert_eq!((payment.amount_refund_pending, payment.amount_refunded), (0, 100));
    let summary = order_now(&shop, number).await.payment_summary;
    assert_eq!((summary.refunded, summary.refund_pending, summary.refundable), (100, 0, 5000));
}

/// Each request that shares a transaction with others finds what those before it have reserved, and what they made
/// under its key.
pub(crate) async fn requests_that_wait_together_never_use_the_same_money(
    shop: Shop,
    database: &dyn Database,
) {
    let (sale, other, third) = (shop.sell().await, shop.sell().await, shop.sell().await);
    let asking = |sale: &Sale, amount, key: &'static str| {
        let (shop, number) = (shop.clone(), sale.order.order_number.clone());
        submit(
            async move { request_under(&shop, &number, amount, RequesterType::ApiKey, 1, Some(key)).await },
        )
    };
    let held = hold(&shop.store).await;
    let first = asking(&sale, 5000, "k-1");
    let elsewhere = [(&other, "k-2"), (&third, "k-5")].map(|(sale, key)| asking(sale, 5000, key));
    let too_much = asking(&sale, 101, "k-3");
    let again = asking(&sale, 5000, "k-1");
    let rest = asking(&sale, 100, "k-4");
    release(held).await;
    let made = first.await.unwrap();
    for elsewhere in elsewhere {
        elsewhere.await.unwrap();
    }
    assert_eq!(too_much.await.unwrap_err().code, ErrorCode::RefundAmountExceeded);
    assert_eq!(again.await.unwrap(), made);
    rest.await.unwrap();
    for (sale, pending) in [(&sale, 5100), (&other, 5000), (&third, 5000)] {
        assert_eq!(payment_now(&shop, &sale.payment.id).await.amount_refund_pending, pending);
        let expected = BTreeMap::from([(sale.payment.id.clone(), pending)]);
        assert_eq!(reserved(&shop, &sale.order.order_number).await, expected);
    }
    let column = "SELECT CAST(SUM(amount_refund_pending) AS BIGINT) FROM payments";
    assert_eq!(database.number(column).await, 15_100);
}

/// The schema's own view of I2, whatever a use case has computed.
pub(crate) async fn refunds_never_exceed_what_was_captured(shop: Shop, database: &dyn Database) {
    let sale = shop.sell().await;
    let number = &sale.order.order_number;
    let made = request(&shop, number, 5000, RequesterType::ApiKey, 1).await;
    let mut more = made.clone();
    more.id = RefundId::generate(at(2), &mut dice());
    more.amount = 101;
    let change = |refund: &Refund| vec![Change::refund(EventType::RefundRequested, refund)];
    shop.commit(change(&more)).await.unwrap_err();
    assert_eq!(database.count("refunds").await, 1);
    for sql in [
        "UPDATE payments SET amount_refund_pending = amount_captured + 1",
        "UPDATE payments SET amount_refunded = 101",
        "UPDATE payments SET amount_refund_pending = -1",
        "UPDATE payments SET amount_captured = 4999",
        "UPDATE refunds SET amount = 0",
        "UPDATE refunds SET status = 'lost'",
        "UPDATE refunds SET requester = 'nobody'",
        "UPDATE refunds SET order_number = 'ORD-1'",
        "UPDATE refunds SET payment_id = 'pay_nobody'",
    ] {
        let refused = database.execute(sql).await;
        assert!(refused.is_err(), "{sql} touched {refused:?} rows");
    }
    more.amount = 100;
    shop.commit(change(&more)).await.unwrap();
}

pub(crate) async fn a_payment_is_stated_anew_only_as_it_is(shop: Shop, _: &dyn Database) {
    let strangers = [Shop::new(&shop.store, "other").await, shop.in_test_mode()];
    let sale = shop.sell().await;
    request(&shop, &sale.order.order_number, 70, RequesterType::ApiKey, 1).await;
    let payment = payment_now(&shop, &sale.payment.id).await;
    let restate = async |shop: &Shop, payment: &Payment| {
        ask!(shop.store.write, [shop, payment], |tx| tx.payment_restate(&shop.tenant, &payment))
    };
    restate(&shop, &payment).await.unwrap();
    let mut newer = payment.clone();
    newer.resource_version += 1;
    let mut older = payment.clone();
    older.resource_version -= 1;
    let mut mistaken = payment.clone();
    mistaken.amount_refund_pending = 69;
    for wrong in [&newer, &older, &mistaken, &sale.payment] {
        assert!(matches!(restate(&shop, wrong).await, Err(StoreError::Broken(_))), "{wrong:?}");
    }
    for stranger in &strangers {
        assert!(matches!(restate(stranger, &payment).await, Err(StoreError::Broken(_))));
    }
    // The same holds for its next version.
    newer.amount_refund_pending = 0;
    let change = vec![Change::payment(EventType::PaymentRefunded, &newer)];
    shop.commit(change).await.unwrap_err();
    assert_eq!(payment_now(&shop, &payment.id).await, payment);
}

pub(crate) async fn one_refund_per_key_of_a_requester(shop: Shop, database: &dyn Database) {
    let sale = shop.sell().await;
    let number = &sale.order.order_number;
    let request = async |amount, requester| {
        request_under(&shop, number, amount, requester, amount, Some("k-1")).await.unwrap()
    };
    let first = request(1, RequesterType::ApiKey).await;
    assert_eq!(request(2, RequesterType::ApiKey).await, first);
    let platforms = request(3, RequesterType::Operator).await;
    // The schema's own view, whatever a use case has looked for.
    let mut twin = first.clone();
    twin.id = RefundId::generate(at(4), &mut dice());
    let change = Change::refund(EventType::RefundRequested, &twin);
    shop.commit_under(vec![change], twin.id.as_str(), "k-1", [9; 32]).await.unwrap_err();
    assert_eq!(database.count("refunds").await, 2);
    // The key stays when the refund moves on.
    let first = report(&shop, &first, RefundStatus::Completed, 4).await;
    let by_key = async |shop: &Shop, requester, key: &'static str| {
        read!(shop, |tx| tx.refund_by_key(&shop.tenant, requester, key))
    };
    let made = |record| Some(MadeUnderKey { record, fingerprint: Some(vec![9; 32]) });
    assert_eq!(by_key(&shop, RequesterType::ApiKey, "k-1").await, made(first.clone()));
    assert_eq!(by_key(&shop, RequesterType::Operator, "k-1").await, made(platforms));
    // What was made before fingerprints were kept has none.
    database.execute("UPDATE refunds SET idempotency_fingerprint = NULL").await.unwrap();
    let older = Some(MadeUnderKey { record: first, fingerprint: None });
    assert_eq!(by_key(&shop, RequesterType::ApiKey, "k-1").await, older);
    assert_eq!(by_key(&shop, RequesterType::System, "k-1").await, None);
    assert_eq!(by_key(&shop, RequesterType::ApiKey, "k-2").await, None);
    assert_eq!(by_key(&shop.in_test_mode(), RequesterType::ApiKey, "k-1").await, None);
}

pub(crate) async fn refunds_move_by_themselves_where_their_merchants_let_them(plain: Shop, _: &dyn Database) {
    let mut merchant = super::fixtures::merchant("lively");
    merchant.settings.sandbox_auto_advance = true;
    let context = merchant.context();
    let tenant = Tenant { merchant_id: merchant.id.clone(), livemode: false };
    let store = plain.store.clone();
    ask!(store.write, |tx| tx.merchant_insert(&merchant)).unwrap();
    let lively = Shop { store: store.clone(), tenant, context };
    let live = Shop { tenant: Tenant { livemode: true, ..lively.tenant.clone() }, ..lively.clone() };
    let mut asked = Vec::new();
    for shop in [&lively, &live, &plain.in_test_mode()] {
        let sale = shop.sell().await;
        for s in 1..=3 {
            asked.push(request(shop, &sale.order.order_number, 10, RequesterType::ApiKey, s).await);
        }
    }
    let moved = report(&lively, &asked[1], RefundStatus::Processing, 5).await;
    report(&lively, &asked[2], RefundStatus::Completed, 5).await;
    let moving = async |after: Option<RefundId>, limit: i64| -> Vec<(Tenant, Refund)> {
        ask!(store.read_list, |tx| tx.refunds_moving_by_themselves(after.as_ref(), limit)).unwrap()
    };
    let expected = [(lively.tenant.clone(), asked[0].clone()), (lively.tenant.clone(), moved)];
    assert_eq!(moving(None, 9).await, expected);
    assert_eq!(moving(None, 1).await, expected[..1]);
    assert_eq!(moving(Some(asked[0].id.clone()), 9).await, expected[1..]);
}
