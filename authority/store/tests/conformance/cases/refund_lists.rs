//! The lists that refunds and payments stand in: the merchant's own, and the operator's over all merchants (contract
//! 4.5, 6.2).

use authority_domain::list_filter::{AllPaymentsFilter, PaymentFilter, RefundFilter};
use authority_domain::refund::RequesterType;
use authority_domain::{Change, Payment, PaymentStatus, Refund, RefundId, RefundStatus};
use verify_core::catalog::EventType;

use super::refund_steps::{payment_now, report, request};
use super::{Database, Shop, ask, at, dice, read};

pub(crate) async fn refunds_and_payments_are_listed_by_filter(shop: Shop, _: &dyn Database) {
    let strangers = [Shop::new(&shop.store, "other").await, shop.in_test_mode()];
    let (one, two) = (shop.sell().await, shop.sell().await);
    let a = request(&shop, &one.order.order_number, 10, RequesterType::ApiKey, 1).await;
    let b = request(&shop, &two.order.order_number, 20, RequesterType::ApiKey, 2).await;
    let c = request(&shop, &one.order.order_number, 30, RequesterType::ApiKey, 3).await;
    let c = report(&shop, &c, RefundStatus::Completed, 4).await;

    let refunds = async |shop: &Shop, filter: RefundFilter, before: Option<i64>, limit: i64| {
        read!(shop, |tx| tx.refunds_page(&shop.tenant, &filter, before, limit)).rows
    };
    let all = refunds(&shop, RefundFilter::default(), None, 9).await;
    let bodies: Vec<&str> = all.iter().map(|(_, body)| body.as_str()).collect();
    let text = |refund: &Refund| serde_json::to_string(refund).unwrap();
    assert_eq!(bodies, [text(&c), text(&b), text(&a)]);
    assert_eq!(refunds(&shop, RefundFilter::default(), None, 2).await, all[..2]);
    assert_eq!(refunds(&shop, RefundFilter::default(), Some(all[1].0), 9).await, all[2..]);
    let none = RefundFilter::default;
    for (filter, expected) in [
        (RefundFilter { order_number: Some(one.order.order_number.to_string()), ..none() }, vec![0, 2]),
        (RefundFilter { payment_id: Some(two.payment.id.to_string()), ..none() }, vec![1]),
        (RefundFilter { status: vec![RefundStatus::Requested], ..none() }, vec![1, 2]),
        (
            RefundFilter { status: vec![RefundStatus::Requested, RefundStatus::Completed], ..none() },
            vec![0, 1, 2],
        ),
        (RefundFilter { status: vec![RefundStatus::Failed], ..none() }, vec![]),
        (RefundFilter { created_from: Some(at(2)), ..none() }, vec![0, 1]),
        (RefundFilter { created_to: Some(at(2)), ..none() }, vec![2]),
    ] {
        let expected: Vec<_> = expected.into_iter().map(|index: usize| all[index].clone()).collect();
        assert_eq!(refunds(&shop, filter.clone(), None, 9).await, expected, "{filter:?}");
    }

    let payments = async |shop: &Shop, filter: PaymentFilter| {
        let page = read!(shop, |tx| tx.payments_page(&shop.tenant, &filter, None, 9));
        page.rows.into_iter().map(|(_, body)| body).collect::<Vec<_>>()
    };
    let now = [payment_now(&shop, &two.payment.id).await, payment_now(&shop, &one.payment.id).await];
    let now = now.map(|payment| serde_json::to_string(&payment).unwrap());
    assert_eq!(payments(&shop, PaymentFilter::default()).await, now);
    let none = PaymentFilter::default;
    for (filter, expected) in [
        (PaymentFilter { order_number: Some(one.order.order_number.to_string()), ..none() }, &now[1..]),
        (PaymentFilter { status: vec![PaymentStatus::PartiallyRefunded], ..none() }, &now[1..]),
        (
            PaymentFilter { status: vec![PaymentStatus::Succeeded, PaymentStatus::Failed], ..none() },
            &now[..1],
        ),
        (PaymentFilter { created_from: Some(at(0)), ..none() }, &now[..]),
        (PaymentFilter { created_to: Some(at(0)), ..none() }, &[]),
    ] {
        assert_eq!(payments(&shop, filter.clone()).await, expected, "{filter:?}");
    }
    for stranger in &strangers {
        assert_eq!(refunds(stranger, RefundFilter::default(), None, 9).await, []);
        assert_eq!(payments(stranger, PaymentFilter::default()).await, Vec::<String>::new());
        assert_eq!(read!(shop, [stranger, a], |tx| tx.refund_body(&stranger.tenant, &a.id)), None);
        stranger
            .commit(vec![Change::refund(
                EventType::RefundProcessing,
                &Refund { resource_version: 2, livemode: stranger.tenant.livemode, ..a.clone() },
            )])
            .await
            .unwrap_err();
    }
}

pub(crate) async fn the_operator_finds_refunds_of_all_merchants(shop: Shop, _: &dyn Database) {
    let other = Shop::new(&shop.store, "other").await;
    let (mine, theirs) = (shop.sell().await, other.sell().await);
    let a = request(&shop, &mine.order.order_number, 1, RequesterType::ApiKey, 1).await;
    let b = request(&other, &theirs.order.order_number, 2, RequesterType::Operator, 2).await;
    let c = request(&shop, &mine.order.order_number, 3, RequesterType::ApiKey, 3).await;
    let a = report(&shop, &a, RefundStatus::Processing, 4).await;
    let list = async |status: &'static [RefundStatus], before: Option<&RefundId>, limit: i64| {
        let before = before.map(RefundId::to_string);
        let found = ask!(shop.store.read, |tx| tx.refunds_everywhere(status, before.as_deref(), limit));
        found.unwrap().into_iter().map(|found| found.refund).collect::<Vec<_>>()
    };
    assert_eq!(list(&[], None, 9).await, [c.clone(), b.clone(), a.clone()]);
    assert_eq!(list(&[], None, 1).await, std::slice::from_ref(&c));
    assert_eq!(list(&[], Some(&c.id), 9).await, [b.clone(), a.clone()]);
    assert_eq!(list(&[RefundStatus::Requested], None, 9).await, [c.clone(), b.clone()]);
    assert_eq!(list(&[RefundStatus::Requested], Some(&c.id), 9).await, std::slice::from_ref(&b));
    assert_eq!(list(&[RefundStatus::Requested, RefundStatus::Processing], None, 9).await, [c, b.clone(), a]);
    assert_eq!(list(&[RefundStatus::Failed], None, 9).await, []);
    let found = read!(shop, [b], |tx| tx.refund_find(&b.id)).unwrap();
    assert_eq!((found.tenant, found.refund), (other.tenant.clone(), b));
    assert_eq!(found.payment, payment_now(&other, &theirs.payment.id).await);
    let nobody = RefundId::generate(at(9), &mut dice());
    assert!(read!(shop, |tx| tx.refund_find(&nobody)).is_none());
}

pub(crate) async fn late_payments_are_found(shop: Shop, _: &dyn Database) {
    let other = Shop::new(&shop.store, "other").await;
    let mut late = Vec::new();
    for shop in [&shop, &other] {
        shop.sell().await;
        let payment = shop.sell().await.payment;
        let version = payment.resource_version + 1;
        let payment = Payment { late: true, resource_version: version, ..payment };
        let told = Change::payment(EventType::PaymentSucceeded, &payment);
        shop.commit(vec![told]).await.unwrap();
        late.push(payment);
    }
    let own = async |filter: PaymentFilter| {
        let page = read!(shop, |tx| tx.payments_page(&shop.tenant, &filter, None, 9));
        page.rows.into_iter().map(|(_, body)| body).collect::<Vec<_>>()
    };
    let text = |payment: &Payment| serde_json::to_string(payment).unwrap();
    assert_eq!(own(PaymentFilter { late: Some(true), ..PaymentFilter::default() }).await, [text(&late[0])]);
    assert_eq!(own(PaymentFilter { late: Some(false), ..PaymentFilter::default() }).await.len(), 1);
    let all = async |late: Option<bool>, before: Option<&str>, limit: i64| {
        let before = before.map(str::to_owned);
        let filter = AllPaymentsFilter { late, ..AllPaymentsFilter::default() };
        let found = ask!(shop.store.read, |tx| tx.payments_everywhere(&filter, before.as_deref(), limit));
        found.unwrap().into_iter().map(|found| (found.tenant, found.payment)).collect::<Vec<_>>()
    };
    let mut expected = vec![(shop.tenant.clone(), late[0].clone()), (other.tenant.clone(), late[1].clone())];
    expected.sort_by(|one, other| other.1.id.as_str().cmp(one.1.id.as_str()));
    assert_eq!(all(Some(true), None, 9).await, expected);
    assert_eq!(all(Some(true), None, 1).await, expected[..1]);
    assert_eq!(all(Some(true), Some(expected[0].1.id.as_str()), 9).await, expected[1..]);
    assert_eq!((all(Some(false), None, 9).await.len(), all(None, None, 9).await.len()), (2, 4));
}

/// A refund of money that made no order (contract 18.3).
pub(crate) async fn a_refund_may_belong_to_no_order(shop: Shop, database: &dyn Database) {
    let sale = shop.sell().await;
    let a = request(&shop, &sale.order.order_number, 10, RequesterType::Operator, 1).await;
    let id = RefundId::generate(at(3), &mut dice());
    let orphan = Refund { id, order_number: None, resource_version: 1, ..a };
    let told = Change::refund(EventType::RefundRequested, &orphan);
    shop.commit(vec![told]).await.unwrap();
    let found = read!(shop, [orphan], |tx| tx.refund_find(&orphan.id)).unwrap();
    assert_eq!((found.refund, found.payment.id), (orphan, sale.payment.id));
    assert_eq!(database.number("SELECT CAST(SUM(amount_refund_pending) AS BIGINT) FROM payments").await, 20);
}
