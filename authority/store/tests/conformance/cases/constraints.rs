//! What the schema itself refuses: contract 12 T6, I3, I5, I12.

use authority_domain::event::change::Record;
use authority_store::tx::{KnownMessage, MadeUnderKey, MessageId, ProcessorMessage};
use authority_store::{Constraint, StoreError};

use super::fixtures::{new_payment, payment_id};
use super::{Database, Shop, api_key, ask, dice, done, merchant, noon, read};

pub(crate) async fn one_delivery_per_event_and_endpoint(shop: Shop, database: &dyn Database) {
    shop.endpoint(&["*"]).await;
    let committed = shop.open_checkout().await;
    let mut twin = committed.deliveries[0].clone();
    twin.id = authority_domain::id::DeliveryId::generate(noon(), &mut dice());
    let inserted = ask!(shop.store.write, [shop], |tx| {
        tx.deliveries_insert(&shop.tenant, std::slice::from_ref(&twin), noon())
    });
    assert!(matches!(inserted, Err(StoreError::Conflict(Constraint::Other))));
    assert_eq!(database.count("deliveries").await, 1);
    // Another trigger is another delivery.
    let replay = "INSERT INTO deliveries (shard, event_shard, id, merchant_id, livemode, event_id, event_type, sequence, endpoint_id, \
                  triggered_by, status, attempt_count, next_attempt_at, created_at) \
                  SELECT shard, event_shard, 'dlv_replay', merchant_id, livemode, event_id, event_type, sequence, endpoint_id, 'replay', \
                  status, attempt_count, next_attempt_at, created_at FROM deliveries";
    assert_eq!(database.execute(replay).await, Ok(1));
    database.execute("UPDATE deliveries SET endpoint_id = 'we_9'").await.unwrap_err();
}

pub(crate) async fn a_report_counts_once_for_ever(shop: Shop, _: &dyn Database) {
    let (first, second) =
        (shop.sell().await.payment.id.to_string(), shop.sell().await.payment.id.to_string());
    let claim = async |shop: &Shop, processor: &str, kind, event: &str, payment: &str, said: &'static str| {
        let message = MessageId::new(&shop.tenant, processor, kind, event);
        done!(shop, [payment], |tx| { tx.processor_report_claim(&message, &payment, Some(said), noon()) })
    };
    let known =
        |payment: &str| Some(KnownMessage { resource_id: payment.to_owned(), said: Some("paid".to_owned()) });
    let kind = ProcessorMessage::Report;
    assert_eq!(claim(&shop, "acme-pay", kind, "evt-1", &first, "paid").await, None, "it is new");
    assert_eq!(claim(&shop, "acme-pay", kind, "evt-1", &first, "paid").await, known(&first));
    assert_eq!(
        claim(&shop, " ACME-Pay", kind, "evt-1", &second, "lost").await,
        known(&first),
        "the first stands"
    );
    assert_eq!(claim(&shop, "acme-pay", kind, "evt-2", &second, "paid").await, None);
    assert_eq!(
        claim(&shop, "other-pay", kind, "evt-1", &second, "paid").await,
        None,
        "each counts for itself"
    );
    let start = ProcessorMessage::Start;
    let begun = claim(&shop, "acme-pay", start, "evt-1", &first, "paid").await;
    assert_eq!(begun, None, "one event of theirs may be a start and a report");
    // Every merchant and mode has processors' events of its own.
    for stranger in [Shop::new(&shop.store, "other").await, shop.in_test_mode()] {
        assert_eq!(claim(&stranger, "acme-pay", kind, "evt-1", "pay_other", "paid").await, None);
        assert_eq!(
            claim(&stranger, "acme-pay", kind, "evt-1", "pay_other", "paid").await,
            known("pay_other")
        );
    }
    let get = async |event: &str| {
        let message = MessageId::new(&shop.tenant, "acme-pay", kind, event);
        read!(shop, |tx| tx.processor_report_get(&message))
    };
    assert_eq!(get("evt-1").await, known(&first));
    assert_eq!(get("evt-9").await, None);
}

pub(crate) async fn one_open_payment_per_checkout(shop: Shop, database: &dyn Database) {
    let (checkout, opened) = shop.opened();
    let attempt = || {
        let mut new = new_payment(&checkout);
        new.id = payment_id();
        authority_domain::transitions::payment::start(&checkout, false, new, noon()).unwrap()
    };
    shop.commit(vec![opened, attempt()]).await.unwrap();
    let under_way =
        async || read!(shop, [checkout], |tx| tx.payment_open_on(&shop.tenant, &checkout.id)).is_some();
    assert!(under_way().await);
    shop.commit(vec![attempt()]).await.unwrap_err();
    assert_eq!(database.count("payments").await, 1);
    for ended in ["failed", "cancelled"] {
        let sql = format!("UPDATE payments SET status = '{ended}' WHERE status = 'created'");
        assert_eq!(database.execute(&sql).await, Ok(1));
        assert!(!under_way().await, "{ended}");
        shop.commit(vec![attempt()]).await.unwrap();
    }
    assert_eq!(database.count("payments").await, 3);
}

pub(crate) async fn one_shipment_per_idempotency_key(shop: Shop, database: &dyn Database) {
    let sale = shop.sell().await;
    let (first, changes) = shop.parcel(&sale.order, &[], None);
    let Some(order) = changes.iter().find_map(|change| match &change.record {
        Record::Order(order) => Some((**order).clone()),
        _ => None,
    }) else {
        panic!("shipping changes the order")
    };
    shop.commit_under(changes, first.id.as_str(), "k-1", [7; 32]).await.unwrap();
    let (second, changes) = shop.parcel(&order, std::slice::from_ref(&first), None);
    shop.commit_under(changes.clone(), second.id.as_str(), "k-1", [7; 32]).await.unwrap_err();
    assert_eq!(database.count("shipments").await, 1);
    shop.commit_under(changes, second.id.as_str(), "k-2", [7; 32]).await.unwrap();
    for (key, expected) in [("k-1", Some(&first)), ("k-2", Some(&second)), ("k-3", None)] {
        let found = read!(shop, |tx| tx.shipment_by_key(&shop.tenant, key));
        let made = |shipment: &authority_domain::shipment::Shipment| MadeUnderKey {
            record: shipment.clone(),
            fingerprint: Some(vec![7; 32]),
        };
        assert_eq!(found, expected.map(made), "{key}");
    }
}

pub(crate) async fn one_parcel_per_tracking_number(shop: Shop, database: &dyn Database) {
    let sale = shop.sell().await;
    let (_, changes) = shop.parcel(&sale.order, &[], Some("T-1"));
    let Some(Record::Order(order)) = changes.last().map(|change| change.record.clone()) else {
        panic!("shipping changes the order")
    };
    shop.commit(changes).await.unwrap();
    // The use case did not look at what is there; the schema does.
    let (_, twin) = shop.parcel(&order, &[], Some("T-1"));
    shop.commit(twin).await.unwrap_err();
    assert_eq!(database.count("shipments").await, 1);
    let (_, another) = shop.parcel(&order, &[], Some("T-2"));
    shop.commit(another).await.unwrap();
    let elsewhere = shop.sell().await;
    let (_, changes) = shop.parcel(&elsewhere.order, &[], Some("T-1"));
    shop.commit(changes).await.unwrap();
}

pub(crate) async fn slugs_and_keys_are_unique(shop: Shop, _: &dyn Database) {
    let twin = merchant("acme");
    let taken = ask!(shop.store.write, |tx| tx.merchant_insert(&twin));
    assert!(matches!(taken, Err(StoreError::Conflict(Constraint::MerchantSlug))));
    let key = |hash| api_key(&shop.tenant.merchant_id, hash);
    let (first, twin) = (key(1), key(1));
    done!(shop, |tx| tx.api_key_insert(&first));
    let taken = ask!(shop.store.write, |tx| tx.api_key_insert(&twin));
    assert!(matches!(taken, Err(StoreError::Conflict(Constraint::Other))));
}

pub(crate) async fn rows_that_break_an_invariant_are_refused(shop: Shop, database: &dyn Database) {
    shop.endpoint(&["*"]).await;
    let sale = shop.sell().await;
    let (_, changes) = shop.parcel(&sale.order, &[], None);
    shop.commit(changes).await.unwrap();
    for sql in [
        "UPDATE payments SET amount_captured = amount_authorized + 1",
        "UPDATE payments SET amount_authorized = amount + 1",
        "UPDATE payments SET amount_refunded = amount_captured + 1",
        "UPDATE payments SET amount_refunded = -1",
        "UPDATE payments SET amount = 0",
        "UPDATE payments SET status = 'lost'",
        "UPDATE orders SET total = -1",
        "UPDATE orders SET status = 'lost'",
        "UPDATE orders SET payment_status = 'lost'",
        "UPDATE orders SET fulfillment_status = 'lost'",
        "UPDATE order_lines SET delivered_quantity = shipped_quantity + 1",
        "UPDATE order_lines SET shipped_quantity = fulfilled_quantity + 1",
        "UPDATE order_lines SET fulfilled_quantity = quantity + 1",
        "UPDATE order_lines SET delivered_quantity = -1",
        "UPDATE order_lines SET marked_shipped_quantity = shipped_quantity + 1",
        "UPDATE order_lines SET marked_shipped_quantity = -1",
        "UPDATE shipments SET status = 'lost'",
        "UPDATE shipments SET order_number = 'ORD-1'",
        "UPDATE checkouts SET status = 'lost'",
        "UPDATE checkouts SET resource_version = 0",
        "UPDATE streams SET last_sequence = -1",
        "UPDATE webhook_endpoints SET status = 'lost'",
        "UPDATE deliveries SET status = 'succeeded'",
        "UPDATE deliveries SET next_attempt_at = NULL",
        "UPDATE deliveries SET endpoint_id = 'we_nobody'",
    ] {
        let refused = database.execute(sql).await;
        assert!(refused.is_err(), "{sql} touched {refused:?} rows");
    }
}
