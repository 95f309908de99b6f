//! Subscriptions: the record with the moments that stand beside it, lists, tenants, and the terms that stand beside a
//! checkout (contract 2.6, 2.7, 3.8, 4.5).

use authority_domain::Tenant;
use authority_domain::list_filter::SubscriptionFilter;
use authority_domain::subscription::state_machine::{self, SubscriptionOutcome};
use authority_domain::subscription::{
    AnchoredSubscription, Interval, PricedItems, SubscriptionReportRequest, SubscriptionRequest,
    SubscriptionStatus, SubscriptionTerms,
};
use serde_json::{Value, json};

use super::{Database, Shop, ask, at, dice, noon, read};

fn opened(livemode: bool, customer: &str, more: Value) -> AnchoredSubscription {
    let mut body = json!({
        "customer": {"reference": customer}, "currency": "USD", "interval": "month",
        "items": [{"name": "Cup", "quantity": 2, "unit_amount": 900}],
    });
    body.as_object_mut().unwrap().append(more.clone().as_object_mut().unwrap());
    let new = SubscriptionRequest::read(&body, noon()).unwrap().into_new(noon(), &mut dice()).unwrap();
    state_machine::open(new, livemode, noon()).unwrap()
}

fn reported(ongoing: &AnchoredSubscription, body: &Value) -> AnchoredSubscription {
    let report =
        SubscriptionReportRequest::read(body, at(60)).unwrap().into_report(at(60), &mut dice()).unwrap();
    match ongoing.clone().report(report, at(60)).unwrap() {
        SubscriptionOutcome::Changed(next) => *next,
        other => panic!("{other:?}"),
    }
}

async fn found(shop: &Shop, ongoing: &AnchoredSubscription) -> Option<(Tenant, AnchoredSubscription)> {
    read!(shop, [ongoing], |tx| tx.subscription_find(&ongoing.record.id))
}

pub(crate) async fn subscriptions_come_back_as_they_were(shop: Shop, _: &dyn Database) {
    for more in [json!({"status": "incomplete"}), json!({"trial_days": 7}), json!({})] {
        let made = opened(true, "c-77", more);
        shop.commit(vec![made.told()]).await.unwrap();
        assert_eq!(found(&shop, &made).await, Some((shop.tenant.clone(), made.clone())));
        let next = reported(&made, &json!({"status": "cancelled", "interval": "year"}));
        shop.commit(vec![next.told()]).await.unwrap();
        assert_eq!(found(&shop, &made).await, Some((shop.tenant.clone(), next.clone())));
        // What was read before is no basis any more.
        shop.commit(vec![next.told()]).await.unwrap_err();
        let body = read!(shop, [made], |tx| tx.subscription_body(&shop.tenant, &made.record.id));
        let got = read!(shop, [made], |tx| tx.subscription_get(&shop.tenant, &made.record.id));
        assert_eq!(got.as_ref(), Some(&next.record));
        assert_eq!(body, Some((serde_json::to_string(&next.record).unwrap(), 2)));
    }
    let mut ongoing = opened(true, "c-77", json!({}));
    shop.commit(vec![ongoing.told()]).await.unwrap();
    for (status, resumed_at) in [("paused", None), ("active", Some(at(60))), ("past_due", Some(at(60)))] {
        ongoing = reported(&ongoing, &json!({ "status": status }));
        assert_eq!(ongoing.resumed_at, resumed_at);
        shop.commit(vec![ongoing.told()]).await.unwrap();
        assert_eq!(found(&shop, &ongoing).await, Some((shop.tenant.clone(), ongoing.clone())));
    }
    let nobody = opened(true, "c-1", json!({}));
    assert_eq!(found(&shop, &nobody).await, None);
}

pub(crate) async fn subscriptions_are_each_tenants_own(shop: Shop, _: &dyn Database) {
    let strangers = [Shop::new(&shop.store, "other").await, shop.in_test_mode()];
    let made = opened(true, "c-77", json!({}));
    shop.commit(vec![made.told()]).await.unwrap();
    let next = reported(&made, &json!({"status": "past_due"}));
    for stranger in &strangers {
        let body =
            read!(shop, [stranger, made], |tx| tx.subscription_body(&stranger.tenant, &made.record.id));
        assert_eq!(body, None);
        let got = read!(shop, [stranger, made], |tx| tx.subscription_get(&stranger.tenant, &made.record.id));
        assert_eq!(got, None);
        let none = SubscriptionFilter::default();
        let page = ask!(shop.store.read, [stranger], |tx| {
            tx.subscriptions_page(&stranger.tenant, &none, None, 9)
        });
        assert_eq!(page.unwrap().rows, []);
        let mut theirs = next.clone();
        theirs.record.livemode = stranger.tenant.livemode;
        stranger.commit(vec![theirs.told()]).await.unwrap_err();
    }
    assert_eq!(found(&shop, &made).await, Some((shop.tenant.clone(), made)));
}

pub(crate) async fn subscriptions_are_listed_newest_first(shop: Shop, _: &dyn Database) {
    let mut made = Vec::new();
    for (n, customer) in ["c-1", "c-2", "c-1"].into_iter().enumerate() {
        let mut ongoing = opened(true, customer, json!({}));
        ongoing.record.created_at = at(i64::try_from(n).unwrap());
        shop.commit(vec![ongoing.told()]).await.unwrap();
        made.push(ongoing);
    }
    let ended = reported(&made[0], &json!({"status": "cancelled"}));
    shop.commit(vec![ended.told()]).await.unwrap();
    let page = async |filter: SubscriptionFilter, before: Option<i64>, limit: i64| {
        let page =
            ask!(shop.store.read, [shop], |tx| tx.subscriptions_page(&shop.tenant, &filter, before, limit));
        let place = |body: &str| made.iter().position(|one| body.contains(one.record.id.as_str())).unwrap();
        page.unwrap().rows.iter().map(|(position, body)| (*position, place(body))).collect::<Vec<_>>()
    };
    let all = SubscriptionFilter::default();
    assert_eq!(page(all.clone(), None, 9).await, [(3, 2), (2, 1), (1, 0)]);
    assert_eq!(page(all.clone(), None, 2).await, [(3, 2), (2, 1)]);
    assert_eq!(page(all.clone(), Some(2), 9).await, [(1, 0)]);
    let of = |status| SubscriptionFilter { status: vec![status], ..all.clone() };
    assert_eq!(page(of(SubscriptionStatus::Active), None, 9).await, [(3, 2), (2, 1)]);
    assert_eq!(page(of(SubscriptionStatus::Cancelled), None, 9).await, [(1, 0)]);
    let customer = SubscriptionFilter { customer_reference: Some("c-1".into()), ..all.clone() };
    assert_eq!(page(customer, None, 9).await, [(3, 2), (1, 0)]);
    let time = SubscriptionFilter { created_from: Some(at(1)), created_to: Some(at(2)), ..all };
    assert_eq!(page(time, None, 9).await, [(2, 1)]);
}

pub(crate) async fn terms_stand_beside_their_checkout(shop: Shop, _: &dyn Database) {
    let (checkout, opening) = shop.opened();
    let (plain, other) = shop.opened();
    shop.commit(vec![opening, other]).await.unwrap();
    let terms = SubscriptionTerms {
        interval: Interval::Month,
        interval_count: 3,
        trial_days: Some(14),
        items: PricedItems::of(opened(true, "c-1", json!({})).record.items).unwrap(),
        metadata: [("k".to_owned(), "v".to_owned())].into(),
    };
    let keep = async |by: &Shop, id| {
        ask!(shop.store.write, [by, terms], |tx| tx.subscription_terms_keep(&by.tenant, &id, &terms))
    };
    keep(&shop, checkout.id.clone()).await.unwrap();
    let stranger = shop.in_test_mode();
    keep(&stranger, plain.id.clone()).await.unwrap_err();
    for (by, checkout, expected) in
        [(&shop, &checkout, Some(&terms)), (&stranger, &checkout, None), (&shop, &plain, None)]
    {
        let kept =
            ask!(shop.store.read, [by, checkout], |tx| tx.subscription_terms(&by.tenant, &checkout.id));
        assert_eq!(kept.unwrap().as_ref(), expected);
    }
}
