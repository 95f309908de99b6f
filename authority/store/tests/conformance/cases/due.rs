//! What the scheduler looks for: checkouts and orders whose time is over, of all tenants, a batch at a time; and the
//! operator's alerts.

use authority_domain::alert::Alert;
use authority_domain::checkout::CheckoutStatus;
use authority_domain::event::change::Record;
use authority_domain::list_filter::AlertFilter;
use authority_domain::merchant::Settings;
use authority_domain::order::OrderRequest;
use authority_domain::sandbox::clock::{ADVANCES_MAX, ClockAdvance};
use authority_domain::transitions::payment::Surroundings;
use authority_domain::{
    AlertCode, AlertId, AlertStatus, Change, CheckoutEnd, ConfirmOn, Merchant, OrderNumber, PaymentStatus,
    Tenant, Timestamp, transitions,
};
use authority_store::Store;
use authority_store::tx::{DueCheckout, PendingLimit, PendingOrder};
use serde_json::json;
use verify_core::catalog::EventType;

use super::{Database, Shop, alert, ask, at, dice, done, merchant, noon, read};

async fn due_checkouts(
    store: &Store,
    now: Timestamp,
    after: Option<DueCheckout>,
    limit: i64,
) -> Vec<DueCheckout> {
    ask!(store.read_list, |tx| tx.checkouts_due(None, now, after.as_ref(), limit)).unwrap()
}

async fn next_due(store: &Store) -> Option<Timestamp> {
    ask!(store.read_list, |tx| tx.checkouts_next_due()).unwrap()
}

pub(crate) async fn open_checkouts_are_due_by_their_time(shop: Shop, _: &dyn Database) {
    assert_eq!(next_due(&shop.store).await, None);
    let shops = [shop.clone(), shop.in_test_mode(), Shop::new(&shop.store, "other").await];
    let mut expected = Vec::new();
    // Two of each shop at the same time, and one that has ended.
    for (n, shop) in shops.iter().enumerate() {
        for minute in [30, 10, 10, 20] {
            let (mut checkout, _) = shop.opened();
            checkout.expires_at = at(60 * minute);
            let mut changes = vec![Change::checkout(EventType::CheckoutCreated, &checkout)];
            if minute == 20 && n == 1 {
                let ended =
                    transitions::checkout::end(checkout.clone(), None, CheckoutEnd::Cancelled, noon())
                        .unwrap();
                changes.extend(ended);
            } else {
                let (tenant, id) = (shop.tenant.clone(), checkout.id.clone());
                expected.push(DueCheckout { tenant, id, expires_at: checkout.expires_at });
            }
            shop.commit(changes).await.unwrap();
            let found = find(&shop.store, &checkout.id).await;
            let open = if minute == 20 && n == 1 { CheckoutStatus::Cancelled } else { CheckoutStatus::Open };
            assert_eq!(found, Some((shop.tenant.clone(), open)));
        }
    }
    expected.sort_by(|a, b| (a.expires_at, a.id.as_str()).cmp(&(b.expires_at, b.id.as_str())));
    let store = &shop.store;
    assert_eq!(next_due(store).await, Some(at(600)));
    assert_eq!(due_checkouts(store, at(599), None, 99).await, []);
    assert_eq!(due_checkouts(store, at(600), None, 99).await, expected[..6]);
    assert_eq!(due_checkouts(store, at(9999), None, 99).await, expected);
    // Batch by batch, each from behind the one before it.
    let mut seen: Vec<DueCheckout> = Vec::new();
    loop {
        let batch = due_checkouts(store, at(9999), seen.last().cloned(), 4).await;
        if batch.is_empty() {
            break;
        }
        seen.extend(batch);
    }
    assert_eq!(seen, expected);
}

async fn find(store: &Store, id: &authority_domain::id::CheckoutId) -> Option<(Tenant, CheckoutStatus)> {
    ask!(store.read, [id], |tx| tx.checkout_find(&id))
        .unwrap()
        .map(|(tenant, checkout)| (tenant, checkout.status))
}

/// The same shop of a merchant that cancels what has been pending for `ttl` hours.
async fn shop_with_ttl(store: &Store, slug: &str, ttl: Option<i64>) -> Shop {
    let plain = merchant(slug);
    let settings = Settings { pending_order_ttl_hours: ttl, ..Settings::default() };
    let merchant = Merchant { settings, ..plain };
    let tenant = Tenant { merchant_id: merchant.id.clone(), livemode: true };
    let context = merchant.context();
    ask!(store.write, |tx| tx.merchant_insert(&merchant)).unwrap();
    Shop { store: store.clone(), tenant, context }
}

/// An order of three stickers that nobody has paid.
async fn take_in(shop: &Shop, number: &str, now: Timestamp) -> PendingOrder {
    let line = json!({"name": "Sticker", "quantity": 3, "unit_amount": 100});
    let body = json!({"currency": "USD", "line_items": [line]});
    let number = OrderNumber::parse(number).unwrap();
    let request = OrderRequest::read(&body, now).unwrap();
    let (new, payments) = request.into_new(number.clone(), now, &mut dice()).unwrap();
    let livemode = shop.tenant.livemode;
    let changes = transitions::order::ingest(new, payments, ConfirmOn::Paid, livemode, now).unwrap();
    shop.commit(changes).await.unwrap();
    PendingOrder { created_at: now, number }
}

pub(crate) async fn merchants_say_how_long_an_order_may_be_pending(shop: Shop, _: &dyn Database) {
    let store = shop.store;
    let limits = async || -> Vec<PendingLimit> { ask!(store.read_list, |tx| tx.pending_limits()).unwrap() };
    assert_eq!(limits().await, []);
    take_in(&shop_with_ttl(&store, "never", None).await, "A", noon()).await;
    shop_with_ttl(&store, "idle", Some(1)).await.sell().await;
    let mut expected = Vec::new();
    for (slug, hours) in [("soon", 1), ("late", 8760)] {
        let shop = shop_with_ttl(&store, slug, Some(hours)).await;
        take_in(&shop, "A", noon()).await;
        take_in(&shop.in_test_mode(), "B", noon()).await;
        expected.push(PendingLimit { merchant_id: shop.tenant.merchant_id, hours });
    }
    expected.sort_by(|a, b| a.merchant_id.cmp(&b.merchant_id));
    assert_eq!(limits().await, expected);
}

pub(crate) async fn pending_orders_come_oldest_first(shop: Shop, _: &dyn Database) {
    let expected = [
        take_in(&shop, "B", noon()).await,
        take_in(&shop, "C", noon()).await,
        take_in(&shop, "A", at(1)).await,
        take_in(&shop, "D", at(60)).await,
    ];
    take_in(&shop.in_test_mode(), "B", noon()).await;
    take_in(&Shop::new(&shop.store, "other").await, "B", noon()).await;
    let confirmed = take_in(&shop, "E", noon()).await;
    let store = &shop.store;
    let order = ask!(shop.store.read, [shop, confirmed], |tx| tx.order_get(&shop.tenant, &confirmed.number));
    shop.commit(transitions::order::confirm(order.unwrap().unwrap(), noon()).unwrap()).await.unwrap();
    shop.sell().await;

    let pending = async |until: Timestamp, after: Option<PendingOrder>, limit: i64| -> Vec<PendingOrder> {
        ask!(store.read_list, [shop], |tx| tx.orders_pending(&shop.tenant, until, after.as_ref(), limit))
            .unwrap()
    };
    assert_eq!(pending(noon().plus_ms(-1), None, 99).await, []);
    assert_eq!(pending(noon(), None, 99).await, expected[..2]);
    assert_eq!(pending(at(59), None, 99).await, expected[..3]);
    assert_eq!(pending(at(60), None, 99).await, expected);
    let mut seen: Vec<PendingOrder> = Vec::new();
    for _ in 0..=expected.len() {
        seen.extend(pending(at(60), seen.last().cloned(), 1).await);
    }
    assert_eq!(seen, expected);
}

pub(crate) async fn the_advances_of_a_clock_come_back_oldest_first(shop: Shop, _: &dyn Database) {
    let other = Shop::new(&shop.store, "other").await;
    let clock = async |shop: &Shop| read!(shop, |tx| tx.sandbox_clock(&shop.tenant.merchant_id));
    let advance = async |shop: &Shop, at: Timestamp, seconds: i64| {
        let advance = ClockAdvance { at, seconds };
        done!(shop, |tx| tx.sandbox_clock_advance(&shop.tenant.merchant_id, advance));
    };
    assert_eq!((clock(&shop).await.total_seconds(), clock(&shop).await.last()), (0, None));
    for (second, by) in [(60, 7), (0, 5), (60, 1)] {
        advance(&shop, at(second), by).await;
    }
    let seen = clock(&shop).await;
    assert_eq!((seen.total_seconds(), seen.last()), (13, Some(ClockAdvance { at: at(60), seconds: 8 })));
    assert_eq!(seen.time_for(at(30), noon()), at(8));
    assert_eq!(clock(&other).await.total_seconds(), 0);
    let advanced = ask!(shop.store.read_list, |tx| tx.sandbox_clocks_advanced());
    assert_eq!(advanced.unwrap(), std::slice::from_ref(&shop.tenant.merchant_id));
    // Of more than are remembered the last ones count.
    for n in 0..ADVANCES_MAX {
        advance(&shop, at(100 + n), 1).await;
    }
    let seen = clock(&shop).await;
    assert_eq!((seen.total_seconds(), seen.time_for(at(0), noon())), (ADVANCES_MAX, at(ADVANCES_MAX)));
}

pub(crate) async fn the_open_attempt_of_a_checkout_is_found(shop: Shop, _: &dyn Database) {
    let (checkout, opened) = shop.opened();
    let new = super::fixtures::new_payment(&checkout);
    let created = transitions::payment::start(&checkout, false, new, noon()).unwrap();
    let Record::Payment(payment) = created.record.clone() else { panic!("a payment") };
    shop.commit(vec![opened, created]).await.unwrap();
    let open = async || read!(shop, [checkout], |tx| tx.payment_open_on(&shop.tenant, &checkout.id));
    assert_eq!(open().await.as_ref(), Some(&*payment));
    let failed = super::fixtures::reported(&payment, PaymentStatus::Failed);
    let surroundings = Surroundings::OpenCheckout(Box::new(checkout.clone()));
    let changes = transitions::payment::settle(&payment, failed, surroundings, ConfirmOn::Paid, noon());
    shop.commit(changes).await.unwrap();
    assert_eq!(open().await, None);
}

pub(crate) async fn an_alert_counts_until_it_is_closed(shop: Shop, _: &dyn Database) {
    let store = &shop.store;
    let raise = async |owner: Option<Tenant>, subject: &str, s: i64| {
        let alert = alert(AlertCode::ReportRefused, subject, s);
        done!(shop, |tx| tx.alert_raise(owner.as_ref(), &alert, at(s)));
    };
    let open =
        async |owner: Option<Tenant>| -> Vec<Alert> { read!(shop, |tx| tx.alerts_open(owner.as_ref(), 9)) };
    let close = async |owner: Option<Tenant>, id: &AlertId| -> Option<Alert> {
        done!(shop, [id], |tx| tx.alert_close_by_id(owner.as_ref(), &id, at(99)))
    };
    let tenant = Some(shop.tenant.clone());
    raise(None, "pay_1", 1).await;
    raise(None, "pay_2", 2).await;
    raise(tenant.clone(), "pay_1", 3).await;
    raise(None, "pay_1", 4).await;
    let seen = open(None).await;
    let short = |alert: &Alert| (alert.subject.clone(), alert.count, alert.message.clone());
    let expected =
        [("pay_1".to_owned(), 2, "seen at 4".to_owned()), ("pay_2".to_owned(), 1, "seen at 2".to_owned())];
    assert_eq!(seen.iter().map(short).collect::<Vec<_>>(), expected);
    assert_eq!((seen[0].first_seen_at, seen[0].last_seen_at), (at(1), at(4)));
    assert_eq!(open(tenant.clone()).await.len(), 1);

    assert_eq!(close(tenant.clone(), &seen[0].id).await, None, "another owner's");
    let closed = Alert { closed_at: Some(at(99)), ..seen[0].clone() };
    assert_eq!(close(None, &seen[0].id).await.as_ref(), Some(&closed));
    assert_eq!(close(None, &seen[0].id).await, None, "once");
    assert_eq!(open(None).await, seen[1..]);
    assert_eq!(open(tenant).await.len(), 1);
    raise(None, "pay_1", 100).await;
    assert_eq!(short(&open(None).await[1]), ("pay_1".to_owned(), 1, "seen at 100".to_owned()));

    // The operator's list: newest first, closed ones too, by kind and state.
    let page = async |filter: AlertFilter, before: Option<String>| -> Vec<(String, AlertStatus)> {
        let page = ask!(store.read_list, |tx| tx.alerts_page(&filter, before.as_deref(), 9)).unwrap();
        page.iter().map(|alert| (alert.subject.clone(), alert.status())).collect()
    };
    let (open, closed) = (AlertStatus::Open, AlertStatus::Closed);
    let all = page(AlertFilter::default(), None).await;
    let row = |subject: &str, status| (subject.to_owned(), status);
    assert_eq!(all.len(), 3);
    assert_eq!(all[0], row("pay_1", open));
    let only = |status| AlertFilter { status: vec![status], ..AlertFilter::default() };
    assert_eq!(page(only(closed), None).await, [row("pay_1", closed)]);
    assert_eq!(page(only(open), None).await.len(), 2);
    let of_kind = |code| AlertFilter { codes: vec![code], ..AlertFilter::default() };
    assert_eq!(page(of_kind(AlertCode::ReportRefused), None).await.len(), 3);
    assert_eq!(page(of_kind(AlertCode::LatePayment), None).await, []);
    assert_eq!(page(AlertFilter::default(), Some(seen[1].id.to_string())).await, all[2..]);
}
